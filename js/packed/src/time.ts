import { LayoutError } from "./error.js";
import { type Whole, times, whole } from "./whole.js";

/** A part of a notation: a field with its number of digits, or a literal. */
type Part = { field: "Y" | "y" | "M" | "D" | "h" | "m" | "s" | "f"; width: number } | { literal: string };

const DAY = 86_400;

/** Text that is a time in one notation, in UTC: spec/schema.md, "x-dunnage-time". */
export class TimeNotation {
  private readonly parts: Part[] = [];
  private places = 0;
  /** The units of the last decimal in a second. */
  private readonly unit: number;

  constructor(
    notation: string,
    /** The time that is 0, in seconds since 1970. */
    private readonly epoch: number,
  ) {
    for (const [piece] of notation.matchAll(/YYYY|YY|MM|DD|hh|mm|ss|f{1,9}|[^YMDhmsf]+|./gs)) {
      if (/^[^YMDhmsf]/.test(piece)) this.parts.push({ literal: piece });
      else if (piece === "YY") this.parts.push({ field: "y", width: 2 });
      else if (piece[0] === "f") this.parts.push({ field: "f", width: (this.places = piece.length) });
      else if (piece === "YYYY" || piece.length === 2) this.parts.push({ field: piece[0] as "Y", width: piece.length });
      else throw new LayoutError(`${JSON.stringify(notation)} is not a notation of times`);
    }
    this.unit = 10 ** this.places;
  }

  /** Returns the units since the epoch, or undefined if the text is not a time in the notation. */
  parse(text: string): Whole | undefined {
    const found = { Y: 0, y: 0, M: 1, D: 1, h: 0, m: 0, s: 0, f: 0 };
    let at = 0;
    let hasCentury = false;
    for (const part of this.parts) {
      if ("literal" in part) {
        if (!text.startsWith(part.literal, at)) return undefined;
        at += part.literal.length;
        continue;
      }
      const digits = text.slice(at, at + part.width);
      if (digits.length < part.width || !/^[0-9]+$/.test(digits)) return undefined;
      at += part.width;
      found[part.field] = Number(digits);
      hasCentury ||= part.field === "y";
    }
    const { M, D, h, m, s } = found;
    const year = hasCentury ? 2000 + found.y : found.Y;
    if (at < text.length || M < 1 || M > 12 || D < 1 || D > daysOf(year, M) || h > 23 || m > 59 || s > 59) return undefined;
    const seconds = dayOf(year, M, D) * DAY + h * 3600 + m * 60 + s - this.epoch;
    const units = times(seconds, this.unit);
    return whole(BigInt(units) + BigInt(found.f));
  }

  /** Returns the text of a time that is not before the epoch. */
  write(units: Whole): string {
    const seconds = typeof units === "number" ? Math.floor(units / this.unit) : Number(units / BigInt(this.unit));
    const fraction = typeof units === "number" ? units % this.unit : Number(units % BigInt(this.unit));
    const since = seconds + this.epoch;
    const day = Math.floor(since / DAY);
    const second = since - day * DAY;
    const [year, month, date] = dateOf(day);
    const found = {
      Y: year, y: year - 2000, M: month, D: date, h: Math.floor(second / 3600), m: Math.floor(second / 60) % 60, s: second % 60, f: fraction,
    };
    let text = "";
    for (const part of this.parts) text += "literal" in part ? part.literal : String(found[part.field]).padStart(part.width, "0");
    return text;
  }
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the days from 1970-01-01 to a date. Years begin in March, so that the leap day is the last one. */
function dayOf(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const ofYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return 365 * shifted + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400) + ofYear - 719_468;
}

/** Returns the date of a day since 1970-01-01. */
function dateOf(day: number): [year: number, month: number, day: number] {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const yearOfEra = Math.floor((ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365);
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1];
}
