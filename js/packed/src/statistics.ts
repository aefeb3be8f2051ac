import { LayoutError } from "./error.js";
import { Table } from "./table.js";
import { type Whole, whole } from "./whole.js";

/** A part of the layout that has statistics. */
export interface Leaf {
  /** The most values of the part: those of an index, or 2 for a part that is the same as in a reference or not. */
  count: Whole;
  /** The amount by which a number grows, for the first of its two leaves; 0 otherwise. */
  every: number;
  /** Whether a table may tend to a centre. */
  isIndex: boolean;
  /** Whether the part is in the elements of a series. */
  isInSeries: boolean;
}

/** What is known about one leaf. */
export interface LeafStatistics {
  values: Tables | null;
  changes: Tables | null;
  /** The value to which predictions tend. */
  centre: Whole;
  /** Whether a series goes on as it did between its last two indices. */
  isLinear: boolean;
}

/** The tables of a leaf for values or for changes: one table, or tables for each class of an earlier leaf. */
export type Tables = Table | Classes;

export interface Classes {
  /** The earlier leaf, whether the number that was written for it counts, and the first value of each class but the first. */
  leaf: number;
  isChange: boolean;
  from: Whole[];
  classes: Tables[];
}

/** The number of bytes of the fingerprint of the layout without statistics, which follow the version. */
const OWNER = 4;
/** The weight of a prediction that is taken as it is. */
export const FULL_WEIGHT = 16;
const TOTAL_FREQUENCY = 256;
const MAX_DEPTH = 2;

/** Reads the statistics of each leaf: spec/packed.md, "Statistics". `owner` is the fingerprint of the layout without them. */
export function readStatistics(bytes: Uint8Array, leaves: readonly Leaf[], owner: Uint8Array): LeafStatistics[] {
  const input = new Input(bytes);
  const version = leaves.some(({ isInSeries }) => isInSeries) ? 2 : 1;
  if (input.byte() !== version) throw fault(`statistics of a version other than ${version}`);
  for (let i = 0; i < OWNER; i++) if (input.byte() !== owner[i]) throw fault("statistics of another schema");
  const all = leaves.map((leaf, at) => input.leaf(at, leaf));
  if (input.left > 0) throw fault(`${input.left} bytes after the last table`);
  return all;
}

function fault(reason: string): LayoutError {
  return new LayoutError(reason);
}

class Input {
  private at = 0;
  /** Whether a table of this leaf depends on a centre. */
  private isDrawn = false;

  constructor(private readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    if (this.left === 0) throw fault("the statistics end too early");
    return this.bytes[this.at++]!;
  }

  /** Reads a number of up to 64 bits, seven a byte from the lowest. */
  number(): Whole {
    let n = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      if (byte === 0 && shift > 0n) break;
      n |= BigInt(byte & 0x7f) << shift;
      if (n >> 64n > 0n) break;
      if (byte < 0x80) return whole(n);
    }
    throw fault("a number that is too large, or longer than it needs to be");
  }

  leaf(at: number, leaf: Leaf): LeafStatistics {
    this.isDrawn = false;
    const values = this.tables(at, leaf, false, 0);
    const changes = this.tables(at, leaf, true, 0);
    const centre = this.isDrawn ? this.number() : 0;
    if (this.isDrawn && (centre >= leaf.count || !leaf.isIndex)) throw fault(`leaf ${at}: a centre that is not one of the values`);
    const predictor = changes !== null && leaf.isInSeries && leaf.isIndex ? this.byte() : 0;
    if (predictor > 1) throw fault(`leaf ${at}: no predictor has the number ${predictor}`);
    return { values, changes, centre, isLinear: predictor === 1 };
  }

  private tables(at: number, leaf: Leaf, changes: boolean, depth: number): Tables | null {
    const count = this.number();
    if (count === 0) return null;
    if (count === 1) return this.table(leaf, changes);
    // A table takes at least four bytes.
    if (count > this.left) throw fault("the statistics end too early");
    if (depth === MAX_DEPTH) throw fault(`classes within more than ${MAX_DEPTH} classes`);
    const of = this.number();
    if (of >= at) throw fault("a table that depends on a part which is not before it");
    const which = this.byte();
    if (which > 1) throw fault("a context that is neither a value nor a change");
    const from: Whole[] = [];
    for (let i = 1; i < count; i++) {
      const before = from.at(-1) ?? 0;
      const next = whole(BigInt(before) + BigInt(this.number()));
      if (next <= before || BigInt(next) >> 64n > 0n) throw fault("contexts that do not ascend");
      from.push(next);
    }
    const classes = Array.from({ length: Number(count) }, () => {
      const tables = this.tables(at, leaf, changes, depth + 1);
      if (tables === null) throw fault("a class without a table");
      return tables;
    });
    return { leaf: Number(of), isChange: which === 1, from, classes };
  }

  private table(leaf: Leaf, changes: boolean): Table {
    const weight = changes ? this.byte() : FULL_WEIGHT;
    if (weight > FULL_WEIGHT) throw fault(`a weight of ${weight}, which is above ${FULL_WEIGHT}`);
    this.isDrawn ||= weight < FULL_WEIGHT;
    const written = BigInt(this.number());
    const start = written & 1n ? -1n - (written >> 1n) : written >> 1n;
    const count = this.number();
    if (count < 1 || count > TOTAL_FREQUENCY) throw fault("a table without bins, or with more than 256");
    if (2 * Number(count) > this.left) throw fault("the statistics end too early");
    const bins = Array.from({ length: Number(count) }, () => ({ width: this.byte(), frequency: this.byte() || TOTAL_FREQUENCY }));
    return Table.of(weight, start, bins, leaf.count);
  }
}
