// Properties of all values and bytes, tested on random ones. A failure prints the seed and the smallest value that fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decode, DecodeError, encode, encodeInto } from "@dunnage/pson";
import { decoded, hex, objects } from "./notation.js";

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ maxLength: 20 }));
const number = fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger(), fc.float());
const bigint = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
const bytes = fc.uint8Array({ maxLength: 70 });

/** Values as decoding with `maps: "map"` gives them. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    bigint,
    text,
    bytes,
    fc.array(tie("value"), { maxLength: 40 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 40 }).map((entries) => new Map(entries)),
  ),
}));

/** Checks the property on a thousand random inputs. */
const holds = (arbitrary, property, runs = 1000) => fc.assert(fc.property(arbitrary, property), { numRuns: runs });

/** Safe bigints are decoded as numbers. */
function normal(item) {
  if (typeof item === "bigint") return Number.isSafeInteger(Number(item)) ? Number(item) : item;
  if (Array.isArray(item)) return item.map(normal);
  if (item instanceof Map) return new Map([...item].map(([key, inner]) => [key, normal(inner)]));
  return decoded(item);
}

test("decoding returns what was encoded", () =>
  holds(value, (given) => {
    const message = encode(given);
    assert.deepEqual(decode(message, { maps: "map", strict: true }), normal(given));
    assert.deepEqual(decode(message), objects(normal(given)));
  }));

test("encoding again gives the same bytes", () =>
  holds(value, (given) => {
    const message = encode(given);
    assert.equal(hex(encode(decode(message, { maps: "map" }))), hex(message));
    assert.equal(hex(encode(decode(message, { maps: "map", bigint: "always" }))), hex(message));
    const into = new Uint8Array(message.length);
    assert.equal(encodeInto(given, into), into.length);
    assert.equal(hex(into), hex(message));
  }));

test("the single policy rounds once", () =>
  holds(value, (given) => {
    const message = encode(given, { floats: "single" });
    assert.equal(hex(encode(decode(message, { maps: "map" }), { floats: "single" })), hex(message));
    assert.ok(message.length <= encode(given).length);
  }));

test("every prefix of a valid message is truncated", () =>
  holds(
    value,
    (given) => {
      const message = encode(given).subarray(0, 300);
      for (let end = 0; end < message.length; end++) {
        assert.throws(
          () => decode(message.subarray(0, end)),
          (error) => error instanceof DecodeError && error.kind === "truncated" && error.offset === end,
        );
      }
    },
    300,
  ));

test("random bytes are a message or an error with a kind and an offset", () =>
  holds(fc.uint8Array({ maxLength: 100 }), (given) => {
    for (const options of [{}, { maps: "map" }, { strict: true }]) {
      try {
        decode(given, options);
      } catch (error) {
        assert.ok(error instanceof DecodeError, error.stack);
        assert.ok(error.offset <= given.length);
      }
    }
  }));

test("JSON comes back", () => holds(fc.json(), (json) => assert.deepEqual(decode(encode(JSON.parse(json)), { bigint: "never" }), JSON.parse(json))));
