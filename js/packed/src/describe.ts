import { type Value, foreignClass, isObject, keysOf } from "./values.js";

/** The most characters of a text that an error quotes. */
const QUOTED = 40;
/** The most listed values that an error names. */
const NAMED = 8;

/** Returns a text in quotes, truncated if it is long. */
export function quoted(text: string): string {
  const start = Array.from(text.slice(0, 2 * QUOTED)).slice(0, QUOTED).join("");
  return JSON.stringify(start) + (start.length < text.length ? "…" : "");
}

/** The advice for an object that cannot be a message, by its class, and the kind of value to which it applies (by default any). */
const INSTEAD: readonly (readonly [classes: RegExp, pass: string, where?: string])[] = [
  [/^Date$/, "text, such as its toISOString(), or the number that the schema wants"],
  [/^(Number|String|Boolean|BigInt)$/, "its valueOf()"],
  [/^Map$/, "Object.fromEntries(map)", "an object"],
  [/^(Set|.*Array)$/, "Array.from(it)", "an array"],
];

/** Returns advice on what to pass instead of a `Date` or the like where the layout has `expected`. Returns an empty text for other values. */
export function instead(value: unknown, expected?: string): string {
  const name = foreignClass(value) ?? "";
  const found = INSTEAD.find(([classes, , where]) => classes.test(name) && (where === undefined || expected === undefined || where === expected));
  return found === undefined ? "" : `; pass ${found[1]}`;
}

/** Returns a value for the text of an error: scalars as JSON has them, arrays and objects by their size, others by their class. */
export function brief(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isObject(value)) return `an object of ${keysOf(value).length}`;
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  const name = foreignClass(value);
  if (name !== undefined) return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
  return truncated(Object.is(value, -0) ? "-0" : String(value));
}

/** Returns a value of the layout for the text of an error: as JSON, truncated if it is long. */
export function shown(value: Value): string {
  if (typeof value !== "object" || value === null) return brief(value);
  return truncated(JSON.stringify(value));
}

function truncated(text: string): string {
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text;
}

/** Lists values of the layout for the text of an error. */
export function listed(values: readonly Value[]): string {
  return values.slice(0, NAMED).map(shown).join(", ") + (values.length > NAMED ? ", …" : "");
}

/** Returns the bound that a length violates. */
export function bound(length: number, min: number, max: number | null): string {
  return length < min ? `the minimum is ${min}` : `the maximum is ${max}`;
}
