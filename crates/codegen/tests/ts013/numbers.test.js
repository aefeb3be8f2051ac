import assert from "node:assert/strict";
import test from "node:test";
import { runtimes } from "./runtime.js";

const MAX = Number.MAX_SAFE_INTEGER;

for (const { engine, there, back } of runtimes) {
  test(`integers in ${engine}: exact up to 2^53 - 1, in the fewest bits`, () => {
    const values = [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52 - 1, 2 ** 52, 2 ** 52 + 1, MAX - 1, MAX];
    const codec = `integer(number(0, ${MAX}, 1))`;
    for (const [i, [bytes, value]] of there(codec, values).entries()) {
      const bits = (BigInt(values[i]) << 3n).toString(16).padStart(14, "0");
      assert.equal(Buffer.from(bytes).toString("hex"), bits);
      assert.equal(value, values[i]);
    }
    assert.deepEqual(there(codec, [2 ** 53, -1, 1.5, "1", null, -0]), ["range", "range", "range", "type", "type", "range"]);
    assert.deepEqual(back("integer(number(0, 4, 1))", [[0x80], [0xa0], [0xe0], []]), [4, "range", "range", "truncated"]);
  });

  test(`decimals in ${engine}: every number with so many decimals, and no other`, () => {
    for (const places of [1, 2, 4, 6]) {
      const unit = 10 ** places;
      const texts = Array.from({ length: 2000 }, (_, i) => ((i - 1000) * 7919 / unit).toFixed(places)).filter((text) => Number(text) !== 0);
      const values = texts.map(Number);
      const results = there(`decimal(number(-9000000, 9000000, 1), ${places})`, values);
      results.forEach(([bytes, value], i) => {
        assert.equal(value, values[i]);
        const n = BigInt(texts[i].replace(".", "")) + 9000000n << 7n;
        assert.equal(Buffer.from(bytes).toString("hex"), n.toString(16).padStart(8, "0"));
      });
    }
    assert.deepEqual(there("decimal(number(-50, 50, 5), 2)", [0.35, 0.36, 0.351, 0.55, -0.5, -0, 1e300, -1e300, "0.1"]).map((r) => r[1] ?? r),
      [0.35, "a", "a", "a", -0.5, "a", "a", "a", "y"]);
  });

  test(`text that holds a number in ${engine}: one notation`, () => {
    const codec = "digits(number(-99999, 99999, 1), 2, 2)";
    const good = ["00.00", "06.50", "-06.50", "999.99", "-00.01", "10.00"];
    assert.deepEqual(there(codec, good).map((result) => result[1]), good);
    const bad = ["0.00", "006.50", "6.5", "-00.00", "+1.00", "1000.00", "", "-", "06", "06.5", "06.500", "1e2", " 06.50", "０6.50", "99999999999999999999.00"];
    assert.deepEqual(there(codec, bad), bad.map(() => "range"));
    assert.deepEqual(there(codec, [6.5, null]), ["type", "type"]);
  });

  test(`a sensor's counts in ${engine}: rounded half away from zero`, () => {
    const codec = "decimal(quantum(number(-3, 3, 1), 25, 10, 0), 0)";
    assert.deepEqual(there(codec, [-8, -5, -3, 0, 3, 5, 8]).map((r) => r[1]), [-8, -5, -3, 0, 3, 5, 8]);
    assert.deepEqual(there(codec, [-9, -7, 1, 2, 4, 9]), Array(6).fill("range"));
    assert.deepEqual(there("digits(quantum(number(-2000, 2000, 1), 7324443, 1000, 0), 1, 4)", ["-993.9269", "-27.1004", "0.0000", "-993.9270"]).map((r) => r[1]),
      ["-993.9269", "-27.1004", "0.0000", "a"]);
    // A count is a unit, from half of one: 0 is left out.
    assert.deepEqual(there("decimal(quantum(number(-3, 2, 1), 10, 10, 5), 0)", [-3, -2, -1, 0, 1, 2, 3]).map((r) => (r[1] === "a" ? r : r[1])),
      [-3, -2, -1, "range", 1, 2, 3]);
    assert.deepEqual(there("decimal(quantum(number(0, 65535, 1), 175000, 65535, -2949075000), 3)", [-45, 0, 19.088, 130, 0.001]),
      [[[0, 0], -45], [[0x41, 0xd4], 0], [[0x5d, 0xc0], 19.088], [[0xff, 0xff], 130], "range"]);
  });

  test(`usual numbers in ${engine}: the others are escaped, and only they`, () => {
    const codec = "integer(usual(number(0, 1000, 1), 10, 12, 1))";
    assert.deepEqual(there(codec, [10, 12, 9, 1000, 1001]), [[[0], 10], [[0x80], 12], [[0xc0, 0x90], 9], [[0xfe, 0x80], 1000], "range"]);
    assert.deepEqual(back(codec, [[0xc0, 0xb0], [0xff, 0xf0]]), ["malformed", "range"]);
  });
}
