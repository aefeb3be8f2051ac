import { bound, brief, instead, quoted } from "./describe.js";
import type { Node } from "./node.js";
import { wrong } from "./scalars.js";
import { type Value, define, isObject, keysOf, property } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { type Sink, type Source, bitsOf } from "./wire.js";

/** Returns what `work` does, and puts `key` before the pointer of its fault. */
function under<T>(key: string | number, work: () => T): T {
  try {
    return work();
  } catch (fault) {
    throw fault instanceof Fault ? fault.under(key) : fault;
  }
}

/** Arrays: the first elements have types of their own, the others share one. */
export class Elements implements Node {
  readonly most: number;

  constructor(
    private readonly leaf: number,
    readonly min: number,
    private readonly max: number,
    private readonly items: readonly Node[],
    private readonly rest: Node | null,
    readonly isSeries: boolean,
  ) {
    const first = items.slice(0, max).reduce((sum, item) => sum + item.most, 0);
    const more = Math.max(max - items.length, 0);
    this.most = bitsOf(max - min + 1) + first + (rest === null || more === 0 ? 0 : rest.most * more);
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (!Array.isArray(value)) throw wrong("an array", value);
    const { length } = value;
    if (length < this.min || length > this.max) throw new Fault("range", `the array has ${length} elements; ${bound(length, this.min, this.max)}`);
    sink.index(this.leaf, length - this.min, this.max - this.min + 1);
    for (let at = 0; at < length; at++) {
      under(at, () => {
        const node = this.node(at);
        if (node === null) throw new Fault("range", `there is no element ${at}`);
        sink.enter(at);
        node.write(value[at], sink, walk);
        sink.leave();
      });
    }
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    walk.take(1, offset);
    const length = this.min + source.index(this.leaf, this.max - this.min + 1);
    const elements: Value[] = [];
    for (let at = 0; at < length; at++) {
      const node = this.node(at);
      if (node === null) throw new Fault("range", `an array of ${length}`, offset);
      source.enter(at);
      elements.push(under(at, () => node.read(source, walk)));
      source.leave();
    }
    return elements;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    if (!Array.isArray(value) || value.length < this.min || value.length > this.max) return false;
    return value.every((item, at) => this.node(at)?.carries(item, walk) ?? false);
  }

  /** Whether the first elements have types of their own. */
  get isTuple(): boolean {
    return this.items.length > 0;
  }

  /** Returns the type of an element, or null if there may be none. */
  node(at: number): Node | null {
    return this.items[at] ?? this.rest;
  }
}

/** A property of an object. */
export interface Field {
  name: string;
  isRequired: boolean;
  /** The leaf of its presence. */
  leaf: number;
  node: Node;
  /** Its rank among those that a writer leaves out; 0 if it never does. */
  drop: number;
}

/** An object without additional properties. */
export class Properties implements Node {
  readonly most: number;
  private readonly byName: ReadonlyMap<string, Field>;
  private readonly required: number;

  constructor(readonly fields: readonly Field[]) {
    this.most = fields.reduce((sum, { isRequired, node }) => sum + node.most + (isRequired ? 0 : 1), 0);
    this.byName = new Map(fields.map((field) => [field.name, field]));
    this.required = fields.filter(({ isRequired }) => isRequired).length;
  }

  /** Returns the property of this name, if there is one. */
  field(name: string): Field | undefined {
    return this.byName.get(name);
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (!isObject(value)) throw wrong("an object", value);
    let written = 0;
    for (const { name, isRequired, leaf, node } of this.fields) {
      const item = property(value, name);
      if (!isRequired) sink.index(leaf, item === undefined ? 0 : 1, 2);
      else if (item === undefined) throw new Fault("range", `the field ${quoted(name)} is missing`);
      if (item === undefined) continue;
      walk.takeText(name, 0);
      under(name, () => node.write(item, sink, walk));
      written++;
    }
    const keys = keysOf(value);
    if (keys.length > written) throw new Fault("type", `there is no field ${quoted(keys.find((key) => !this.byName.has(key)) ?? "")}`);
  }

  read(source: Source, walk: Walk): Value {
    walk.take(1, source.offset);
    const object: { [key: string]: Value } = {};
    for (const { name, isRequired, leaf, node } of this.fields) {
      if (!isRequired && source.index(leaf, 2) === 0) continue;
      walk.takeText(name, source.offset);
      define(object, name, under(name, () => node.read(source, walk)));
    }
    return object;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    if (!isObject(value)) return false;
    let found = 0;
    for (const key of keysOf(value)) {
      walk.charge(this.fields.length - 8);
      const field = this.byName.get(key);
      if (field === undefined || !field.node.carries(value[key], walk)) return false;
      if (field.isRequired) found++;
    }
    return found === this.required;
  }
}

/** Null, or a value of a node. */
export class Nullable implements Node {
  readonly most: number;

  constructor(
    private readonly leaf: number,
    readonly inner: Node,
  ) {
    this.most = 1 + inner.most;
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    sink.index(this.leaf, value === null ? 0 : 1, 2);
    if (value === null) walk.take(1, 0);
    else this.inner.write(value, sink, walk);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    if (source.index(this.leaf, 2) === 0) {
      walk.take(1, offset);
      return null;
    }
    const value = this.inner.read(source, walk);
    if (value === null) throw new Fault("malformed", "null as something else", offset);
    return value;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return value === null || this.inner.carries(value, walk);
  }
}

/** A value of the first of its nodes that carries it. */
export class Union implements Node {
  readonly most: number;

  constructor(
    private readonly leaf: number,
    private readonly nodes: readonly Node[],
  ) {
    this.most = bitsOf(nodes.length) + Math.max(...nodes.map((node) => node.most));
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    const at = this.first(value, this.nodes.length, walk);
    if (at < 0) throw this.fault(value, sink, walk);
    sink.index(this.leaf, at, this.nodes.length);
    this.nodes[at]!.write(value, sink, walk);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    const at = source.index(this.leaf, this.nodes.length);
    const value = this.nodes[at]!.read(source, walk);
    if (this.first(value, at, walk) >= 0) throw new Fault("malformed", "a value that an earlier type carries", offset);
    return value;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return this.first(value, this.nodes.length, walk) >= 0;
  }

  /** Returns the fault of the only node for values of this type. Of several, and of arrays and objects, it is not known which is meant. */
  private fault(value: unknown, sink: Sink, walk: Walk): Fault {
    const meant = typeof value === "object" ? [] : this.nodes.filter((node) => node.lists?.(value) ?? true);
    const faults = meant.flatMap((node) => {
      try {
        node.write(value, sink, walk);
      } catch (fault) {
        if (fault instanceof Fault && fault.kind === "range") return [fault];
      }
      return [];
    });
    return faults.length === 1 ? faults[0]! : new Fault("range", `${brief(value)} is none of the ${this.nodes.length} kinds allowed${instead(value)}`);
  }

  /** Returns the index of the first of the first `count` nodes that carries a value, or -1. */
  private first(value: unknown, count: number, walk: Walk): number {
    for (let at = 0; at < count; at++) if (this.nodes[at]!.carries(value, walk)) return at;
    return -1;
  }
}
