import type { Kind } from "./error.js";
import { type Value, isObject } from "./values.js";

/** The most values in a message. */
const MAX_VALUES = 1 << 20;
/** The most comparisons of a type with a value for one message. Nested unions could take exponential time otherwise. */
const MAX_STEPS = 1 << 24;
/** The bytes of text that count as one more value, whether it takes bits or not. */
const TEXT = 32;
/** The names or values whose comparison counts as one step. */
const COMPARED = 8;

/** A fault of a message, before it is known where it is. Nodes put their key before the pointer while it passes them. */
export class Fault {
  pointer = "";

  constructor(
    readonly kind: Kind,
    readonly reason: string,
    /** Where it is, in bytes from the start of the message. An encoder does not look at it. */
    readonly offset = 0,
  ) {}

  under(key: string | number): this {
    this.pointer = `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}${this.pointer}`;
    return this;
  }
}

/** How integers become values. */
export type BigInts = "auto" | "always" | "never";

/** The state of encoding or decoding one message: its limits, and the known texts. */
export class Walk {
  private values = MAX_VALUES;
  private steps = MAX_STEPS;

  constructor(
    /** The texts that the receiver knows, by their names. */
    readonly known: ReadonlyMap<string, string> = new Map(),
    readonly bigint: BigInts = "auto",
  ) {}

  /** Counts values of a part that begins at `offset`. */
  take(values: number, offset: number): void {
    this.values -= values;
    if (this.values >= 0) return;
    throw new Fault("limit", `more than ${MAX_VALUES} values`, offset);
  }

  /** Counts text, a value or a key. */
  takeText(text: string, offset: number): void {
    if (3 * text.length >= TEXT) this.take(Math.floor(utf8Length(text) / TEXT), offset);
  }

  /** Counts the content of a value that takes no bits, or only an index. */
  takeKnown(value: unknown, offset: number): void {
    if (typeof value === "string") return this.takeText(value, offset);
    if (Array.isArray(value)) {
      for (const item of value) {
        this.take(1, offset);
        this.takeKnown(item, offset);
      }
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        this.take(1, offset);
        this.takeText(key, offset);
        this.takeKnown(item as Value, offset);
      }
    }
  }

  /** Counts a comparison of a type with a value, and those of `compared` names or values in it. */
  charge(compared: number): void {
    this.steps -= 1 + Math.floor(compared / COMPARED);
    if (this.steps >= 0) return;
    throw new Fault("limit", `finding the types of the values takes more than ${MAX_STEPS} steps`);
  }
}

function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) length += unit > 0x7ff && (unit & 0xf800) !== 0xd800 ? 2 : 1;
  }
  return length;
}
