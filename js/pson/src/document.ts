import { type KnownKey, KnownKeys } from "./keys.js";
import { NOTHING, Reader } from "./reader.js";
import { Wire } from "./wire.js";

type Fields = { [key: string]: unknown };

/** Reads whole messages. */
export class DocumentReader extends Reader {
  private readonly keys = new KnownKeys();

  /** Reads the message that `bytes` are. */
  message(bytes: Uint8Array): unknown {
    const { length } = bytes;
    this.begin(bytes, 0, length);
    if (length > this.maxSize) this.oversized();
    const value = this.value(this.maxNesting);
    if (this.offset < length) this.malformed(this.offset, "bytes follow the message");
    this.bytes = NOTHING;
    return value;
  }

  /** Reads the message at `start` of `bytes`, which end at `end`. `next` is the offset after it. */
  messageAt(bytes: Uint8Array, start: number, end: number): unknown {
    const limit = start + this.maxSize;
    this.begin(bytes, start, Math.min(end, limit));
    try {
      return this.value(this.maxNesting);
    } catch (error) {
      // The bytes end here only because of the limit.
      if (end > limit && (error as { kind?: string }).kind === "truncated") this.oversized();
      throw error;
    }
  }

  /** The offset after the last message. */
  get next(): number {
    return this.offset;
  }

  private begin(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.offset = this.start = start;
    this.end = end;
    this.unviewed = 0;
  }

  private oversized(): never {
    this.fault("limit", this.start + this.maxSize, `the message is larger than maxSize, ${this.maxSize} bytes,`);
  }

  /** Reads the next item. `levels` is how many maps and arrays may be nested from here on. */
  private value(levels: number): unknown {
    const at = this.offset;
    if (at >= this.end) this.truncated();
    const header = this.bytes[at]!;
    this.offset = at + 1;
    const n = header & 31;
    switch (header >> 5) {
      case Wire.Unsigned >> 5:
        return n < Wire.Varint ? this.integer(n, at) : this.longInteger(at, false);
      case Wire.Negative >> 5:
        return n < Wire.Varint ? this.integer(-n, at) : this.longInteger(at, true);
      case Wire.Binary32 >> 5:
        if (n === 0) return this.binary32(at);
        if (n === 1) return this.binary64(at);
        return this.malformed(at, "a float is neither binary32 nor binary64");
      case Wire.Null >> 5:
        if (header === Wire.Null) return null;
        if (header < Wire.Null) return header === Wire.True;
        return this.malformed(at, "a discrete item is not false, true or null");
      case Wire.Text >> 5:
        return this.text(at, n < Wire.Varint ? n : this.varint(at));
      case Wire.Bytes >> 5:
        return this.byteString(n < Wire.Varint ? n : this.varint(at));
      case Wire.Map >> 5: {
        if (levels === 0) this.nested(at);
        const entries = n < Wire.Varint ? n : this.varint(at);
        return this.asMap ? this.map(entries, levels - 1) : this.object(entries, levels - 1);
      }
      default:
        if (levels === 0) this.nested(at);
        return this.array(n < Wire.Varint ? n : this.varint(at), levels - 1);
    }
  }

  private nested(at: number): never {
    this.fault("limit", at, `maps and arrays are nested more than maxNesting, ${this.maxNesting} levels,`);
  }

  private array(n: number, levels: number): unknown[] {
    // Grows with the bytes that are present, regardless of `n`.
    const array: unknown[] = [];
    for (let i = 0; i < n; i++) array.push(this.value(levels));
    return array;
  }

  private object(n: number, levels: number): Fields {
    const object: Fields = {};
    let known = this.keys.root(n);
    for (let i = 0; i < n; i++) {
      const next = known === null ? null : this.knownKey(known);
      if (next !== null) {
        known = next;
        object[next.key] = this.value(levels);
        continue;
      }
      const at = this.offset;
      const key = this.key();
      if (Object.prototype.hasOwnProperty.call(object, key)) this.duplicate(at, key);
      if (known !== null) known = this.keys.add(known, key, this.bytes, at, this.offset);
      if (key in Object.prototype) define(object, key, this.value(levels));
      else object[key] = this.value(levels);
    }
    return object;
  }

  /** Reads the next key if it is one of those that followed `known` before. */
  private knownKey(known: KnownKey): KnownKey | null {
    const { bytes, offset, end } = this;
    next: for (let child = known.child; child !== null; child = child.sibling) {
      const { item } = child;
      const { length } = item;
      if (offset + length > end) continue;
      for (let i = 0; i < length; i++) {
        if (bytes[offset + i] !== item[i]) continue next;
      }
      this.offset = offset + length;
      return child;
    }
    return null;
  }

  private map(n: number, levels: number): Map<string, unknown> {
    const map = new Map<string, unknown>();
    for (let i = 0; i < n; i++) {
      const at = this.offset;
      const key = this.key();
      if (map.has(key)) this.duplicate(at, key);
      map.set(key, this.value(levels));
    }
    return map;
  }

  private key(): string {
    const at = this.offset;
    if (at >= this.end) this.truncated();
    const header = this.bytes[at]!;
    if (header >> 5 !== Wire.Text >> 5) this.malformed(at, "a key is not a string");
    this.offset = at + 1;
    const n = header & 31;
    return this.text(at, n < Wire.Varint ? n : this.varint(at));
  }

  private duplicate(at: number, key: string): never {
    this.malformed(at, `duplicate key ${JSON.stringify(key)}`);
  }
}

/** Creates the property `key`, also where an assignment would call a setter, as for `__proto__`. */
function define(object: Fields, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
