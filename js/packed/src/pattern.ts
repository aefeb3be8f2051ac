import { quoted } from "./describe.js";
import type { Node } from "./node.js";
import { wrong } from "./scalars.js";
import type { Value } from "./values.js";
import { Fault, type Walk } from "./walk.js";
import { type Sink, type Source, bitsOf } from "./wire.js";

/** Groups and pieces have fewer values. */
const GROUP = 2 ** 32;
/** The most characters of a pattern that an error shows. */
const SHOWN = 80;

/** `min` to `max` characters out of `chars`. */
export interface Segment {
  chars: readonly string[];
  min: number;
  max: number;
}

/** Characters of one segment that a coded body has as one index. */
export interface Piece {
  segment: number;
  /** The characters of the segment before this piece. */
  after: number;
  /** The most characters of the piece. */
  most: number;
}

/** Returns the pieces of the segments: as many characters at a time as have fewer than 2^32 values. */
export function pieces(segments: readonly Segment[]): Piece[] {
  const all: Piece[] = [];
  segments.forEach(({ chars: { length: radix }, max }, segment) => {
    if (radix < 2) return;
    let most = 0;
    for (let values = radix; values < GROUP; values *= radix) most++;
    for (let after = 0; after < max; after += most) all.push({ segment, after, most: Math.min(most, max - after) });
  });
  return all;
}

/** Text of an exact pattern: spec/packed.md, "Patterns". */
export class Pattern implements Node {
  readonly most: number;
  private readonly digits: readonly ReadonlyMap<string, number>[];

  constructor(
    private readonly segments: readonly Segment[],
    private readonly pieces: readonly Piece[],
    /** The leaves of the counts of the segments, and those of the pieces. */
    private readonly counts: readonly number[],
    private readonly leaves: readonly number[],
  ) {
    this.digits = segments.map(({ chars }) => new Map(chars.map((char, at) => [char, at])));
    this.most = mostBits(segments);
  }

  write(value: unknown, sink: Sink, walk: Walk): void {
    walk.take(1, 0);
    if (typeof value !== "string") throw wrong("a string", value);
    const text = Array.from(value);
    const runs = this.runs(text);
    if (runs === null) throw new Fault("range", `${quoted(value)} does not match ${sourceOf(this.segments)}`);
    this.segments.forEach(({ min, max }, at) => {
      if (min < max) sink.index(this.counts[at]!, runs[at]! - min, max - min + 1);
    });
    if (sink.coded) this.writePieces(text, runs, sink);
    else this.writeGroups(text, runs, sink);
    walk.takeText(value, 0);
  }

  read(source: Source, walk: Walk): Value {
    const { offset } = source;
    walk.take(1, offset);
    const runs = this.segments.map(({ min, max }, at) => (min < max ? min + source.index(this.counts[at]!, max - min + 1) : min));
    const text = source.coded ? this.readPieces(runs, source) : this.readGroups(runs, source);
    walk.takeText(text, offset);
    return text;
  }

  carries(value: unknown, walk: Walk): boolean {
    walk.charge(0);
    return typeof value === "string" && this.runs(Array.from(value)) !== null;
  }

  /** Returns the number of characters of each segment, or null if the text does not match. */
  private runs(text: readonly string[]): number[] | null {
    const runs: number[] = [];
    let at = 0;
    for (let i = 0; i < this.segments.length; i++) {
      const { min, max } = this.segments[i]!;
      const start = at;
      while (at < text.length && at - start < max && this.digits[i]!.has(text[at]!)) at++;
      if (at - start < min) return null;
      runs.push(at - start);
    }
    return at === text.length ? runs : null;
  }

  private writeGroups(text: readonly string[], runs: readonly number[], sink: Sink): void {
    let value = 0;
    let product = 1;
    let at = 0;
    for (let i = 0; i < runs.length; i++) {
      const radix = this.segments[i]!.chars.length;
      for (let k = 0; k < runs[i]!; k++, at++) {
        if (product * radix >= GROUP) {
          sink.index(-1, value, product);
          value = 0;
          product = 1;
        }
        value = value * radix + this.digits[i]!.get(text[at]!)!;
        product *= radix;
      }
    }
    if (product > 1) sink.index(-1, value, product);
  }

  private readGroups(runs: readonly number[], source: Source): string {
    let text = "";
    /** The segments of the characters of a group. */
    let group: number[] = [];
    let product = 1;
    for (let i = 0; i < runs.length; i++) {
      const radix = this.segments[i]!.chars.length;
      for (let k = 0; k < runs[i]!; k++) {
        if (product * radix >= GROUP) {
          text += this.readGroup(group, product, source);
          group = [];
          product = 1;
        }
        group.push(i);
        product *= radix;
      }
    }
    return text + this.readGroup(group, product, source);
  }

  private readGroup(group: readonly number[], product: number, source: Source): string {
    let value = product > 1 ? source.index(-1, product) : 0;
    let text = "";
    for (let i = group.length - 1; i >= 0; i--) {
      const { chars } = this.segments[group[i]!]!;
      text = chars[value % chars.length]! + text;
      value = Math.floor(value / chars.length);
    }
    return text;
  }

  private writePieces(text: readonly string[], runs: readonly number[], sink: Sink): void {
    const starts = startsOf(runs);
    this.pieces.forEach(({ segment, after, most }, at) => {
      const radix = this.segments[segment]!.chars.length;
      const length = Math.min(Math.max(runs[segment]! - after, 0), most);
      let value = 0;
      for (let k = 0; k < length; k++) value = value * radix + this.digits[segment]!.get(text[starts[segment]! + after + k]!)!;
      sink.index(this.leaves[at]!, value, radix ** length);
    });
  }

  private readPieces(runs: readonly number[], source: Source): string {
    // A class with a single character has no piece.
    const texts = this.segments.map(({ chars }, at) => (chars.length === 1 ? chars[0]!.repeat(runs[at]!) : ""));
    this.pieces.forEach(({ segment, after, most }, at) => {
      const { chars } = this.segments[segment]!;
      const length = Math.min(Math.max(runs[segment]! - after, 0), most);
      let value = source.index(this.leaves[at]!, chars.length ** length);
      let text = "";
      for (let k = 0; k < length; k++) {
        text = chars[value % chars.length]! + text;
        value = Math.floor(value / chars.length);
      }
      texts[segment] += text;
    });
    return texts.join("");
  }
}

/** Returns the segments as a regular expression for the text of an error, truncated if it is long. */
function sourceOf(segments: readonly Segment[]): string {
  const parts = segments.map(({ chars, min, max }) => {
    const set = chars.length === 1 ? literal(chars[0]!) : `[${classOf(chars)}]`;
    return min === 1 && max === 1 ? set : `${set}{${min === max ? min : `${min},${max}`}}`;
  });
  const source = `^${parts.join("")}$`;
  return source.length > SHOWN ? `${source.slice(0, SHOWN)}…` : source;
}

/** Returns the characters of a class; three or more in a row are a range. */
function classOf(chars: readonly string[]): string {
  let text = "";
  for (let at = 0, end = 0; at < chars.length; at = ++end) {
    while (end + 1 < chars.length && chars[end + 1]!.codePointAt(0) === chars[end]!.codePointAt(0)! + 1) end++;
    text += end - at < 2 ? chars.slice(at, end + 1).map(literal).join("") : `${literal(chars[at]!)}-${literal(chars[end]!)}`;
  }
  return text;
}

function literal(char: string): string {
  const code = char.codePointAt(0)!;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return `\\u${code.toString(16).padStart(4, "0")}`;
  return char.replace(/[\^$.*+?()[\]{}|\\-]/, "\\$&");
}

function startsOf(runs: readonly number[]): number[] {
  let start = 0;
  return runs.map((run) => (start += run) - run);
}

/** Returns the most bits of the counts and of the characters in groups. */
function mostBits(segments: readonly Segment[]): number {
  let bits = segments.reduce((sum, { min, max }) => sum + bitsOf(max - min + 1), 0);
  // Groups end later if single characters may be left out, so this is an upper bound.
  let product = 1;
  for (const { chars, max } of segments) {
    if (chars.length === 1) continue;
    for (let k = 0; k < max; k++) {
      if (product * chars.length >= GROUP) {
        bits += bitsOf(product);
        product = 1;
      }
      product *= chars.length;
    }
  }
  return bits + bitsOf(product);
}
