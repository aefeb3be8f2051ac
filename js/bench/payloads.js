// The messages that are measured.

import { readFileSync } from "node:fs";

const CORPUS = new URL("../../bench/corpus/", import.meta.url);
const corpus = (name) => JSON.parse(readFileSync(new URL(name, CORPUS), "utf8"));

/** The size of the large document as JSON. */
const LARGE = 1_000_000;

/** Returns the subject of the measurement: a name, and the messages that are encoded or decoded one after another. */
export function payloads() {
  const { payloads: paper } = corpus("pson-paper.json");
  const container = corpus("container.json");
  return [
    ...Object.entries(paper).map(([name, message]) => ({ name, messages: [message] })),
    { name: "container", messages: [container] },
    { name: "1 MB document", messages: [document(container)] },
    { name: "mixed shapes", messages: mixed(paper, container) },
  ];
}

/** A document of about 1 MB of JSON: a list of readings like the container's, each with other values. */
function document(container) {
  const readings = [];
  const random = generator(1);
  for (let size = 0; size < LARGE; ) {
    const reading = varied(container, random);
    readings.push(reading);
    size += JSON.stringify(reading).length + 1;
  }
  return { version: 1, readings };
}

/** The message with other digits in its texts, and other numbers. */
function varied(value, random) {
  if (Array.isArray(value)) return value.map((item) => varied(item, random));
  if (typeof value === "string") return value.replace(/\d/g, () => String(random(10)));
  if (typeof value === "number") return Number.isInteger(value) ? value + random(100) : value + random(100) / 100;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, varied(item, random)]));
}

/** Messages of many shapes, in an order without a pattern: more shapes than an inline cache of V8 remembers. */
function mixed(paper, container) {
  const kinds = ["short-json", "medium-mixed", "json-org", "wot", "tasmota-status", "long-and-mixed", "telemetry/weather", "telemetry/meter"];
  const messages = [...Object.values(paper), container, ...kinds.map((name) => corpus(`${name}.json`))];
  // Maps with keys of their own.
  for (let i = 0; i < 20; i++) messages.push(Object.fromEntries(Array.from({ length: 1 + (i % 8) }, (_, k) => [`key${i}_${k}`, i * k])));
  const random = generator(2);
  for (let i = messages.length - 1; i > 0; i--) {
    const other = random(i + 1);
    [messages[i], messages[other]] = [messages[other], messages[i]];
  }
  return messages;
}

/** Pseudo-random integers below a bound; the same ones for the same seed. */
function generator(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
