import { Fault } from "./walk.js";

/** The range never falls below this between two steps. */
const SMALLEST = 0x1000000;
const WHOLE = 0xffffffff;

/**
 * Returns the fewest bytes after which every number is in the interval from `low` to below `low + range`, in units of 2^-32: the distance of the
 * first such number from `low`, and the number of bytes.
 */
function ending(low: number, range: number): [distance: number, count: number] {
  for (let count = 0; count < 2; count++) {
    const unit = 2 ** (32 - 8 * count);
    const first = Math.ceil(low / unit) * unit;
    if (first + unit <= low + range) return [first - low, count];
  }
  // The range is at least 2^24, so two bytes are always enough.
  return [Math.ceil(low / 0x10000) * 0x10000 - low, 2];
}

/** Writes the steps of a range coder: spec/packed.md, "The range coder". */
export class RangeWriter {
  private low = 0;
  private range = WHOLE;
  private readonly bytes: number[];

  constructor(head: readonly number[]) {
    this.bytes = [...head];
  }

  /** Writes `count` of the 2^`bits` parts of the range, from `first` on; `bits` is at most 16. */
  step(bits: number, first: number, count: number): void {
    const unit = this.range >>> bits;
    this.raise(unit * first);
    this.range = unit * count;
    while (this.range < SMALLEST) {
      this.bytes.push(this.low >>> 24);
      this.low = (this.low << 8) >>> 0;
      this.range = (this.range * 0x100) >>> 0;
    }
  }

  /** Writes the last bytes, and returns a copy of the message with room for `more` bytes after it. */
  finish(more: number): Uint8Array {
    const [distance, count] = ending(this.low, this.range);
    this.raise(distance);
    for (let i = 0; i < count; i++) this.bytes.push((this.low >>> (24 - 8 * i)) & 0xff);
    const message = new Uint8Array(this.bytes.length + more);
    message.set(this.bytes);
    return message;
  }

  /** Raises the lower end. A carry goes to the bytes before it. */
  private raise(by: number): void {
    this.low += by;
    if (this.low <= WHOLE) return;
    this.low -= 0x100000000;
    let at = this.bytes.length - 1;
    while (this.bytes[at] === 0xff) this.bytes[at--] = 0;
    this.bytes[at]!++;
  }
}

/** Reads the steps of a range coder. */
export class RangeReader {
  private low = 0;
  private range = WHOLE;
  /** The next four bytes as a number, minus the lower end. Bytes after the end of the message count as 0. */
  private above = 0;
  /** The number of these bits that are after the end of the message. */
  private unknown = 0;
  /** The first byte after these four. */
  private next: number;

  constructor(
    private readonly bytes: Uint8Array,
    start: number,
    private readonly length: number,
  ) {
    this.next = start;
    for (let i = 0; i < 4; i++) this.load();
  }

  /** The byte where the next step begins. */
  get offset(): number {
    return Math.min(this.next - 4, this.length);
  }

  /** Returns the part of the next step of `bits` bits. `take` must follow. */
  part(bits: number): number {
    const part = Math.floor(this.above / (this.range >>> bits));
    if (part >= 2 ** bits) throw new Fault("malformed", "a number beyond the range of the coder", this.offset);
    return part;
  }

  /** Takes the parts to which the part of this step belongs. */
  take(bits: number, first: number, count: number): void {
    const unit = this.range >>> bits;
    // Bytes that are missing decide between this and others.
    if (this.above + this.unknown >= unit * (first + count)) this.truncated();
    this.above -= unit * first;
    this.low = (this.low + unit * first) % 0x100000000;
    this.range = unit * count;
    while (this.range < SMALLEST) {
      this.load();
      this.low = (this.low << 8) >>> 0;
      this.range = (this.range * 0x100) >>> 0;
    }
  }

  /** Checks that the message ends here, with the bytes that a writer would have written. */
  finish(): void {
    const start = this.next - 4;
    const left = Math.max(this.length - start, 0);
    const [distance, count] = ending(this.low, this.range);
    if (left < count) this.truncated();
    if (left > count) throw new Fault("malformed", "bytes after the end of the message", start + count);
    if (this.above !== distance) throw new Fault("malformed", "the last bytes are not those of this message", this.offset);
  }

  private load(): void {
    const isThere = this.next < this.length;
    this.above = ((this.above << 8) | (isThere ? this.bytes[this.next]! : 0)) >>> 0;
    this.unknown = ((this.unknown << 8) | (isThere ? 0 : 0xff)) >>> 0;
    this.next++;
  }

  private truncated(): never {
    throw new Fault("truncated", "the message ends before its layout does", this.length);
  }
}
