import type { Kind } from "./error.js";
import { type KnownKey, KnownKeys } from "./keys.js";
import { type EncodeOptions, encoding } from "./options.js";
import { isWellFormed, writeLongText, writeShortText } from "./text.js";
import { END, LEAST, Wire } from "./wire.js";

const enum Bytes {
  /** The longest item without content: a header and a varint of 10 bytes. */
  Longest = 11,
  /** Up to this length of text, a loop is faster than native code. */
  Short = 40,
  /** Messages are written into blocks of this size. Longer ones have a block of their own until they are done. */
  Block = 1 << 14,
}

/** The fault of a value that cannot be encoded, before its place is known. */
export class Fault {
  /** The keys and indices that lead to the value, innermost first. */
  readonly path: (string | number)[] = [];

  constructor(
    readonly kind: Kind,
    readonly reason: string,
    /** Whether the fault is that of the whole message. */
    readonly whole = false,
  ) {}

  /** The JSON pointer of the value. */
  get pointer(): string {
    if (this.whole) return "";
    return this.path.reduceRight<string>((pointer, key) => `${pointer}/${String(key).replace(/~/g, "~0").replace(/\//g, "~1")}`, "");
  }
}

/** Writes items in canonical form, one after another. */
export class Writer {
  protected bytes = new Uint8Array(Bytes.Block);
  /** The memory of `bytes`, and another view of it. */
  protected memory: ArrayBuffer = this.bytes.buffer;
  private view = new DataView(this.memory);
  /** Where the next byte goes, and where the message began. */
  protected offset = 0;
  protected start = 0;
  protected readonly maxNesting: number;
  protected readonly maxSize: number;
  private readonly single: boolean;
  protected readonly keys = new KnownKeys();

  constructor(options: EncodeOptions) {
    const { maxNesting, maxSize, single } = encoding(options);
    this.maxNesting = maxNesting;
    this.maxSize = maxSize;
    this.single = single;
  }

  protected fault(kind: Kind, reason: string): never {
    throw new Fault(kind, reason);
  }

  protected oversized(): never {
    throw new Fault("limit", `the message is larger than maxSize, ${this.maxSize} bytes`, true);
  }

  /** Makes space for `n` bytes. */
  protected reserve(n: number): void {
    if (this.offset + n > this.bytes.length) this.grow(n);
  }

  /** Begins a new block of memory. */
  protected reset(): void {
    this.block(Bytes.Block);
    this.start = this.offset = 0;
  }

  private block(size: number): void {
    this.bytes = new Uint8Array(size);
    this.memory = this.bytes.buffer;
    this.view = new DataView(this.memory);
  }

  private grow(n: number): void {
    const { bytes, start, offset } = this;
    const length = offset - start;
    if (length > this.maxSize) this.oversized();
    this.block(Math.max(Bytes.Block, 2 * (length + n)));
    this.bytes.set(bytes.subarray(start, offset));
    this.start = 0;
    this.offset = length;
  }

  /** Writes a byte: an item without content, or a part of one. */
  protected byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.offset++] = byte;
  }

  /** Writes a header with the number `n`, which is a safe integer. */
  protected header(type: Wire, n: number): void {
    this.reserve(Bytes.Longest);
    const { bytes } = this;
    if (n < Wire.Varint) {
      bytes[this.offset++] = type | n;
      return;
    }
    let at = this.offset;
    bytes[at++] = type | Wire.Varint;
    for (; n > 0x7fffffff; n = Math.floor(n / 128)) bytes[at++] = (n % 128) | 0x80;
    for (; n > 0x7f; n >>>= 7) bytes[at++] = (n & 0x7f) | 0x80;
    bytes[at++] = n;
    this.offset = at;
  }

  /** Writes a header with a number from 31 to 2^64 - 1. */
  private largeHeader(type: Wire, n: bigint): void {
    this.byte(type | Wire.Varint);
    for (; n > 0x7fn; n >>= 7n) this.byte(Number(n & 0x7fn) | 0x80);
    this.byte(Number(n));
  }

  protected number(n: number): void {
    const integer = n | 0;
    if (integer !== n) this.longNumber(n);
    else if (integer > 0) this.header(Wire.Unsigned, integer);
    else if (integer < 0) this.header(Wire.Negative, -integer);
    else if (Object.is(n, -0)) this.binary32(n);
    else this.byte(Wire.Unsigned);
  }

  /** Writes a number that is not an integer of 32 bits. */
  private longNumber(n: number): void {
    if (Number.isInteger(n) && n >= LEAST && n < END) {
      if (Number.isSafeInteger(n)) this.header(n < 0 ? Wire.Negative : Wire.Unsigned, Math.abs(n));
      else this.bigint(BigInt(n));
      return;
    }
    const rounded = Math.fround(n);
    if (rounded === n || n !== n) {
      this.binary32(n);
    } else if (this.single && Number.isFinite(rounded)) {
      this.number(rounded);
    } else {
      this.reserve(Bytes.Longest);
      this.byte(Wire.Binary64);
      this.view.setFloat64(this.offset, n, true);
      this.offset += 8;
    }
  }

  private binary32(n: number): void {
    this.reserve(Bytes.Longest);
    this.byte(Wire.Binary32);
    if (n === n) this.view.setFloat32(this.offset, n, true);
    // A machine may have other bits for NaN.
    else this.view.setInt32(this.offset, 0x7fc00000, true);
    this.offset += 4;
  }

  protected bigint(n: bigint): void {
    const magnitude = n < 0n ? -n : n;
    if (n < LEAST || n >= END) this.fault("range", "a bigint is outside -2^63 to 2^64 - 1");
    const type = n < 0n ? Wire.Negative : Wire.Unsigned;
    if (magnitude < Wire.Varint) this.header(type, Number(magnitude));
    else this.largeHeader(type, magnitude);
  }

  protected byteString(content: Uint8Array): void {
    const { length } = content;
    if (length > this.maxSize) this.oversized();
    this.header(Wire.Bytes, length);
    this.reserve(length);
    this.bytes.set(content, this.offset);
    this.offset += length;
  }

  protected text(text: string): void {
    const { length } = text;
    if (length > Bytes.Short) return this.longText(text);
    // A header, a varint of one byte, and three bytes per character.
    this.reserve(2 + 3 * Bytes.Short);
    const { bytes } = this;
    const at = this.offset;
    let end = at + (length < Wire.Varint ? 1 : 2);
    let i = 0;
    for (; i < length; i++) {
      const c = text.charCodeAt(i);
      if (c > 0x7f) break;
      bytes[end++] = c;
    }
    if (i < length) return this.wideText(text);
    bytes[at] = Wire.Text | Math.min(length, Wire.Varint);
    if (length >= Wire.Varint) bytes[at + 1] = length;
    this.offset = end;
  }

  /** Writes a key that follows `parent`, if `parent` is known, and returns the parent of the next key. First keys are kept by their lengths. */
  protected key(key: string, parent: KnownKey | null = this.keys.root(key.length)): KnownKey | null {
    let known = parent && parent.child;
    while (known !== null && known.key !== key) known = known.sibling;
    if (known === null) {
      const at = this.offset - this.start;
      this.text(key);
      return parent && this.keys.add(parent, key, this.bytes, this.start + at, this.offset);
    }
    const { item } = known;
    const { length } = item;
    this.reserve(Bytes.Longest + length);
    const { bytes, view, offset } = this;
    view.setFloat64(offset, known.head);
    for (let i = 8; i < length; i++) bytes[offset + i] = item[i]!;
    this.offset = offset + length;
    return known;
  }

  /** Writes a short text that is not ASCII. There is space for it. */
  private wideText(text: string): void {
    const at = this.offset;
    const end = writeShortText(this.bytes, at + 2, text);
    if (end < 0) this.lone();
    this.header(Wire.Text, end - at - 2);
    this.bytes.copyWithin(this.offset, at + 2, end);
    this.offset += end - at - 2;
  }

  private longText(text: string): void {
    const { length } = text;
    if (length > this.maxSize) this.oversized();
    if (!isWellFormed(text)) this.lone();
    this.reserve(Bytes.Longest + 3 * length);
    const at = this.offset;
    // Most texts are ASCII. Others are moved if their varint is longer.
    this.header(Wire.Text, length);
    const guess = this.offset;
    const size = writeLongText(this.bytes, guess, text);
    this.offset = at;
    if (size >= 128) {
      const content = at + 1 + varintLength(size);
      if (content !== guess) this.bytes.copyWithin(content, guess, guess + size);
    }
    this.header(Wire.Text, size);
    this.offset += size;
  }

  private lone(): never {
    this.fault("type", "a string has a lone surrogate, which UTF-8 cannot express,");
  }

  /** Writes the header of the map or array that begins at `at`, where one byte was left for it, and has `n` entries. */
  protected close(at: number, type: Wire, n: number): void {
    if (n < Wire.Varint) {
      this.bytes[this.start + at] = type | n;
      return;
    }
    const more = varintLength(n);
    this.reserve(more);
    const from = this.start + at + 1;
    this.bytes.copyWithin(from + more, from, this.offset);
    const end = this.offset + more;
    this.offset = from - 1;
    this.header(type, n);
    this.offset = end;
  }
}

/** The number of bytes of a varint of less than 2^31. */
function varintLength(n: number): number {
  let length = 1;
  for (; n > 0x7f; n >>>= 7) length++;
  return length;
}
