// Deltas: the vectors of spec/vectors/packed/deltas.json and series.json in mode 2, damaged and random messages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { DecodeError, EncodeError, Reference, isDelta } from "@dunnage/packed";
import { decoded, hex, load, objects, parse, unhex } from "../../pson/tests/notation.js";
import { MESSAGES, SCHEMAS, loaded, ofDeltas, ofSeries, statistics } from "./trained.js";

const vectors = load("packed/deltas.json");
const sequences = vectors.filter(({ steps }) => steps !== undefined);
const series = load("packed/series.json").filter(({ reference }) => reference !== undefined);
const TRAINED = ofDeltas(vectors[0].schema);
/** After this many messages without an acknowledgement, a sender forgets its reference. */
const UNACKNOWLEDGED = 16;

/** The sender of a sequence, with at most `pending` messages that wait. */
class Sender {
  acknowledged = null;
  waiting = [];
  unanswered = 0;

  constructor(pending) {
    this.pending = pending;
  }

  send(message) {
    if (this.unanswered >= UNACKNOWLEDGED) this.forget();
    const bytes = TRAINED.encode(message);
    const delta = this.acknowledged && TRAINED.encodeDelta(message, this.acknowledged);
    this.waiting = [...this.waiting, TRAINED.reference(message)].slice(-this.pending);
    this.unanswered++;
    return delta !== null && delta.length < bytes.length ? delta : bytes;
  }

  acknowledge(name) {
    const at = this.waiting.findLastIndex((reference) => reference.name === name);
    if (at < 0) return false;
    this.acknowledged = this.waiting[at];
    this.waiting = this.waiting.slice(at + 1);
    this.unanswered = 0;
    return true;
  }

  forget() {
    this.acknowledged = null;
    this.unanswered = 0;
  }
}

/** Decodes a message with all that were received, the latest first. */
function receive(bytes, references) {
  if (!isDelta(bytes)) return TRAINED.decode(bytes);
  const messages = references.filter((reference) => reference.isTagged(bytes[0])).flatMap((reference) => {
    try {
      return [TRAINED.decodeDelta(bytes, reference)];
    } catch (error) {
      assert.equal(error.kind, "reference", error.stack);
      return [];
    }
  });
  assert.equal(new Set(messages.map((message) => JSON.stringify(message))).size, 1);
  return messages[0];
}

test("sequences of messages have the bytes and the names of the vectors", () => {
  assert.ok(sequences.length > 3, String(sequences.length));
  let deltas = 0;
  for (const { name, pending, steps } of sequences) {
    const sender = new Sender(pending);
    let received = [];
    for (const step of steps) {
      if (step.acknowledge !== undefined) {
        assert.equal(sender.acknowledge(parseInt(step.acknowledge, 16)), step.news, name);
      } else if (step.forget) {
        sender.forget();
      } else {
        const bytes = sender.send(objects(parse(step.send)));
        assert.equal(hex(bytes), step.hex, name);
        deltas += isDelta(bytes) ? 1 : 0;
        if (step.lost) continue;
        const message = receive(bytes, received);
        assert.deepEqual(message, objects(decoded(parse(step.send))), name);
        const reference = TRAINED.reference(message);
        assert.equal(reference.name, parseInt(step.name, 16), name);
        assert.equal(TRAINED.referenceFrom(reference.plain).name, reference.name, name);
        received = [reference, ...received];
      }
    }
  }
  assert.ok(deltas > 30, String(deltas));
});

test("series go on where those of their references ended", () => {
  const valid = series.filter(({ kind }) => kind === undefined);
  assert.ok(valid.length > 5, String(valid.length));
  for (const { name, schema, reference: plain, value, hex: delta } of valid) {
    const layout = ofSeries(schema);
    const reference = layout.referenceFrom(unhex(plain));
    assert.equal(hex(reference.plain), plain, name);
    assert.equal(hex(layout.encodeDelta(objects(parse(value)), reference)), delta, name);
    assert.deepEqual(layout.decodeDelta(unhex(delta), reference), objects(decoded(parse(value))), name);
  }
});

test("invalid deltas are rejected", () => {
  const invalid = [...vectors, ...series].filter(({ kind }) => kind !== undefined);
  assert.ok(invalid.length > 10, String(invalid.length));
  for (const { name, schema, hex: message, reference, references = [reference], kind, offset } of invalid) {
    const layout = reference === undefined ? TRAINED : ofSeries(schema);
    for (const plain of references) {
      const work = () => layout.decodeDelta(unhex(message), layout.referenceFrom(unhex(plain)));
      assert.throws(work, (error) => error instanceof DecodeError && error.kind === kind && error.offset === offset, name);
    }
  }
});

/** Checks every prefix of a delta, and every byte of it with every bit flipped. */
function damage(layout, bytes, reference, name) {
  for (let end = 0; end < bytes.length; end++) {
    const kind = end < 3 ? "truncated" : "reference";
    assert.throws(() => layout.decodeDelta(bytes.subarray(0, end), reference), { kind, offset: end < 3 ? end : 0 }, name);
  }
  assert.throws(() => layout.decodeDelta(Uint8Array.of(...bytes, 0), reference), { kind: "reference", offset: 0 }, name);
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const damaged = bytes.slice();
    damaged[bit >> 3] ^= 1 << (bit & 7);
    assert.throws(() => layout.decodeDelta(damaged, reference), { kind: bit === 6 || bit === 7 ? "malformed" : "reference", offset: 0 }, `${name} ${bit}`);
  }
}

test("truncated and damaged deltas are rejected", () => {
  for (const { name, schema, reference, hex: delta } of series.filter(({ kind }) => kind === undefined)) {
    const layout = ofSeries(schema);
    damage(layout, unhex(delta), layout.referenceFrom(unhex(reference)), name);
  }
  for (const { name, steps } of sequences) {
    const sent = steps.filter(({ send }) => send !== undefined).map(({ send }) => objects(parse(send)));
    for (let at = 1; at < sent.length; at++) {
      const reference = TRAINED.reference(sent[at - 1]);
      damage(TRAINED, TRAINED.encodeDelta(sent[at], reference), reference, `${name} ${at}`);
    }
  }
});

for (const [title, schema] of Object.entries(SCHEMAS)) {
  test(`random messages of ${title} are decoded against each other`, () => {
    const layout = ofSeries(schema);
    fc.assert(
      fc.property(MESSAGES[title], MESSAGES[title], (before, message) => {
        const reference = layout.reference(before);
        const delta = layout.encodeDelta(message, reference);
        assert.deepEqual(layout.decodeDelta(delta, reference), message);
        assert.deepEqual(layout.decodeDelta(delta, layout.referenceFrom(reference.plain)), message);
      }),
      { numRuns: 300 },
    );
  });
}

test("options apply to deltas", () => {
  const message = { layout: { object: [["id", true, "known"], ["n", true, { number: ["0", "18446744073709551615", 1], as: "integer" }]] }, id: "buoy-7", n: 2n ** 53n + 1n };
  const layout = loaded(message.layout, { statistics: statistics(message.layout, 1, [0, 0]) });
  const { id, n } = message;
  const reference = layout.reference({ id, n: 5 });
  assert.deepEqual(layout.decodeDelta(layout.encodeDelta({ id, n }, reference), reference, { device: id }), { id, n });
  const small = layout.encodeDelta({ id, n: 7 }, reference);
  assert.deepEqual(layout.decodeDelta(small, reference, { device: id, bigint: "always" }), { id, n: 7n });
  assert.throws(() => layout.decodeDelta(layout.encodeDelta({ id, n }, reference), reference, { device: id, bigint: "never" }), { kind: "range" });
  assert.throws(() => layout.decodeDelta(small, reference, { device: id, bigint: "sometimes" }), RangeError);
  assert.throws(() => layout.decodeDelta(small, reference), { kind: "reference", message: /ID of the device/ });
  assert.throws(() => layout.referenceFrom(reference.plain), { kind: "type" });
  assert.deepEqual(layout.referenceFrom(reference.plain, { device: id, bigint: "never" }).plain, reference.plain);
  // The same number takes one bit.
  assert.equal(layout.encodeDelta({ id, n: 5 }, reference).length, 4);
});

test("deltas need statistics, a reference of the same layout, and the mode of deltas", () => {
  const tree = { object: [["n", true, { number: ["0", "9", 1], as: "integer" }]] };
  const [plain, trained] = [loaded(tree), loaded(tree, { statistics: statistics(tree, 1, [0, 0]) })];
  const reference = trained.reference({ n: 5 });
  assert.ok(reference instanceof Reference && reference.isTagged(reference.name) && !reference.isTagged(reference.name ^ 1));
  for (const work of [() => plain.reference({ n: 5 }), () => plain.encodeDelta({ n: 5 }, reference)]) assert.throws(work, (error) => error instanceof EncodeError && error.kind === "malformed");
  for (const work of [() => plain.referenceFrom(reference.plain), () => plain.decodeDelta(Uint8Array.of(128, 0, 0), reference)]) assert.throws(work, (error) => error instanceof DecodeError && error.kind === "malformed");
  assert.throws(() => trained.encodeDelta({ n: 5 }, TRAINED.reference(objects(parse(sequences[0].steps[0].send)))), { kind: "reference", message: /another layout/ });
  assert.throws(() => trained.encodeDelta({ n: 5 }, reference.plain), TypeError);
  assert.throws(() => trained.encodeDelta({ n: 10 }, reference), { kind: "range", pointer: "/n" });
  assert.throws(() => trained.reference({ n: "5" }), { kind: "type", pointer: "/n" });
  assert.throws(() => trained.decodeDelta(trained.encode({ n: 5 }), reference), { kind: "malformed", offset: 0 });
  assert.throws(() => trained.decode(trained.encodeDelta({ n: 5 }, reference)), { kind: "reference", offset: 0 });
  assert.throws(() => trained.decodeDelta(new Uint8Array(0), reference), { kind: "truncated", offset: 0 });
  assert.ok(isDelta(Uint8Array.of(0x80)) && isDelta(Uint8Array.of(0xbf, 1).buffer) && !isDelta(Uint8Array.of(0x41)) && !isDelta(Uint8Array.of(0xc0)) && !isDelta(new Uint8Array(0)));
  // The name does not depend on the check, which a delta does not have.
  const checked = loaded(tree, { check: 2, statistics: statistics(tree, 1, [0, 0], { check: 2 }) });
  const of = checked.reference({ n: 5 });
  assert.equal(of.plain.length, 2);
  assert.deepEqual(checked.decodeDelta(checked.encodeDelta({ n: 6 }, of), of), { n: 6 });
});

test("the README's example decodes the second message", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /## Deltas[\s\S]*?```js\n([\s\S]*?)```/.exec(readme);
  const [first, second] = sequences[0].steps.filter(({ send }) => send !== undefined).map(({ send }) => objects(parse(send)));
  assert.deepEqual(new Function("layout", "first", "second", `${example}; return message;`)(TRAINED, first, second), second);
});
