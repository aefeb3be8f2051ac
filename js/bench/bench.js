// Measures @dunnage/pson and its peers on the corpus, prints a table with ratios, and writes bench/results/lang-js.jsonl.
//
//   js/bench/run [--quick]
//
// Times are CPU times of the process, garbage collection included, so that other processes disturb them less. The libraries take turns within
// a round. A figure is the median of the rounds.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { libraries } from "./libraries.js";
import { payloads } from "./payloads.js";

const quick = process.argv.includes("--quick");
const ROUNDS = quick ? 9 : 25;
/** How long a library is measured in a round, in nanoseconds, and how long it warms up before the first. */
const SLICE = quick ? 2e6 : 5e6;
const WARM = quick ? 50e6 : 100e6;
const RESULTS = new URL("../../bench/results/", import.meta.url);

let sink = 0;

const now = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
};

/** Runs `operation` on all inputs, again and again, for about `nanoseconds`. Returns the nanoseconds per input. */
function time(operation, inputs, nanoseconds, batch) {
  const start = now();
  let runs = 0;
  let elapsed = 0;
  do {
    for (let i = 0; i < batch; i++) {
      for (let k = 0; k < inputs.length; k++) sink ^= operation(inputs[k]) === null ? 1 : 0;
    }
    runs += batch;
    elapsed = now() - start;
  } while (elapsed < nanoseconds);
  return elapsed / runs / inputs.length;
}

const median = (sorted) => (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;

/** Measures one operation of all libraries on one payload. */
function measure(all, operation, inputs) {
  const samples = all.map(() => []);
  // Known after the warm-up: how often the inputs are gone through between two looks at the clock.
  const batches = all.map((library, i) => Math.max(1, Math.round(2e5 / (time(library[operation], inputs[i], WARM, 1) * inputs[i].length))));
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const i = (turn + round) % all.length;
      samples[i].push(time(all[i][operation], inputs[i], SLICE, batches[i]));
    }
  }
  return samples.map((list) => {
    list.sort((a, b) => a - b);
    return { median: median(list), low: list[0], high: list.at(-1) };
  });
}

const all = libraries();
const environment = `${cpus()[0].model}, ${cpus().length} cores; Node ${process.version}`;
const records = [];
const ratios = new Map();

function record(library, payload, operation, metric, value, more) {
  records.push({
    record: 1, suite: "lang-js", target: "node", payload, format: library.format, library: library.library, version: library.version, operation, metric, value,
    unit: metric === "ns" ? "ns" : "bytes", ...more, environment, ...(library.options && { options: library.options }), floats: "exact", source: "measured",
  });
}

const cell = (text, width) => String(text).padStart(width);
const tenth = (n) => Math.round(n * 10) / 10;

console.log(`${environment}\n${all.map(({ name, version: number }) => `${name} ${number}`).join(", ")}`);
console.log(`ns of CPU per message, median of ${ROUNDS} rounds; in brackets, the time of each library divided by ours`);
console.log(`${"".padEnd(22)}${all.map(({ name }) => cell(name, 20)).join("")}`);
for (const { name, messages } of payloads()) {
  const encoded = all.map((library) => messages.map((message) => library.encode(message).slice()));
  all.forEach((library, i) => {
    encoded[i].forEach((bytes, k) => assert.deepEqual(library.decode(bytes), messages[k], `${library.name}: ${name}`));
    record(library, name, "encode", "bytes", encoded[i].reduce((sum, bytes) => sum + bytes.length, 0) / messages.length, { repetitions: 1 });
  });
  for (const operation of ["encode", "decode"]) {
    const inputs = operation === "encode" ? all.map(() => messages) : encoded;
    const times = measure(all, operation, inputs);
    times.forEach((taken, i) => {
      const spread = { low: tenth(taken.low), high: tenth(taken.high), of: "range" };
      record(all[i], name, operation, "ns", tenth(taken.median), { repetitions: ROUNDS, spread });
      const key = `${operation} ${all[i].name}`;
      ratios.set(key, [...(ratios.get(key) ?? []), taken.median / times[0].median]);
    });
    const cells = times.map((taken, i) => cell(`${taken.median.toFixed(0)}${i > 0 ? ` (${(taken.median / times[0].median).toFixed(2)})` : ""}`, 20));
    console.log(`${operation} ${name}`.padEnd(22) + cells.join(""));
  }
}
const mean = (list) => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
for (const operation of ["encode", "decode"]) {
  const cells = all.map(({ name }) => {
    const list = ratios.get(`${operation} ${name}`);
    return cell(`${mean(list).toFixed(2)} (${Math.min(...list).toFixed(2)})`, 20);
  });
  console.log(`${operation}: mean (least)`.padEnd(22) + cells.join(""));
}
mkdirSync(RESULTS, { recursive: true });
writeFileSync(new URL("lang-js.jsonl", RESULTS), records.map((line) => `${JSON.stringify(line)}\n`).join(""));
console.log(`bench/results/lang-js.jsonl: ${records.length} records${sink === 7 ? "." : ""}`);
