/** The limits of spec/pson.md. They are the same in every library of Dunnage. */
export const MAX_NESTING = 32;
export const MAX_SIZE = 1 << 20;

const enum Highest {
  /** Decoding recurses once per level, and this fits the smallest stacks. */
  Nesting = 512,
}

/** Limits of messages. Both may be raised or lowered. */
export interface Limits {
  /** The maximum nesting of maps and arrays, 0 to 512. The default is 32. */
  maxNesting?: number | undefined;
  /** The maximum size of a message in bytes. The default is 1,048,576, 1 MiB. */
  maxSize?: number | undefined;
}

/** Returns the nesting limit of `limits`. Throws a RangeError if it is not an integer from 0 to 512. */
export function nesting(limits: Limits): number {
  return checked("maxNesting", limits.maxNesting ?? MAX_NESTING, Highest.Nesting);
}

/** Returns the size limit of `limits`. Throws a RangeError if it is not an integer from 0 to 2^31-1. */
export function size(limits: Limits): number {
  return checked("maxSize", limits.maxSize ?? MAX_SIZE, 2 ** 31 - 1);
}

function checked(name: string, value: number, highest: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= highest) return value;
  throw new RangeError(`${name} must be an integer from 0 to ${highest}`);
}

/** Returns `value` if it is one of `choices`, and the first of these if it is undefined. Throws a RangeError otherwise. */
export function choice<T extends string>(name: string, value: T | undefined, choices: readonly [T, ...T[]]): T {
  if (value === undefined) return choices[0];
  if (choices.includes(value)) return value;
  throw new RangeError(`${name} must be one of ${choices.join(", ")}`);
}
