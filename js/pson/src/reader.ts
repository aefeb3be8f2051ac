import { DecodeError, type Kind } from "./error.js";
import { type DecodeOptions, decoding } from "./options.js";
import { readText } from "./text.js";
import { END, LEAST, Wire } from "./wire.js";

export const NOTHING: Uint8Array = new Uint8Array(0);

/** Converts the bits of numbers, in the wire's order on every machine. */
const scratch = new DataView(new ArrayBuffer(8));
const enum Floats {
  /** This many are read before a view of the message pays off. */
  Few = 6,
}

/** Reads the parts of items. Offsets are into `bytes`, and become those of the message in errors. */
export class Reader {
  protected bytes: Uint8Array = NOTHING;
  /** The next byte. */
  protected offset = 0;
  /** Where the message begins, and where its bytes end. */
  protected start = 0;
  protected end = 0;
  /** The bytes of `dataView`, and how many floats were read from others. */
  private viewed: Uint8Array = NOTHING;
  private dataView: DataView = scratch;
  protected unviewed = 0;
  protected readonly strict: boolean;
  protected readonly maxNesting: number;
  protected readonly maxSize: number;
  protected readonly asMap: boolean;
  private readonly view: boolean;
  private readonly always: boolean;
  private readonly never: boolean;

  constructor(options: DecodeOptions) {
    const { strict, maxNesting, maxSize, bigint, asMap, view } = decoding(options);
    this.strict = strict;
    this.maxNesting = maxNesting;
    this.maxSize = maxSize;
    this.asMap = asMap;
    this.view = view;
    this.always = bigint === "always";
    this.never = bigint === "never";
  }

  protected fault(kind: Kind, at: number, reason: string): never {
    throw new DecodeError(kind, at - this.start, reason);
  }

  protected malformed(at: number, reason: string): never {
    this.fault("malformed", at, reason);
  }

  protected truncated(): never {
    this.fault("truncated", this.end, this.end === this.start ? "the message is empty" : "the message ends early");
  }

  /** Reads the varint of the item at `at`. From 2^53 on, the result is not exact. */
  protected varint(at: number): number {
    const { bytes, end, offset } = this;
    if (offset < end) {
      const first = bytes[offset]!;
      if (first < 0x80) {
        if (this.strict && first < Wire.Varint) this.redundant(at);
        this.offset = offset + 1;
        return first;
      }
    }
    let n = 0;
    let scale = 1;
    for (let i = offset; i < end; i++) {
      const byte = bytes[i]!;
      if (i === offset + 9 && byte > 1) this.malformed(at, "a varint exceeds 2^64 - 1");
      n += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (this.strict && byte === 0) this.redundant(at);
        this.offset = i + 1;
        return n;
      }
      scale *= 128;
    }
    return this.truncated();
  }

  private redundant(at: number): never {
    this.malformed(at, "a varint has redundant bytes");
  }

  /** Reads the integer whose header is at `at`, and whose magnitude is a varint. */
  protected longInteger(at: number, negative: boolean): number | bigint {
    const n = this.varint(at);
    if (n > Number.MAX_SAFE_INTEGER) return this.largeInteger(at, negative);
    return this.integer(negative ? -n : n, at);
  }

  /** Returns a safe integer, as the options want it. `n` is -0 for a negative integer with magnitude 0. */
  protected integer(n: number, at: number): number | bigint {
    if (n === 0) {
      if (this.strict && Object.is(n, -0)) this.malformed(at, "zero is written as a negative integer");
      n = 0;
    }
    return this.always ? BigInt(n) : n;
  }

  /** Returns the integer of the item from `at` to the current offset. Its magnitude is at least 2^53. */
  private largeInteger(at: number, negative: boolean): number | bigint {
    let n = 0n;
    for (let i = this.offset - 1; i > at; i--) n = (n << 7n) | BigInt(this.bytes[i]! & 0x7f);
    if (negative) n = -n;
    if (n < LEAST) this.fault("range", at, "an integer is below -2^63");
    if (!this.never) return n;
    const number = Number(n);
    if (BigInt(number) !== n) {
      this.fault("range", at, 'an integer that no number holds exactly, and bigint is "never",');
    }
    return number;
  }

  /** Reads the text of `n` bytes of the item at `at`. */
  protected text(at: number, n: number): string {
    const start = this.offset;
    const stop = start + n;
    if (stop > this.end) this.truncated();
    const text = readText(this.bytes, start, stop);
    if (text === null) this.malformed(at, "a string is not UTF-8");
    this.offset = stop;
    return text;
  }

  /** Reads a byte string of `n` bytes. */
  protected byteString(n: number): Uint8Array {
    const start = this.offset;
    const stop = start + n;
    if (stop > this.end) this.truncated();
    this.offset = stop;
    const { buffer, byteOffset } = this.bytes;
    const view = new Uint8Array(buffer, byteOffset + start, n);
    return this.view ? view : new Uint8Array(view);
  }

  protected binary32(at: number): number {
    const i = this.offset;
    if (i + 4 > this.end) this.truncated();
    this.offset = i + 4;
    const bits = this.bits(i);
    scratch.setInt32(0, bits, true);
    const f = scratch.getFloat32(0, true);
    if (this.strict && (isInteger(f) || (f !== f && bits !== 0x7fc00000))) this.notCanonical(at);
    return f;
  }

  protected binary64(at: number): number {
    const i = this.offset;
    if (i + 8 > this.end) this.truncated();
    this.offset = i + 8;
    let f: number;
    if (this.bytes === this.viewed) {
      f = this.dataView.getFloat64(i, true);
    } else {
      // Creating a DataView takes as long as this does some times over.
      if (++this.unviewed > Floats.Few) this.createView();
      scratch.setInt32(0, this.bits(i), true);
      scratch.setInt32(4, this.bits(i + 4), true);
      f = scratch.getFloat64(0, true);
    }
    if (this.strict && (isInteger(f) || f !== f || Math.fround(f) === f)) this.notCanonical(at);
    return f;
  }

  /** Returns the 4 bytes at `i` as an integer. */
  private bits(i: number): number {
    const { bytes } = this;
    return bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
  }

  private createView(): void {
    const { buffer, byteOffset, byteLength } = this.viewed = this.bytes;
    this.dataView = new DataView(buffer, byteOffset, byteLength);
  }

  private notCanonical(at: number): never {
    this.malformed(at, "a float is not in canonical form");
  }
}

/** Whether PSON writes a float as an integer: it is whole, not -0, and in -2^63 to 2^64-1. */
function isInteger(f: number): boolean {
  return Number.isInteger(f) && f >= LEAST && f < END && !Object.is(f, -0);
}
