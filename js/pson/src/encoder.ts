import type { KnownKey } from "./keys.js";
import { Fault, Writer } from "./writer.js";
import { Wire } from "./wire.js";

type Fields = { [key: string]: unknown };

const enum Bytes {
  /** Messages of up to this many bytes share a block of memory. */
  Shared = 1 << 12,
  /** The largest block of memory that is kept for the next message. */
  Kept = 1 << 22,
}

/** Writes whole messages. */
export class DocumentWriter extends Writer {
  /** Whether a message is being written. A value's `toJSON` may encode another one. */
  busy = false;

  /** Writes a message and returns its bytes, which are never written again. */
  message(value: unknown): Uint8Array<ArrayBuffer> {
    const length = this.write(value);
    const { bytes, start } = this;
    if (length > Bytes.Shared) {
      this.offset = start;
      const message = bytes.slice(start, start + length);
      this.release();
      return message;
    }
    // Faster than `subarray`.
    return new Uint8Array(this.memory, start, length);
  }

  /** Frees the memory of a very large message. */
  private release(): void {
    if (this.bytes.length > Bytes.Kept) this.reset();
  }

  /** Writes a message to `target` at `at`, and returns its length. */
  messageInto(value: unknown, target: Uint8Array, at: number): number {
    const length = this.write(value);
    const { bytes, start } = this;
    this.offset = start;
    this.release();
    const space = target.length - at;
    if (length > space) throw new Fault("truncated", `the message takes ${length} bytes, and the target has space for ${space}`, true);
    target.set(bytes.subarray(start, start + length), at);
    return length;
  }

  private write(value: unknown): number {
    this.start = this.offset;
    this.busy = true;
    try {
      this.value(value, this.maxNesting, "");
      if (this.offset - this.start > this.maxSize) this.oversized();
      return this.offset - this.start;
    } catch (error) {
      this.offset = this.start;
      throw error;
    } finally {
      this.busy = false;
    }
  }

  /** Writes a value. `levels` is how many maps and arrays may be nested from here on, `key` the value's key for `toJSON`. */
  private value(value: unknown, levels: number, key: string | number): void {
    switch (typeof value) {
      case "number":
        return this.number(value);
      case "string":
        return this.text(value);
      case "boolean":
        return this.byte(value ? Wire.True : Wire.False);
      case "object":
        if (value === null) return this.byte(Wire.Null);
        if (Array.isArray(value)) return this.array(value, levels);
        return this.object(value, levels, key);
      case "bigint":
        return this.bigint(value);
      default:
        return this.fault("type", `PSON has no ${typeof value}`);
    }
  }

  private object(value: object, levels: number, key: string | number): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) this.fields(value as Fields, levels, key);
    else this.special(value, levels, key);
  }

  private enter(levels: number): number {
    if (levels === 0) {
      this.fault("limit", `maps and arrays are nested more than maxNesting, ${this.maxNesting} levels, or contain themselves,`);
    }
    this.reserve(1);
    return this.offset++ - this.start;
  }

  private array(array: ArrayLike<unknown>, levels: number): void {
    const { length } = array;
    const at = this.enter(levels);
    let i = 0;
    try {
      for (; i < length; i++) {
        const value = array[i];
        if (value === undefined) this.byte(Wire.Null);
        else this.value(value, levels - 1, i);
      }
    } catch (error) {
      throw located(error, i);
    }
    this.close(at, Wire.Array, length);
  }

  /** Writes the enumerable properties of an object. */
  private fields(object: Fields, levels: number, outer: string | number): void {
    const at = this.enter(levels);
    let n = 0;
    let known: KnownKey | null | undefined;
    let key: string | undefined;
    try {
      for (key in object) {
        const value = object[key];
        // V8 optimizes this form in a loop over keys. `Object.hasOwn` looks up each key again.
        if (value === undefined || !Object.prototype.hasOwnProperty.call(object, key)) continue;
        if (key === "toJSON" && typeof value === "function") {
          key = undefined;
          this.offset = this.start + at;
          return this.converted(value.call(object, String(outer)), levels, outer);
        }
        n++;
        known = this.key(key, known);
        if (typeof value === "string") this.text(value);
        else this.value(value, levels - 1, key);
      }
    } catch (error) {
      throw located(error, key);
    }
    this.close(at, Wire.Map, n);
  }

  private map(map: Map<unknown, unknown>, levels: number): void {
    const at = this.enter(levels);
    let n = 0;
    let key: unknown;
    let value: unknown;
    try {
      for ([key, value] of map) {
        if (typeof key !== "string") this.fault("type", `a key of a Map is not a string, but of type ${typeof key},`);
        if (value === undefined) continue;
        n++;
        this.text(key);
        this.value(value, levels - 1, key);
      }
    } catch (error) {
      throw located(error, String(key));
    }
    this.close(at, Wire.Map, n);
  }

  /** Writes an object that is neither a plain one nor an array. */
  private special(value: object, levels: number, key: string | number): void {
    if (value instanceof Uint8Array) return this.byteString(value);
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    if (ArrayBuffer.isView(value)) {
      // Arrays of larger numbers have an order of bytes, so they are arrays of numbers here, too.
      if (!/^(DataView|Uint8)/.test(tag)) return this.array(value as unknown as ArrayLike<unknown>, levels);
      return this.byteString(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
    if (/ArrayBuffer$/.test(tag)) return this.byteString(new Uint8Array(value as ArrayBuffer));
    if (tag === "Map") return this.map(value as Map<unknown, unknown>, levels);
    if (/^(Number|String|Boolean|BigInt)$/.test(tag)) return this.value(value.valueOf(), levels, key);
    // Without properties of their own, these would become empty maps.
    if (/^(Weak|Set$|Promise)/.test(tag)) return this.fault("type", `PSON has no ${tag}; convert it`);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return this.converted(toJSON.call(value, String(key)), levels, key);
    this.fields(value as Fields, levels, key);
  }

  /** Writes what `toJSON` returned. */
  private converted(value: unknown, levels: number, key: string | number): void {
    if (typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === "function") {
      this.fault("type", "toJSON returned an object with toJSON");
    }
    this.value(value, levels, key);
  }
}

/** Notes that what failed was below `key`. */
function located(error: unknown, key: string | number | undefined): unknown {
  if (error instanceof Fault && key !== undefined) error.path.push(key);
  return error;
}
