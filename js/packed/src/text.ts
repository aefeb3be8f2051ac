import { bound, quoted } from "./describe.js";
import type { Node } from "./node.js";
import { wrong } from "./scalars.js";
import { type Value, characters } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { NONE, type Sink, type Source, bitsOf } from "./wire.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The most bits of a character: four bytes of UTF-8. */
const CHARACTER = 32;

/** Text of `min` to `max` code points. */
export class Text implements Node {
  readonly most: number;

  constructor(
    private readonly min: number,
    private readonly max: number,
    private readonly leaf: number,
  ) {
    this.most = bitsOf(max - min + 1) + (max > 0 ? 1 + CHARACTER * max : 0);
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "string") throw wrong("a string", value);
    const count = characters(value);
    if (count < 0) throw new Fault("type", "text with a lone surrogate");
    if (!this.holds(count)) throw new Fault("range", `${quoted(value)} has ${count} characters; ${bound(count, this.min, this.max)}`);
    walk.takeText(value, 0);
    sink.opaque(this.leaf, "text", value, () => this.writeAll(value, count, sink));
  }

  private writeAll(value: string, count: number, sink: Sink): void {
    sink.index(NONE, count - this.min, this.max - this.min + 1);
    if (count === 0) return;
    const bytes = encoder.encode(value);
    const isAscii = bytes.length === value.length;
    sink.bits(isAscii ? 0 : 1, 1);
    for (const byte of bytes) sink.bits(byte, isAscii ? 7 : 8);
  }

  read(source: Source, walk: Walk): Value {
    const start = source.offset;
    walk.take(1, start);
    const text = source.opaque(this.leaf, "text", () => this.readAll(source));
    walk.takeText(text, start);
    return text;
  }

  private readAll(source: Source): string {
    const count = this.min + source.index(NONE, this.max - this.min + 1);
    if (count === 0) return "";
    const form = source.offset;
    return source.bits(1) === 0 ? readAscii(source, count) : readUnicode(source, count, form);
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return typeof value === "string" && this.holds(characters(value));
  }

  private holds(count: number): boolean {
    return count >= this.min && count <= this.max;
  }
}

function readAscii(source: Source, count: number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += String.fromCharCode(source.bits(7));
  return text;
}

function readUnicode(source: Source, count: number, form: number): string {
  let text = "";
  for (let i = 0; i < count; i++) {
    const { offset } = source;
    const first = source.bits(8);
    const size = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 1;
    const bytes = new Uint8Array(size);
    bytes[0] = first;
    for (let k = 1; k < size; k++) bytes[k] = source.bits(8);
    try {
      text += decoder.decode(bytes);
    } catch {
      throw new Fault("malformed", "text that is not UTF-8", offset);
    }
  }
  if (encoder.encode(text).length === text.length) throw new Fault("malformed", "ASCII text in more than 7 bits a character", form);
  return text;
}
