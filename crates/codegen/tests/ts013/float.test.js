import assert from "node:assert/strict";
import test from "node:test";
import { runtimes } from "./runtime.js";

const CODEC = "float(-Infinity, Infinity)";

/** The plain bits of a float, by its shortest text and with integers, then fill. */
function expected(value) {
  const view = new DataView(new ArrayBuffer(8));
  const single = Object.is(Math.fround(value), value);
  const forms = [];
  const [digits, exponent] = Math.abs(value).toExponential().split("e").map((part) => part.replace(".", ""));
  const places = digits.length - 1 - Number(exponent);
  if (places <= 12 && places > -16) {
    const mantissa = BigInt(digits) * 10n ** BigInt(Math.max(0, -places));
    const size = mantissa === 0n ? 0 : mantissa.toString(2).length;
    const decimal = (lead, placesBits, sizeBits) => {
      const sign = value < 0 || Object.is(value, -0) ? "1" : "0";
      const field = (n, width) => n.toString(2).padStart(width, "0");
      return lead + sign + field(value === 0 ? 0 : Math.max(0, places), placesBits) + field(size, sizeBits) + mantissa.toString(2).slice(1);
    };
    if (places < 8 && size < 32) forms.push(decimal("0", 3, 5));
    else if (size <= 48) forms.push(decimal("110", 4, 6));
  }
  if (single) {
    view.setFloat32(0, value);
    forms.splice(forms[0]?.startsWith("0") ? 1 : 0, 0, "10" + view.getUint32(0).toString(2).padStart(32, "0"));
  }
  view.setFloat64(0, value);
  forms.push("111" + view.getBigUint64(0).toString(2).padStart(64, "0"));
  const bits = forms.reduce((best, form) => (form.length < best.length ? form : best));
  return bits.match(/.{1,8}/g).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2));
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

const FRACTIONS = [[0, 0], [0, 1], [0, 2], [0xfffff, 0xffffffff], [0xfffff, 0xe0000000], [0x80000, 0], [0, 0x10000000]];

/**
 * Every exponent of both widths with fractions at their ends (of binary64 two in turn, because a float takes a millisecond), random bits, and
 * decimals of every size and number of places.
 */
function* floats() {
  yield 0;
  for (let exponent = 0; exponent < 2047; exponent += 1) {
    for (const turn of [exponent, exponent + 1]) {
      const [high, low] = FRACTIONS[turn % FRACTIONS.length];
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
  for (let i = 0; i < 1000; i += 1) {
    const high = random() % 0x7ff00000;
    yield fromBits(high, random());
    yield fromSingle(random() % 0x7f800000);
    yield (random() >>> (i % 32)) / 10 ** (i % 14);
    yield (random() * 65536 + (random() % 65536)) / 10 ** (i % 14);
    yield (random() >>> 8) / 2 ** (i % 20);
  }
}

for (const { engine, there, back, evaluate } of runtimes) {
  test(`floats in ${engine}: the form with the fewest bits, subnormals and largest ones too`, () => {
    const values = [...floats()].filter(Number.isFinite).flatMap((value) => [value, -value]);
    assert.ok(values.length > 20_000);
    const results = there(CODEC, values);
    values.forEach((value, i) => {
      assert.deepEqual(results[i][0], expected(value), String(value));
      assert.ok(results[i][1] === value, String(value));
    });
  });

  test(`floats in ${engine}: -0 keeps its sign`, () => {
    assert.deepEqual(there(CODEC, [-0])[0][0], [0x40, 0]);
    assert.equal(evaluate(`begin(), message = [0x40, 0], 1 / ${CODEC}.read()`), -Infinity);
  });

  test(`floats in ${engine}: infinities and NaN are out of range, other forms than the shortest malformed`, () => {
    assert.deepEqual(back(CODEC, [
      [0x9f, 0xe0, 0, 0, 0], // infinity in 32 bits
      [0xbf, 0xe0, 0, 0, 0],
      [0x9f, 0xf0, 0, 0, 0], // NaN
      [0xef, 0xfe, 0, 0, 0, 0, 0, 0, 0], // infinity in 64 bits
      [0xcd, 0, 0], // 13 places
      [0xe7, 0xfe, 0, 0, 0, 0, 0, 0, 0], // 1 in 64 bits
      [0x8f, 0xe0, 0, 0, 0], // 1 in 32 bits
      [0xc0, 0x04], // 1 as a long decimal
      [0x11, 0x10], // 0.10
      [0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc], // 64 bits of digits
      [0xe0, 0, 0, 0, 0, 0, 0, 0], // not all of them
    ]), ["range", "range", "range", "range", "range", "malformed", "malformed", "malformed", "malformed", "malformed", "truncated"]);
    assert.deepEqual(evaluate("JSON.stringify(there(float(-1, 2.5), [NaN, Infinity, -Infinity, 2.6, -1.5, 'x', true]))"),
      '["range","range","range","range","range","type","type"]');
  });
}
