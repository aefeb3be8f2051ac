// Series without a reference: the vectors of spec/vectors/packed/series.json in modes 0 and 1, damaged and random messages.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DecodeError } from "@dunnage/packed";
import { decoded, hex, load, objects, parse, unhex } from "../../pson/tests/notation.js";
import { MESSAGES, SCHEMAS, loaded, ofSeries, statistics } from "./trained.js";

const vectors = load("packed/series.json").filter(({ reference }) => reference === undefined);
const messages = vectors.filter(({ kind }) => kind === undefined);
const PRIOR = 1;

test("messages are decoded in both modes, and encoded in the shorter one", () => {
  assert.ok(messages.length > 8, String(messages.length));
  for (const { name, schema, plain, hex: prior, value } of messages) {
    const layout = ofSeries(schema);
    for (const message of [plain, prior]) assert.deepEqual(layout.decode(unhex(message)), objects(decoded(parse(value))), name);
    assert.equal(hex(layout.encode(objects(parse(value)))), prior.length <= plain.length ? prior : plain, name);
  }
});

test("invalid messages are rejected", () => {
  const invalid = vectors.filter(({ kind }) => kind !== undefined);
  assert.ok(invalid.length > 5, String(invalid.length));
  for (const { name, schema, hex: message, kind, offset } of invalid) {
    assert.throws(() => ofSeries(schema).decode(unhex(message)), (error) => error instanceof DecodeError && error.kind === kind && error.offset === offset, name);
  }
});

test("every proper prefix is truncated, and a damaged message is an error or another message", () => {
  let others = 0;
  for (const { name, schema, hex: prior } of messages) {
    const layout = ofSeries(schema);
    const bytes = unhex(prior);
    for (let end = 0; end < bytes.length; end++) assert.throws(() => layout.decode(bytes.subarray(0, end)), { kind: "truncated", offset: end }, name);
    assert.throws(() => layout.decode(Uint8Array.of(...bytes, 0)), { kind: "malformed", offset: bytes.length }, name);
    for (let bit = 8; bit < 8 * bytes.length; bit++) {
      const damaged = bytes.slice();
      damaged[bit >> 3] ^= 1 << (bit & 7);
      try {
        const again = layout.encode(layout.decode(damaged));
        // It is the only encoding of that other message, unless the plain form is shorter.
        if (again[0] >> 6 === PRIOR) assert.deepEqual(again, damaged, name);
        others++;
      } catch (error) {
        assert.ok(error instanceof DecodeError && error.offset <= bytes.length, error.stack);
      }
    }
  }
  assert.ok(others > 0);
});

for (const [title, schema] of Object.entries(SCHEMAS)) {
  test(`random series of ${title} are decoded to themselves`, () => {
    const layout = ofSeries(schema);
    let priors = 0;
    fc.assert(
      fc.property(MESSAGES[title], (message) => {
        const bytes = layout.encode(message);
        priors += bytes[0] >> 6 === PRIOR ? 1 : 0;
        assert.deepEqual(layout.decode(bytes), message);
      }),
      { numRuns: 500 },
    );
    assert.ok(priors > 50, String(priors));
  });
}

test("indices of up to 2^62 values are predicted on a line, drawn to the centre, and go around", () => {
  const layout = { array: [0, 8], series: true, item: { number: ["0", String(2n ** 62n - 1n), 1], as: "integer" } };
  // No tables of values; changes of weight 9 from 0 in one bin of 2^62; the centre 5; linear.
  const trained = loaded(layout, { statistics: statistics(layout, 2, [0, 0, 0, 1, 9, 0, 1, 62, 0, 5, 1]) });
  const most = 2n ** 62n - 1n;
  const any = fc.oneof(fc.bigInt({ min: 0n, max: most }), fc.constantFrom(0n, 1n, 5n, most, most - 1n, most / 2n, most / 2n + 1n, 2n ** 53n));
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 8 }), (numbers) => {
      const bytes = trained.encode(numbers);
      assert.deepEqual(trained.decode(bytes, { bigint: "always" }), numbers);
    }),
    { numRuns: 2000 },
  );
  // spec/packed.md, "Series" and "Values": after 10 and 30, w is 50, drawn to 5 + (45 * 9 >> 4) = 30. 30 is the change 0, the number 2^61, in 62 bits.
  assert.equal(hex(trained.encode([10, 30, 30])), "412ffffffd000000029fd60000000000177e88000000000000");
});

test("a layout with a series is plain up to 4,096 bytes", () => {
  const array = (most, more) => ({ array: [0, most], ...more, item: { number: ["0", "4294967295", 1], as: "integer" } });
  const large = loaded(array(1000, { series: true }));
  assert.equal(large.maxBytes, 4003);
  const numbers = Array.from({ length: 1000 }, (_, at) => at * at);
  assert.deepEqual(large.decode(large.encode(numbers)), numbers);
  for (const [layout, text] of [[array(1024, { series: true }), /4,096 bytes/], [array(1000), /1,024 bytes/], [array(9, { series: false }), /series/], [array(9, { series: 1 }), /series/]]) {
    assert.throws(() => loaded(layout), { name: "LayoutError", message: text });
  }
});

test("statistics of the wrong version, and without a valid predictor, are refused", () => {
  const layout = { array: [0, 2], series: true, item: "boolean" };
  const trained = (version, bytes) => () => loaded(layout, { statistics: statistics(layout, version, bytes) });
  const changes = [0, 0, 0, 1, 16, 0, 1, 1, 0];
  assert.deepEqual(trained(2, [...changes, 1])().decode(trained(2, [...changes, 1])().encode([true, false])), [true, false]);
  for (const [version, bytes, text] of [[1, [0, 0, 0, 0], /version/], [3, [0, 0, 0, 0], /version/], [2, changes, /too early/], [2, [...changes, 2], /predictor/], [2, [...changes, 0, 0], /after the last/]]) {
    assert.throws(trained(version, bytes), { name: "LayoutError", message: text });
  }
});
