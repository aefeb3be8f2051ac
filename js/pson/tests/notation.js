// The vectors of spec/vectors, and their notation of values.

import { readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../../spec/vectors/", import.meta.url);

/** The vectors of a folder's files, except `reads.json`: a library that builds documents has no reads of a type. */
export function vectors(folder) {
  const names = readdirSync(new URL(`${folder}/`, ROOT)).filter((name) => name.endsWith(".json") && name !== "reads.json");
  return names.flatMap((name) => load(`${folder}/${name}`));
}

/** The vectors of a file. */
export const load = (path) => JSON.parse(readFileSync(new URL(path, ROOT), "utf8")).vectors;

export const unhex = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

export const hex = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");

/** The bytes of a vector. */
export const message = (vector) =>
  unhex(vector.hex ?? vector.hex_parts.map(([part, count]) => part.repeat(count)).join(""));

const FLOATS = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** Parses a value in the notation of the vectors. Maps become Maps, integers that are not safe bigints. */
export function parse(notation) {
  if (notation === null || typeof notation !== "object") return notation;
  const [[kind, content]] = Object.entries(notation);
  switch (kind) {
    case "int":
      return safe(BigInt(content));
    case "float":
      return FLOATS[content] ?? Number(content);
    case "bytes":
      return unhex(content);
    case "array":
      return content.map(parse);
    case "map":
      return new Map(content.map(([key, value]) => [key, parse(value)]));
    case "repeat":
      return content[0].repeat(content[1]);
    default:
      throw new Error(`no such notation: ${kind}`);
  }
}

const safe = (n) => (Number.isSafeInteger(Number(n)) ? Number(n) : n);

/** The value as decoding gives it: floats that PSON writes as integers beyond the safe range are bigints. */
export function decoded(value) {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && value >= -(2 ** 63) && value < 2 ** 64) return BigInt(value);
  if (Array.isArray(value)) return value.map(decoded);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, decoded(item)]));
  return value;
}

/** The value with objects in place of Maps. */
export function objects(value) {
  if (Array.isArray(value)) return value.map(objects);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, objects(item)]));
  return value;
}
