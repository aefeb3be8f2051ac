// How values of JavaScript become messages, and messages values.

import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { decode, decodeMulti, Decoder, DecodeError, encode, Encoder, encodeInto, EncodeError } from "@dunnage/pson";
import { hex, unhex } from "./notation.js";

const same = (value, expected) => assert.equal(hex(encode(value)), hex(encode(expected)));

test("undefined is left out of objects and null in arrays, as in JSON", () => {
  same({ a: undefined, b: 1 }, { b: 1 });
  // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
  same([undefined, 1, , 2], [null, 1, null, 2]);
  same(new Map([["a", undefined], ["b", 1]]), { b: 1 });
});

test("toJSON is called, so dates are texts", () => {
  const date = new Date(0);
  same({ date }, { date: "1970-01-01T00:00:00.000Z" });
  same([new Date(NaN)], [null]);
  same({ a: { b: 1, toJSON: (key) => `key ${key}` } }, { a: "key a" });
  same([{ toJSON: (key) => key }], ["0"]);
  class Reading {
    #value = 5;
    toJSON() {
      return { value: this.#value };
    }
  }
  same(new Reading(), { value: 5 });
});

test("class instances are their own enumerable properties", () => {
  class Base {
    a = 1;
    get hidden() {
      return 2;
    }
  }
  Base.prototype.inherited = 3;
  class Derived extends Base {
    b = 2;
  }
  same(new Derived(), { a: 1, b: 2 });
  same(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true }, not: { value: 3 } }), { own: 2 });
  same(Object.assign(Object.create(null), { a: 1 }), { a: 1 });
});

test("binary views are bytes, arrays of larger numbers are arrays", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  for (const value of [bytes, Buffer.from(bytes), bytes.buffer, new DataView(bytes.buffer), new Uint8ClampedArray(bytes)]) {
    assert.equal(hex(encode(value)), "a3010203");
  }
  assert.equal(hex(encode(new DataView(bytes.buffer, 1))), "a20203");
  same([new Float64Array([1.5, 2]), new Int16Array([-1]), new BigUint64Array([2n ** 63n])], [[1.5, 2], [-1], [2n ** 63n]]);
  const long = new Uint8Array(1000).fill(7);
  assert.deepEqual(decode(encode(long)), long);
});

test("boxed values are their values", () => same([new Number(1), new String("a"), new Boolean(false), Object(5n)], [1, "a", false, 5n]));

test("values of other realms are the same", () => {
  const foreign = vm.runInNewContext("({ a: [1, { b: null }], bytes: new Uint8Array([1]), map: new Map([['k', 1]]), date: new Date(0), buffer: new ArrayBuffer(1) })");
  same(foreign, { a: [1, { b: null }], bytes: new Uint8Array([1]), map: { k: 1 }, date: "1970-01-01T00:00:00.000Z", buffer: new Uint8Array(1) });
  assert.equal(decode(vm.runInNewContext("new Uint8Array([5])")), 5);
  assert.equal(decode(vm.runInNewContext("new Uint8Array([5]).buffer")), 5);
});

test("messages come as any view of bytes", () => {
  const bytes = encode({ f: [1.03, 2.5, 1.03, 1.03, 1.03, 1.03, 1.03, 1.03, 1.03, 1.03], t: "a long text, longer than a dozen" });
  const expected = decode(bytes);
  const padded = new Uint8Array([9, 9, 9, ...bytes, 9]);
  for (const view of [Buffer.from(bytes), new DataView(padded.buffer, 3, bytes.length), padded.subarray(3, 3 + bytes.length), bytes.slice().buffer]) {
    assert.deepEqual(decode(view), expected);
    assert.deepEqual([...decodeMulti(view)], [expected]);
  }
});

test("byte strings are copies, or views on request", () => {
  for (const input of [unhex("a2010203").subarray(0, 3), Buffer.from("a20102", "hex")]) {
    const copy = decode(input);
    assert.equal(copy.constructor, Uint8Array);
    assert.equal(copy.buffer.byteLength, 2);
    const view = decode(input, { bytes: "view" });
    assert.equal(view.buffer, input.buffer);
    input[1] = 9;
    assert.deepEqual([...copy], [1, 2]);
    assert.deepEqual([...view], [9, 2]);
  }
});

test("integers outside the safe range are bigints, as the option says", () => {
  const max = 2n ** 53n - 1n;
  const auto = decode(encode([max, max + 1n, -max, -max - 1n, 2n ** 64n - 1n, -(2n ** 63n), 1e18]));
  assert.deepEqual(auto, [2 ** 53 - 1, max + 1n, -(2 ** 53) + 1, -max - 1n, 2n ** 64n - 1n, -(2n ** 63n), 10n ** 18n]);
  assert.deepEqual(decode(encode([0, 1, -1, 31, 1e9, 1.5, -0]), { bigint: "always" }), [0n, 1n, -1n, 31n, 1_000_000_000n, 1.5, -0]);
  assert.deepEqual(decode(encode([5, 2 ** 53, 1e18, -(2 ** 63)]), { bigint: "never" }), [5, 2 ** 53, 1e18, -(2 ** 63)]);
  assert.throws(() => decode(encode([1, 2n ** 53n + 1n]), { bigint: "never" }), (error) => error instanceof DecodeError && error.kind === "range" && error.offset === 2);
});

test("maps keep their order, objects put indices first", () => {
  const message = unhex("c2816200813100");
  assert.deepEqual([...decode(message, { maps: "map" }).keys()], ["b", "1"]);
  assert.deepEqual(Object.keys(decode(message)), ["1", "b"]);
});

test("bytes of messages are never written again", () => {
  const messages = [];
  for (let i = 0; i < 5000; i++) messages.push([i, encode({ i, text: "x".repeat(i % 300) })]);
  for (const [i, bytes] of messages) assert.deepEqual(decode(bytes), { i, text: "x".repeat(i % 300) });
});

test("encodeInto writes at an offset, or nothing", () => {
  const target = new Uint8Array(6).fill(0xaa);
  assert.equal(encodeInto([1, 2], target, 2), 3);
  assert.equal(hex(target), "aaaae20102aa");
  const encoder = new Encoder();
  assert.throws(() => encoder.encodeInto("abcdef", target), (error) => error instanceof EncodeError && error.kind === "truncated" && /takes 7 bytes.*space for 6/.test(error.message));
  assert.equal(hex(target), "aaaae20102aa");
});

test("messages in a row are decoded one at a time", () => {
  const decoder = new Decoder({ maxSize: 4 });
  const row = decoder.decodeMulti(unhex("01e10202" + "8161"));
  assert.equal(row.next().value, 1);
  // The decoder may do other work in between.
  assert.deepEqual(decoder.decode(unhex("e103")), [3]);
  assert.deepEqual([...row], [[2], 2, "a"]);
  assert.deepEqual([...decodeMulti(new Uint8Array(0))], []);
  assert.throws(() => [...decodeMulti(unhex("0182"))], (error) => error.kind === "truncated" && error.offset === 1);
  assert.throws(() => [...decoder.decodeMulti(unhex("01856162636465"))], (error) => error.kind === "limit" && error.offset === 4);
});
