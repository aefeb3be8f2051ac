// Saves a device's messages as a file: CSV for a spreadsheet, NDJSON for programs.

import { history } from "./api.js";
import { titled, unitOf } from "./units.js";
import { json, leaves, short } from "./value.js";

const PAGE = 1000;
/** Most messages of a file, and most bytes of their values: the browser holds them all. */
const MOST = 50_000;
const MOST_BYTES = 64e6;

/** The messages of `device` in the time range, oldest first, and whether these are all of them. */
async function read(device, range) {
  const found = [];
  let size = 0;
  while (found.length < MOST && size < MOST_BYTES) {
    const page = await history(device, { ...range, limit: PAGE, before: found.at(-1)?.id });
    if (page.length === 0) return { messages: found.reverse(), complete: true };
    for (const message of page) {
      found.push(message);
      size += message.json_bytes;
    }
  }
  return { messages: found.reverse(), complete: false };
}

const COMMON = ["id", "received_at", "format", "schema", "link", "bytes"];

/** A cell of CSV. A spreadsheet takes text that begins with = + - @ for a formula, and a device may have sent it. */
function cell(text, isText) {
  const safe = isText && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The messages as CSV (RFC 4180), with a column for each field. The header has the unit of those that have one. */
export function csv(messages, units = []) {
  const fields = messages.map((message) => leaves(message.value));
  const names = [...new Set(fields.flatMap((of) => [...of.keys()]))];
  const rows = messages.map((message, i) => [
    ...COMMON.map((name) => cell(String(message[name] ?? ""), typeof message[name] === "string")),
    ...names.map((name) => cell(short(fields[i].get(name)), typeof fields[i].get(name) === "string")),
  ]);
  const header = [...COMMON, ...names.map((name) => titled(name.slice(1) || "value", unitOf(units, name)))].map((name) => cell(name, true));
  return [header, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** The messages as JSON, one in a line, with every digit. */
export const ndjson = (messages) => messages.map((message) => `${json(message)}\n`).join("");

const KINDS = { csv: [csv, "text/csv"], ndjson: [ndjson, "application/x-ndjson"] };

/**
 * Saves the messages of `device` in the time range `{from, until}`, in milliseconds since 1970, as a file of `kind`. `units` are those of its
 * series. Returns how many messages these are, and whether they are all.
 */
export async function save(kind, device, range, units) {
  const [write, type] = KINDS[kind];
  const { messages, complete } = await read(device, range);
  const url = URL.createObjectURL(new Blob([write(messages, units)], { type }));
  const link = document.createElement("a");
  [link.href, link.download] = [url, `${device.replace(/[^\w.-]+/g, "_")}.${kind}`];
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  return { saved: messages.length, complete };
}
