// A codec with statistics: messages in mode 1, and deltas.

import assert from "node:assert/strict";
import test from "node:test";
import { parse } from "acorn";
import { engines } from "./engines.js";
import { codecs } from "./golden.js";

const [{ source, examples }] = codecs("trained");
const uplinks = examples.filter(({ type }) => type === "uplink");

test("it is one file of ECMAScript 5.1 that The Things Stack takes", () => {
  assert.ok(Buffer.byteLength(source) <= 40_960);
  parse(source, { ecmaVersion: 5, sourceType: "script" });
});

test("the examples are in mode 1", () => {
  assert.ok(uplinks.length > 0 && uplinks.every(({ input }) => input.bytes[0] >> 6 === 1));
});

for (const make of engines) {
  const codec = make(source);
  const decode = (bytes) => codec.call("decodeUplink", { fPort: 1, bytes });

  test(`${codec.engine}: each example comes out as it stands, and is encoded without statistics`, () => {
    const functions = { uplink: "decodeUplink", "downlink-encode": "encodeDownlink", "downlink-decode": "decodeDownlink" };
    for (const { type, input, output } of examples) {
      const expected = type === "downlink-encode" ? { ...output, warnings: [] } : { warnings: [], ...output };
      const { errors, ...got } = codec.call(functions[type], input);
      assert.deepEqual(errors, []);
      assert.deepEqual(got, expected);
    }
  });

  test(`${codec.engine}: every prefix is truncated, and nothing may stand behind the message`, () => {
    for (const { bytes } of uplinks.map(({ input }) => input)) {
      for (let length = 0; length < bytes.length; length += 1) {
        assert.match(decode(bytes.slice(0, length)).errors[0], /^truncated: .* at byte \d+/);
      }
      assert.match(decode([...bytes, 0]).errors[0], /^malformed: .* at byte \d+/);
    }
  });

  test(`${codec.engine}: damaged bytes are a message or an error with kind and offset`, () => {
    for (const { bytes } of uplinks.map(({ input }) => input)) {
      for (let bit = 8; bit < 8 * bytes.length; bit += 1) {
        const damaged = bytes.slice();
        damaged[bit >> 3] ^= 0x80 >> bit % 8;
        const { data, errors } = decode(damaged);
        if (errors.length === 0) {
          assert.deepEqual(codec.call("encodeDownlink", { data }).errors, []);
        } else {
          assert.match(errors[0], /^(truncated|malformed|range): .* at byte \d+/);
        }
      }
    }
  });

  test(`${codec.engine}: a delta is passed on, mode 3 is malformed, another slot is out of range`, () => {
    const [first, ...body] = uplinks[0].input.bytes;
    for (const delta of [[128], [191, 0, 0], [128 + first % 64, ...body]]) {
      assert.deepEqual(decode(delta), { data: { dunnage: "delta" }, warnings: [], errors: [] });
    }
    assert.match(decode([first % 64 + 192, ...body]).errors[0], /^malformed: mode 3/);
    assert.match(decode([64, ...body]).errors[0], /^malformed: slot 0 at byte 0$/);
    assert.match(decode([first ^ 2, ...body]).errors[0], /^range: slot \d+, not \d+ at byte 0$/);
  });
}
