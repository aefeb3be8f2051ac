// Messages in chunks that begin and end anywhere.

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { decode, DecodeError, encode, MAX_SIZE } from "@dunnage/pson";
import { DecoderStream, decodeStream } from "@dunnage/pson/stream";
import { message, unhex, vectors } from "./notation.js";

const MESSAGES = [{ a: 1 }, [], null, "a long text of more than thirty characters", [1.03, { b: [2 ** 40, "é".repeat(90)] }], {}, 5, new Uint8Array(200), Array.from({ length: 300 }, (_, i) => i)];
const BYTES = new Uint8Array(MESSAGES.flatMap((value) => [...encode(value)]));

function* chunks(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(source, options) {
  const values = [];
  for await (const value of decodeStream(source, options)) values.push(value);
  return values;
}

const fails = (work, kind, offset) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof DecodeError, error.stack);
    assert.deepEqual([error.kind, error.offset], [kind, offset], error.message);
    return true;
  });

test("chunks of every size give the same messages", async () => {
  for (const size of [1, 2, 3, 5, 17, 64, 1000, BYTES.length]) assert.deepEqual(await all(chunks(BYTES, size)), MESSAGES, String(size));
  assert.deepEqual(await all([]), []);
  assert.deepEqual(await all([new Uint8Array(0), BYTES.slice().buffer, Buffer.alloc(0)]), MESSAGES);
});

test("streams of Node and of the web are sources, and a TransformStream", async () => {
  assert.deepEqual(await all(Readable.from([...chunks(BYTES, 7)].map((chunk) => Buffer.from(chunk)))), MESSAGES);
  const web = () => new Blob([BYTES]).stream();
  assert.deepEqual(await all(web()), MESSAGES);
  const notIterable = { getReader: () => web().getReader() };
  assert.deepEqual(await all(notIterable), MESSAGES);
  const values = [];
  for await (const value of web().pipeThrough(new DecoderStream())) values.push(value);
  assert.deepEqual(values, MESSAGES);
});

test("every vector gives the same error in chunks of a byte", async () => {
  for (const vector of vectors("invalid")) {
    const bytes = message(vector);
    // The end of a stream has no error; bytes after a message are the next one.
    if (bytes.length === 0 || bytes.length > 1000) continue;
    const expected = vector.name.includes("trailing") ? undefined : [vector.kind, vector.offset];
    const work = all(chunks(bytes, 1));
    if (expected) {
      const error = await work.then(() => assert.fail(vector.name), (failure) => failure);
      assert.ok(error instanceof DecodeError, `${vector.name}: ${error.stack}`);
      // A stream does not wait for bytes that a message may not have.
      if (error.kind === "limit" && error.offset === MAX_SIZE) assert.equal(vector.kind, "truncated", vector.name);
      else assert.deepEqual([error.kind, error.offset], expected, vector.name);
    } else {
      await work.catch((error) => assert.ok(error instanceof DecodeError, error.stack));
    }
  }
});

test("every vector of a valid message is decoded in chunks", async () => {
  for (const vector of vectors("pson")) {
    const bytes = message(vector);
    assert.deepEqual(await all(chunks(bytes, 1 + (bytes.length >> 4))), [decode(bytes)], vector.name);
  }
});

test("a stream that ends early is truncated", async () => {
  const bytes = encode({ a: [1, "text", 1.03, new Uint8Array(40)] });
  for (let end = 1; end < bytes.length; end++) await fails(all(chunks(bytes.subarray(0, end), 3)), "truncated", end);
});

test("endless and huge messages end at the limit, with bounded memory", async () => {
  const before = process.memoryUsage().rss;
  let sent = 0;
  const endless = function* () {
    yield unhex("ffffffff0f");
    for (;;) {
      sent += 1000;
      yield new Uint8Array(1000);
    }
  };
  await fails(all(endless()), "limit", MAX_SIZE);
  assert.ok(sent < 2 * MAX_SIZE, String(sent));
  // 4 GB of text: the header is enough.
  sent = 0;
  await fails(all([unhex("9fffffffff0f")]), "limit", MAX_SIZE);
  await fails(all([new Uint8Array(40_000).fill(0xe1)]), "limit", 32);
  await fails(all([encode([1, 2, 3])], { maxSize: 3 }), "limit", 3);
  assert.deepEqual(await all([encode([1, 2])], { maxSize: 3 }), [[1, 2]]);
  assert.ok(process.memoryUsage().rss - before < 100e6);
});

test("a faulty message ends the stream, and offsets count from it", async () => {
  const seen = [];
  await fails(
    (async () => {
      for await (const value of decodeStream(chunks(unhex("01" + "e102" + "e26362"), 2))) seen.push(value);
    })(),
    "malformed",
    1,
  );
  assert.deepEqual(seen, [1, [2]]);
});

test("a reader that stops early cancels its source", async () => {
  let cancelled = false;
  const source = { getReader: () => stream.getReader() };
  const stream = new ReadableStream({ pull: (controller) => controller.enqueue(BYTES), cancel: () => void (cancelled = true) });
  for await (const value of decodeStream(source)) {
    assert.deepEqual(value, MESSAGES[0]);
    break;
  }
  assert.ok(cancelled);
});
