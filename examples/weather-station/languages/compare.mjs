// Compares a message with the schema's example, as text: compare.mjs LANGUAGE MESSAGE SCHEMA.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [language, message, schema] = process.argv.slice(2);
const decoded = JSON.stringify(JSON.parse(readFileSync(message, "utf8")));
const [example] = JSON.parse(readFileSync(schema, "utf8")).examples;
assert.equal(decoded, JSON.stringify(example), language);
console.log(`${language.padEnd(10)} ${decoded}`);
