/** A whole number of any size: a number within the safe range, and a bigint outside. */
export type Whole = number | bigint;

/** Returns a whole number in its form. */
export function whole(n: bigint): Whole {
  return n >= -9007199254740991n && n <= 9007199254740991n ? Number(n) : n;
}

/** The powers of ten up to 10^22, which numbers hold exactly. */
export const POWERS = Array.from({ length: 23 }, (_, places) => Number(`1e${places}`));

/** Returns `n` * `by`. */
export function times(n: Whole, by: Whole): Whole {
  const product = Number(n) * Number(by);
  return Number.isSafeInteger(product) && typeof n === "number" && typeof by === "number" ? product : whole(BigInt(n) * BigInt(by));
}

/** Returns `n` / `d`, rounded half away from zero. `d` is above 0. */
export function rounded(n: bigint, d: bigint): bigint {
  const magnitude = ((n < 0n ? -n : n) + d / 2n) / d;
  return n < 0n ? -magnitude : magnitude;
}

/** A decimal number: `mantissa` * 10^`exponent`. */
export interface Exact {
  mantissa: bigint;
  exponent: number;
}

/** Returns the shortest decimal that reads back as the finite `f`. */
export function shortest(f: number): Exact {
  const [, sign, integer, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(f))!;
  return { mantissa: BigInt(`${sign}${integer}${fraction}`), exponent: Number(exponent) - fraction.length };
}

/** Returns the number in units of 10^-`places`, if that is a whole number. */
export function scaled({ mantissa, exponent }: Exact, places: number): bigint | undefined {
  const shift = exponent + places;
  if (shift >= 0) return mantissa * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return mantissa % unit === 0n ? mantissa / unit : undefined;
}
