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

/**
 * What is known before a part of a message: the same part of the reference, or, in a series, the last part of its leaf. spec/packed.md, "The
 * reference" and "Series".
 */
export class Past {
  /** The indices of the elements around the part, from the outside. */
  readonly path: number[] = [];
  /** The last parts of the leaves in a series. That of the reference goes on. */
  private readonly last: (Part | undefined)[];
  /** All other parts of a message that is a reference, by their places. */
  private readonly places = new Map<number | string, Part>();

  constructor(
    private readonly leaves: readonly Leaf[],
    private readonly reference: Past | null = null,
  ) {
    this.last = reference === null ? [] : reference.last.slice();
  }

  /** Returns the part that predicts one of this leaf and form. */
  find(leaf: number, form: Form): Part | undefined {
    const part = this.leaves[leaf]!.isInSeries ? this.last[leaf] : this.reference?.places.get(this.place(leaf));
    return part?.form === form ? part : undefined;
  }

  /** Takes note of a part, if it is in a series. */
  take(leaf: number, form: Form, value: Whole | string): void {
    if (!this.leaves[leaf]!.isInSeries) return;
    this.last[leaf] = { form, value, before: this.find(leaf, form)?.value ?? value };
  }

  /** Takes note of a part of a message that is a reference. */
  keep(leaf: number, form: Form, value: Whole | string): void {
    if (this.leaves[leaf]!.isInSeries) this.take(leaf, form, value);
    else this.places.set(this.place(leaf), { form, value, before: value });
  }

  private place(leaf: number): number | string {
    return this.path.length === 0 ? leaf : `${leaf}/${this.path.join("/")}`;
  }
}
