// Hostile input: each is a clear error, soon and without memory for announced but absent content.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, decodeMulti, Decoder, DecodeError, encode, EncodeError, Encoder, MAX_SIZE } from "@dunnage/pson";
import { unhex } from "./notation.js";

const fails = (work, kind, offset, text) =>
  assert.throws(work, (error) => {
    assert.ok(error instanceof DecodeError && error instanceof Error, error.stack);
    assert.equal(error.name, "DecodeError");
    assert.deepEqual([error.kind, error.offset], [kind, offset]);
    if (text) assert.match(error.message, text);
    return true;
  });

const refuses = (value, kind, pointer, text, options) =>
  assert.throws(
    () => encode(value, options),
    (error) => {
      assert.ok(error instanceof EncodeError && error instanceof Error, error.stack);
      assert.equal(error.name, "EncodeError");
      assert.deepEqual([error.kind, error.pointer], [kind, pointer]);
      if (text) assert.match(error.message, text);
      return true;
    },
  );

test("40 kB of nested arrays and maps stop at the limit", () => {
  for (const maps of ["object", "map"]) {
    fails(() => decode(new Uint8Array(40_000).fill(0xe1), { maps }), "limit", 32, /maxNesting, 32 levels/);
    fails(() => decode(unhex("c180".repeat(20_000)), { maps }), "limit", 64);
    fails(() => decode(new Uint8Array(40_000).fill(0xe1), { maps, maxNesting: 512 }), "limit", 512);
  }
  assert.throws(() => decode(new Uint8Array(1), { maxNesting: 100_000 }), RangeError);
});

test("announced bytes and elements take no memory before they are there", () => {
  const before = process.memoryUsage();
  for (const header of ["9f", "bf", "df", "ff"]) {
    for (const n of ["ffffffff0f", "ffffffffffffffffff01", "ffffffffffffff0f"]) {
      const bytes = unhex(header + n);
      for (const options of [{}, { maps: "map" }, { bytes: "view" }, { strict: true }]) fails(() => decode(bytes, options), "truncated", bytes.length);
    }
  }
  const after = process.memoryUsage();
  assert.ok(after.rss - before.rss < 50e6, `${after.rss - before.rss} bytes`);
});

test("the size limit comes before anything else", () => {
  fails(() => decode(new Uint8Array(MAX_SIZE + 1).fill(0x42)), "limit", MAX_SIZE, /maxSize, 1048576 bytes/);
  fails(() => decode(unhex("8161"), { maxSize: 1 }), "limit", 1);
  assert.equal(decode(encode("a".repeat(2 * MAX_SIZE), { maxSize: 3e6 }), { maxSize: 3e6 }).length, 2 * MAX_SIZE);
  refuses({ a: "a".repeat(MAX_SIZE) }, "limit", "", /larger than maxSize, 1048576 bytes/);
  refuses({ a: Array.from({ length: MAX_SIZE }, (_, i) => i) }, "limit", "");
  refuses([new Uint8Array(MAX_SIZE)], "limit", "");
  refuses("ab", "limit", "", undefined, { maxSize: 2 });
});

test("text is UTF-8 without exceptions", () => {
  const bad = ["80", "c080", "c3", "e28228", "eda080", "edbfbf", "f4908080", "f8888080", "ff", "c3a9ff", "61e282", "616161616161616161ff", "6161616161616161c3"];
  for (const hex of bad) {
    for (const before of ["", "61".repeat(7), "61".repeat(25)]) {
      const content = unhex(before + hex);
      const text = new Uint8Array([...(content.length < 31 ? [0x80 | content.length] : [0x9f, content.length]), ...content]);
      fails(() => decode(text), "malformed", 0, /not UTF-8/);
      fails(() => decode(new Uint8Array([0xc1, ...text, 0])), "malformed", 1);
    }
  }
  for (const text of ["\ufffd", "\ufeffa", "a\0b", "é".repeat(5), "21 °C µg/m³", "😀".repeat(30), "\ufffd".repeat(40), "a".repeat(40) + "é", "日本語".repeat(13)]) {
    assert.equal(decode(encode(text)), text);
    assert.deepEqual(decode(encode({ [text]: text })), { [text]: text });
  }
});

test("lone surrogates are refused", () => {
  for (const lone of ["\ud800", "a\udc00", "\udc00\ud800", "a".repeat(50) + "\ud83d", "é".repeat(20) + "\udfff"]) {
    refuses(lone, "type", "", /lone surrogate/);
    refuses({ a: [lone] }, "type", "/a/0");
    refuses({ [lone]: 1 }, "type", `/${lone}`);
    refuses(new Map([[lone, 1]]), "type", `/${lone}`);
  }
});

test("no key changes a prototype", () => {
  const keys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__", "valueOf"];
  const message = encode(new Map(keys.map((key) => [key, { polluted: true }])));
  for (let i = 0; i < 3; i++) {
    const object = decode(message);
    assert.equal(Object.getPrototypeOf(object), Object.prototype);
    assert.deepEqual(Object.keys(object), keys);
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(object, key);
      assert.deepEqual(property, { value: { polluted: true }, writable: true, enumerable: true, configurable: true });
    }
    assert.equal({}.polluted, undefined);
    assert.equal(hex(encode(object)), hex(message));
    assert.equal(decode(message, { maps: "map" }).get("__proto__").get("polluted"), true);
  }
  // Also in maps that are too large for the memory of keys.
  const large = new Map([...Array.from({ length: 100 }, (_, i) => [`k${i}`, i]), ["__proto__", 1]]);
  assert.equal(Object.getOwnPropertyDescriptor(decode(encode(large)), "__proto__").value, 1);
});

const hex = (bytes) => Buffer.from(bytes).toString("hex");

test("duplicate keys are found, known or not", () => {
  const decoder = new Decoder();
  const twice = unhex("c3816100816200816100");
  for (let i = 0; i < 3; i++) {
    fails(() => decoder.decode(twice), "malformed", 7, /duplicate key "a"/);
    assert.deepEqual(decoder.decode(unhex("c3816100816200816300")), { a: 0, b: 0, c: 0 });
    fails(() => decoder.decode(unhex("c28161008161")), "malformed", 4);
  }
  const large = [...Array.from({ length: 99 }, (_, i) => `k${i}`), "k0"];
  const bytes = new Uint8Array([0xdf, 100, ...large.flatMap((key) => [...encode(key), 0])]);
  fails(() => decoder.decode(bytes), "malformed", bytes.length - 4);
});

test("endless new keys take bounded memory", () => {
  const decoder = new Decoder();
  for (let i = 0; i < 200_000; i++) decoder.decode(encode({ [`key ${i}`]: i }));
  assert.deepEqual(decoder.decode(encode({ a: 1, b: 2 })), { a: 1, b: 2 });
});

test("keys that an encoder knows are written as before", () => {
  const encoder = new Encoder();
  const names = ["", "\0", "é", "日本語", "😀", "__proto__", "constructor", "toString"];
  for (let length = 1; length < 50; length++) {
    for (const last of "xyé") names.push("k".repeat(length - 1) + last);
  }
  // Keys after the same one, and after others; blocks of memory end at all offsets.
  for (let round = 0; round < 400; round++) {
    const map = new Map();
    for (let i = 0; i < 12; i++) map.set(names[(round * 7 + i * (1 + (round % 5))) % names.length], i);
    const object = Object.create(null);
    for (const [key, value] of map) object[key] = value;
    const written = encoder.encode(object);
    // A Map's keys are not remembered.
    assert.deepEqual(written, encode(map));
    assert.deepEqual(new Encoder().encode(object), written);
  }
});

test("values that contain themselves are refused", () => {
  const object = {};
  object.self = object;
  refuses(object, "limit", "/self".repeat(32), /maxNesting, 32 levels, or contain themselves/);
  const array = [1];
  array.push({ array });
  refuses(array, "limit", "/1/array".repeat(16));
  const json = { toJSON: () => json };
  refuses(json, "type", "", /toJSON/);
});

test("values that PSON cannot express are refused with a pointer", () => {
  refuses({ a: [1, () => 1] }, "type", "/a/1", /^type: PSON has no function at \/a\/1$/);
  refuses({ "a/b~c": Symbol("x") }, "type", "/a~1b~0c", /^type: PSON has no symbol at /);
  refuses(undefined, "type", "", /^type: PSON has no undefined$/);
  refuses({ a: new Set([1]) }, "type", "/a", /^type: PSON has no Set; convert it at \/a$/);
  refuses({ a: new WeakMap() }, "type", "/a", /^type: PSON has no WeakMap; convert it at /);
  refuses([Promise.resolve()], "type", "/0", /^type: PSON has no Promise; convert it at /);
  refuses(new Map([[1, 2]]), "type", "/1", /not a string/);
  refuses({ a: { b: [2n ** 64n] } }, "range", "/a/b/0", /2\^64/);
  refuses([-(2n ** 63n) - 1n], "range", "/0");
  refuses({ date: { toJSON: () => [Symbol("x")] } }, "type", "/date/0");
});

test("errors of getters and toJSON are theirs, and the encoder goes on", () => {
  const fault = new Error("mine");
  const message = { a: 1, get b() { throw fault; } };
  assert.throws(() => encode(message), (error) => error === fault);
  assert.equal(hex(encode([1])), "e101");
});

test("toJSON may encode, too", () => {
  const inner = { toJSON: () => hex(encode({ inner: [1, 2] })) };
  assert.deepEqual(decode(encode([1, inner, 2])), [1, hex(encode({ inner: [1, 2] })), 2]);
});

test("what is no message is refused", () => {
  for (const bytes of [null, undefined, "c0", [0xc0], 5, {}]) assert.throws(() => decode(bytes), TypeError);
  for (const options of [{ maxSize: -1 }, { maxSize: 1.5 }, { maxNesting: NaN }, { bigint: "sometimes" }, { maps: "list" }, { bytes: "" }]) {
    assert.throws(() => new Decoder(options), RangeError);
  }
  assert.throws(() => encode(1, { floats: "double" }), RangeError);
  assert.throws(() => [...decodeMulti("abc")], TypeError);
});
