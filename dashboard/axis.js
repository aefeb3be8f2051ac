// The time axis of plots: where a time is, and times that are easy to read.

import { setAttribute, setChildren, svg } from "./dom.js";
import { fullTime } from "./format.js";

/** The parts of a plot's width left and right of its line, in pixels. */
export const LEFT = 52;
const RIGHT = 4;
const HEIGHT = 34;
/** Least pixels between two labels, and from a label to the edge if it is centred. */
const ROOM = 110;
const HALF = 34;

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const times = (unit, ...all) => all.map((n) => n * unit);
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...times(SECOND, 1, 2, 5, 10, 15, 30), ...times(MINUTE, 1, 2, 5, 10, 15, 30), ...times(HOUR, 1, 2, 3, 6, 12), ...times(DAY, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)];

/** A function from a time of the range to pixels, in a plot that is `width` pixels wide. */
export function across({ from, until }, width) {
  const scale = (width - LEFT - RIGHT) / Math.max(until - from, 1);
  return (time) => LEFT + (time - from) * scale;
}

/** The time that is `x` pixels from the left of such a plot. */
export function timeAt(x, { from, until }, width) {
  const share = Math.max(0, Math.min((x - LEFT) / (width - LEFT - RIGHT), 1));
  return from + share * (until - from);
}

/** The times that get a label, and the milliseconds between them. */
export function ticks({ from, until }, width) {
  const pixels = (width - LEFT - RIGHT) / Math.max(until - from, 1);
  const step = STEPS.find((step) => step * pixels >= ROOM) ?? STEPS.at(-1);
  const first = Math.ceil(from / step) * step;
  return { step, at: Array.from({ length: Math.max(0, Math.floor((until - first) / step) + 1) }, (_, i) => first + i * step) };
}

/** "12:00", "12:00:30" or "12:00:30.250", as the step needs it; the day for steps of days. */
function label(time, step) {
  const text = fullTime(new Date(time).toISOString());
  if (step >= DAY) return text.slice(0, 10);
  return text.slice(11, step >= MINUTE ? 16 : step >= SECOND ? 19 : 23);
}

/** The axis below plots: times in UTC, and the day where it changes. */
export class Axis {
  #drawn = "";

  constructor() {
    this.node = svg("svg", { class: "axis", height: HEIGHT, "aria-hidden": "true" });
  }

  draw(range, width) {
    const drawn = [range.from, range.until, width].join();
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    setAttribute(this.node, "viewBox", `0 0 ${width} ${HEIGHT}`);
    setAttribute(this.node, "width", width);
    const [x, { step, at }] = [across(range, width), ticks(range, width)];
    let day = "";
    const nodes = at.flatMap((time) => {
      const date = label(time, DAY);
      const rows = step >= DAY || date === day ? [label(time, step)] : [label(time, step), date];
      day = date;
      return mark(x(time), rows, width);
    });
    setChildren(this.node, [svg("text", { class: "degrees", x: 2, y: 16 }, "UTC"), ...nodes]);
  }
}

/** A tick with its rows of text. */
function mark(x, rows, width) {
  const anchor = x < LEFT + HALF ? "start" : x > width - HALF ? "end" : "middle";
  const texts = rows.map((row, i) => svg("text", { class: "degrees", x: x.toFixed(1), y: 16 + 14 * i, "text-anchor": anchor }, row));
  return [svg("line", { class: "tick", x1: x.toFixed(1), x2: x.toFixed(1), y1: 0, y2: 4 }), ...texts];
}
