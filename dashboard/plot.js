// A line over time: a field's numbers, with gaps where the device was silent. Other devices may have lines in the same plot.

import { across, LEFT, ticks } from "./axis.js";
import { el, setAttribute, setChildren, setText, svg } from "./dom.js";

const HEIGHT = 96;
const MARGIN = { top: 8, bottom: 6 };
/** Silence of this many usual intervals is a gap in the line. */
const GAP = 3;
/** A line of at most this many points has a dot at each of them. */
const DOTS = 60;

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: false });

/** 0.30000000000000004 -> "0.3" */
export const figure = (number) => (Math.abs(number) >= 1e9 || (number !== 0 && Math.abs(number) < 1e-6) ? number.toExponential(3) : digits.format(number));

/** A change: 0.5 -> "+0.5", -2 -> "−2" */
export const signed = (by) => `${by < 0 ? "−" : "+"}${figure(Math.abs(by))}`;

/** The place of the time in `at`, ascending, that is nearest to `time`; -1 without times. */
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

const NONE = [];

/** A plot of one field, with its name and its value at the cursor, or else the last one. */
export class Plot {
  #given = NONE;

  /** `unit` follows each number. With `zero`, the axis begins at 0. */
  constructor(name, unit, zero = false) {
    this.unit = unit;
    this.zero = zero;
    this.value = el("span", { class: "value" });
    this.change = el("span", { class: "soft" });
    this.otherValues = el("span", { class: "others" });
    this.ticks = svg("path", { class: "ticks" });
    this.lines = svg("g");
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.low = svg("text", { class: "degrees", x: LEFT - 6, y: HEIGHT - MARGIN.bottom, "text-anchor": "end" });
    this.high = svg("text", { class: "degrees", x: LEFT - 6, y: MARGIN.top + 4, "text-anchor": "end" });
    this.svg = svg("svg", { class: "plot", height: HEIGHT, "aria-hidden": "true" }, this.ticks, this.lines, this.low, this.high, this.cursor);
    this.node = el("li", {}, el("p", {}, el("strong", {}, name), " ", this.value, " ", this.change, " ", this.otherValues), this.svg);
  }

  /**
   * Shows `points`, which the API thinned out, over `range` of milliseconds since 1970, `width` pixels wide. `others` are those of other
   * devices, each with its `place` among the colours.
   */
  draw(points, range, width, others = NONE) {
    const given = [points, range, width, others];
    if (given.every((one, i) => one === this.#given[i])) return;
    this.#given = given;
    this.points = points;
    this.others = others;
    this.#scale(range, width);
    setAttribute(this.svg, "viewBox", `0 0 ${width} ${HEIGHT}`);
    setAttribute(this.svg, "width", width);
    setAttribute(this.ticks, "d", ticks(range, width).at.map((time) => `M${this.x(time).toFixed(1)} 0V${HEIGHT}`).join(""));
    setChildren(this.lines, [...others.flatMap((other) => this.#line(other.points, other.place)), ...this.#line(points, 0)]);
    this.point(null);
  }

  #scale(range, width) {
    const all = [this.points, ...this.others.map(({ points }) => points)];
    const least = all.flatMap(({ low }) => low).reduce((a, b) => Math.min(a, b), this.zero ? 0 : Infinity);
    const most = all.flatMap(({ high }) => high).reduce((a, b) => Math.max(a, b), -Infinity);
    const down = (HEIGHT - MARGIN.top - MARGIN.bottom) / (most - least || 1);
    this.x = across(range, width);
    this.y = (number) => (most === least && !this.zero ? HEIGHT / 2 : HEIGHT - MARGIN.bottom - (number - least) * down);
    setText(this.low, most === least && !this.zero ? "" : figure(least));
    setText(this.high, most === least ? "" : figure(most));
  }

  /** The line of a device at `place` of the colours, the spread of the points that the API left out, and dots if there are few points. */
  #line(points, place) {
    const parts = runs(points.at);
    const path = (kind, d) => svg("path", { class: `${kind} o${place}`, d });
    const nodes = [path("line", parts.map(([from, to]) => this.#path(points, from, to)).join(""))];
    const isThinned = points.low.some((low, i) => low !== points.high[i]);
    if (isThinned) nodes.unshift(path("band", parts.map(([from, to]) => this.#area(points, from, to)).join("")));
    if (points.at.length <= DOTS) nodes.push(path("dots", points.at.map((_, i) => `M${this.#at(points, i, points.last)}h.01`).join("")));
    return nodes;
  }

  #at({ at }, i, numbers) {
    return `${this.x(at[i]).toFixed(1)} ${this.y(numbers[i]).toFixed(1)}`;
  }

  #path(points, from, to) {
    if (to - from === 1) return `M${this.#at(points, from, points.last)}h.01`;
    let d = "";
    for (let i = from; i < to; i++) d += `${i > from ? "L" : "M"}${this.#at(points, i, points.last)}`;
    return d;
  }

  #area(points, from, to) {
    let [up, back] = ["", ""];
    for (let i = from; i < to; i++) {
      up += `${i > from ? "L" : "M"}${this.#at(points, i, points.high)}`;
      back = `L${this.#at(points, i, points.low)}${back}`;
    }
    return `${up}${back}Z`;
  }

  /** Shows the value at `time`; the last one for null. */
  point(time) {
    const { at, low, high, last } = this.points;
    const i = time === null ? at.length - 1 : nearest(at, time);
    const spread = low[i] === high[i] ? "" : ` (${figure(low[i])} to ${figure(high[i])})`;
    setText(this.value, `${figure(last[i])}${this.unit}`);
    const change = time === null && i > 0 ? signed(last[i] - last[i - 1]) : "";
    setText(this.change, time === null ? change : spread);
    this.otherValues.replaceChildren(...this.others.map(({ points, place }) => {
      const j = time === null ? points.at.length - 1 : nearest(points.at, time);
      return el("span", { class: `value o${place}` }, `${figure(points.last[j])}${this.unit}`);
    }));
    this.cursor.style.display = time === null ? "none" : "";
    if (time === null) return;
    const x = this.x(at[i]).toFixed(1);
    setAttribute(this.cursor, "x1", x);
    setAttribute(this.cursor, "x2", x);
  }
}
