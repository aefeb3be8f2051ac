// Layouts, messages and values that are meant to do harm: each is a clear error, soon.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { DecodeError, EncodeError, LayoutError, Layouts, loadLayout } from "@dunnage/packed";

/** Exports a layout as `dunnage schema layout` does. */
function exported(layout, { slot = 1, ...more } = {}) {
  const canonical = { packed: 1, ...more, layout };
  const fingerprint = createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
  return { packed: { slot, fingerprint }, layout: canonical };
}

const loaded = (layout, more) => loadLayout(exported(layout, more));
const refused = (work, text) => assert.throws(work, (error) => error instanceof LayoutError && text.test(error.message) ? true : assert.fail(error.stack));
const rejects = (work, kind, place) =>
  assert.throws(work, (error) => {
    assert.ok(error instanceof DecodeError || error instanceof EncodeError, error.stack);
    assert.deepEqual([error.kind, error.offset ?? error.pointer], [kind, place]);
    return true;
  });

const INTEGER = { number: ["0", "200", 1], as: "integer" };

test("a layout that was changed is refused", () => {
  const changed = exported({ object: [["a", true, INTEGER]] });
  changed.layout.layout.object[0][0] = "b";
  refused(() => loadLayout(changed), /fingerprint/);
  refused(() => loadLayout(exported(INTEGER, { slot: 64 })), /slot/);
  for (const wrong of ["", "{", "[]", "null", "1", '{"layout":{}}', '{"packed":{},"layout":{"packed":2}}', "\ud800"]) refused(() => loadLayout(wrong), /./);
});

test("layouts that no schema has are refused", () => {
  const wrong = [
    null, 1, "text", "any", [], {}, { any: 1 }, { number: [] }, { number: ["0", "1"], as: "integer" }, { number: [0, 1, 1], as: "integer" },
    { number: ["1", "0", 1], as: "integer" }, { number: ["0", "1", 0], as: "integer" }, { number: ["0", "1", 1] }, { number: ["0", "9", 1], as: { decimal: 19 } },
    { number: ["0", "9", 1], usual: ["5"], as: "integer" }, { number: ["0", "9", 1], usual: ["5", "10"], as: "integer" }, { number: ["0", "9", 1], every: 0, as: "integer" },
    { number: ["0", "9", 1], as: { time: ["Y", "0"] } }, { number: ["0", "9", 1], as: { text: [1] } }, { number: ["0", "9", 1], as: { decimal: 1 }, quantum: ["0", 1] },
    { number: ["1".repeat(400), "9", 1], as: "integer" }, { choice: [] }, { union: [] }, { pattern: [["", 1, 1]] }, { pattern: [["a", 2, 1]] }, { pattern: [["ab", 1, null]] },
    { pattern: [["a", 0, 4294967295]] }, { text: [0, null] }, { text: [2, 1] }, { text: [0, 4294967295] }, { array: [0, null], item: "boolean" }, { array: [0, -1], item: "boolean" },
    { array: [0, 9] }, { object: [["a", true, INTEGER], ["a", true, INTEGER]] }, { object: [["a", 1, INTEGER]] }, { object: [], additional: "any" }, { definition: 0 },
    { numbers: ["", INTEGER] }, { numbers: [" "] }, { constant: undefined },
  ];
  for (const layout of wrong) {
    assert.throws(() => loaded(layout), LayoutError, JSON.stringify(layout));
  }
});

test("deep, wide and large layouts end soon", () => {
  let deep = "boolean";
  for (let i = 0; i < 33; i++) deep = { array: [0, 1], item: deep };
  refused(() => loaded(deep), /32 deep/);
  deep = "boolean";
  for (let i = 0; i < 5000; i++) deep = { nullable: deep };
  refused(() => loadLayout({ packed: { slot: 1, fingerprint: "" }, layout: { packed: 1, layout: deep } }), /deep/);
  deep = "boolean";
  for (let i = 0; i < 200; i++) deep = { nullable: deep };
  refused(() => loaded(deep), /deep/);
  refused(() => loaded({ object: Array.from({ length: 70_000 }, (_, i) => [`k${i}`, true, { constant: 1 }]) }), /65536 nodes/);
  refused(() => loaded({ array: [0, 5000], item: INTEGER }), /more than 1,024 bytes/);
  // Elements without bits: the count alone may not take memory.
  const empty = loaded({ array: [0, 4294967295], item: { constant: "x" } });
  rejects(() => empty.decode(Uint8Array.of(1, 255, 255, 255, 255)), "limit", 5);
  const texts = loaded({ array: [0, 65535], item: { constant: "x".repeat(10_000) } });
  rejects(() => texts.decode(Uint8Array.of(1, 255, 255)), "limit", 3);
  // Each element of a nested union is compared with many types.
  const union = (depth) => (depth === 0 ? { choice: [1, 2] } : { union: Array.from({ length: 6 }, (_, i) => ({ object: [["a", true, union(depth - 1)], [`b${i}`, true, { constant: 1 }]] })) });
  const nested = loaded(union(4));
  const message = (depth) => (depth === 0 ? 1 : { a: message(depth - 1), b5: 1 });
  assert.deepEqual(nested.decode(nested.encode(message(4))), message(4));
});

test("statistics of another schema, truncated or impossible ones are refused", () => {
  const layout = { object: [["a", true, INTEGER]] };
  for (const more of [{ statistics: "!" }, { statistics: 5 }, { check: 3 }, { check: "1" }, { later: 1 }, { definitions: ["boolean"] }]) refused(() => loaded(layout, more), /./);
  const { fingerprint } = exported(layout).packed;
  const owner = Buffer.from(fingerprint, "hex").subarray(0, 4);
  const trained = (...bytes) => () => loaded(layout, { statistics: Buffer.from([1, ...owner, ...bytes]).toString("base64") });
  assert.equal(loadLayout(exported(layout, { statistics: Buffer.from([1, ...owner, 0, 0]).toString("base64") })).encode({ a: 7 }).length, 2);
  refused(() => loaded(layout, { statistics: Buffer.from([2, ...owner, 0, 0]).toString("base64") }), /version/);
  refused(() => loaded(layout, { statistics: Buffer.from([1, 0, 0, 0, 0, 0, 0]).toString("base64") }), /another schema/);
  for (const bytes of [[], [0], [0, 0, 0], [1], [1, 0], [1, 0, 1, 8, 1], [1, 0, 1, 7, 0], [1, 2, 1, 8, 0], [1, 0, 1, 63, 0], [0, 1, 17, 0, 1, 8, 0], [2, 0, 0, 5], [255, 255, 255, 255, 255, 255, 255, 255, 255, 127]]) {
    refused(trained(...bytes), /./);
  }
  assert.deepEqual(trained(1, 0, 1, 8, 0, 0)().decode(trained(1, 0, 1, 8, 0, 0)().encode({ a: 200 })), { a: 200 });
});

test("messages of any bytes are values or errors, with statistics and without", () => {
  const layout = { object: [["a", true, INTEGER], ["t", false, { text: [0, 9] }], ["f", true, "float"], ["l", true, { array: [0, 3], item: { nullable: "boolean" } }]] };
  const { fingerprint } = exported(layout).packed;
  const statistics = Buffer.from([1, ...Buffer.from(fingerprint, "hex").subarray(0, 4), ...Array(20).fill(0)]).toString("base64");
  const [plain, trained] = [loaded(layout), loaded(layout, { statistics })];
  let seed = 1;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) >>> 16;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: random() % 24 }, () => [0, 255, random() & 255][random() % 3]);
    if (bytes.length > 0 && round % 2) bytes[0] = round % 4 === 1 ? 1 : 65;
    for (const one of [plain, trained]) {
      try {
        one.encode(one.decode(bytes));
      } catch (error) {
        assert.ok(error instanceof DecodeError && error.offset <= bytes.length, error.stack);
      }
    }
  }
});

test("values that are no messages are rejected with a pointer", () => {
  const layout = loaded({
    object: [["a/~", true, { array: [1, 3], item: INTEGER }], ["t", true, { text: [0, 3] }], ["f", true, "float"], ["d", true, { number: ["0", "90", 1], as: { decimal: 1 } }]],
  });
  const good = { "a/~": [1], t: "", f: 0, d: 0 };
  assert.deepEqual(layout.decode(layout.encode(good)), good);
  const cyclic = { ...good };
  cyclic.self = cyclic;
  for (const [change, kind, pointer] of [
    [{ "a/~": [1, 201] }, "range", "/a~1~0/1"], [{ "a/~": [1, -0] }, "range", "/a~1~0/1"], [{ "a/~": [1n, 2n ** 70n] }, "range", "/a~1~0/1"], [{ "a/~": ["1"] }, "type", "/a~1~0/0"],
    [{ "a/~": [] }, "range", "/a~1~0"], [{ "a/~": { 0: 1 } }, "type", "/a~1~0"], [{ t: "\ud800" }, "type", "/t"], [{ t: "four" }, "range", "/t"], [{ t: 1 }, "type", "/t"],
    [{ f: NaN }, "range", "/f"], [{ f: Infinity }, "range", "/f"], [{ f: 2n ** 64n + 1n }, "range", "/f"], [{ f: "0" }, "type", "/f"], [{ d: 0.15 }, "range", "/d"],
    [{ d: Symbol("x") }, "type", "/d"], [{ d: () => 1 }, "type", "/d"], [{ d: undefined }, "range", ""], [{ x: 1 }, "type", ""], [{ self: cyclic }, "type", ""],
  ]) {
    rejects(() => layout.encode({ ...good, ...change }), kind, pointer);
  }
  for (const wrong of [null, undefined, 1, "text", [], new Map()]) rejects(() => layout.encode(wrong), "type", "");
});

test("a message cannot change the prototype of objects", () => {
  const layout = loaded({ object: [["__proto__", true, INTEGER], ["constructor", false, INTEGER], ["toString", false, INTEGER]] });
  const message = JSON.parse('{"__proto__":7,"constructor":9}');
  const decoded = layout.decode(layout.encode(message));
  assert.equal(JSON.stringify(decoded), '{"__proto__":7,"constructor":9}');
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
  assert.equal(JSON.stringify(layout.decode(layout.encode(JSON.parse('{"__proto__":7}')))), '{"__proto__":7}');
  // Constants are copies.
  const constant = loaded({ constant: { list: [1] } });
  constant.decode(constant.encode({ list: [1] })).list.push(2);
  assert.deepEqual(constant.decode(constant.encode({ list: [1] })), { list: [1] });
});

test("integers outside the safe range are bigints, if the options allow it", () => {
  const layout = loaded({ number: ["-9223372036854775808", "18446744073709551615", 1], as: "integer" });
  for (const n of [0n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n, -(2n ** 63n)]) {
    const bytes = layout.encode(n);
    const isSafe = Number.isSafeInteger(Number(n));
    assert.equal(layout.decode(bytes), isSafe ? Number(n) : n);
    assert.equal(layout.decode(bytes, { bigint: "always" }), n);
    if (BigInt(Number(n)) === n) assert.equal(layout.decode(bytes, { bigint: "never" }), Number(n));
  }
  rejects(() => layout.decode(layout.encode(2n ** 53n + 1n), { bigint: "never" }), "range", 1);
  assert.throws(() => layout.decode(layout.encode(1), { bigint: "sometimes" }), RangeError);
});

test("a table of layouts selects by slot and by port", () => {
  const layout = (slot, more) => loaded({ object: [["n", true, INTEGER]] }, { slot, ...more });
  const [one, two] = [layout(1), layout(2)];
  const table = new Layouts([one, two]);
  assert.deepEqual(table.decode(two.encode({ n: 5 })), { n: 5 });
  rejects(() => table.decode(Uint8Array.of(3, 0)), "range", 0);
  rejects(() => table.decode(Uint8Array.of(0, 0)), "malformed", 0);
  rejects(() => table.decode(Uint8Array.of(0x81, 0, 0)), "reference", 0);
  rejects(() => table.decode(new Uint8Array(0)), "truncated", 0);
  refused(() => new Layouts([two, layout(2)]), /slot 2/);
  const canonical = { packed: 1, slot: "port", layout: { object: [["n", true, INTEGER]] } };
  const fingerprint = createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
  const ofPort = loadLayout({ packed: { slot: 7, fingerprint }, layout: canonical });
  assert.deepEqual(ofPort.encode({ n: 5 }), Uint8Array.of(5));
  assert.deepEqual(new Layouts([one, ofPort]).decode(Uint8Array.of(5), { port: 7 }), { n: 5 });
  assert.deepEqual(new Layouts([one, ofPort]).decode(one.encode({ n: 5 }), { port: 8 }), { n: 5 });
});
