import type { RangeReader, RangeWriter } from "./coder.js";
import { LayoutError } from "./error.js";
import { type Whole, whole } from "./whole.js";

/** The frequencies of a table add up to 2^8. */
const FREQUENCY_BITS = 8;
const TOTAL_FREQUENCY = 256;
/** The largest width of a bin: 2^62 values. */
const MAX_WIDTH = 62;

/** A range of 2^`width` numbers that are equally likely; `frequency` of 256 messages have one of them. */
export interface Bin {
  width: number;
  frequency: number;
}

/** The distribution of the numbers of a leaf: bins that follow each other without a gap. */
export class Table {
  /** The bin of each part of the range. */
  private readonly bins = new Uint8Array(TOTAL_FREQUENCY);

  private constructor(
    /** How much of what is known before is in the prediction, in sixteenths. The rest is the leaf's centre. */
    readonly weight: number,
    /** The first number of each bin, then the number after the last bin. */
    private readonly starts: readonly Whole[],
    private readonly widths: readonly number[],
    /** The first part of each bin, then the part after the last bin. */
    private readonly parts: readonly number[],
  ) {
    for (let bin = 0; bin < widths.length; bin++) this.bins.fill(bin, parts[bin], parts[bin + 1]);
  }

  /** Creates a table, whose bins must hold the numbers below `count`. */
  static of(weight: number, start: bigint, bins: readonly Bin[], count: Whole): Table {
    const starts = [start];
    const parts = [0];
    for (const { width, frequency } of bins) {
      if (width > MAX_WIDTH) throw new LayoutError(`a bin of more than 2^${MAX_WIDTH} values`);
      starts.push(starts.at(-1)! + (1n << BigInt(width)));
      parts.push(parts.at(-1)! + frequency);
    }
    if (parts.at(-1) !== TOTAL_FREQUENCY) throw new LayoutError(`frequencies that add up to ${parts.at(-1)} instead of ${TOTAL_FREQUENCY}`);
    const end = starts.at(-1)!;
    if (end >> 63n > 0n) throw new LayoutError("bins beyond 2^63");
    if (start > 0n || end < count) throw new LayoutError(`bins from ${start} to ${end} for ${count} values`);
    return new Table(weight, starts.map(whole), bins.map(({ width }) => width), parts);
  }

  write(writer: RangeWriter, value: Whole): void {
    let bin = 0;
    while (bin < this.widths.length - 1 && value >= this.starts[bin + 1]!) bin++;
    writer.step(FREQUENCY_BITS, this.parts[bin]!, this.parts[bin + 1]! - this.parts[bin]!);
    const start = this.starts[bin]!;
    const isSmall = typeof value === "number" && typeof start === "number";
    if (isSmall) writeEqual(writer, value - start, this.widths[bin]!);
    else writeWideEqual(writer, BigInt(value) - BigInt(start), this.widths[bin]!);
  }

  read(reader: RangeReader): Whole {
    const bin = this.bins[reader.part(FREQUENCY_BITS)]!;
    reader.take(FREQUENCY_BITS, this.parts[bin]!, this.parts[bin + 1]! - this.parts[bin]!);
    const start = this.starts[bin]!;
    const width = this.widths[bin]!;
    if (typeof start === "number" && typeof this.starts[bin + 1] === "number") return start + readEqual(reader, width);
    return whole(BigInt(start) + readWideEqual(reader, width));
  }
}

/** The most bits that one step has. */
const CHUNK = 16;

/** Writes up to 53 bits, all equally likely. */
export function writeEqual(writer: RangeWriter, value: number, bits: number): void {
  for (let left = bits; left > 0; ) {
    const now = Math.min(left, CHUNK);
    left -= now;
    writer.step(now, Math.floor(value / 2 ** left) % 2 ** now, 1);
  }
}

/** Writes up to 64 bits. */
export function writeWideEqual(writer: RangeWriter, value: bigint, bits: number): void {
  for (let left = bits; left > 0; ) {
    const now = Math.min(left, CHUNK);
    left -= now;
    writer.step(now, Number((value >> BigInt(left)) & ((1n << BigInt(now)) - 1n)), 1);
  }
}

/** Reads up to 53 bits. */
export function readEqual(reader: RangeReader, bits: number): number {
  let value = 0;
  for (let left = bits; left > 0; ) {
    const now = Math.min(left, CHUNK);
    left -= now;
    const part = reader.part(now);
    reader.take(now, part, 1);
    value = value * 2 ** now + part;
  }
  return value;
}

/** Reads up to 64 bits. */
export function readWideEqual(reader: RangeReader, bits: number): bigint {
  let value = 0n;
  for (let left = bits; left > 0; ) {
    const now = Math.min(left, CHUNK);
    left -= now;
    const part = reader.part(now);
    reader.take(now, part, 1);
    value = (value << BigInt(now)) | BigInt(part);
  }
  return value;
}
