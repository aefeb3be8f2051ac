import { readSized, writeSized } from "./bits.js";
import { brief, quoted } from "./describe.js";
import type { Node } from "./node.js";
import { Decimals, INTEGERS, type Notation } from "./notation.js";
import { wrong } from "./scalars.js";
import type { Value } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { type Whole, whole } from "./whole.js";
import { type Sink, type Source, bitsOf } from "./wire.js";

/** The most values of an index. Numbers with more values are sized. */
const MAX_INDEX = 1n << 62n;
/** From here on, a number with a fraction is not always the shortest text of a binary64. */
const DIGITS_15 = 1e15;

/** The leaves of a number. */
export interface NumberLeaves {
  value: number;
  sign: number;
  /** Of a sized number. */
  sized: number;
}

/** The whole numbers `min`, `min` + `step`, ... `max`, and their form in a message: spec/packed.md, "Numbers". */
export class Numbers {
  readonly most: number;
  /** The number of values, if they are an index; 0 if they are sized. */
  readonly count: Whole;
  /** The number of usual values, if they come first; 0 otherwise. */
  readonly usualCount: Whole;
  private readonly isSmall: boolean;

  constructor(
    private readonly min: Whole,
    private readonly max: Whole,
    private readonly step: number,
    private readonly usual: readonly [Whole, Whole] | null,
    readonly notation: Notation,
    public leaves: NumberLeaves,
  ) {
    const values = (first: Whole, last: Whole) => (BigInt(last) - BigInt(first)) / BigInt(step) + 1n;
    const count = values(min, max);
    this.count = count <= MAX_INDEX ? whole(count) : 0;
    const usualCount = usual === null ? 0n : values(...usual);
    this.usualCount = usualCount < MAX_INDEX ? whole(usualCount) : 0;
    const plain = this.count !== 0 ? bitsOf(this.count) : min < 0 ? 71 : 70;
    this.most = plain + (this.usualCount === 0 ? 0 : bitsOf(BigInt(this.usualCount) + 1n));
    const products = typeof min === "number" && typeof max === "number" && Number.isSafeInteger(max - min);
    this.isSmall = products && typeof this.count === "number" && typeof this.usualCount === "number";
  }

  /** Whether sized numbers have a sign. */
  get isSigned(): boolean {
    return this.min < 0;
  }

  /** Whether `n` is one of the numbers. */
  contains(n: Whole): boolean {
    if (n < this.min || n > this.max) return false;
    return this.step === 1 || (BigInt(n) - BigInt(this.min)) % BigInt(this.step) === 0n;
  }

  /** Returns the fault of a value that is not one of the numbers. `n` is its whole number, if it has one. */
  fault(value: number | bigint | string, n: Whole | undefined): Fault {
    const { notation, min, max } = this;
    const [below, above] = notation.isTime ? ["before the first time", "after the last time"] : ["below the minimum", "above the maximum"];
    let reason = `not ${notation.expected(value, min)}`;
    if (n !== undefined && n < min) reason = `${below} ${notation.shown(min)}`;
    else if (n !== undefined && n > max) reason = `${above} ${notation.shown(max)}`;
    else if (n !== undefined && notation === INTEGERS) reason = `not a multiple of ${this.step}`;
    else if (Object.is(value, -0)) reason = "not one of the numbers: its sign would be lost";
    return new Fault("range", `${brief(value)} is ${reason}`);
  }

  write(n: Whole, sink: Sink): void {
    if (this.isSmall && this.count !== 0) this.writeSmall(n as number, sink);
    else this.writeWide(BigInt(n), sink);
  }

  read(source: Source): Whole {
    return this.isSmall && this.count !== 0 ? this.readSmall(source) : whole(this.readWide(source));
  }

  /** Statistics replace the usual range where they are tables of all values. */
  private hasEscape(coded: boolean): boolean {
    return this.usualCount !== 0 && !(coded && this.count !== 0);
  }

  private writeSmall(n: number, sink: Sink): void {
    const { min, step, leaves } = this as unknown as { min: number; step: number; leaves: NumberLeaves };
    if (this.hasEscape(sink.coded)) {
      const [first, last] = this.usual as [number, number];
      const count = (this.usualCount as number) + 1;
      if (first <= n && n <= last) return sink.index(leaves.value, (n - first) / step, count);
      sink.index(leaves.value, count - 1, count);
    }
    sink.index(leaves.value, (n - min) / step, this.count as number);
  }

  private readSmall(source: Source): number {
    const { min, step, leaves } = this as unknown as { min: number; step: number; leaves: NumberLeaves };
    const escaped = this.hasEscape(source.coded);
    if (escaped) {
      const count = (this.usualCount as number) + 1;
      const index = source.index(leaves.value, count);
      if (index < count - 1) return (this.usual![0] as number) + index * step;
    }
    const { offset } = source;
    const n = min + source.index(leaves.value, this.count as number) * step;
    if (escaped) this.checkEscaped(n, offset);
    return n;
  }

  private writeWide(n: bigint, sink: Sink): void {
    const step = BigInt(this.step);
    if (this.hasEscape(sink.coded)) {
      const [first, last] = this.usual!;
      const count = BigInt(this.usualCount) + 1n;
      if (first <= n && n <= last) return sink.wideIndex(this.leaves.value, (n - BigInt(first)) / step, count);
      sink.wideIndex(this.leaves.value, count - 1n, count);
    }
    if (this.count !== 0) sink.wideIndex(this.leaves.value, (n - BigInt(this.min)) / step, BigInt(this.count));
    else if (this.min >= 0) this.writeSized((n - BigInt(this.min)) / step, sink);
    else {
      sink.index(this.leaves.sign, n < 0n ? 1 : 0, 2);
      this.writeSized(n < 0n ? -1n - n / step : n / step, sink);
    }
  }

  private writeSized(n: bigint, sink: Sink): void {
    sink.opaque(this.leaves.sized, "sized", n, () => writeSized(sink, n));
  }

  private readSized(source: Source): bigint {
    return source.opaque(this.leaves.sized, "sized", () => readSized(source));
  }

  private readWide(source: Source): bigint {
    const step = BigInt(this.step);
    const escaped = this.hasEscape(source.coded);
    if (escaped) {
      const count = BigInt(this.usualCount) + 1n;
      const index = source.wideIndex(this.leaves.value, count);
      if (index < count - 1n) return BigInt(this.usual![0]) + index * step;
    }
    const { offset } = source;
    let n: bigint;
    if (this.count !== 0) n = BigInt(this.min) + source.wideIndex(this.leaves.value, BigInt(this.count)) * step;
    else if (this.min >= 0) n = BigInt(this.min) + this.readSized(source) * step;
    else {
      const isNegative = source.index(this.leaves.sign, 2) === 1;
      const steps = this.readSized(source);
      n = (isNegative ? -1n - steps : steps) * step;
    }
    if (n < this.min || n > this.max) throw new Fault("range", "a number out of its range", offset);
    if (escaped) this.checkEscaped(n, offset);
    return n;
  }

  private checkEscaped(n: Whole, offset: number): void {
    const [first, last] = this.usual!;
    if (first <= n && n <= last) throw new Fault("malformed", "a usual number behind the escape", offset);
  }
}

/** A number, or text that holds one. */
export class NumberNode implements Node {
  readonly most: number;

  constructor(private readonly numbers: Numbers) {
    this.most = numbers.most;
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    const { notation } = this.numbers;
    if (!this.isOfType(value)) throw wrong(notation.noun, value);
    const n = notation instanceof Decimals && !notation.isText ? notation.round(value as number) : notation.parse(value);
    if (n === undefined || !this.numbers.contains(n)) throw this.numbers.fault(value, n);
    this.numbers.write(n, sink);
    if (notation.isText) walk.takeText(value as string, 0);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    walk.take(1, offset);
    const n = this.numbers.read(source);
    const { notation } = this.numbers;
    const value = notation.write(n);
    if (notation.isText) {
      walk.takeText(value as string, offset);
      return value;
    }
    if (notation === INTEGERS) return asInteger(value as Whole, walk, offset);
    // Several numbers may be the same binary64.
    this.checkDigits(value as number | bigint, n, offset);
    return typeof value === "bigint" ? asInteger(value, walk, offset) : value;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    if (!this.isOfType(value)) return false;
    const n = this.numbers.notation.parse(value);
    return n !== undefined && this.numbers.contains(n);
  }

  private isOfType(value: unknown): value is number | bigint | string {
    return this.numbers.notation.isText ? typeof value === "string" : typeof value === "number" || typeof value === "bigint";
  }

  private checkDigits(value: number | bigint, n: Whole, offset: number): void {
    if (Math.abs(Number(n)) < DIGITS_15 && typeof n === "number" && !this.hasQuantum) return;
    // biome-ignore lint/suspicious/noDoubleEquals: numbers or bigints
    if (this.numbers.notation.parse(value) != n) throw new Fault("range", "a decimal that no binary64 has as its shortest text", offset);
  }

  private get hasQuantum(): boolean {
    return this.numbers.notation instanceof Decimals && this.numbers.notation.hasQuantum;
  }
}

/** Returns an integer as the options want it. */
export function asInteger(n: Whole, walk: Walk, offset: number): Whole {
  if (walk.bigint === "always") return BigInt(n);
  if (typeof n === "number" || walk.bigint === "auto") return n;
  const f = Number(n);
  if (BigInt(f) !== n) throw new Fault("range", `${n} is no number of JavaScript; \`bigint: "auto"\` returns it`, offset);
  return f;
}

/** Several numbers in one text. */
export class NumbersText implements Node {
  readonly most: number;

  constructor(
    private readonly separator: string,
    private readonly parts: readonly Numbers[],
  ) {
    this.most = parts.reduce((sum, part) => sum + part.most, 0);
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "string") throw wrong("a string that holds numbers", value);
    const pieces = value.split(this.separator, this.parts.length + 1);
    this.parts.forEach((part, at) => {
      const piece = pieces[at];
      if (piece === undefined) throw this.miscounted(value);
      const n = part.notation.parse(piece);
      if (n === undefined || !part.contains(n)) throw part.fault(piece, n);
      part.write(n, sink);
    });
    if (pieces.length > this.parts.length) throw this.miscounted(value);
    walk.takeText(value, 0);
  }

  private miscounted(text: string): Fault {
    return new Fault("range", `${quoted(text)} holds ${text.split(this.separator).length} numbers, not ${this.parts.length}`);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    walk.take(1, offset);
    const text = this.parts.map((part) => part.notation.write(part.read(source))).join(this.separator);
    walk.takeText(text, offset);
    return text;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    if (typeof value !== "string") return false;
    const pieces = value.split(this.separator, this.parts.length + 1);
    if (pieces.length !== this.parts.length) return false;
    return this.parts.every((part, at) => {
      const n = part.notation.parse(pieces[at]!);
      return n !== undefined && part.contains(n);
    });
  }
}
