import { readSized, writeSized } from "./bits.js";
import { brief } from "./describe.js";
import type { Node } from "./node.js";
import { asInteger } from "./number.js";
import { wrong } from "./scalars.js";
import type { Value } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { POWERS } from "./whole.js";
import type { Sink, Source } from "./wire.js";

/** The decimal of a float: its shortest text, `mantissa` * 10^-`places`. */
interface Decimal {
  isNegative: boolean;
  places: number;
  mantissa: number;
}

/** Decimals have fewer places, and mantissas below this. */
const PLACES = 13;
const MANTISSAS = 2 ** 48;
/** The same for the short form, whose mantissas have fewer bits than this. */
const SHORT_PLACES = 8;
const SHORT_SIZES = 32;
/** The forms of a coded body: decimal, binary32, binary64. */
const FORMS = 3;

/** The forms of a plain body. */
const enum Form {
  Short,
  Single,
  Long,
  Double,
}

/** The leaves of a float. */
export interface FloatLeaves {
  form: number;
  sign: number;
  places: number;
  /** Of the mantissa, or the bits of a binary form. */
  content: number;
}

const view = new DataView(new ArrayBuffer(8));

/** A binary64: spec/packed.md, "Floats". */
export class Float implements Node {
  readonly most = 67;

  constructor(private readonly leaves: FloatLeaves) {}

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "number" && typeof value !== "bigint") throw wrong("a number", value);
    const f = exact(value);
    if (f === undefined) throw new Fault("range", `${brief(value)} is not ${Number.isFinite(Number(value)) ? "exact as a binary64" : "a finite number"}`);
    if (sink.coded) this.writeCoded(f, sink);
    else writePlain(f, sink);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    walk.take(1, offset);
    const f = source.coded ? this.readCoded(source) : readPlain(source);
    // The wire does not tell whole numbers from integers.
    const isWide = Number.isInteger(f) && !Number.isSafeInteger(f) && f >= -(2 ** 63) && f < 2 ** 64;
    return isWide ? asInteger(BigInt(f), { bigint: walk.bigint === "never" ? "never" : "auto" } as Walk, offset) : f;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return (typeof value === "number" || typeof value === "bigint") && exact(value) !== undefined;
  }

  private writeCoded(f: number, sink: Sink): void {
    const decimal = decimalOf(f);
    if (decimal !== null) {
      sink.index(this.leaves.form, 0, FORMS);
      sink.index(this.leaves.sign, decimal.isNegative ? 1 : 0, 2);
      sink.index(this.leaves.places, decimal.places, PLACES);
      const mantissa = BigInt(decimal.mantissa);
      sink.opaque(this.leaves.content, "sized", mantissa, () => writeSized(sink, mantissa));
    } else {
      const bits = isSingle(f) ? 32 : 64;
      sink.index(this.leaves.form, bits / 32, FORMS);
      sink.opaque(this.leaves.content, bits === 32 ? "single" : "double", f, () => writeBinary(f, bits, sink));
    }
  }

  private readCoded(source: Source): number {
    const { offset } = source;
    const form = source.index(this.leaves.form, FORMS);
    if (form > 0) {
      const f = source.opaque(this.leaves.content, form === 1 ? "single" : "double", () => readBinary(source, 32 * form, offset));
      if ((form === 2 && isSingle(f)) || decimalOf(f) !== null) otherForm(offset);
      return f;
    }
    const isNegative = source.index(this.leaves.sign, 2) === 1;
    const places = source.index(this.leaves.places, PLACES);
    const mantissa = source.opaque(this.leaves.content, "sized", () => readSized(source));
    return toFloat(isNegative, places, mantissa, offset);
  }
}

/** Returns the binary64 that is a number, or undefined if no binary64 is. */
function exact(value: number | bigint): number | undefined {
  const f = Number(value);
  if (!Number.isFinite(f)) return undefined;
  return typeof value === "number" || BigInt(f) === value ? f : undefined;
}

function isSingle(f: number): boolean {
  return Math.fround(f) === f;
}

/** Returns the decimal of a float, or null if it has too many places or digits. */
function decimalOf(f: number): Decimal | null {
  const magnitude = Math.abs(f);
  for (let places = 0; places < PLACES; places++) {
    const mantissa = Math.round(magnitude * POWERS[places]!);
    if (mantissa >= MANTISSAS) return null;
    if (mantissa / POWERS[places]! === magnitude) return { isNegative: f < 0 || Object.is(f, -0), places, mantissa };
  }
  return null;
}

function sizeOf(mantissa: number): number {
  return mantissa < 2 ** 32 ? 32 - Math.clz32(mantissa) : 64 - Math.clz32(mantissa / 2 ** 32);
}

/** Returns the form of the fewest bits; of two with as many, the first. */
function formOf(f: number, decimal: Decimal | null): Form {
  const rest = decimal === null ? 0 : Math.max(sizeOf(decimal.mantissa) - 1, 0);
  const isShort = decimal !== null && decimal.places < SHORT_PLACES && rest + 1 < SHORT_SIZES;
  let [form, bits] = [Form.Double, 67];
  if (decimal !== null && !isShort && 14 + rest <= bits) [form, bits] = [Form.Long, 14 + rest];
  if (isSingle(f) && 34 <= bits) [form, bits] = [Form.Single, 34];
  return isShort && 10 + rest <= bits ? Form.Short : form;
}

function writePlain(f: number, sink: Sink): void {
  const decimal = decimalOf(f);
  switch (formOf(f, decimal)) {
    case Form.Short: {
      const { isNegative, places, mantissa } = decimal!;
      const size = sizeOf(mantissa);
      sink.bits((isNegative ? 1 : 0) * 256 + places * 32 + size, 10);
      if (size > 1) sink.bits(mantissa - 2 ** (size - 1), size - 1);
      return;
    }
    case Form.Single:
      sink.bits(0b10, 2);
      return writeBinary(f, 32, sink);
    case Form.Long:
      sink.bits(0b110, 3);
      sink.bits((decimal!.isNegative ? 1 : 0) * 16 + decimal!.places, 5);
      return writeSized(sink, BigInt(decimal!.mantissa));
    case Form.Double:
      sink.bits(0b111, 3);
      return writeBinary(f, 64, sink);
  }
}

function readPlain(source: Source): number {
  const { offset } = source;
  const { form, f } = readForm(source, offset);
  if (formOf(f, decimalOf(f)) !== form) otherForm(offset);
  return f;
}

function readForm(source: Source, offset: number): { form: Form; f: number } {
  if (source.bits(1) === 0) {
    const isNegative = source.bits(1) === 1;
    const places = source.bits(3);
    const size = source.bits(5);
    const mantissa = size === 0 ? 0 : 2 ** (size - 1) + source.bits(size - 1);
    return { form: Form.Short, f: toFloat(isNegative, places, BigInt(mantissa), offset) };
  }
  if (source.bits(1) === 0) return { form: Form.Single, f: readBinary(source, 32, offset) };
  if (source.bits(1) === 1) return { form: Form.Double, f: readBinary(source, 64, offset) };
  const isNegative = source.bits(1) === 1;
  const places = source.index(-1, PLACES);
  return { form: Form.Long, f: toFloat(isNegative, places, readSized(source), offset) };
}

/** Returns the float of a decimal, which must be its shortest text. */
function toFloat(isNegative: boolean, places: number, mantissa: bigint, offset: number): number {
  if (mantissa >= BigInt(MANTISSAS)) otherForm(offset);
  const magnitude = Number(mantissa) / POWERS[places]!;
  const decimal = decimalOf(magnitude);
  if (decimal === null || decimal.places !== places || decimal.mantissa !== Number(mantissa)) otherForm(offset);
  return isNegative ? -magnitude : magnitude;
}

function writeBinary(f: number, bits: 32 | 64, sink: Sink): void {
  if (bits === 32) {
    view.setFloat32(0, f);
    sink.bits(view.getUint32(0), 32);
  } else {
    view.setFloat64(0, f);
    sink.wideBits(view.getBigUint64(0), 64);
  }
}

function readBinary(source: Source, bits: number, offset: number): number {
  let f: number;
  if (bits === 32) {
    view.setUint32(0, source.bits(32));
    f = view.getFloat32(0);
  } else {
    view.setBigUint64(0, source.wideBits(64));
    f = view.getFloat64(0);
  }
  if (!Number.isFinite(f)) throw new Fault("range", "a number that is not finite", offset);
  return f;
}

function otherForm(offset: number): never {
  throw new Fault("malformed", "a float that has another, shorter form", offset);
}
