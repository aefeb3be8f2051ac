// The texts of errors: the value, the expectation of the layout, and the place.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadLayout } from "@dunnage/packed";

function loaded(layout, rounded) {
  const canonical = { packed: 1, layout };
  const fingerprint = createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
  return loadLayout({ packed: { slot: 1, fingerprint }, layout: canonical, rounded });
}

const COUNT = { number: ["0", "100", 1], as: "integer" };
const CELSIUS = { number: ["-4000", "8500", 5], as: { decimal: 2 } };
const TEXT = { number: ["0", "900", 1], as: { text: [1, 2] } };
const TIME = { number: ["0", "4294967295", 1], as: { time: ["YYYY-MM-DDThh:mm:ssZ", "0"] } };

test("errors of encoding name the value and what is allowed", () => {
  for (const [layout, value, reason, rounded] of [
    [COUNT, 104, "range: 104 is above the maximum 100"],
    [COUNT, -1, "range: -1 is below the minimum 0"],
    [COUNT, 2n ** 70n, "range: 1180591620717411303424 is above the maximum 100"],
    [COUNT, 1.5, "range: 1.5 is not a whole number"],
    [COUNT, NaN, "range: NaN is not a whole number"],
    [COUNT, -0, "range: -0 is not one of the numbers: its sign would be lost"],
    [COUNT, "hot", 'type: "hot" is not an integer'],
    [COUNT, null, "type: null is not an integer"],
    [COUNT, { a: 1 }, "type: an object of 1 is not an integer"],
    [{ number: ["0", "100", 5], as: "integer" }, 7, "range: 7 is not a multiple of 5"],
    [CELSIUS, "hot", 'type: "hot" is not a number'],
    [CELSIUS, 85.05, "range: 85.05 is above the maximum 85.00"],
    [CELSIUS, -40.05, "range: -40.05 is below the minimum -40.00"],
    [CELSIUS, 20.01, "range: 20.01 is not a multiple of 0.05"],
    [CELSIUS, 20.001, "range: 20.001 is not a multiple of 0.05"],
    [CELSIUS, Infinity, "range: Infinity is not a finite number"],
    [CELSIUS, 85.03, "range: 85.03 is above the maximum 85.00", [0]],
    [{ number: ["0", "65535", 1], as: { decimal: 3 }, quantum: ["175000", 3, 65535, "-45000"] }, 0.001, "range: 0.001 is not a multiple of 175 / 65535 from -45, rounded to 0.001"],
    [{ number: ["0", "65535", 1], as: { decimal: 3 }, quantum: ["175000", 3, 65535, "-45000"] }, 131.001, "range: 131.001 is above the maximum 130.000"],
    [TEXT, "91.0", 'range: "91.0" is above the maximum 90.0'],
    [TEXT, "-01.0", 'range: "-01.0" is below the minimum 0.0'],
    [TEXT, 91, "type: 91 is not a string that holds a number"],
    [TEXT, "x", 'range: "x" is not a number with 2 or more digits and 1 decimals'],
    [{ numbers: [",", TEXT, TEXT] }, 1.5, "type: 1.5 is not a string that holds numbers"],
    [{ numbers: [",", TEXT, TEXT] }, "01.5", 'range: "01.5" holds 1 numbers, not 2'],
    [{ numbers: [",", TEXT, TEXT] }, "01.5,02.5,03.5", 'range: "01.5,02.5,03.5" holds 3 numbers, not 2'],
    [{ numbers: [",", TEXT, TEXT] }, "01.5,91.0", 'range: "91.0" is above the maximum 90.0'],
    [TIME, "2026-02-30T00:00:00Z", 'range: "2026-02-30T00:00:00Z" is not a time like "1970-01-01T00:00:00Z"'],
    [TIME, "1969-12-31T23:59:59Z", 'range: "1969-12-31T23:59:59Z" is before the first time "1970-01-01T00:00:00Z"'],
    [TIME, "2200-01-01T00:00:00Z", 'range: "2200-01-01T00:00:00Z" is after the last time "2106-02-07T06:28:15Z"'],
    [TIME, 1735689600, "type: 1735689600 is not a string that holds a time"],
    [{ choice: ["D", 7, { a: [1] }] }, "Z", 'range: "Z" is none of "D", 7, {"a":[1]}'],
    [{ choice: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }, true, "range: true is none of 0, 1, 2, 3, 4, 5, 6, 7, …"],
    [{ constant: { v: 1 } }, { v: 2 }, 'range: an object of 1 is not {"v":1}'],
    [{ text: [2, 4] }, "é".repeat(50), `range: "${"é".repeat(40)}"… has 50 characters; the maximum is 4`],
    [{ text: [2, 4] }, "a", 'range: "a" has 1 characters; the minimum is 2'],
    [{ text: [2, 4] }, 12, "type: 12 is not a string"],
    [{ text: [2, 4] }, "\ud800x", "type: text with a lone surrogate"],
    [{ pattern: [["ABCDEF", 1, 1], ["-0123456789", 2, 7], [".", 3, 3]] }, "a", 'range: "a" does not match ^[A-F][\\-0-9]{2,7}\\.{3}$'],
    [{ array: [1, 3], item: "boolean" }, [], "range: the array has 0 elements; the minimum is 1"],
    [{ array: [1, 3], item: "boolean" }, [true, true, true, true], "range: the array has 4 elements; the maximum is 3"],
    [{ array: [1, 3], item: "boolean" }, "x", 'type: "x" is not an array'],
    [{ union: [COUNT, "boolean", { choice: ["n/a", "off"] }] }, 104, "range: 104 is above the maximum 100"],
    [{ union: [COUNT, "boolean", { choice: ["n/a", "off"] }] }, "x", 'range: "x" is none of "n/a", "off"'],
    [{ union: [COUNT, "boolean", { constant: 200 }] }, 104, "range: 104 is none of the 3 kinds allowed"],
    [{ union: [COUNT, { text: [0, 3] }] }, true, "range: true is none of the 2 kinds allowed"],
    [{ union: [COUNT, { array: [0, 1], item: COUNT }] }, [1, 2], "range: an array of 2 is none of the 2 kinds allowed"],
    ["float", 2n ** 64n + 1n, "range: 18446744073709551617 is not exact as a binary64"],
    ["float", NaN, "range: NaN is not a finite number"],
    ["boolean", 1, "type: 1 is not a boolean"],
    [{ object: [["a", true, "boolean"]] }, {}, 'range: the field "a" is missing'],
    [{ object: [["a", true, "boolean"]] }, { a: true, b: undefined, c: 1 }, 'type: there is no field "c"'],
    [{ object: [["l", true, { array: [0, 3], item: COUNT }]] }, { l: [1, 101] }, "range: 101 is above the maximum 100 at /l/1"],
  ]) {
    assert.throws(() => loaded(layout, rounded).encode(value), (error) => assert.equal(error.message, reason) ?? true);
  }
});

test("values that JSON does not have are named, with what to pass instead", () => {
  const date = "; pass text, such as its toISOString(), or the number that the schema wants";
  const array = "; pass Array.from(it)";
  for (const [layout, value, reason] of [
    [TIME, new Date(0), `type: a Date is not a string that holds a time${date}`],
    [COUNT, new Date(0), `type: a Date is not an integer${date}`],
    [{ choice: ["D"] }, new Date(0), `range: a Date is none of "D"${date}`],
    [{ constant: {} }, new Date(0), `range: a Date is not {}${date}`],
    [{ union: [COUNT, "boolean"] }, new Date(0), `range: a Date is none of the 2 kinds allowed${date}`],
    [{ object: [] }, new Map([["a", 1]]), "type: a Map is not an object; pass Object.fromEntries(map)"],
    [{ array: [0, 3], item: COUNT }, new Set([1]), `type: a Set is not an array${array}`],
    [{ array: [0, 3], item: COUNT }, new Uint8Array(2), `type: a Uint8Array is not an array${array}`],
    [COUNT, new Set([1]), "type: a Set is not an integer"],
    [{ union: [COUNT, { array: [0, 3], item: COUNT }] }, new Set([1]), `range: a Set is none of the 2 kinds allowed${array}`],
    [{ object: [] }, new ArrayBuffer(2), "type: an ArrayBuffer is not an object"],
    [{ object: [] }, Promise.resolve(), "type: a Promise is not an object"],
    [COUNT, new Number(1), "type: a Number is not an integer; pass its valueOf()"],
    [COUNT, undefined, "type: undefined is not an integer"],
    [COUNT, () => 1, "type: a function is not an integer"],
    [COUNT, Symbol("x"), "type: a symbol is not an integer"],
    ["boolean", 5n, "type: 5 is not a boolean"],
    [{ object: [["l", true, { array: [0, 3], item: COUNT }]] }, { l: [1, undefined] }, "type: undefined is not an integer at /l/1"],
  ]) {
    assert.throws(() => loaded(layout).encode(value), { message: reason });
  }
  class Reading {
    n = 5;
    get [Symbol.toStringTag]() {
      return "Reading";
    }
  }
  assert.deepEqual(loaded({ object: [["n", true, COUNT]] }).encode(new Reading()), Uint8Array.of(1, 10));
});

test("errors of decoding name the field and the byte", () => {
  const layout = loaded({ object: [["a/b", true, { object: [["l", true, { array: [0, 3], item: COUNT }]] }], ["t", true, { text: [0, 3] }], ["k", true, "known"]] });
  const bytes = layout.encode({ "a/b": { l: [1, 2] }, t: "xyz", k: "7" });
  for (const [damaged, pointer, message] of [
    [bytes.subarray(0, 1), "/a~1b/l", "truncated: the message ends before its layout does at /a~1b/l at byte 1"],
    [bytes.subarray(0, 2), "/a~1b/l/0", "truncated: the message ends before its layout does at /a~1b/l/0 at byte 2"],
    [bytes.subarray(0, 4), "/t", "truncated: the message ends before its layout does at /t at byte 4"],
    [Uint8Array.of(1, 0xff, 0xff), "/a~1b/l/0", "range: 127 is not below 101 at /a~1b/l/0 at byte 1"],
    [bytes, "/k", "type: the ID of the device that sent the message is not known at /k at byte 6"],
    [Uint8Array.of(2), "", "range: slot 2; the layout's is 1 at byte 0"],
    [Uint8Array.of(65), "", "malformed: mode 1, but the schema has no x-dunnage-statistics at byte 0"],
  ]) {
    assert.throws(() => layout.decode(damaged), { name: "DecodeError", pointer, message });
  }
  const more = Uint8Array.of(...bytes, 0, 0);
  assert.throws(() => layout.decode(more, { device: "7" }), { pointer: "", message: `malformed: bytes behind the message: 2 at byte ${bytes.length}` });
});

test("a schema in place of a layout is an error that says what to run", () => {
  const schema = readFileSync(new URL("../../../spec/schemas/weather.json", import.meta.url), "utf8");
  for (const other of [schema, JSON.parse(schema), "[]", "{}"]) {
    assert.throws(() => loadLayout(other), { name: "LayoutError", message: "not an exported layout: run `dunnage schema layout SCHEMA --json`" });
  }
});
