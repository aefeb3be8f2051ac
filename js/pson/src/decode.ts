import { DocumentReader } from "./document.js";
import type { DecodeOptions } from "./options.js";

/** The bytes of a message: a `Uint8Array` (Node's `Buffer` is one), another view, or an `ArrayBuffer`. */
export type Bytes = ArrayBufferView | ArrayBufferLike;

/** Decodes messages with the same options. It is faster than `decode` with options, because it remembers keys. */
export class Decoder {
  readonly #reader: DocumentReader;

  /** Throws a RangeError if an option is wrong. */
  constructor(options: DecodeOptions = {}) {
    this.#reader = new DocumentReader(options);
  }

  /** Decodes a message. Throws a DecodeError if `bytes` are anything else. `T` is the type of the value, as the caller knows it; nothing checks it. */
  decode<T = unknown>(bytes: Bytes): T {
    return this.#reader.message(view(bytes)) as T;
  }

  /** Decodes messages that follow each other without a separator, one at a time. The offset of an error counts from its message. */
  *decodeMulti<T = unknown>(bytes: Bytes): Generator<T, void, undefined> {
    const input = view(bytes);
    for (let at = 0; at < input.length; ) {
      const value = this.#reader.messageAt(input, at, input.length);
      at = this.#reader.next;
      yield value as T;
    }
  }
}

/** Returns the bytes as a Uint8Array, without copying them. */
export function view(bytes: Bytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (/ (Shared)?ArrayBuffer]$/.test(Object.prototype.toString.call(bytes))) return new Uint8Array(bytes);
  throw new TypeError("a message must be a Uint8Array, another view or an ArrayBuffer");
}

const usual = new Decoder();

/** Decodes a message. Throws a DecodeError if `bytes` are anything else. `T` is the type of the value, as the caller knows it; nothing checks it. */
export function decode<T = unknown>(bytes: Bytes, options?: DecodeOptions): T {
  return (options === undefined ? usual : new Decoder(options)).decode<T>(bytes);
}

/** Decodes messages that follow each other without a separator, one at a time. The offset of an error counts from its message. */
export function decodeMulti<T = unknown>(bytes: Bytes, options?: DecodeOptions): Generator<T, void, undefined> {
  return new Decoder(options).decodeMulti<T>(bytes);
}
