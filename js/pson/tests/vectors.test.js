// Every vector of spec/vectors that applies to a library that builds documents.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, DecodeError, encode, encodeInto } from "@dunnage/pson";
import { decoded, hex, load, message, objects, parse, vectors } from "./notation.js";

/** Checks that decoding fails with this kind at this offset. */
function rejects(bytes, options, kind, offset, name) {
  assert.throws(
    () => decode(bytes, options),
    (error) => {
      assert.ok(error instanceof DecodeError, `${name}: ${error.stack}`);
      assert.deepEqual([error.kind, error.offset], [kind, offset], name);
      assert.match(error.message, new RegExp(`^${kind}: .* at byte ${offset}$`));
      return true;
    },
  );
}

const MODES = [{ maps: "map" }, { maps: "object" }];

test("valid messages are decoded and encoded", () => {
  const all = vectors("pson");
  assert.ok(all.length > 250, String(all.length));
  for (const vector of all) {
    const { name } = vector;
    const bytes = message(vector);
    const value = parse(vector.value);
    const expected = decoded(value);
    // A whole float is a number in the message, too, regardless of its size.
    assert.deepEqual(decoded(decode(bytes, { maps: "map" })), expected, name);
    // Twice: the second time, the keys are known.
    for (const options of [undefined, undefined, { bytes: "view" }]) {
      if (vector.canonical) assert.deepEqual(decode(bytes, options), objects(expected), name);
      else assert.deepEqual(decoded(decode(bytes, options)), objects(expected), name);
    }
    const canonical = vector.canonical ? hex(bytes) : vector.canonical_hex;
    const into = new Uint8Array(canonical.length / 2);
    for (const given of [value, expected]) {
      assert.equal(hex(encode(given)), canonical, name);
      assert.equal(encodeInto(given, into), into.length, name);
      assert.equal(hex(into), canonical, name);
    }
    assert.equal(hex(encode(value, { floats: "single" })), vector.single_hex ?? canonical, name);
    for (const maps of MODES) {
      if (vector.canonical) decode(bytes, { ...maps, strict: true });
      else rejects(bytes, { ...maps, strict: true }, "malformed", vector.strict_offset, name);
    }
    if (vector.size !== undefined) assert.equal(encode(value).length, vector.size, name);
    if (vector.single_size !== undefined) assert.equal(encode(value, { floats: "single" }).length, vector.single_size, name);
  }
});

test("invalid messages are rejected with their kind and offset", () => {
  const all = vectors("invalid");
  assert.ok(all.length > 350, String(all.length));
  for (const vector of all) {
    const { name, kind, offset, strict_kind = kind, strict_offset = offset } = vector;
    const bytes = message(vector);
    for (const maps of MODES) {
      rejects(bytes, maps, kind, offset, name);
      rejects(bytes, { ...maps, strict: true }, strict_kind, strict_offset, name);
    }
    rejects(bytes, undefined, kind, offset, name);
  }
});

test("another implementation's bytes are ours", () => {
  // The numbers of the file keep what JSON.parse would lose.
  for (const [i, { json, hex: expected }] of load("interop.json").entries()) {
    const document = decode(Buffer.from(expected, "hex"), { strict: true, maps: "map" });
    assert.equal(hex(encode(document)), expected, String(i));
    const numbers = decode(Buffer.from(expected, "hex"), { strict: true });
    assert.deepEqual(rounded(numbers), json, String(i));
  }
});

/** The value as JSON.parse gives it: all numbers are binary64. */
function rounded(value) {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)]));
  return value;
}
