import { RangeReader, RangeWriter } from "./coder.js";
import { outOfRange } from "./bits.js";
import type { Leaf, Tables } from "./statistics.js";
import { Table, readEqual, readWideEqual, writeEqual, writeWideEqual } from "./table.js";
import { type Whole, whole } from "./whole.js";
import { NONE, type Sink, type Source, bitsOf } from "./wire.js";

/** The statistics that both sides share: the leaves, and their tables of values. */
export interface Knowledge {
  leaves: readonly Leaf[];
  tables: readonly (Tables | null)[];
}

/** Selects the tables of a message. Without a reference, the value of a leaf and the number that was written for it are the same. */
class Selection {
  private readonly before: Whole[];

  constructor(private readonly knowledge: Knowledge) {
    this.before = new Array<Whole>(knowledge.leaves.length).fill(0);
  }

  every(leaf: number): number {
    return leaf === NONE ? 0 : this.knowledge.leaves[leaf]!.every;
  }

  table(leaf: number): Table | null {
    let tables = leaf === NONE ? null : this.knowledge.tables[leaf]!;
    while (tables !== null && !(tables instanceof Table)) {
      const { from, classes } = tables;
      const value = this.before[tables.leaf]!;
      let at = 0;
      while (at < from.length && from[at]! <= value) at++;
      tables = classes[at]!;
    }
    return tables;
  }

  set(leaf: number, value: Whole): void {
    if (leaf !== NONE) this.before[leaf] = value;
  }
}

/** Writes the parts of a coded body. */
export class CodedWriter implements Sink {
  readonly coded = true;
  private readonly selection: Selection;
  private readonly writer: RangeWriter;

  constructor(knowledge: Knowledge, head: readonly number[]) {
    this.selection = new Selection(knowledge);
    this.writer = new RangeWriter(head);
  }

  finish(more: number): Uint8Array {
    return this.writer.finish(more);
  }

  index(leaf: number, value: number, count: number): void {
    if (count < 2) return;
    const every = this.selection.every(leaf);
    if (every === 0) return this.part(leaf, value, count);
    this.part(leaf, Math.floor(value / every), Math.floor((count - 1) / every) + 1);
    this.part(leaf + 1, value % every, every);
  }

  wideIndex(leaf: number, value: bigint, count: bigint): void {
    const every = BigInt(this.selection.every(leaf));
    if (every === 0n) return this.part(leaf, whole(value), whole(count));
    this.part(leaf, whole(value / every), whole((count - 1n) / every + 1n));
    this.part(leaf + 1, whole(value % every), whole(every));
  }

  bits(value: number, bits: number): void {
    writeEqual(this.writer, value, bits);
  }

  wideBits(value: bigint, bits: number): void {
    writeWideEqual(this.writer, value, bits);
  }

  private part(leaf: number, value: Whole, count: Whole): void {
    const table = this.selection.table(leaf);
    if (table !== null) table.write(this.writer, value);
    else if (typeof count === "number") writeEqual(this.writer, value as number, bitsOf(count));
    else writeWideEqual(this.writer, BigInt(value), bitsOf(count));
    this.selection.set(leaf, value);
  }
}

/** Reads the parts of a coded body. */
export class CodedReader implements Source {
  readonly coded = true;
  private readonly selection: Selection;
  private readonly reader: RangeReader;

  constructor(knowledge: Knowledge, bytes: Uint8Array, start: number, length: number) {
    this.selection = new Selection(knowledge);
    this.reader = new RangeReader(bytes, start, length);
  }

  get offset(): number {
    return this.reader.offset;
  }

  finish(): void {
    this.reader.finish();
  }

  index(leaf: number, count: number): number {
    if (count < 2) return 0;
    const every = this.selection.every(leaf);
    if (every === 0) return this.part(leaf, count) as number;
    return Number(this.grown(leaf, BigInt(count), BigInt(every)));
  }

  wideIndex(leaf: number, count: bigint): bigint {
    const every = BigInt(this.selection.every(leaf));
    return every === 0n ? BigInt(this.part(leaf, whole(count))) : this.grown(leaf, count, every);
  }

  bits(bits: number): number {
    return readEqual(this.reader, bits);
  }

  wideBits(bits: number): bigint {
    return readWideEqual(this.reader, bits);
  }

  /** Reads a number that grows by `every`: how many amounts, and the rest. */
  private grown(leaf: number, count: bigint, every: bigint): bigint {
    const { offset } = this;
    const steps = BigInt(this.part(leaf, whole((count - 1n) / every + 1n)));
    const value = steps * every + BigInt(this.part(leaf + 1, whole(every)));
    return value < count ? value : outOfRange(offset, value, count);
  }

  private part(leaf: number, count: Whole): Whole {
    const { offset } = this;
    const table = this.selection.table(leaf);
    let value: Whole;
    if (table !== null) value = table.read(this.reader);
    else if (typeof count === "number") value = readEqual(this.reader, bitsOf(count));
    else value = whole(readWideEqual(this.reader, bitsOf(count)));
    if (value < 0 || value >= count) outOfRange(offset, value, count);
    this.selection.set(leaf, value);
    return value;
  }
}
