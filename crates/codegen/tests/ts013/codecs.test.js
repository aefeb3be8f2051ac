import assert from "node:assert/strict";
import test from "node:test";
import { engines } from "./engines.js";
import { golden } from "./golden.js";

const LIMIT_MS = 100;

/** JSON with the keys of objects in another order. */
function reversed(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(reversed);
  const result = {};
  for (const key of Object.keys(value).reverse()) {
    Object.defineProperty(result, key, { value: reversed(value[key]), enumerable: true });
  }
  return result;
}

function decodeError(codec, fPort, bytes) {
  const output = codec.call("decodeUplink", { fPort, bytes });
  assert.equal(output.data, undefined, JSON.stringify(output));
  assert.equal(output.errors.length, 1);
  return output.errors[0];
}

for (const { name, source, examples } of golden) {
  for (const make of engines) {
    const codec = make(source);
    const here = `${name} in ${codec.engine}`;
    const uplinks = examples.filter(({ type }) => type === "uplink");
    const { fPort } = uplinks[0].input;

    test(`${here}: each example comes out as it stands, in the schema's order`, () => {
      const functions = { uplink: "decodeUplink", "downlink-encode": "encodeDownlink", "downlink-decode": "decodeDownlink" };
      for (const { type, input, output } of examples) {
        const expected = type === "downlink-encode" ? { ...output, warnings: [] } : { warnings: [], ...output };
        const { errors, ...got } = codec.call(functions[type], input);
        assert.deepEqual(errors, []);
        assert.deepEqual(got, expected);
        assert.equal(JSON.stringify(got.data), JSON.stringify(output.data));
      }
    });

    test(`${here}: what was decoded is encoded to the same bytes, in any order of properties`, () => {
      for (const { input, output } of uplinks) {
        assert.deepEqual(codec.call("encodeDownlink", output).bytes, input.bytes);
        // Constants have one order.
        if (name !== "parts") {
          assert.deepEqual(codec.call("encodeDownlink", { data: reversed(output.data) }).bytes, input.bytes);
        }
      }
    });

    test(`${here}: every prefix is truncated, and nothing may stand behind the message`, () => {
      for (const { bytes } of uplinks.map(({ input }) => input)) {
        for (let length = 0; length < bytes.length; length += 1) {
          assert.match(decodeError(codec, fPort, bytes.slice(0, length)), /^truncated: .* at byte \d+/);
        }
        assert.match(decodeError(codec, fPort, [...bytes, 0]), new RegExp(`^malformed: .* at byte ${bytes.length}$`));
      }
    });

    test(`${here}: another slot is out of range, mode and slot 0 are malformed`, () => {
      if (name === "port") {
        const { bytes } = uplinks[0].input;
        for (const other of [1, 0, undefined, null, "12"]) {
          assert.match(decodeError(codec, other, bytes), /^range: port .*, not 12 at byte 0$/);
        }
        return;
      }
      const [slot, ...body] = uplinks[0].input.bytes;
      assert.match(decodeError(codec, fPort, [slot ^ 1 || 2, ...body]), /^range: slot \d+, not \d+ at byte 0$/);
      assert.match(decodeError(codec, fPort, [0, ...body]), /^malformed: slot 0 at byte 0$/);
      for (const mode of [1, 2, 3]) {
        assert.match(decodeError(codec, fPort, [slot + 64 * mode, ...body]), /^malformed: mode \d/);
      }
    });

    test(`${here}: damaged bytes are a message that encodes to them, or an error with kind and offset`, () => {
      for (const { bytes } of uplinks.map(({ input }) => input)) {
        for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
          const damaged = bytes.slice();
          damaged[bit >> 3] ^= 0x80 >> bit % 8;
          const output = codec.call("decodeUplink", { fPort, bytes: damaged });
          if (output.errors.length === 0) {
            assert.deepEqual(codec.call("encodeDownlink", output).bytes, damaged);
          } else {
            assert.match(output.errors[0], /^(truncated|malformed|range): .* at byte \d+/);
          }
        }
      }
    });

    test(`${here}: no input throws`, () => {
      for (const input of [null, 1, "x", [], {}, { bytes: null, data: null }, { bytes: "01", data: "{}" },
        { bytes: [256], data: [] }, { bytes: [-1], data: 3 }, { bytes: [1.5], data: true }, { bytes: [null], data: {} },
        { bytes: { length: 1e300 }, data: { nothing: 1 } }, { bytes: { length: -1 } }]) {
        for (const name of ["decodeUplink", "encodeDownlink", "decodeDownlink"]) {
          const output = codec.call(name, input);
          assert.match(output.errors[0], /^(type|range|truncated|limit): /, `${name} ${JSON.stringify(input)}`);
        }
      }
    });

    test(`${here}: decoding and encoding take less than ${LIMIT_MS} ms, loading included`, () => {
      // The processor's time, because other tests may have the processor for a while.
      const used = (work) => {
        const start = process.cpuUsage();
        work();
        const { user, system } = process.cpuUsage(start);
        return (user + system) / 1000;
      };
      for (const { input, output } of uplinks) {
        let fresh;
        const decoding = used(() => {
          fresh = make(source);
          fresh.call("decodeUplink", input);
        });
        assert.ok(decoding < LIMIT_MS, `${decoding} ms`);
        const encoding = used(() => fresh.call("encodeDownlink", output));
        assert.ok(encoding < LIMIT_MS, `${encoding} ms`);
      }
    });
  }
}
