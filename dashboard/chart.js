// The background of the maps: coast, graticule, scale.

import { CUT, ISLANDS, MAINLAND, REGION, SEAS } from "./coast.js";
import { svg } from "./dom.js";
import { count } from "./format.js";
import { graticule, scaleBar } from "./geo.js";

const round = (pixels) => Math.round(pixels * 10) / 10;

/** An SVG path through points of longitude and latitude. */
export function path(view, points) {
  return points.map(([longitude, latitude], at) => `${at ? "L" : "M"}${round(view.x(longitude))} ${round(view.y(latitude))}`).join("");
}

function within(view) {
  return view.west >= REGION.west && view.east <= REGION.east && view.south >= REGION.south && view.north <= REGION.north;
}

function meets(view) {
  return view.west < REGION.east && view.east > REGION.west && view.south < REGION.north && view.north > REGION.south;
}

/** Land and sea; if the view extends beyond the drawn coast, its lines only. */
function coast(view) {
  if (!meets(view)) return [];
  const lines = [MAINLAND, ...SEAS].map((points) => svg("path", { class: "coast", d: path(view, points) }));
  const closed = ISLANDS.map((points) => `${path(view, points)}Z`);
  const islands = svg("path", { class: "coast", d: [...closed, ...CUT.map((points) => path(view, points))].join("") });
  if (!within(view)) return [...lines, islands];
  islands.classList.add("land");
  const ocean = [...MAINLAND, [REGION.west, REGION.south], [REGION.west, REGION.north]];
  const sea = [ocean, ...SEAS].map((points) => `${path(view, points)}Z`).join("");
  const land = svg("rect", { class: "land", width: view.width, height: view.height });
  return [land, svg("path", { class: "sea", d: sea }), ...lines, islands];
}

/** Meridians and parallels with their degrees. */
export function grid(view) {
  const { meridians, parallels, step } = graticule(view);
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  const label = (value, positive, negative) => `${Math.abs(value).toFixed(digits)}°${value === 0 ? "" : value < 0 ? negative : positive}`;
  const nodes = [];
  for (const longitude of meridians) {
    const x = round(view.x(longitude));
    nodes.push(svg("line", { class: "grid", x1: x, x2: x, y1: 0, y2: view.height }));
    if (x > 24 && x < view.width - 24) {
      nodes.push(svg("text", { class: "degrees", x, y: 14, "text-anchor": "middle" }, label(longitude, "E", "W")));
    }
  }
  for (const latitude of parallels) {
    const y = round(view.y(latitude));
    nodes.push(svg("line", { class: "grid", x1: 0, x2: view.width, y1: y, y2: y }));
    if (y > 30 && y < view.height - 34) nodes.push(svg("text", { class: "degrees", x: 6, y: y - 4 }, label(latitude, "N", "S")));
  }
  return nodes;
}

/** A bar with its length. */
export function scale(view) {
  const { km, pixels } = scaleBar(view, Math.min(140, view.width / 3));
  const [x, y] = [10, view.height - 12];
  const d = `M${x} ${y - 5}V${y}H${round(x + pixels)}V${y - 5}`;
  return [svg("path", { class: "scale", d }), svg("text", { class: "degrees", x: x + 5, y: y - 5 }, km < 1 ? `${count(1000 * km)} m` : `${count(km)} km`)];
}

/** The elements below the devices. */
export const ground = (view) => [...coast(view), ...grid(view), ...scale(view)];
