// A line over time: what a field's numbers were, with gaps where the device was silent.

import { el, setAttribute, setText, svg } from "./dom.js";

const HEIGHT = 96;
const MARGIN = { left: 52, right: 4, top: 8, bottom: 6 };
/** Silence of this many usual intervals is a gap in the line. */
const GAP = 3;

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: false });

/** 0.30000000000000004 -> "0.3" */
export const figure = (number) => (Math.abs(number) >= 1e9 || (number !== 0 && Math.abs(number) < 1e-6) ? number.toExponential(3) : digits.format(number));

/** The place of the time in `at`, ascending, that is nearest to `time`; -1 if there is none. */
export function nearest(at, time) {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] < time) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && (low === at.length || time - at[low - 1] <= at[low] - time)) low -= 1;
  return at.length ? low : -1;
}

/** The median of the time between points. */
function usual(at) {
  const between = at.slice(1).map((time, i) => time - at[i]).sort((a, b) => a - b);
  return between[between.length >> 1] ?? 0;
}

/** Parts of the places of `at` without a gap between them, as pairs of the first place and the one after the last. */
export function runs(at) {
  const longest = GAP * usual(at);
  const ends = at.flatMap((time, i) => (i > 0 && time - at[i - 1] > longest ? [i] : []));
  const edges = [0, ...ends, at.length];
  return at.length ? edges.slice(1).map((end, i) => [edges[i], end]) : [];
}

/** The part of a plot's width that is left of its line, in pixels. */
export const LEFT = MARGIN.left;

/** A plot of one field, with its name and its value at the cursor, or else the last one. */
export class Plot {
  #points = null;
  #range = null;
  #width = 0;

  constructor(name, unit) {
    this.unit = unit;
    this.value = el("span", { class: "value" });
    this.change = el("span", { class: "soft" });
    this.band = svg("path", { class: "band" });
    this.line = svg("path", { class: "line" });
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.low = svg("text", { class: "degrees", x: MARGIN.left - 6, y: HEIGHT - MARGIN.bottom, "text-anchor": "end" });
    this.high = svg("text", { class: "degrees", x: MARGIN.left - 6, y: MARGIN.top + 4, "text-anchor": "end" });
    this.svg = svg("svg", { class: "plot", height: HEIGHT, "aria-hidden": "true" }, this.band, this.line, this.low, this.high, this.cursor);
    this.node = el("li", {}, el("p", {}, el("strong", {}, name), " ", this.value, " ", this.change), this.svg);
  }

  /** Shows `points`, which the API thinned out, over `range` of milliseconds since 1970, `width` pixels wide. */
  draw(points, range, width) {
    if (this.#points === points && this.#range === range && this.#width === width) return;
    [this.#points, this.#range, this.#width] = [points, range, width];
    this.#scale();
    setAttribute(this.svg, "viewBox", `0 0 ${width} ${HEIGHT}`);
    setAttribute(this.svg, "width", width);
    setAttribute(this.line, "d", runs(points.at).map(([from, to]) => this.#path(points.last, from, to)).join(""));
    const thinned = points.low.some((low, i) => low !== points.high[i]);
    setAttribute(this.band, "d", thinned ? runs(points.at).map(([from, to]) => this.#area(from, to)).join("") : "");
    this.point(null);
  }

  #scale() {
    const [low, high] = [this.#points.low, this.#points.high].map((all, i) => all.reduce(i ? (a, b) => Math.max(a, b) : (a, b) => Math.min(a, b)));
    const { from, until } = this.#range;
    const across = (this.#width - MARGIN.left - MARGIN.right) / Math.max(until - from, 1);
    const down = (HEIGHT - MARGIN.top - MARGIN.bottom) / (high - low || 1);
    this.x = (time) => MARGIN.left + (time - from) * across;
    this.y = (number) => (high === low ? HEIGHT / 2 : HEIGHT - MARGIN.bottom - (number - low) * down);
    setText(this.low, high === low ? "" : figure(low));
    setText(this.high, high === low ? "" : figure(high));
  }

  #path(numbers, from, to) {
    const { at } = this.#points;
    if (to - from === 1) return `M${this.x(at[from]).toFixed(1)} ${this.y(numbers[from]).toFixed(1)}h.01`;
    let d = "";
    for (let i = from; i < to; i++) d += `${i > from ? "L" : "M"}${this.x(at[i]).toFixed(1)} ${this.y(numbers[i]).toFixed(1)}`;
    return d;
  }

  #area(from, to) {
    const { at, low, high } = this.#points;
    let [up, back] = ["", ""];
    for (let i = from; i < to; i++) {
      const x = this.x(at[i]).toFixed(1);
      up += `${i > from ? "L" : "M"}${x} ${this.y(high[i]).toFixed(1)}`;
      back = `L${x} ${this.y(low[i]).toFixed(1)}${back}`;
    }
    return `${up}${back}Z`;
  }

  /** Shows the value at `time`; the last one for null. */
  point(time) {
    const { at, low, high, last } = this.#points;
    const i = time === null ? at.length - 1 : nearest(at, time);
    const spread = low[i] === high[i] ? "" : ` (${figure(low[i])} to ${figure(high[i])})`;
    setText(this.value, `${figure(last[i])}${this.unit}`);
    const before = i > 0 ? last[i] - last[i - 1] : 0;
    const change = time === null && i > 0 ? `${before < 0 ? "−" : "+"}${figure(Math.abs(before))}` : "";
    setText(this.change, time === null ? change : spread);
    this.cursor.style.display = time === null ? "none" : "";
    if (time === null) return;
    const x = this.x(at[i]).toFixed(1);
    setAttribute(this.cursor, "x1", x);
    setAttribute(this.cursor, "x2", x);
  }
}
