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

  /** Decodes a message. Throws a DecodeError if `bytes` are anything else. */
  decode(bytes: Bytes): unknown {
    return this.#reader.message(view(bytes));
  }

  /** Decodes messages that follow each other without a separator, one at a time. The offset of an error counts from its message. */
  *decodeMulti(bytes: Bytes): Generator<unknown, void, undefined> {
    const input = view(bytes);
    for (let at = 0; at < input.length; ) {
      const value = this.#reader.messageAt(input, at, input.length);
      at = this.#reader.next;
      yield value;
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

/** Decodes a message. Throws a DecodeError if `bytes` are anything else. */
export function decode(bytes: Bytes, options?: DecodeOptions): unknown {
  return (options === undefined ? usual : new Decoder(options)).decode(bytes);
}

/** Decodes messages that follow each other without a separator, one at a time. The offset of an error counts from its message. */
export function decodeMulti(bytes: Bytes, options?: DecodeOptions): Generator<unknown, void, undefined> {
  return new Decoder(options).decodeMulti(bytes);
}
