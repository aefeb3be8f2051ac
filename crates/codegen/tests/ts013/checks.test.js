import assert from "node:assert/strict";
import test from "node:test";
import { engines } from "./engines.js";
import { golden } from "./golden.js";

const { source, examples } = golden.find(({ name }) => name === "checks");
const message = examples.find(({ type }) => type === "downlink-encode").input.data;

/** Values of a property that the schema's bits have room for, and that another keyword excludes. */
const excluded = {
  device: ["0011"],
  fraction: [-2, 1e301],
  word: ["", "okok", "no", "é\ud83d\ude03", "😁😁", "\n"],
  moment: ["2016-12-31", "2016-12-31T23:59:60", "2016-12-31T23:58:60Z", "2016-01-01 00:00:00Z", "2016-02-30T00:00:00Z", "2016-01-01T24:00:00Z",
    "2016-01-01T00:00:00+24:00", "2016-01-01T00:00:00+00:60", "2016-01-01T00:00:00.Z", "x2016-01-01T00:00:00Z"],
  uuid: ["9f4d8a70-3c1b-4e8e-9d0a-5f2b6c7d8e9g", "9f4d8a703-c1b-4e8e-9d0a-5f2b6c7d8e9f", "9f4d8a70-3c1b-4e8e-9d0a-5f2b6c7d8e9"],
  ipv4: ["256.0.0.1", "01.2.3.4", "1.2.3", "1.2.3.4.5", ""],
  ipv6: ["1:2", "::1::", ":::", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", "::256.0.0.1", "12345::", "::1%eth0"],
  day: ["2023-02-29", "2024-04-31", "2024-13-01", "2024-00-10"],
  hour: ["24:00:00Z", "23:60:00Z", "12:00:00", "22:59:60Z", "12:00:00+24:00"],
  span: ["P", "PT", "P1", "P1Y1D", "PT1D", "P1W1D", "PT1H2S", "P1DT", "1D", "P1.5D"],
  short: ["a", "abcde"],
  set: [[9, 9], [1, 2], [5, 9], []],
  range: [{}, { high: 1 }, { low: 4, unit: "km" }],
  either: ["abcd", 6, true],
};
const allowed = {
  word: ["ok", "é", "éé", "😀", "😂"],
  moment: ["2016-12-31T23:59:60Z", "2017-01-01t05:29:60+05:30", "2016-01-01T00:00:00.123z", "2016-01-01T00:00:00.123Z", "0000-02-29T23:59:59-23:59"],
  uuid: ["00000000-0000-0000-0000-000000000000", "9F4D8A70-3c1b-4e8e-9d0a-5f2b6c7d8e9f"],
  ipv4: ["0.0.0.0", "255.255.255.255"],
  ipv6: ["::", "::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:7::", "FE80::1"],
  day: ["0000-01-01", "9999-12-31"],
  hour: ["00:00:00Z", "23:59:60Z", "05:29:60.5+05:30", "12:00:00.25z"],
  span: ["P1W", "P1Y2M3DT4H5M6S", "P0D", "PT36H", "P1M", "P1DT1S", "P11111111111111111111111111111111111D"],
  short: ["ab", "abcd"],
  set: [[7], [1, 2, 3, 8]],
  range: [{ low: 9 }, { unit: "m", low: 9 }, { unit: "km" }],
  either: ["", -5, null],
};

for (const make of engines) {
  const codec = make(source);
  test(`keywords in ${codec.engine}: a value that one excludes is out of range, and named`, () => {
    for (const [key, values] of Object.entries(excluded)) {
      for (const value of values) {
        const output = codec.call("encodeDownlink", { data: { ...message, [key]: value } });
        assert.match(output.errors[0] ?? "none", new RegExp(`^range: .* at /${key}`), JSON.stringify({ [key]: value }));
        assert.equal(output.bytes, undefined);
      }
    }
  });

  test(`keywords in ${codec.engine}: what they allow comes back`, () => {
    for (const [key, values] of Object.entries(allowed)) {
      for (const value of values) {
        const { bytes, errors } = codec.call("encodeDownlink", { data: { ...message, [key]: value } });
        assert.deepEqual(errors, [], JSON.stringify({ [key]: value }));
        assert.deepEqual(codec.call("decodeUplink", { fPort: 1, bytes }).data[key], value);
      }
    }
  });
}
