// The layouts of the vectors with statistics whose files have schemas, and random messages of them.

import { createHash } from "node:crypto";
import fc from "fast-check";
import { loadLayout } from "@dunnage/packed";
import { load } from "../../pson/tests/notation.js";

/** Loads a layout with these members beside the tree, as `dunnage schema layout` exports it. */
export function loaded(layout, { slot = 1, ...more } = {}) {
  const canonical = { packed: 1, ...more, layout };
  const fingerprint = createHash("sha256").update(JSON.stringify(canonical)).digest("hex");
  return loadLayout({ packed: { slot, fingerprint }, layout: canonical });
}

/** Returns statistics with these bytes after the version and the fingerprint of the layout without them. */
export function statistics(layout, version, bytes, more = {}) {
  const owner = createHash("sha256").update(JSON.stringify({ packed: 1, ...more, layout })).digest().subarray(0, 4);
  return Buffer.from([version, ...owner, ...bytes]).toString("base64");
}

const integer = (min, max) => ({ number: [String(min), String(max), 1], as: "integer" });

const READING = [
  ["time", true, { number: ["0", "946771199", 1], as: { time: ["YYYY-MM-DDThh:mm:ssZ", "1577836800"] } }],
  ["count", true, { number: ["0", "999999", 1], every: 10, as: "integer" }],
  ["east", true, { number: ["0", "35999", 1], as: { decimal: 2 } }],
  ["state", true, { choice: ["off", "starting", "on", "fault"] }],
  ["cell", true, { pattern: [["0123456789", 3, 3], ["-", 1, 1], ["0123456789", 1, 2], ["-", 1, 1], ["0123456789ABCDEF", 1, 4]] }],
  ["note", true, { text: [0, 8] }],
  ["level", true, "float"],
  ["error", false, { nullable: integer(0, 255) }],
];

/** The trees of the schemas in series.json. Their statistics have a part of their fingerprints. */
const SERIES = {
  Readings: { object: [["battery", true, integer(0, 100)], ["readings", true, { array: [0, 12], series: true, item: { object: READING } }]] },
  Numbers: { array: [0, 200], series: true, item: integer(0, 4294967295) },
};

/** Returns the layout of a schema in series.json. */
export function ofSeries({ title, "x-dunnage-slot": slot, "x-dunnage-statistics": statistics }) {
  return loaded(SERIES[title], { slot, statistics });
}

/** Values that are mostly close to those before them, as readings are. */
const walk = (min, max) => fc.oneof({ weight: 8, arbitrary: fc.integer({ min: Math.floor((min + max) / 2), max: Math.floor((min + max) / 2) + 9 }) }, fc.integer({ min, max }), fc.constantFrom(min, max));

const reading = fc.record(
  {
    time: walk(0, 946771199).map((seconds) => new Date(1000 * (1577836800 + seconds)).toISOString().replace(".000", "")),
    count: walk(0, 999999),
    east: walk(0, 35999).map((hundredths) => hundredths / 100),
    state: fc.constantFrom("off", "starting", "on", "fault"),
    cell: fc.oneof({ weight: 4, arbitrary: fc.constantFrom("222-10-1A2B", "208-1-7") }, fc.stringMatching(/^[0-9]{3}-[0-9]{1,2}-[0-9A-F]{1,4}$/)),
    note: fc.oneof({ weight: 4, arbitrary: fc.constantFrom("", "dry", "süd") }, fc.string({ unit: "grapheme", maxLength: 4 }).filter((text) => Array.from(text).length <= 8)),
    level: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0.1, Math.fround(0.1), 1e-13, 0.5, -0) }, fc.double({ noNaN: true, noDefaultInfinity: true }).filter((f) => !Number.isInteger(f) || Number.isSafeInteger(f))),
    error: fc.oneof(fc.constant(null), walk(0, 255)),
  },
  { requiredKeys: ["time", "count", "east", "state", "cell", "note", "level"], noNullPrototype: true },
);

/** Random messages of the layouts in series.json, by the titles of their schemas. */
export const MESSAGES = {
  Readings: fc.record({ battery: walk(0, 100), readings: fc.array(reading, { maxLength: 12 }) }, { noNullPrototype: true }),
  Numbers: fc.array(walk(0, 4294967295), { maxLength: 200 }),
};

/** The schemas of series.json, by their titles. */
export const SCHEMAS = Object.fromEntries(load("packed/series.json").map(({ schema }) => [schema.title, schema]));

/** Returns the layout of a schema in deltas.json, which exported.json has with the same statistics. */
export function ofDeltas({ "x-dunnage-statistics": statistics }) {
  return loadLayout(load("packed/exported.json").find(({ exported }) => exported.layout.statistics === statistics).exported);
}
