// Where one device was: its track over the chosen time range with times along it, and a mark at the time of the cursor.

import { grid, ground, path, scale } from "./chart.js";
import { setAttribute, svg } from "./dom.js";
import { fullTime } from "./format.js";
import { COARSE, View } from "./geo.js";
import { nearest } from "./plot.js";

const HEIGHT = 260;
const MARGIN = 40;
/** Degrees of longitude that the map spans at least, about a hundred metres. */
const NARROWEST = 0.001;
/** Most times along the track, and the pixels that each needs. */
const TIMES = 10;
const TEXT = { width: 90, height: 16 };
/** A pointer within this distance of a point, in pixels, selects it. */
const REACH = 30;

export class Track {
  ground = svg("g");
  line = svg("path", { class: "track-line" });
  times = svg("g");
  mark = svg("circle", { class: "here", r: 5 });
  points = [];
  #width = 0;

  /** `point(time)` moves the cursor of the device. */
  constructor(box, point) {
    this.box = box;
    this.svg = svg("svg", { role: "img", height: HEIGHT }, this.ground, this.line, this.times, this.mark);
    box.append(this.svg);
    this.svg.addEventListener("pointermove", (e) => point(this.#at(e)));
    this.svg.addEventListener("pointerleave", () => point(null));
  }

  /** Shows `points`, or nothing if there are fewer than two, `width` pixels wide. */
  draw(points, width) {
    this.box.hidden = points.length < 2;
    if (this.box.hidden || (this.points === points && this.#width === width)) return;
    [this.points, this.#width] = [points, width];
    this.view = View.fit(points, width, HEIGHT, MARGIN, NARROWEST);
    setAttribute(this.svg, "viewBox", `0 0 ${width} ${HEIGHT}`);
    setAttribute(this.svg, "width", width);
    setAttribute(this.svg, "aria-label", `Track from ${time(points[0])} to ${time(points.at(-1))}; the plots of latitude and longitude have the numbers`);
    // The coast is too coarse for a city.
    const isWide = this.view.east - this.view.west >= COARSE;
    this.ground.replaceChildren(...(isWide ? ground(this.view) : [...grid(this.view), ...scale(this.view)]));
    setAttribute(this.line, "d", path(this.view, points.map((p) => [p.longitude, p.latitude])));
    this.times.replaceChildren(...this.#labels());
    this.point(null);
  }

  #place(point) {
    return [this.view.x(point.longitude), this.view.y(point.latitude)];
  }

  /** Times at points that are far enough from each other: the last one and the first one before those between them. */
  #labels() {
    const { points } = this;
    const between = points.filter((_, i) => i % Math.ceil(points.length / TIMES) === 0);
    const [labels, places] = [[], []];
    for (const point of [points.at(-1), points[0], ...between]) {
      const [x, y] = this.#place(point);
      if (places.some(([px, py]) => Math.abs(px - x) < TEXT.width && Math.abs(py - y) < TEXT.height)) continue;
      places.push([x, y]);
      const toLeft = x > this.#width - TEXT.width - MARGIN;
      labels.push(
        svg("circle", { class: "stop", cx: x, cy: y, r: 2.5 }),
        svg("text", { class: "degrees time", x: x + (toLeft ? -6 : 6), y: y - 6, "text-anchor": toLeft ? "end" : "start" }, brief(point, points.at(-1).at - points[0].at)),
      );
    }
    return labels;
  }

  /** Marks the position at `time`; the last one for null. */
  point(time) {
    if (this.points.length === 0) return;
    const i = time === null ? this.points.length - 1 : nearest(this.points.map((p) => p.at), time);
    const [x, y] = this.#place(this.points[i]);
    setAttribute(this.mark, "cx", x.toFixed(1));
    setAttribute(this.mark, "cy", y.toFixed(1));
  }

  /** The time of the point that is nearest to the pointer, or null. */
  #at(event) {
    const box = this.svg.getBoundingClientRect();
    let [found, distance] = [null, REACH];
    for (const point of this.points) {
      const [x, y] = this.#place(point);
      const here = Math.hypot(box.left + x - event.clientX, box.top + y - event.clientY);
      if (here < distance) [found, distance] = [point.at, here];
    }
    return found;
  }
}

/** "2026-03-29 12:00:30" */
const time = ({ at }) => fullTime(new Date(at).toISOString()).slice(0, 19);

/** The part of `time` that distinguishes points within a span of `span` milliseconds: "12:00:30", "12:00", "03-29 12:00". */
function brief(point, span) {
  const part = span < 600_000 ? [11, 19] : span < 86_400_000 ? [11, 16] : [5, 16];
  return time(point).slice(...part);
}
