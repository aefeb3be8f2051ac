import { DocumentWriter } from "./encoder.js";
import { EncodeError } from "./error.js";
import type { EncodeOptions } from "./options.js";
import { Fault } from "./writer.js";

/** Encodes values with the same options, into memory that it reuses. */
export class Encoder {
  readonly #options: EncodeOptions;
  readonly #writer: DocumentWriter;

  /** Throws a RangeError if an option is wrong. */
  constructor(options: EncodeOptions = {}) {
    this.#options = { ...options };
    this.#writer = new DocumentWriter(options);
  }

  /**
   * Encodes a value. Throws an EncodeError if PSON cannot express it.
   *
   * The bytes of small messages are views of larger blocks of memory, as Node's `Buffer`s are. They are never written again.
   */
  encode(value: unknown): Uint8Array<ArrayBuffer> {
    try {
      return this.#idle().message(value);
    } catch (error) {
      throw encodeError(error);
    }
  }

  /**
   * Encodes a value into `target`, from `offset` on, and returns the number of bytes. Throws an EncodeError; its kind is `truncated` if the
   * message does not fit. `target` is not changed then.
   */
  encodeInto(value: unknown, target: Uint8Array, offset = 0): number {
    try {
      return this.#idle().messageInto(value, target, offset);
    } catch (error) {
      throw encodeError(error);
    }
  }

  #idle(): DocumentWriter {
    return this.#writer.busy ? new DocumentWriter(this.#options) : this.#writer;
  }
}

function encodeError(error: unknown): unknown {
  return error instanceof Fault ? new EncodeError(error.kind, error.pointer, error.reason) : error;
}

const usual = new Encoder();

/**
 * Encodes a value. Throws an EncodeError if PSON cannot express it.
 *
 * The bytes of small messages are views of larger blocks of memory, as Node's `Buffer`s are. They are never written again.
 */
export function encode(value: unknown, options?: EncodeOptions): Uint8Array<ArrayBuffer> {
  return (options === undefined ? usual : new Encoder(options)).encode(value);
}

/**
 * Encodes a value into `target`, from `offset` on, and returns the number of bytes. Throws an EncodeError; its kind is `truncated` if the
 * message does not fit. `target` is not changed then.
 */
export function encodeInto(value: unknown, target: Uint8Array, offset = 0, options?: EncodeOptions): number {
  return (options === undefined ? usual : new Encoder(options)).encodeInto(value, target, offset);
}
