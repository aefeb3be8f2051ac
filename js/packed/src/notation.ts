import { type Exact, POWERS, type Whole, rounded, scaled, shortest, times, whole } from "./whole.js";

/** Converts the numbers of a message to whole numbers, and back. */
export interface Notation {
  /** The noun for a value in the text of an error. */
  readonly noun: string;
  /** Whether the values are text. */
  readonly isText: boolean;
  /** Whether the values are times. */
  readonly isTime?: boolean;
  /** Returns the whole number of a value, or undefined without one. The range is not checked. */
  parse(value: number | bigint | string): Whole | undefined;
  /** Returns the value of a whole number. */
  write(n: Whole): number | bigint | string;
  /** Returns a whole number as an error shows it. */
  shown(n: Whole): string;
  /** Returns the expectation that a value without a whole number violates, for the text of an error. `first` is the first of the numbers. */
  expected(value: number | bigint | string, first: Whole): string;
}

/** Whole numbers that are themselves. */
export const INTEGERS: Notation = {
  noun: "an integer",
  isText: false,
  parse: (value) => integer(value as number | bigint),
  write: (n) => n,
  shown: String,
  expected: () => "a whole number",
};

/** Returns a number as a whole number, or undefined if it is not one. -0 is not. */
export function integer(value: number | bigint): Whole | undefined {
  if (typeof value === "bigint") return whole(value);
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? undefined : value;
  return Number.isInteger(value) ? BigInt(value) : undefined;
}

/** The counts of a sensor: k counts are offset + k * mantissa / divisor units of 10^-places. */
export interface Quantum {
  mantissa: bigint;
  places: number;
  divisor: bigint;
  offset: bigint;
}

/** Numbers with decimals. */
export class Decimals implements Notation {
  readonly noun: string = "a number";
  readonly isText: boolean = false;

  constructor(
    protected readonly places: number,
    private readonly step: number,
    private readonly quantum: Quantum | null,
    /** Whether other numbers are rounded to the nearest one. */
    private readonly rounds: boolean,
  ) {}

  get hasQuantum(): boolean {
    return this.quantum !== null;
  }

  parse(value: number | bigint | string): Whole | undefined {
    const n = this.scaled(value as number | bigint);
    return n === undefined ? undefined : this.counted(n);
  }

  /** Returns the count of the nearest number, for a sender whose numbers are rounded. */
  round(value: number | bigint): Whole | undefined {
    const exact = this.parse(value);
    if (exact !== undefined || !this.rounds) return exact;
    const multiple = this.multiple(value);
    if (multiple === undefined) return undefined;
    const n = multiple * BigInt(this.step);
    return whole(this.quantum === null ? n : this.near(n, this.quantum));
  }

  write(n: Whole): number | bigint | string {
    const all = this.of(n);
    const unit = POWERS[this.places]!;
    if (typeof all === "number") return all / unit;
    const divisor = 10n ** BigInt(this.places);
    return all % divisor === 0n ? whole(all / divisor) : Number(`${all}e-${this.places}`);
  }

  shown(n: Whole): string {
    return fixed(this.of(n), this.places, 1);
  }

  expected(value: number | bigint | string): string {
    if (!Number.isFinite(Number(value))) return "a finite number";
    const { quantum } = this;
    if (quantum === null) return `a multiple of ${fixed(this.step, this.places, 1)}`;
    const { mantissa, places, divisor, offset } = quantum;
    const start = offset === 0n ? "" : ` from ${plain(offset, places)}`;
    return `a multiple of ${plain(mantissa, places)}${divisor > 1n ? ` / ${divisor}` : ""}${start}, rounded to ${fixed(1, this.places, 1)}`;
  }

  /** Returns a number in units of 10^-places, or undefined if it has more decimals. */
  protected scaled(value: number | bigint): Whole | undefined {
    const unit = POWERS[this.places]!;
    const n = integer(value);
    if (n !== undefined) return times(n, unit);
    const f = value as number;
    if (!Number.isFinite(f) || f === 0) return undefined;
    const near = Math.round(f * unit);
    if (Math.abs(near) < 1e15) return near / unit === f ? near : undefined;
    const exact = scaled(shortest(f), this.places);
    return exact === undefined ? undefined : whole(exact);
  }

  /** Returns the units of 10^-places of a count. */
  protected of(n: Whole): Whole {
    return this.quantum === null ? n : whole(this.ofCount(BigInt(n), this.quantum));
  }

  /** Returns the count of a number of units, or undefined if none has it. */
  protected counted(n: Whole): Whole | undefined {
    const { quantum } = this;
    if (quantum === null) return n;
    const k = this.near(BigInt(n), quantum);
    return this.ofCount(k, quantum) === BigInt(n) ? whole(k) : undefined;
  }

  /** Returns the multiple of the step that is nearest to a number. */
  private multiple(value: number | bigint): bigint | undefined {
    const step = BigInt(this.step);
    const unit = 10n ** BigInt(this.places);
    const n = integer(value);
    if (n !== undefined) return rounded(BigInt(n) * unit, step);
    if (!Number.isFinite(value as number)) return undefined;
    const exact: Exact = shortest(value as number);
    const shift = exact.exponent + this.places;
    if (shift >= 0) return rounded(exact.mantissa * 10n ** BigInt(shift), step);
    return rounded(exact.mantissa, 10n ** BigInt(-shift) * step);
  }

  private near(n: bigint, quantum: Quantum): bigint {
    const k = rounded(n * this.unit(quantum) - quantum.offset * quantum.divisor, quantum.mantissa);
    // If a quantum is about as large as a unit, rounding twice may lead to a neighbour.
    const distance = (k: bigint) => {
      const d = this.ofCount(k, quantum) - n;
      return d < 0n ? -d : d;
    };
    return [k, k - 1n, k + 1n].reduce((best, other) => (distance(other) < distance(best) ? other : best));
  }

  private ofCount(k: bigint, quantum: Quantum): bigint {
    return rounded(k * quantum.mantissa + quantum.offset * quantum.divisor, this.unit(quantum));
  }

  private unit(quantum: Quantum): bigint {
    return 10n ** BigInt(quantum.places - this.places) * quantum.divisor;
  }
}

/** Returns units of 10^-places as text with all decimals, and `digits` or more digits before the point. */
function fixed(units: Whole, places: number, digits: number): string {
  const text = String(units < 0 ? -units : units).padStart(digits + places, "0");
  const point = text.length - places;
  return `${units < 0 ? "-" : ""}${text.slice(0, point)}${places > 0 ? "." : ""}${text.slice(point)}`;
}

/** Returns the same without the zeros at the end. */
function plain(units: bigint, places: number): string {
  const text = fixed(units, places, 1);
  return places === 0 ? text : text.replace(/\.?0+$/, "");
}

/** The most characters of a number in text. */
const LONGEST = 41;

/** Text that holds a number, with leading zeros up to `digits`. */
export class NumberTexts extends Decimals {
  override readonly noun = "a string that holds a number";
  override readonly isText = true;
  private readonly form: RegExp;

  constructor(places: number, step: number, quantum: Quantum | null, private readonly digits: number) {
    super(places, step, quantum, false);
    // With more digits than the notation pads to, the first one is not 0.
    const whole = `(?:[0-9]{${digits}}|[1-9][0-9]{${digits},})`;
    this.form = new RegExp(`^-?${whole}${places > 0 ? `\\.[0-9]{${places}}` : ""}$`);
  }

  override parse(text: string): Whole | undefined {
    if (text.length > LONGEST || !this.form.test(text)) return undefined;
    const written = text.replace(".", "");
    const n = written.length > 15 ? whole(BigInt(written)) : Number(written);
    // biome-ignore lint/suspicious/noDoubleEquals: a number or a bigint
    return n == 0 && text[0] === "-" ? undefined : this.counted(n === 0 ? 0 : n);
  }

  override write(n: Whole): string {
    return fixed(this.of(n), this.places, this.digits);
  }

  override expected(text: string): string {
    const isNumber = text.length <= LONGEST && this.form.test(text) && Number(text) !== 0;
    return isNumber ? super.expected(text) : `a number with ${this.digits} or more digits and ${this.places} decimals`;
  }
}
