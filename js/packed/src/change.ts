import { FULL_WEIGHT, type LeafStatistics } from "./statistics.js";
import type { Index } from "./past.js";
import { type Whole, whole } from "./whole.js";

/** Returns `n` in the form of `like`, so that operators apply to both. TypeScript sees numbers in either case. */
function alike(n: Whole, like: Whole): number {
  return (typeof like === "bigint" ? BigInt(n) : n) as number;
}

/** Returns half of `n`, rounded down. */
function half(n: Whole): Whole {
  return typeof n === "bigint" ? n / 2n : Math.floor(n / 2);
}

/** Returns the prediction of an index out of `count` with a table of this weight: spec/packed.md, "Values" and "Series". */
export function predict({ value, before }: Index, { centre, isLinear }: LeafStatistics, weight: number, count: Whole): Whole {
  if (!isLinear && weight === FULL_WEIGHT) return value;
  const most = BigInt(count) - 1n;
  const next = isLinear ? 2n * BigInt(value) - BigInt(before) : BigInt(value);
  const w = next < 0n ? 0n : next > most ? most : next;
  const c = BigInt(centre) > most ? most : BigInt(centre);
  return whole(c + (((w - c) * BigInt(weight)) >> 4n));
}

/** Indices out of `count` as their distances from a prediction. Distances go around: from the last index to the first one it is 1. */
export class Change {
  private readonly count: number;
  private readonly predicted: number;
  private readonly least: number;
  private readonly half: number;

  /** `most` is the number of values of the leaf, which the count of this part may be below. */
  constructor(predicted: Whole, most: Whole, count: Whole) {
    this.count = alike(count, count);
    this.predicted = alike(predicted, count);
    this.least = -alike(half(count), count);
    this.half = alike(half(most), count);
  }

  /** Returns the number of an index in a table. */
  of(value: Whole): Whole {
    let distance = alike(value, this.count) - this.predicted;
    if (distance < this.least) distance += this.count;
    else if (distance >= this.least + this.count) distance -= this.count;
    return normal(distance + this.half);
  }

  /** Returns the index of a number, or -1 if it has none. */
  value(number: Whole): Whole {
    // So large a number is of no index, and cannot be subtracted from.
    if (typeof number === "bigint" && typeof this.count === "number") return -1;
    const distance = alike(number, this.count) - this.half;
    if (distance < this.least || distance >= this.least + this.count) return -1;
    const value = this.predicted + distance;
    return normal(value < 0 ? value + this.count : value >= this.count ? value - this.count : value);
  }
}

function normal(n: Whole): Whole {
  return typeof n === "bigint" ? whole(n) : n;
}

/** Returns how many amounts a number has grown since `was`, or since 0, and the rest. `most` is the number of values of the leaf of the steps. */
export function grow(value: Whole, was: Whole | undefined, every: number, most: Whole): [steps: Whole, rest: Whole] {
  const amount = BigInt(every);
  const above = was === undefined ? BigInt(value) : BigInt(value) - BigInt(was) + amount / 2n;
  const rest = ((above % amount) + amount) % amount;
  const steps = (above - rest) / amount + (was === undefined ? 0n : BigInt(most) / 2n);
  return [whole(steps), whole(rest)];
}

/** Returns the number that has grown so; it may be out of its range. */
export function grown(steps: Whole, rest: Whole, was: Whole | undefined, every: number, most: Whole): bigint {
  const amount = BigInt(every);
  if (was === undefined) return BigInt(steps) * amount + BigInt(rest);
  return BigInt(was) + (BigInt(steps) - BigInt(most) / 2n) * amount + BigInt(rest) - amount / 2n;
}
