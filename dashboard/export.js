// Saves a device's messages as a file: CSV for a spreadsheet, NDJSON for programs.

import { history } from "./api.js";
import { json, leaves, short } from "./value.js";

const PAGE = 1000;
/** Most messages of a file. */
const MOST = 50_000;

/** All messages of `device` in the range of times, oldest first. */
async function read(device, range) {
  const found = [];
  while (found.length < MOST) {
    const page = await history(device, { ...range, limit: PAGE, before: found.at(-1)?.id });
    if (page.length === 0) break;
    for (const message of page) found.push(message);
  }
  return found.slice(0, MOST).reverse();
}

const COMMON = ["id", "received_at", "format", "schema", "link", "bytes"];

/** A cell of CSV. A spreadsheet takes text that begins with = + - @ for a formula, and a device may have sent it. */
function cell(text, isText) {
  const safe = isText && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The messages as CSV (RFC 4180), with a column for each field. */
export function csv(messages) {
  const fields = messages.map((message) => leaves(message.value));
  const names = [...new Set(fields.flatMap((of) => [...of.keys()]))];
  const rows = messages.map((message, i) => [
    ...COMMON.map((name) => cell(String(message[name] ?? ""), typeof message[name] === "string")),
    ...names.map((name) => cell(short(fields[i].get(name)), typeof fields[i].get(name) === "string")),
  ]);
  const header = [...COMMON, ...names.map((name) => name.slice(1) || "value")].map((name) => cell(name, true));
  return [header, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** The messages as JSON, one in a line, with every digit. */
export const ndjson = (messages) => messages.map((message) => `${json(message)}\n`).join("");

const KINDS = { csv: [csv, "text/csv"], ndjson: [ndjson, "application/x-ndjson"] };

/** Saves the messages of `device` in the range of times `{from, until}`, in milliseconds since 1970, as a file of `kind`. */
export async function save(kind, device, range) {
  const [write, type] = KINDS[kind];
  const url = URL.createObjectURL(new Blob([write(await read(device, range))], { type }));
  const link = document.createElement("a");
  [link.href, link.download] = [url, `${device.replace(/[^\w.-]+/g, "_")}.${kind}`];
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
