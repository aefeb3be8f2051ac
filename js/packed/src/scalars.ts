import { brief, instead, listed, shown } from "./describe.js";
import type { Node } from "./node.js";
import { type Value, copy, same } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { type Sink, type Source, bitsOf } from "./wire.js";

/** The name of the text that is the ID of the device. */
export const DEVICE = "device";

/** Returns the fault of a value of another type. */
export function wrong(expected: string, value: unknown): Fault {
  return new Fault("type", `${brief(value)} is not ${expected}${instead(value, expected)}`);
}

/** A value that takes no bits. */
export class Constant implements Node {
  readonly most = 0;

  constructor(private readonly value: Value) {}

  write(value: unknown, _sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (!same(this.value, value)) throw new Fault("range", `${brief(value)} is not ${shown(this.value)}${instead(value)}`);
    walk.takeKnown(this.value, 0);
  }

  read(source: Source, walk: Walk): Value {
    walk.take(1, source.offset);
    walk.takeKnown(this.value, source.offset);
    return copy(this.value);
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return same(this.value, value);
  }

  lists(value: unknown): boolean {
    return typeof this.value === typeof value;
  }
}

export class Bool implements Node {
  readonly most = 1;

  constructor(private readonly leaf: number) {}

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "boolean") throw wrong("a boolean", value);
    sink.index(this.leaf, value ? 1 : 0, 2);
  }

  read(source: Source, walk: Walk): Value {
    walk.take(1, source.offset);
    return source.index(this.leaf, 2) === 1;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return typeof value === "boolean";
  }
}

/** One of a few values, written as its index. */
export class Choice implements Node {
  readonly most: number;
  /** The indices of texts, which most choices have. */
  private readonly texts: ReadonlyMap<unknown, number>;

  constructor(
    private readonly leaf: number,
    private readonly values: readonly Value[],
  ) {
    this.most = bitsOf(values.length);
    this.texts = new Map(values.map((value, at) => [value, at] as const).filter(([value]) => typeof value === "string"));
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    const at = this.find(value);
    if (at < 0) throw new Fault("range", `${brief(value)} is none of ${listed(this.values)}${instead(value)}`);
    walk.takeKnown(this.values[at], 0);
    sink.index(this.leaf, at, this.values.length);
  }

  read(source: Source, walk: Walk): Value {
    walk.take(1, source.offset);
    const at = source.index(this.leaf, this.values.length);
    walk.takeKnown(this.values[at], source.offset);
    return copy(this.values[at]!);
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    walk.charge(this.values.length - 8);
    return this.find(value) >= 0;
  }

  lists(value: unknown): boolean {
    return this.values.some((one) => typeof one === typeof value);
  }

  private find(value: unknown): number {
    return typeof value === "string" ? (this.texts.get(value) ?? -1) : this.values.findIndex((one) => same(one, value));
  }
}

/** Text that the receiver knows, which takes no bits. */
export class Known implements Node {
  readonly most = 0;

  constructor(private readonly name: string) {}

  write(value: unknown, _sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "string") throw wrong("a string", value);
    walk.takeText(value, 0);
  }

  read(source: Source, walk: Walk): Value {
    walk.take(1, source.offset);
    const text = walk.known.get(this.name);
    if (text === undefined) throw new Fault("type", `the ${this.name === DEVICE ? "ID" : JSON.stringify(this.name)} of the device that sent the message is not known`, source.offset);
    walk.takeText(text, source.offset);
    return text;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return typeof value === "string";
  }
}
