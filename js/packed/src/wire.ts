import type { Form } from "./past.js";
import type { Whole } from "./whole.js";

/** Writes the parts of a message. A leaf is the number of a part that may have statistics, or -1; plain bodies do not look at it. */
export interface Sink {
  /** Whether the body is coded with statistics. A few parts differ. */
  readonly coded: boolean;
  /** Writes an index out of `count`, which is in the safe range. */
  index(leaf: number, value: number, count: number): void;
  wideIndex(leaf: number, value: bigint, count: bigint): void;
  /** Writes up to 53 bits, without any assumption about them. */
  bits(value: number, bits: number): void;
  /** Writes up to 64 bits. */
  wideBits(value: bigint, bits: number): void;
  /** Writes a part of a leaf that is not an index, with `write`; a coded body may say that it is the same as before. */
  opaque(leaf: number, form: Form, value: Whole | string, write: () => void): void;
  /** Announces the parts of an element of an array. */
  enter(index: number): void;
  leave(): void;
}

/** Reads the parts of a message, in the same order. */
export interface Source {
  readonly coded: boolean;
  /** The byte that has the next bit, for errors. */
  readonly offset: number;
  index(leaf: number, count: number): number;
  wideIndex(leaf: number, count: bigint): bigint;
  bits(bits: number): number;
  wideBits(bits: number): bigint;
  opaque<T extends Whole | string>(leaf: number, form: Form, read: () => T): T;
  enter(index: number): void;
  leave(): void;
}

/** Returns the bits of an index out of `count`: the logarithm of base 2, rounded up. */
export function bitsOf(count: number | bigint): number {
  if (typeof count === "bigint") return count > 1n ? (count - 1n).toString(2).length : 0;
  if (count <= 0x100000000) return count > 1 ? 32 - Math.clz32(count - 1) : 0;
  return 32 + bitsOf(Math.ceil(count / 0x100000000));
}

/** The number of a leaf that a part does not have. */
export const NONE = -1;
