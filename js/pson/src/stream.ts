import { Frames } from "./frames.js";
// A file of its own at run time, too: both entry points of the package share it.
import { type Bytes, DecodeError, type DecodeOptions, Decoder, MAX_NESTING, MAX_SIZE } from "./index.js";

/** Turns chunks of bytes into the messages in them. It keeps at most the bytes of one message. */
class Splitter<T> {
  private readonly decoder: Decoder;
  private readonly frames: Frames;
  private readonly maxSize: number;
  /** The beginning of a message, and its length. */
  private kept = new Uint8Array(0);
  private length = 0;

  constructor(options: DecodeOptions) {
    this.decoder = new Decoder(options);
    this.maxSize = options.maxSize ?? MAX_SIZE;
    this.frames = new Frames(options.maxNesting ?? MAX_NESTING, this.maxSize);
  }

  /** Decodes the messages that end in `chunk`. */
  *push(chunk: Bytes): Generator<T, void, undefined> {
    const bytes = ArrayBuffer.isView(chunk)
      ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      : new Uint8Array(chunk);
    for (let at = 0; at < bytes.length; ) {
      const end = this.frames.end(bytes, at);
      if (end < 0) return this.keep(bytes, at, bytes.length);
      const start = at;
      at = end;
      if (this.length === 0) {
        yield this.message(bytes.subarray(start, end));
      } else {
        this.keep(bytes, start, end);
        const { length } = this;
        this.length = 0;
        yield this.message(this.kept.subarray(0, length));
      }
    }
  }

  /** Throws a DecodeError if the last message is incomplete. */
  end(): void {
    if (this.length > 0) this.decoder.decode(this.kept.subarray(0, this.length));
  }

  private message(bytes: Uint8Array): T {
    try {
      return this.decoder.decode<T>(bytes);
    } catch (error) {
      // Everything before was well-formed, so the message ended early because it announces more bytes than it may have.
      if (error instanceof DecodeError && error.kind === "truncated") {
        throw new DecodeError("limit", this.maxSize, `the message is larger than maxSize, ${this.maxSize} bytes,`);
      }
      throw error;
    }
  }

  private keep(bytes: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.kept.length) {
      const larger = new Uint8Array(Math.max(256, 2 * length));
      larger.set(this.kept.subarray(0, this.length));
      this.kept = larger;
    }
    this.kept.set(bytes.subarray(start, end), this.length);
    this.length = length;
  }
}

/**
 * Decodes the messages in chunks of bytes, which may begin and end anywhere. The messages follow each other without a separator.
 * At most the bytes of one message are kept. Throws a DecodeError; its offset counts from the start of the message at fault.
 */
export async function* decodeStream<T = unknown>(
  source: AsyncIterable<Bytes> | Iterable<Bytes> | ReadableStream<Bytes>,
  options: DecodeOptions = {},
): AsyncGenerator<T, void, undefined> {
  const splitter = new Splitter<T>(options);
  const iterable = Symbol.asyncIterator in source || Symbol.iterator in source;
  for await (const chunk of iterable ? (source as AsyncIterable<Bytes>) : chunks(source as ReadableStream<Bytes>)) {
    yield* splitter.push(chunk);
  }
  splitter.end();
}

/** The chunks of a stream, for browsers whose streams are not iterable. */
async function* chunks<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader();
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if ((finished = done)) return;
      yield value as T;
    }
  } finally {
    if (!finished) await reader.cancel();
  }
}

/** A TransformStream of bytes to messages, for `pipeThrough`; otherwise the same as `decodeStream`. */
export class DecoderStream<T = unknown> {
  readonly readable: ReadableStream<T>;
  readonly writable: WritableStream<Bytes>;

  /** Throws a RangeError if an option is wrong. */
  constructor(options: DecodeOptions = {}) {
    const splitter = new Splitter<T>(options);
    const { readable, writable } = new TransformStream<Bytes, T>({
      transform(chunk, controller) {
        for (const value of splitter.push(chunk)) controller.enqueue(value);
      },
      flush: () => splitter.end(),
    });
    this.readable = readable;
    this.writable = writable;
  }
}
