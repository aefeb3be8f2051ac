import { DecodeError, LayoutError } from "./error.js";
import type { DecodeOptions, Layout } from "./layout.js";
import { isDelta, view } from "./message.js";
import type { Value } from "./values.js";

/** The layouts of a receiver, by their slots: an old one stays for as long as devices send it. */
export class Layouts {
  private readonly bySlot = new Map<number, Layout>();
  private readonly byPort = new Map<number, Layout>();

  constructor(layouts: Iterable<Layout>) {
    for (const layout of layouts) {
      const table = layout.hasSlotByte ? this.bySlot : this.byPort;
      if (table.has(layout.slot)) throw new LayoutError(`two layouts have slot ${layout.slot}`);
      table.set(layout.slot, layout);
    }
  }

  /** Decodes a message with the layout of its slot. `port` is that of the link, if it tells one: a layout whose slot is the port has precedence. */
  decode<T = Value>(bytes: Uint8Array, options?: DecodeOptions & { port?: number | undefined }): T {
    const message = view(bytes);
    const layout = this.byPort.get(options?.port ?? 0) ?? this.bySlot.get(slotOf(message));
    if (layout === undefined) throw new DecodeError("range", 0, `no layout has slot ${slotOf(message)}`);
    return layout.decode<T>(message, options);
  }
}

function slotOf(bytes: Uint8Array): number {
  const [first] = bytes;
  if (first === undefined) throw new DecodeError("truncated", 0, "no bytes, not even the slot byte");
  if (first >> 6 === 3) throw new DecodeError("malformed", 0, "mode 3 is reserved");
  if (isDelta(bytes)) throw new DecodeError("reference", 0, "a delta, which needs the message that it refers to: `layout.decodeDelta` decodes it");
  if ((first & 0x3f) === 0) throw new DecodeError("malformed", 0, "slot 0 has no layout");
  return first & 0x3f;
}
