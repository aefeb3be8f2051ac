import type { Form } from "./past.js";
import { Fault } from "./walk.js";
import type { Whole } from "./whole.js";
import { type Sink, type Source, bitsOf } from "./wire.js";

/** The size of a sized number that has all of its 64 bits. */
const FULL = 63;

/** Writes the parts of a plain body: each byte is filled from its highest bit down. */
export class BitWriter implements Sink {
  readonly coded = false;
  private bytes = new Uint8Array(64);
  private length = 0;
  /** Bits that are not yet in a byte, and their number, below 8. */
  private pending = 0;
  private used = 0;

  /** Begins a message with these bytes. */
  begin(head: readonly number[]): void {
    this.length = this.pending = this.used = 0;
    for (const byte of head) this.push(byte);
  }

  /** Fills the last byte with zeros, and returns a copy of the message with room for `more` bytes after it. */
  finish(more: number): Uint8Array {
    if (this.used > 0) this.few(0, 8 - this.used);
    const message = new Uint8Array(this.length + more);
    message.set(this.bytes.subarray(0, this.length));
    return message;
  }

  private push(byte: number): void {
    if (this.length === this.bytes.length) {
      const larger = new Uint8Array(2 * this.length);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.length++] = byte;
  }

  /** Writes up to 24 bits. */
  private few(value: number, bits: number): void {
    let left = (this.pending << bits) | value;
    this.used += bits;
    while (this.used >= 8) {
      this.used -= 8;
      this.push((left >>> this.used) & 0xff);
    }
    this.pending = left & ((1 << this.used) - 1);
  }

  bits(value: number, bits: number): void {
    if (bits > 24) {
      this.bits(Math.floor(value / 0x1000000), bits - 24);
      this.few(value % 0x1000000, 24);
    } else if (bits > 0) {
      this.few(value, bits);
    }
  }

  wideBits(value: bigint, bits: number): void {
    if (bits > 32) this.bits(Number(value >> 32n), bits - 32);
    this.bits(Number(value & 0xffffffffn), Math.min(bits, 32));
  }

  index(_leaf: number, value: number, count: number): void {
    this.bits(value, bitsOf(count));
  }

  wideIndex(_leaf: number, value: bigint, count: bigint): void {
    this.wideBits(value, bitsOf(count));
  }

  opaque(_leaf: number, _form: Form, _value: Whole | string, write: () => void): void {
    write();
  }

  enter(): void {}

  leave(): void {}
}

/** Reads the parts of a plain body. */
export class BitReader implements Source {
  readonly coded = false;
  private at: number;
  private readonly end: number;

  constructor(
    private readonly bytes: Uint8Array,
    start: number,
    private readonly length: number,
  ) {
    this.at = 8 * start;
    this.end = 8 * length;
  }

  get offset(): number {
    return this.at >>> 3;
  }

  /** Checks that the message ends here. */
  finish(): void {
    const { offset } = this;
    const fill = -this.at & 7;
    if (this.bits(fill) !== 0) throw new Fault("malformed", "the bits that fill the last byte are not 0", offset);
    const end = this.at >>> 3;
    if (end < this.length) throw new Fault("malformed", `bytes behind the message: ${this.length - end}`, end);
  }

  /** Reads up to 24 bits. */
  private few(bits: number): number {
    const { at, bytes } = this;
    const end = at + bits;
    if (end > this.end) throw new Fault("truncated", "the message ends before its layout does", this.length);
    this.at = end;
    const byte = at >>> 3;
    const window = (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
    return bits === 0 ? 0 : (window << (at & 7)) >>> (32 - bits);
  }

  bits(bits: number): number {
    return bits > 24 ? this.bits(bits - 24) * 0x1000000 + this.few(24) : this.few(bits);
  }

  wideBits(bits: number): bigint {
    const high = bits > 32 ? this.bits(bits - 32) : 0;
    return (BigInt(high) << 32n) | BigInt(this.bits(Math.min(bits, 32)));
  }

  index(_leaf: number, count: number): number {
    const { offset } = this;
    const value = this.bits(bitsOf(count));
    return value < count ? value : outOfRange(offset, value, count);
  }

  wideIndex(_leaf: number, count: bigint): bigint {
    const { offset } = this;
    const value = this.wideBits(bitsOf(count));
    return value < count ? value : outOfRange(offset, value, count);
  }

  opaque<T extends Whole | string>(_leaf: number, _form: Form, read: () => T): T {
    return read();
  }

  enter(): void {}

  leave(): void {}
}

export function outOfRange(offset: number, value: number | bigint, count: number | bigint): never {
  throw new Fault("range", `${value} is not below ${count}`, offset);
}

/** Writes a sized number, 0 to 2^64 - 1. */
export function writeSized(sink: Sink, value: bigint): void {
  const significant = value === 0n ? 0 : value.toString(2).length;
  if (significant >= FULL) {
    sink.bits(FULL, 6);
    sink.wideBits(value, 64);
  } else {
    sink.bits(significant, 6);
    if (significant > 1) sink.wideBits(value - (1n << BigInt(significant - 1)), significant - 1);
  }
}

/** Reads a sized number. */
export function readSized(source: Source): bigint {
  const { offset } = source;
  const size = source.bits(6);
  if (size === 0) return 0n;
  if (size < FULL) return (1n << BigInt(size - 1)) | (size > 1 ? source.wideBits(size - 1) : 0n);
  const value = source.wideBits(64);
  if (value >> 62n === 0n) throw new Fault("malformed", "a number with more bits than it needs", offset);
  return value;
}
