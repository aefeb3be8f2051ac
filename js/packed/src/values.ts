/** A value of a message. */
export type Value = null | boolean | number | bigint | string | Value[] | { [key: string]: Value };

type Fields = { [key: string]: unknown };

/** Classes of JavaScript whose objects are not objects of JSON: their content is not in their properties. */
const OTHER = /^(Date|Map|Set|Weak.*|Promise|RegExp|Error|Number|String|Boolean|BigInt|Symbol|DataView|.*Array|.*ArrayBuffer|Temporal\..*)$/;

/** Returns the class of a `Date` or the like, which no message has; undefined for other values. */
export function foreignClass(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return undefined;
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return OTHER.test(name) ? name : undefined;
}

/** Whether a value is an object with properties. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && foreignClass(value) === undefined;
}

/** Returns the properties that a message has of an object: its own ones that are not undefined, as JSON has them. */
export function keysOf(value: Fields): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** Returns the property of an object, or undefined if it has none of its own. */
export function property(value: Fields, key: string): unknown {
  return Object.prototype.hasOwnProperty.call(value, key) ? value[key] : undefined;
}

/** Creates the property `key`, also where an assignment would call a setter, as for `__proto__`. */
export function define(object: Fields, key: string, value: unknown): void {
  if (key in Object.prototype) Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/** Whether two values are the same: 2 is the same as 2n, the order of properties does not matter, and -0 is not the same as 0. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return a === b && Object.is(a, -0) === Object.is(b, -0);
  if (typeof a === "bigint" && typeof b === "number") return Number.isInteger(b) && BigInt(b) === a && !Object.is(b, -0);
  if (typeof a === "number" && typeof b === "bigint") return same(b, a);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = keysOf(a);
  return keys.length === keysOf(b).length && keys.every((key) => property(b, key) !== undefined && same(a[key], b[key]));
}

/** Returns a copy of a value of the layout, so that nobody can change the layout through a message. */
export function copy(value: Value): Value {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value)) return value;
  const object = {};
  for (const key of Object.keys(value)) define(object, key, copy((value as { [key: string]: Value })[key]!));
  return object;
}

/** Returns the number of code points of a text, or -1 if it has lone surrogates. */
export function characters(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++, count++) {
    const unit = text.charCodeAt(i);
    if ((unit & 0xf800) !== 0xd800) continue;
    if (unit > 0xdbff || (text.charCodeAt(++i) & 0xfc00) !== 0xdc00) return -1;
  }
  return count;
}
