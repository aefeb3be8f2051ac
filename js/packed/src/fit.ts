import { Fault } from "./walk.js";
import type { Node } from "./node.js";
import { Elements, Nullable, Properties } from "./structure.js";
import { define, isObject, keysOf, property } from "./values.js";

/** The part of a message that fits into the bytes of a link: spec/packed.md, "Messages that fit". */
export interface Fit {
  bytes: Uint8Array;
  /** The number of readings in it, the first ones of the longest series; 0 for a message without a series. */
  readings: number;
  /** The paths of the properties that were left out: `position.hdop`, `readings[].humidity`. */
  leftOut: string[];
}

/** The numbers of readings beyond the result of bisection that are also tried: it may miss one that fits because statistics make it cheap. */
const PROBES = 4;

/** A part of the message: what it lacks, and its bytes. */
type Part = { message: unknown; leftOut: Set<string>; bytes: Uint8Array };

/** Returns as much of a message as `limit` bytes hold. `ranks` are those of the properties that may be left out. */
export function fit(root: Node, message: unknown, limit: number, ranks: Iterable<number>, write: (message: unknown) => Uint8Array): Fit {
  let smallest = Infinity;
  const all = readings(root, message);

  /** Returns the message with so many readings and without the properties of `rank` and above, if it fits. */
  function part(keep: number, rank: number): Part | null {
    const leftOut = new Set<string>();
    const cut = cutter(rank, leftOut)(root, message, keep, "");
    const bytes = write(cut);
    smallest = Math.min(smallest, bytes.length);
    return bytes.length <= limit ? { message: cut, leftOut, bytes } : null;
  }

  function mostReadings(rank: number): Part | null {
    const whole = part(all, rank);
    if (whole !== null || all < 2) return whole;
    let best = part(1, rank);
    if (best === null) return null;
    let [fits, tooMany] = [1, all];
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >> 1;
      const found = part(middle, rank);
      if (found === null) tooMany = middle;
      else [best, fits] = [found, middle];
    }
    for (let next = fits + 2; next < Math.min(all, fits + 2 + PROBES); next++) {
      const found = part(next, rank);
      if (found !== null) [best, fits] = [found, next];
    }
    return best;
  }

  // Without the properties of a rank or above; none is above the first of these.
  for (const rank of [Infinity, ...[...new Set(ranks)].sort((a, b) => b - a)]) {
    const found = mostReadings(rank);
    if (found === null) continue;
    return { bytes: found.bytes, readings: readings(root, found.message), leftOut: [...found.leftOut] };
  }
  throw new Fault("limit", `the smallest form of the message has ${smallest} bytes, and ${limit} are available`);
}

/** Returns the path of a property below `path`. */
const below = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

/**
 * Returns a function that leaves out the properties of `rank` and above, and adds their paths to `leftOut`. Of a series, the first `keep` readings
 * stay, and in arrays, where that is null, all.
 */
function cutter(rank: number, leftOut: Set<string>) {
  return function cut(node: Node, value: unknown, keep: number | null, path: string): unknown {
    if (node instanceof Properties && isObject(value)) {
      const kept = {};
      for (const key of keysOf(value)) {
        const field = node.field(key);
        if (field !== undefined && field.drop >= rank) leftOut.add(below(path, key));
        else define(kept, key, field === undefined ? value[key] : cut(field.node, value[key], keep, below(path, key)));
      }
      return kept;
    }
    if (node instanceof Elements && Array.isArray(value)) {
      const items: unknown[] = node.isSeries && keep !== null ? value.slice(0, Math.max(keep, node.min)) : value;
      return items.map((item, at) => {
        const inner = node.node(at);
        return inner === null ? item : cut(inner, item, null, node.isTuple ? `${path}[${at}]` : `${path}[]`);
      });
    }
    return node instanceof Nullable && value !== null ? cut(node.inner, value, keep, path) : value;
  };
}

/** Returns the number of elements of the longest series that is not inside of an array. */
function readings(node: Node, value: unknown): number {
  if (node instanceof Elements) return node.isSeries && Array.isArray(value) ? value.length : 0;
  if (node instanceof Nullable) return readings(node.inner, value);
  if (!(node instanceof Properties) || !isObject(value)) return 0;
  return Math.max(0, ...node.fields.map((field) => readings(field.node, property(value, field.name))));
}

/** Returns the paths of the properties that may be left out and are absent, each once. */
export function leftOut(root: Node, message: unknown): string[] {
  const paths = new Set<string>();

  function visit(node: Node, value: unknown, path: string): void {
    if (node instanceof Properties && isObject(value)) {
      const present = node.fields.filter(({ name }) => property(value, name) !== undefined);
      for (const field of node.fields) if (field.drop > 0 && !present.includes(field)) paths.add(below(path, field.name));
      for (const field of present) visit(field.node, property(value, field.name), below(path, field.name));
    } else if (node instanceof Elements && Array.isArray(value)) {
      value.forEach((item, at) => {
        const inner = node.node(at);
        if (inner !== null) visit(inner, item, node.isTuple ? `${path}[${at}]` : `${path}[]`);
      });
    } else if (node instanceof Nullable) visit(node.inner, value, path);
  }

  visit(root, message, "");
  return [...paths];
}
