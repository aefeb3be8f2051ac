import assert from "node:assert/strict";
import test from "node:test";
import { runtimes } from "./runtime.js";

for (const { engine, there, back } of runtimes) {
  test(`text in ${engine}: ASCII in 7 bits, anything else as UTF-8`, () => {
    const codec = "text(0, 255)";
    const texts = ["", "a", "\u0000\u007f", "\u0080", "ß", "\u07ff\u0800", "€", "\ud7ff\ue000\uffff", "\u{10000}\u{10ffff}", "a😀b", "x".repeat(255)];
    there(codec, texts).forEach(([bytes, text], i) => {
      assert.equal(text, texts[i]);
      const points = [...texts[i]];
      assert.equal(bytes[0], points.length);
      const ascii = points.every((c) => c < "\u0080");
      const bits = 8 + (points.length > 0) + (ascii ? 7 * points.length : 8 * Buffer.byteLength(texts[i]));
      assert.equal(bytes.length, Math.ceil(bits / 8));
    });
    assert.deepEqual(there(codec, ["\ud800", "a\udc00", "\ud800a", "x".repeat(256), 1, null]), ["malformed", "malformed", "malformed", "range", "type", "type"]);
    assert.deepEqual(there("text(2, 3)", ["a", "😀😀", "abcd"]).map((r) => r[1]), ["a", "😀😀", "a"]);
  });

  test(`text in ${engine}: what is not the one UTF-8 form of it is malformed`, () => {
    // A count of one byte, the bit for UTF-8, then the bytes.
    const wide = (...bytes) => {
      const bits = [1, ...bytes].map((byte, i) => byte.toString(2).padStart(i === 0 ? 1 : 8, "0")).join("").padEnd(8 * (bytes.length + 1), "0");
      return [1, ...bits.match(/.{8}/g).map((byte) => parseInt(byte, 2))];
    };
    const bad = [[0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc2, 0x41], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
      [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0x41]];
    assert.deepEqual(back("text(0, 255)", bad.map((bytes) => wide(...bytes))), bad.map(() => "malformed"));
    assert.deepEqual(back("text(0, 255)", [wide(0xc2, 0x80), wide(0xed, 0x9f, 0xbf), wide(0xf4, 0x8f, 0xbf, 0xbf), wide(0xf0, 0x9f)]),
      ["\u0080", "\ud7ff", "\u{10ffff}", "truncated"]);
  });

  // QuickJS takes a quarter of a minute.
  test(`values in ${engine}: each counts once, and 32 bytes of any text as one more`, { skip: engine !== "node" }, () => {
    // 1,048,572 values that take no bits, then a number and null, one of a union, and a text: spec/vectors/packed/invalid.json.
    const byte = "integer(number(0, 255, 1))";
    const codec = `array([array([], choice(["${"a".repeat(3200)}"]), 10381, 10381), choice(["${"b".repeat(2816)}"]), nullable(${byte}), nullable(${byte}),
      union([${byte}, bool]), text(0, 40)], null, 6, 6)`;
    const quiet = `(function (codec) { return { read: function () { codec.read(); return "read"; } }; })(${codec})`;
    const bits = (n, width) => n.toString(2).padStart(width, "0");
    const message = (length) => {
      const all = "1" + bits(7, 8) + "0" + "0" + bits(9, 8) + bits(length, 6) + "0" + bits(97, 7).repeat(length);
      return all.padEnd(8 * Math.ceil(all.length / 8), "0").match(/.{8}/g).map((byte) => parseInt(byte, 2));
    };
    assert.deepEqual(back(quiet, [message(31), message(32)]), ["read", "limit"]);
  });

  test(`patterns in ${engine}: groups below 2^32`, () => {
    const ten = '"0123456789"';
    // 10^9 is the largest power of ten below 2^32: 30 bits, then 7 for the other two.
    const [[bytes, text]] = there(`pattern([[${ten}, 11, 11]])`, ["12345678999"]);
    assert.equal(text, "12345678999");
    assert.equal(Buffer.from(bytes).toString("hex"), ((123456789n << 7n | 99n) << 3n).toString(16).padStart(10, "0"));
    assert.deepEqual(there(`pattern([[${ten}, 0, 3], ["-", 0, 1], ["AB", 2, 2]])`, ["AB", "1-BA", "12AB", "1234AB", "A", "-A", "1-ABB", ""]).map((r) => r[1]),
      ["AB", "1-BA", "12AB", "a", "a", "a", "a", "a"]);
    assert.deepEqual(back('pattern([["abc", 1, 1]])', [[0x80], [0xc0], []]), ["c", "range", "truncated"]);
  });
}
