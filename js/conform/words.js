// The words of conform/README.md, "Values in a line".

export const unhex = (text) => new Uint8Array(Buffer.from(text, "hex"));
export const hex = (bytes) => Buffer.from(bytes).toString("hex");
const float = new DataView(new ArrayBuffer(8));

/** Appends the words of a value. */
export function describe(value, words) {
  if (value === null) words.push("n");
  else if (typeof value === "boolean") words.push(value ? "t" : "f");
  else if (typeof value === "string") words.push(`s${hex(Buffer.from(value))}`);
  else if (typeof value === "bigint") words.push(`i${value}`);
  else if (typeof value === "number") words.push(number(value));
  else if (value instanceof Uint8Array) words.push(`b${hex(value)}`);
  else if (Array.isArray(value)) {
    words.push(`a${value.length}`);
    for (const item of value) describe(item, words);
  } else {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    words.push(`m${entries.length}`);
    for (const [key, item] of entries) {
      describe(key, words);
      describe(item, words);
    }
  }
  return words;
}

function number(value) {
  if (Number.isInteger(value) && !Object.is(value, -0) && value >= -(2 ** 63) && value < 2 ** 64) return `i${BigInt(value)}`;
  float.setFloat64(0, value);
  const bits = value !== value ? 0x7ff8000000000000n : float.getBigUint64(0);
  return `d${bits.toString(16).padStart(16, "0")}`;
}

/** Reads a value from its words. `map` makes a map of its entries. */
export function parse(words, map = toObject) {
  const word = words.next().value;
  const rest = word.slice(1);
  switch (word[0]) {
    case "n":
      return null;
    case "t":
      return true;
    case "f":
      return false;
    case "i":
      return Number.isSafeInteger(Number(rest)) ? Number(rest) : BigInt(rest);
    case "d":
      float.setBigUint64(0, BigInt(`0x${rest}`));
      return float.getFloat64(0);
    case "s":
      return Buffer.from(rest, "hex").toString();
    case "b":
      return unhex(rest);
    case "a":
      return Array.from({ length: Number(rest) }, () => parse(words, map));
    case "m":
      return map(Array.from({ length: Number(rest) }, () => [parse(words, map), parse(words, map)]));
  }
  throw new Error(`no such word: ${word}`);
}

/** Properties are defined, because assigning `__proto__` creates none. */
function toObject(entries) {
  const object = {};
  for (const [key, value] of entries) Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  return object;
}
