// Compiled by tests/package.test.js, never run: the types that users of the package see.

import { type Bytes, decode, type DecodeOptions, Decoder, DecodeError, decodeMulti, encode, EncodeError, Encoder, encodeInto, type Kind } from "@dunnage/pson";
import { DecoderStream, decodeStream } from "@dunnage/pson/stream";

interface Reading {
  temperature: number;
}

const message: Uint8Array<ArrayBuffer> = encode({ temperature: 23.5 } satisfies Reading, { floats: "single", maxSize: 160 });
const reading = decode<Reading>(message);
export const body: BodyInit = message;
export const temperature: number = reading.temperature;

export const readings: Reading[] = [...decodeMulti<Reading>(message), new Decoder().decode<Reading>(message)];

const options: DecodeOptions = { strict: true, bigint: "always", maps: "map", bytes: "view", maxNesting: 4 };
unknown(decode(message));
for (const value of decodeMulti(message.buffer, options)) unknown(value);
for (const value of new Decoder(options).decodeMulti(message)) unknown(value);
export const length: number = new Encoder().encodeInto(reading, message, 1) + encodeInto(reading, message);

export async function streams(response: Response, chunks: Bytes[]): Promise<void> {
  for await (const value of decodeStream(response.body!)) unknown(value);
  for await (const value of decodeStream(chunks, { maxSize: 10 })) unknown(value);
  for await (const value of decodeStream<Reading>(chunks)) places("range", value.temperature);
  response.body!.pipeThrough(new DecoderStream());
  const typed: ReadableStream<Reading> = response.body!.pipeThrough(new DecoderStream<Reading>());
  // @ts-expect-error: the reading has no such field.
  decode<Reading>(message).pressure;
  await typed.cancel();
}

try {
  decode(message);
} catch (error) {
  if (error instanceof DecodeError) places(error.kind, error.offset);
  if (error instanceof EncodeError) places(error.kind, error.pointer);
}

function unknown(value: unknown): void {
  // @ts-expect-error: the content of a message is unknown.
  value.temperature;
}

function places(kind: Kind, place: number | string): void {
  // @ts-expect-error: there is no such kind.
  if (kind === "other") throw place;
}

// @ts-expect-error: there is no such option.
decode(message, { loose: true });
// @ts-expect-error: a text is not a message.
decode("c0");
