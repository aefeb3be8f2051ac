import { type Form, Past } from "./past.js";
import type { Leaf } from "./statistics.js";
import { type Whole, whole } from "./whole.js";
import { NONE, type Sink } from "./wire.js";

/** The bits of a name that are in the first byte of a delta. */
export const TAG = 0x3f;

/** A message that both sides have, to which deltas refer: from `layout.reference` or `layout.referenceFrom`. */
export class Reference {
  /** Use `layout.reference`. */
  constructor(
    /** The name of the message, 0 to 65,535: a CRC of its plain bytes. It acknowledges the message, and a delta has it. */
    readonly name: number,
    /** The plain bytes of the message without a check, to store: `layout.referenceFrom` makes a reference of them. */
    readonly plain: Uint8Array,
    /** The fingerprint of the layout. */
    readonly fingerprint: string,
    /** Its parts, which only the layout uses. */
    readonly past: Past,
  ) {}

  /** Whether a delta with this first byte may refer to the message. */
  isTagged(first: number): boolean {
    return (this.name & TAG) === (first & TAG);
  }
}

/** Keeps the parts of a message as those before the next one. */
export class Recorder implements Sink {
  readonly coded = true;
  readonly past: Past;

  constructor(leaves: readonly Leaf[]) {
    this.past = new Past(leaves);
  }

  index(leaf: number, value: number, count: number): void {
    if (count > 1) this.opaque(leaf, count, value);
  }

  wideIndex(leaf: number, value: bigint, count: bigint): void {
    this.opaque(leaf, whole(count), whole(value));
  }

  bits(): void {}

  wideBits(): void {}

  opaque(leaf: number, form: Form, value: Whole | string): void {
    if (leaf !== NONE) this.past.keep(leaf, form, value);
  }

  enter(index: number): void {
    this.past.path.push(index);
  }

  leave(): void {
    this.past.path.pop();
  }
}
