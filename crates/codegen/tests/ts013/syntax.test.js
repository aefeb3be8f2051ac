import assert from "node:assert/strict";
import test from "node:test";
import { parse } from "acorn";
import { golden } from "./golden.js";

test("there are codecs to test", () => {
  assert.deepEqual(golden.map(({ name }) => name), ["checks", "container", "meter", "parts", "port", "weather"]);
});

for (const { name, source } of golden) {
  test(`${name} is one file of ECMAScript 5.1 that The Things Stack takes`, () => {
    assert.ok(Buffer.byteLength(source) <= 40_960);
    const tree = parse(source, { ecmaVersion: 5, sourceType: "script" });
    const functions = tree.body.filter((node) => node.type === "FunctionDeclaration").map((node) => node.id.name);
    for (const wanted of ["decodeUplink", "encodeDownlink", "decodeDownlink"]) {
      assert.ok(functions.includes(wanted), wanted);
    }
    for (const word of ["require", "module", "exports", "console", "eval", "BigInt", "Uint8Array"]) {
      assert.doesNotMatch(source, new RegExp(`\\b${word}\\b`));
    }
  });
}
