import type { Leaf } from "./statistics.js";
import type { Whole } from "./whole.js";

/** What a part is: the number of values of an index, the bits of a float, or its kind. Only parts of the same form are compared. */
export type Form = Whole | "sized" | "single" | "double" | "text";

/** An index, and the one before it in a series: itself if it is the only one. */
export interface Index {
  value: Whole;
  before: Whole;
}

/** A part of a message. */
export interface Part {
  form: Form;
  /** The index, the number, or the text. */
  value: Whole | string;
  /** As of an `Index`. Other parts have it, too, but nothing reads it. */
  before: Whole | string;
}

/** What is known before a part of a message: in a series, the last part of its leaf. spec/packed.md, "Series". */
export class Past {
  private readonly last: (Part | undefined)[] = [];

  constructor(private readonly leaves: readonly Leaf[]) {}

  /** Returns the part that predicts one of this leaf and form. */
  find(leaf: number, form: Form): Part | undefined {
    const part = this.last[leaf];
    return part?.form === form ? part : undefined;
  }

  /** Takes note of a part. */
  take(leaf: number, form: Form, value: Whole | string): void {
    if (!this.leaves[leaf]!.isInSeries) return;
    this.last[leaf] = { form, value, before: this.find(leaf, form)?.value ?? value };
  }
}
