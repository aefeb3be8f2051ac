// The vectors of spec/vectors/packed/exported.json.

import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodeError, EncodeError, LayoutError, loadLayout } from "@dunnage/packed";
import { decoded, hex, load, objects, parse, unhex } from "../../pson/tests/notation.js";

const vectors = load("packed/exported.json");
const modelled = vectors.filter((vector) => vector.modelled);
const all = vectors.filter((vector) => !vector.modelled);
const value = (vector) => objects(parse(vector.value));
const options = ({ known = {} }) => ({ device: known.device, known });

function rejects(work, type, kind, place, name) {
  assert.throws(work, (error) => {
    assert.ok(error instanceof type, `${name}: ${error.stack}`);
    assert.deepEqual([error.kind, error.offset ?? error.pointer], [kind, place], name);
    return true;
  });
}

test("messages are decoded, and encoded to the same bytes", () => {
  const messages = all.filter((vector) => vector.hex !== undefined && vector.kind === undefined);
  assert.ok(messages.length > 150, String(messages.length));
  for (const vector of messages) {
    const layout = loadLayout(vector.exported);
    assert.deepEqual(layout.decode(unhex(vector.hex), options(vector)), objects(decoded(parse(vector.value))), vector.name);
    assert.equal(hex(layout.encode(value(vector))), vector.hex, vector.name);
  }
});

test("invalid messages are rejected", () => {
  const invalid = all.filter((vector) => vector.offset !== undefined);
  assert.ok(invalid.length > 50, String(invalid.length));
  for (const vector of invalid) {
    const layout = loadLayout(vector.exported);
    rejects(() => layout.decode(unhex(vector.hex), options(vector)), DecodeError, vector.kind, vector.offset, vector.name);
  }
});

test("values that the layout does not allow are rejected", () => {
  const refused = all.filter((vector) => vector.pointer !== undefined);
  assert.ok(refused.length > 10, String(refused.length));
  for (const vector of refused) {
    rejects(() => loadLayout(vector.exported).encode(value(vector)), EncodeError, vector.kind, vector.pointer, vector.name);
  }
});

test("modelled layouts are refused", () => {
  assert.ok(modelled.length > 5, String(modelled.length));
  for (const vector of modelled) assert.throws(() => loadLayout(vector.exported), { name: "LayoutError", message: /modelled/ }, vector.name);
  assert.ok(new LayoutError("") instanceof Error);
});
