// Messages that fit: the vectors of spec/vectors/packed/fit.json, and what they have to be at every limit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EncodeError, LayoutError, loadLayout } from "@dunnage/packed";
import { decoded, hex, load, objects, parse } from "../../pson/tests/notation.js";

const vectors = load("packed/fit.json").map((vector) => ({ ...vector, layout: loadLayout(vector.exported), message: objects(decoded(parse(vector.value))) }));

test("as much of a message is written as fits", () => {
  const refused = vectors.filter(({ kind }) => kind !== undefined);
  assert.ok(refused.length > 0 && vectors.length - refused.length > 20);
  for (const { name, layout, message, limit, hex: bytes, readings, left_out } of vectors.filter(({ kind }) => kind === undefined)) {
    const fit = layout.encodeFit(message, limit);
    assert.deepEqual({ ...fit, bytes: hex(fit.bytes) }, { bytes, readings, leftOut: left_out }, name);
  }
  for (const { name, layout, message, limit, kind } of refused) {
    assert.throws(() => layout.encodeFit(message, limit), (error) => error instanceof EncodeError && error.kind === kind, name);
  }
});

test("a larger limit never carries less, and the receiver sees what is missing", () => {
  for (const { name, layout, message } of vectors) {
    let last = { readings: 0, leftOut: null };
    for (let limit = 4; limit < 200; limit += 7) {
      let fit;
      try {
        fit = layout.encodeFit(message, limit);
      } catch (error) {
        assert.equal(error.kind, "limit", name);
        assert.equal(last.leftOut, null, name);
        continue;
      }
      assert.ok(fit.bytes.length <= limit, name);
      const missing = layout.leftOut(layout.decode(fit.bytes));
      assert.ok(fit.leftOut.every((path) => missing.includes(path)), name);
      assert.ok(last.leftOut === null || fit.leftOut.length <= last.leftOut.length, name);
      last = fit;
    }
    const whole = layout.encodeFit(message, 5000);
    assert.ok(whole.readings >= last.readings, name);
    assert.deepEqual([whole.bytes, whole.leftOut], [layout.encode(message), []], name);
  }
});

test("an export whose properties to leave out are not numbers is rejected", () => {
  const { exported } = vectors[0];
  for (const dropped of [1, [1], [[1]], [[1, 256]], [[-1, 1]], [["1", 1]]]) assert.throws(() => loadLayout({ ...exported, dropped }), LayoutError, JSON.stringify(dropped));
  assert.equal(hex(loadLayout({ ...exported, dropped: [] }).encode(vectors[0].message)), hex(vectors[0].layout.encode(vectors[0].message)));
});
