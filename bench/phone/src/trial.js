// The paper's procedure: two sets of iterations directly after each other; the smaller mean counts.

import { read, write } from "./files.js";

/** The iterations of a batch. A browser takes milliseconds to write a file. */
const BATCH = { memory: 1000, file: 100 };

/** Each iteration changes this value, so that no engine removes the work as unused. */
let sink = 0;

/**
 * Times one operation of one format on one object. Returns the nanoseconds of an iteration in each set. With a `file`, text is written to it
 * and read from it.
 * @throws {Error} if the object does not come back as it was.
 */
export async function trial(format, object, operation, batch, file) {
  const codec = format.make(object);
  const bytes = Uint8Array.from(codec.encode(object.value));
  checkRoundTrip(codec.decode(bytes), object);
  if (file) await write(file, bytes);
  const once = iteration(codec, object.value, bytes, operation, file);
  const count = batch ? BATCH[file ? "file" : "memory"] : 1;
  return { bytes: bytes.length, sets: [await time(once, count), await time(once, count)], count };
}

function iteration(codec, value, bytes, operation, file) {
  if (operation === "serialize") {
    return file ? async () => write(file, codec.encode(value)) : () => void (sink ^= codec.encode(value).length);
  }
  const use = (decoded) => void (sink ^= decoded.title.length);
  return file ? async () => use(codec.decode(await read(file))) : () => use(codec.decode(bytes));
}

/** The nanoseconds of an iteration. */
async function time(once, count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    const pending = once();
    if (pending) await pending;
  }
  return ((performance.now() - start) * 1e6) / count;
}

function checkRoundTrip(decoded, { name, value, fields }) {
  for (const { name: key } of fields) {
    if (decoded[key] !== value[key]) throw new Error(`${name}.${key} came back as ${JSON.stringify(decoded[key])}`);
  }
}
