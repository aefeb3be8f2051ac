// The value of a message: parsed without losing digits, shown as fields.

import { el } from "./dom.js";
import { count, counted, decimal } from "./format.js";

const MOST_ENTRIES = 200;
const LONGEST_TEXT = 2000;

/** A number that a JavaScript number cannot represent as it was written; `text` is its source. */
export class ExactNumber {
  constructor(text) {
    this.text = text;
  }
}

/** JSON.parse that keeps 9007199254740993 and 1.50 unchanged, in browsers that pass the source text to the reviver. */
export function parse(text) {
  /** @type {any} */
  const exact = (_, value, context) => (typeof value === "number" && context?.source && String(value) !== context.source ? new ExactNumber(context.source) : value);
  return JSON.parse(text, exact);
}

function text(value) {
  const shown = value.length > LONGEST_TEXT ? value.slice(0, LONGEST_TEXT) : value;
  const node = el("span", { class: "value text" }, shown);
  return value.length > LONGEST_TEXT ? el("span", {}, node, ` and ${counted(value.length - LONGEST_TEXT, "more character")}`) : node;
}

/** A number. A binary32 with many digits is shown as its shortest decimal, with a note. */
function float(number) {
  const shown = decimal(number);
  const node = el("span", { class: "value" }, shown);
  return shown === String(number) ? node : el("span", { title: String(number) }, node, el("span", { class: "soft" }, " binary32"));
}

const entries = (value) => (Array.isArray(value) ? value.map((item, at) => [String(at), item]) : Object.entries(value));

const isScalar = (value) => typeof value !== "object" || value === null || value instanceof ExactNumber;

/** The value as elements. */
export function fields(value) {
  if (typeof value === "string") return text(value);
  if (value instanceof ExactNumber) return el("span", { class: "value" }, value.text);
  if (typeof value === "number") return float(value);
  if (isScalar(value)) return el("span", { class: "value" }, String(value));
  const list = entries(value);
  if (list.length === 0) return el("span", { class: "value soft" }, Array.isArray(value) ? "empty list" : "no fields");
  const shown = list.slice(0, MOST_ENTRIES);
  if (Array.isArray(value) && shown.every(([, item]) => isScalar(item))) {
    const items = shown.map(([, item]) => el("li", {}, fields(item)));
    return el("ul", { class: "items" }, ...items, ...rest(list.length, "li"));
  }
  const pairs = shown.map(([key, item]) => el("div", {}, el("dt", {}, key), el("dd", {}, fields(item))));
  return el("dl", { class: "fields" }, ...pairs, ...rest(list.length, "div"));
}

/** The scalars in a value by their JSON pointers, in their order. */
export function leaves(value, pointer = "", found = new Map()) {
  if (isScalar(value)) found.set(pointer, value);
  else for (const [key, item] of entries(value)) leaves(item, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
  return found;
}

/** A scalar as plain text, with every digit; nothing for null and for none. */
export const short = (value) => (value instanceof ExactNumber ? value.text : String(value ?? ""));

/** The same for people: a number that is a binary32 has its shortest decimal. */
export const brief = (value) => (typeof value === "number" ? decimal(value) : short(value));

/** A JSON pointer for people: "/data/0" -> "data / 0" */
export const title = (pointer) => pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).join(" / ") || "value";

/** JSON.stringify with the numbers as they were written. */
export function json(value) {
  if (value instanceof ExactNumber) return value.text;
  if (isScalar(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${json(item)}`).join(",")}}`;
}

const rest = (length, name) => (length > MOST_ENTRIES ? [el(name, { class: "soft" }, `and ${count(length - MOST_ENTRIES)} more`)] : []);
