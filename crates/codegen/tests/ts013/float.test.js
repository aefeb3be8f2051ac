import assert from "node:assert/strict";
import test from "node:test";
import { runtimes } from "./runtime.js";

const CODEC = "float(-Infinity, Infinity)";

/** The plain bits of a float: one that says which width, then those of IEEE 754, then fill. */
function expected(value) {
  const single = Object.is(Math.fround(value), value);
  const view = new DataView(new ArrayBuffer(8));
  if (single) view.setFloat32(0, value);
  else view.setFloat64(0, value);
  const size = single ? 4 : 8;
  let bits = (single ? 0n : 1n) << BigInt(8 * size);
  bits |= single ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
  bits <<= 7n;
  return Array.from({ length: size + 1 }, (_, i) => Number((bits >> BigInt(8 * (size - i))) & 0xffn));
}

function fromBits(high, low) {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, high);
  view.setUint32(4, low);
  return view.getFloat64(0);
}

function fromSingle(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** Every exponent of both widths with fractions at their ends, and random bits. */
function* floats() {
  yield 0;
  for (let exponent = 0; exponent < 2047; exponent += 1) {
    for (const [high, low] of [[0, 0], [0, 1], [0, 2], [0xfffff, 0xffffffff], [0xfffff, 0xe0000000], [0x80000, 0], [0, 0x10000000]]) {
      yield fromBits(exponent * 0x100000 + high, low);
    }
  }
  for (let exponent = 0; exponent < 255; exponent += 1) {
    for (const fraction of [0, 1, 2, 0x3fffff, 0x400000, 0x7ffffe, 0x7fffff]) {
      yield fromSingle(exponent * 0x800000 + fraction);
    }
  }
  let state = 1;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  for (let i = 0; i < 4000; i += 1) {
    const high = random() % 0x7ff00000;
    yield fromBits(high, random());
    yield fromSingle(random() % 0x7f800000);
  }
}

for (const { engine, there, back, evaluate } of runtimes) {
  test(`floats in ${engine}: the bits of IEEE 754, subnormals and largest ones too`, () => {
    const values = [...floats()].filter(Number.isFinite).flatMap((value) => [value, -value]);
    assert.ok(values.length > 30_000);
    const results = there(CODEC, values);
    values.forEach((value, i) => {
      assert.deepEqual(results[i][0], expected(value), String(value));
      assert.ok(results[i][1] === value, String(value));
    });
  });

  test(`floats in ${engine}: -0 keeps its sign`, () => {
    assert.deepEqual(there(CODEC, [-0])[0][0], [0x40, 0, 0, 0, 0]);
    assert.equal(evaluate(`begin(), message = [0x40, 0, 0, 0, 0], 1 / ${CODEC}.read()`), -Infinity);
  });

  test(`floats in ${engine}: infinities and NaN are out of range, longer forms than needed malformed`, () => {
    assert.deepEqual(back(CODEC, [
      [0x3f, 0xc0, 0, 0, 0], // infinity in 32 bits
      [0x7f, 0xc0, 0, 0, 0],
      [0x3f, 0xe0, 0, 0, 0], // NaN
      [0xbf, 0xf8, 0, 0, 0, 0, 0, 0, 0], // infinity in 64 bits
      [0x9f, 0xf8, 0, 0, 0, 0, 0, 0, 0], // 1 in 64 bits
      [0x80, 0, 0, 0, 0, 0, 0, 0, 0], // 0 in 64 bits
      [0x80, 0, 0, 0, 0, 0, 0, 0], // not all of them
    ]), ["range", "range", "range", "range", "malformed", "malformed", "truncated"]);
    assert.deepEqual(evaluate("JSON.stringify(there(float(-1, 2.5), [NaN, Infinity, -Infinity, 2.6, -1.5, 'x', true]))"),
      '["range","range","range","range","range","type","type"]');
  });
}
