// Answers the requests of conform/README.md with @dunnage/pson, a line each. The library builds documents, so it skips `walk`, `skip`,
// `find`, `struct` and reads of a type.

import { createInterface } from "node:readline";
import { DecodeError, Decoder, decode, EncodeError, Encoder, MAX_NESTING, MAX_SIZE } from "@dunnage/pson";
import { decodeStream } from "@dunnage/pson/stream";
import { describe, hex, parse as parseWords, unhex } from "../../conform/words.js";

/** Reads a value from its words. Maps become Maps, which keep the order of keys. */
const parse = (words) => parseWords(words, (entries) => new Map(entries));

const MODES = { lenient: {}, strict: { strict: true } };
/** Decoders of maps as Maps, which keep the order of keys, and of objects, whose faults are the same. */
const maps = Object.fromEntries(Object.entries(MODES).map(([mode, options]) => [mode, new Decoder({ ...options, maps: "map" })]));
const objects = Object.fromEntries(Object.entries(MODES).map(([mode, options]) => [mode, new Decoder(options)]));
const encoders = { lossless: new Encoder(), single: new Encoder({ floats: "single" }) };

/** The answer to decoding with `work`: its value or its error. */
async function outcome(work) {
  try {
    return ["ok", ...describe(await work(), [])].join(" ");
  } catch (error) {
    if (error instanceof DecodeError) return `error ${error.kind} ${error.offset}`;
    throw error;
  }
}

let turn = 0;

async function decodeIn(mode, bytes) {
  const answer = await outcome(() => maps[mode].decode(bytes));
  const before = hex(bytes);
  const object = await outcome(() => objects[mode].decode(bytes));
  // Objects move keys that look like indices to the front.
  if (object !== answer && !(object.startsWith("ok ") && answer.startsWith("ok ") && object.length === answer.length)) {
    return `fault objects: ${object}, Maps: ${answer}`;
  }
  // Creating streams takes long, so one message in 16 comes in chunks.
  if (turn++ % 16 === 0) {
    const streamed = await stream(mode, bytes);
    if (streamed !== answer && !(await mayDiffer(mode, bytes, answer, streamed))) return `fault in chunks: ${streamed}, at once: ${answer}`;
  }
  if (hex(bytes) !== before) return "fault the input was changed";
  return answer;
}

/** A stream reads the bytes after a message as another message, and waits for at most as many bytes as a message may have. */
async function mayDiffer(mode, bytes, answer, streamed) {
  if (streamed === `error limit ${MAX_SIZE}`) return answer === `error truncated ${bytes.length}`;
  const [, kind, offset] = answer.split(" ");
  return kind === "malformed" && (await outcome(() => maps[mode].decode(bytes.subarray(0, offset)))) === streamed;
}

async function stream(mode, bytes) {
  const step = 1 + (turn % 7);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += step) chunks.push(bytes.subarray(at, at + step));
  return outcome(async () => {
    for await (const value of decodeStream(chunks, { ...MODES[mode], maps: "map" })) return value;
    throw new DecodeError("truncated", 0, "no message");
  });
}

function encode(policy, words) {
  const value = parse(words);
  let message;
  try {
    message = encoders[policy].encode(value);
  } catch (error) {
    // An error of the whole message is at the end of what fits.
    if (error instanceof EncodeError) return `error ${error.kind} ${error.pointer === "" ? MAX_SIZE : error.pointer}`;
    throw error;
  }
  const again = encoders[policy].encode(decode(message, { maps: "map" }));
  if (hex(again) !== hex(message)) return `fault decoded and encoded again: ${hex(again)}`;
  return `ok ${hex(message)}`;
}

/** Encodes into targets of every size that is too small. */
function buffers(words) {
  const value = parse(words);
  const message = encoders.lossless.encode(value);
  const target = new Uint8Array(message.length + 2);
  for (let size = 0; size < message.length; size++) {
    target.fill(0xaa);
    try {
      encoders.lossless.encodeInto(value, target.subarray(0, 1 + size), 1);
      return `fault ${size} bytes were enough`;
    } catch (error) {
      if (!(error instanceof EncodeError) || error.kind !== "truncated") return `fault ${size} bytes: ${error}`;
      if (!error.message.includes(` ${message.length} bytes`)) return `fault ${size} bytes: the size is not told: ${error}`;
    }
    if (target.some((byte) => byte !== 0xaa)) return `fault ${size} bytes: something was written`;
  }
  const length = encoders.lossless.encodeInto(value, target, 1);
  if (length !== message.length || hex(target.subarray(1, 1 + length)) !== hex(message) || target[0] !== 0xaa || target[length + 1] !== 0xaa) {
    return "fault encodeInto and encode differ";
  }
  return "ok";
}

async function answer(line) {
  const [request, ...words] = line.split(" ");
  switch (request) {
    case "hello":
      return `ok nesting ${MAX_NESTING} size ${MAX_SIZE} float 64 line ${4 * MAX_SIZE + 100}`;
    case "decode":
      return decodeIn(words[0], unhex(words[1]));
    case "encode":
      return encode(words[0], words.slice(1).values());
    case "buffers":
      return buffers(words.values());
    default:
      return "skip";
  }
}

let out = "";
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "") {
    out += `${await answer(line).catch((error) => `fault ${error.stack.replaceAll("\n", " ")}`)}\n`;
  }
  if (line === "" || out.length > 1 << 16) {
    process.stdout.write(out);
    out = "";
  }
}
