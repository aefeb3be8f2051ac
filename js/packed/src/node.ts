import type { Value } from "./values.js";
import type { Walk } from "./walk.js";
import type { Sink, Source } from "./wire.js";

/** A part of a layout. Writing and reading visit the parts in the same order: spec/packed.md, "Plain bodies". */
export interface Node {
  /** The most bits in a plain body; infinite without a bound. */
  readonly most: number;
  /** Writes a value. Throws a `Fault` for one that the node does not carry. */
  write(value: unknown, sink: Sink, walk: Walk): void;
  read(source: Source, walk: Walk): Value;
  /** Whether the node has bits for a value, so that a union may use it. */
  carries(value: unknown, walk: Walk): boolean;
  /** Whether a value has the type of one of the listed values, in nodes that list them. */
  lists?(value: unknown): boolean;
}
