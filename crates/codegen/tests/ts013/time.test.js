import assert from "node:assert/strict";
import test from "node:test";
import { runtimes } from "./runtime.js";

const ISO = (min, max, epoch) =>
  `time(number(${min}, ${max}, 1), ["YYYY", "-", "MM", "-", "DD", "T", "hh", ":", "mm", ":", "ss", "Z"], ${epoch}, 0)`;
const YEAR_0 = -62167219200;
const LAST = 253402300799;

const iso = (seconds) => new Date(1000 * seconds).toISOString().replace(".000", "");

for (const { engine, there, back } of runtimes) {
  test(`times in ${engine}: every 397th day from year 0 to 9999, and leap days`, () => {
    const seconds = [YEAR_0, LAST];
    for (let at = YEAR_0; at < LAST; at += 397 * 86400 + 3661) seconds.push(at);
    for (const year of [0, 4, 100, 400, 1600, 1900, 1972, 2000, 2024, 2100, 9996]) {
      const march = new Date(0);
      march.setUTCFullYear(year, 2, 1);
      for (const day of [-86400, -1, 0]) seconds.push(march / 1000 + day);
    }
    const texts = seconds.map(iso);
    there(ISO(0, LAST - YEAR_0, YEAR_0), texts).forEach(([bytes, text], i) => {
      assert.equal(text, texts[i]);
      const count = BigInt(seconds[i] - YEAR_0) << 1n; // 39 bits
      assert.equal(Buffer.from(bytes).toString("hex"), count.toString(16).padStart(10, "0"));
    });
  });

  test(`times in ${engine}: what does not exist, or is written otherwise, is out of range`, () => {
    const bad = ["1900-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2024-02-30T00:00:00Z", "2024-04-31T00:00:00Z", "2024-00-01T00:00:00Z",
      "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z",
      "2024-01-01t00:00:00Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00Z ", "24-01-01T00:00:00Z", "+024-01-01T00:00:00Z", "", "1969-12-31T23:59:59Z"];
    assert.deepEqual(there(ISO(0, LAST, 0), [...bad, 5]), [...bad.map(() => "range"), "type"]);
    assert.deepEqual(back(ISO(0, 4, 0), [[0x80], [0xa0]]), ["1970-01-01T00:00:04Z", "range"]);
  });

  test(`times in ${engine}: two digits of the year, and tenths`, () => {
    const codec = 'time(number(0, 31557599999, 1), ["DD", "MM", "YY", " ", "hh", "mm", "ss", ".", "f"], 946684800, 1)';
    const results = there(codec, ["200423 002940.0", "010100 000000.3", "311299 235959.9", "320423 002940.0", "200423 002940.00"]);
    assert.deepEqual(results.map((r) => r[1]), ["200423 002940.0", "010100 000000.3", "311299 235959.9", "a", "a"]);
  });
}
