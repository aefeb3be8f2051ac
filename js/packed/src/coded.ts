import { outOfRange } from "./bits.js";
import { Change, grow, grown, predict } from "./change.js";
import { RangeReader, RangeWriter } from "./coder.js";
import { type Form, type Index, Past } from "./past.js";
import type { Leaf, LeafStatistics } from "./statistics.js";
import { Table, readEqual, readWideEqual, writeEqual, writeWideEqual } from "./table.js";
import { Fault } from "./walk.js";
import { type Whole, whole } from "./whole.js";
import { NONE, type Sink, type Source, bitsOf } from "./wire.js";

/** What both sides know before a message: the leaves, and their statistics. */
export interface Knowledge {
  leaves: readonly Leaf[];
  statistics: readonly LeafStatistics[];
}

/** What both sides know at a part of a message. */
class Model {
  readonly past: Past;
  /** The last index of each leaf in this message, and the number that was written for it. They select tables. */
  private readonly values: Whole[];
  private readonly numbers: Whole[];

  constructor(private readonly knowledge: Knowledge, reference: Past | null) {
    const { leaves } = knowledge;
    this.past = new Past(leaves, reference);
    this.values = new Array<Whole>(leaves.length).fill(0);
    this.numbers = new Array<Whole>(leaves.length).fill(0);
  }

  /** Returns the number of values of a leaf. */
  most(leaf: number): Whole {
    return this.knowledge.leaves[leaf]!.count;
  }

  every(leaf: number): number {
    return this.knowledge.leaves[leaf]!.every;
  }

  /** Returns the table of a leaf: of changes, if the part is predicted and the leaf has such tables. */
  table(leaf: number, isPredicted: boolean): Table | null {
    const { values, changes } = this.knowledge.statistics[leaf]!;
    let tables = isPredicted ? (changes ?? values) : values;
    while (tables !== null && !(tables instanceof Table)) {
      const { from, classes, isChange } = tables;
      const value = (isChange ? this.numbers : this.values)[tables.leaf]!;
      let at = 0;
      while (at < from.length && from[at]! <= value) at++;
      tables = classes[at]!;
    }
    return tables;
  }

  /** Returns the form of an index as a change, or null if this table has values. */
  change(leaf: number, table: Table, was: Index | undefined, count: Whole): Change | null {
    const statistics = this.knowledge.statistics[leaf]!;
    if (was === undefined || statistics.changes === null) return null;
    return new Change(predict(was, statistics, table.weight, count), this.most(leaf), count);
  }

  set(leaf: number, value: Whole, number: Whole): void {
    this.values[leaf] = value;
    this.numbers[leaf] = number;
  }
}

/** Writes the parts of a coded body. */
export class CodedWriter implements Sink {
  readonly coded = true;
  private readonly model: Model;
  private readonly writer: RangeWriter;

  /** `reference` has the parts of the message to which a delta refers. */
  constructor(knowledge: Knowledge, head: readonly number[], reference: Past | null) {
    this.model = new Model(knowledge, reference);
    this.writer = new RangeWriter(head);
  }

  finish(more: number): Uint8Array {
    return this.writer.finish(more);
  }

  index(leaf: number, value: number, count: number): void {
    if (count > 1) this.known(leaf, value, count);
  }

  wideIndex(leaf: number, value: bigint, count: bigint): void {
    this.known(leaf, whole(value), whole(count));
  }

  bits(value: number, bits: number): void {
    writeEqual(this.writer, value, bits);
  }

  wideBits(value: bigint, bits: number): void {
    writeWideEqual(this.writer, value, bits);
  }

  opaque(leaf: number, form: Form, value: Whole | string, write: () => void): void {
    const was = this.model.past.find(leaf, form);
    const isOther = was?.value !== value;
    if (was !== undefined) this.part(leaf, isOther ? 1 : 0, 2, true);
    if (isOther) write();
    this.model.past.take(leaf, form, value);
  }

  enter(index: number): void {
    this.model.past.path.push(index);
  }

  leave(): void {
    this.model.past.path.pop();
  }

  private known(leaf: number, value: Whole, count: Whole): void {
    if (leaf === NONE) return this.equal(value, count);
    const { model } = this;
    const was = model.past.find(leaf, count) as Index | undefined;
    const every = model.every(leaf);
    if (every === 0) {
      this.indexed(leaf, value, count, was);
    } else {
      const [steps, rest] = grow(value, was?.value, every, model.most(leaf));
      this.part(leaf, steps, stepsOf(model, leaf, was, count), was !== undefined);
      this.part(leaf + 1, rest, every, was !== undefined);
    }
    model.past.take(leaf, count, value);
  }

  private indexed(leaf: number, value: Whole, count: Whole, was: Index | undefined): void {
    const table = this.model.table(leaf, was !== undefined);
    const change = table && this.model.change(leaf, table, was, count);
    const number = change === null ? value : change.of(value);
    if (table === null) this.equal(value, count);
    else table.write(this.writer, number);
    this.model.set(leaf, value, number);
  }

  /** Writes a number that is not predicted itself. */
  private part(leaf: number, value: Whole, count: Whole, isPredicted: boolean): void {
    const table = this.model.table(leaf, isPredicted);
    if (table === null) this.equal(value, count);
    else table.write(this.writer, value);
    this.model.set(leaf, value, value);
  }

  private equal(value: Whole, count: Whole): void {
    if (typeof count === "number") writeEqual(this.writer, value as number, bitsOf(count));
    else writeWideEqual(this.writer, BigInt(value), bitsOf(count));
  }
}

/** Reads the parts of a coded body. */
export class CodedReader implements Source {
  readonly coded = true;
  private readonly model: Model;
  private readonly reader: RangeReader;

  constructor(knowledge: Knowledge, bytes: Uint8Array, start: number, length: number, reference: Past | null) {
    this.model = new Model(knowledge, reference);
    this.reader = new RangeReader(bytes, start, length);
  }

  get offset(): number {
    return this.reader.offset;
  }

  finish(): void {
    this.reader.finish();
  }

  index(leaf: number, count: number): number {
    return count > 1 ? (this.known(leaf, count) as number) : 0;
  }

  wideIndex(leaf: number, count: bigint): bigint {
    return BigInt(this.known(leaf, whole(count)));
  }

  bits(bits: number): number {
    return readEqual(this.reader, bits);
  }

  wideBits(bits: number): bigint {
    return readWideEqual(this.reader, bits);
  }

  opaque<T extends Whole | string>(leaf: number, form: Form, read: () => T): T {
    const { offset } = this;
    const was = this.model.past.find(leaf, form);
    if (was !== undefined && this.part(leaf, 2, true) === 0) return was.value as T;
    const value = read();
    if (was?.value === value) throw new Fault("malformed", "an unchanged part as a changed one", offset);
    this.model.past.take(leaf, form, value);
    return value;
  }

  enter(index: number): void {
    this.model.past.path.push(index);
  }

  leave(): void {
    this.model.past.path.pop();
  }

  private known(leaf: number, count: Whole): Whole {
    const { model, offset } = this;
    if (leaf === NONE) return this.checked(offset, this.equal(count), count);
    const was = model.past.find(leaf, count) as Index | undefined;
    const every = model.every(leaf);
    let value: Whole;
    if (every === 0) {
      value = this.indexed(leaf, count, was);
    } else {
      const steps = this.part(leaf, stepsOf(model, leaf, was, count), was !== undefined);
      const rest = this.part(leaf + 1, every, was !== undefined);
      value = this.checked(offset, whole(grown(steps, rest, was?.value, every, model.most(leaf))), count);
    }
    model.past.take(leaf, count, value);
    return value;
  }

  private indexed(leaf: number, count: Whole, was: Index | undefined): Whole {
    const { offset } = this;
    const table = this.model.table(leaf, was !== undefined);
    const change = table && this.model.change(leaf, table, was, count);
    const number = table === null ? this.equal(count) : table.read(this.reader);
    const value = this.checked(offset, change === null ? number : change.value(number), count);
    this.model.set(leaf, value, number);
    return value;
  }

  /** Reads a number that is not predicted itself. */
  private part(leaf: number, count: Whole, isPredicted: boolean): Whole {
    const { offset } = this;
    const table = this.model.table(leaf, isPredicted);
    const value = this.checked(offset, table === null ? this.equal(count) : table.read(this.reader), count);
    this.model.set(leaf, value, value);
    return value;
  }

  private equal(count: Whole): Whole {
    if (typeof count === "number") return readEqual(this.reader, bitsOf(count));
    return whole(readWideEqual(this.reader, bitsOf(count)));
  }

  private checked(offset: number, value: Whole, count: Whole): Whole {
    return value < 0 || value >= count ? outOfRange(offset, value, count) : value;
  }
}

/** Returns how many values the steps of a number with `every` have: fewer where it starts from 0. */
function stepsOf(model: Model, leaf: number, was: Index | undefined, count: Whole): Whole {
  if (was !== undefined) return model.most(leaf);
  return whole((BigInt(count) - 1n) / BigInt(model.every(leaf)) + 1n);
}
