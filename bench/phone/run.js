// Runs the page in headless Chromium, writes bench/results/phone.jsonl, and prints the times.

import { mkdirSync, writeFileSync } from "node:fs";
import { runAll, withPage } from "./browser.js";

const RESULTS = new URL("../results/", import.meta.url);
const lines = await withPage(runAll);
mkdirSync(RESULTS, { recursive: true });
writeFileSync(new URL("phone.jsonl", RESULTS), lines);

const records = lines.trim().split("\n").map((line) => JSON.parse(line));
const sizes = new Map(records.filter(({ metric }) => metric === "bytes").map((record) => [`${record.format} ${record.payload}`, record.value]));
console.log(records[0].environment);
for (const { format, payload, operation, metric, value, options } of records) {
  if (metric !== "ns") continue;
  const size = sizes.get(`${format} ${payload}`);
  console.log(`${format.padEnd(14)}${payload.padEnd(6)}${operation.padEnd(12)}${String(size).padStart(5)} bytes${(value / 1000).toFixed(2).padStart(10)} µs  ${options}`);
}
