// The background of the maps: coast, graticule, scale.

import { RINGS, STEPS } from "./coast.js";
import { svg } from "./dom.js";
import { count } from "./format.js";
import { graticule, scaleBar } from "./geo.js";

const round = (pixels) => Math.round(pixels * 10) / 10;

/** An SVG path through points of longitude and latitude. */
export function path(view, points) {
  return points.map(([longitude, latitude], at) => `${at ? "L" : "M"}${round(view.x(longitude))} ${round(view.y(latitude))}`).join("");
}

/** Reads a ring: its points in degrees, and the box around them. */
function ring(text) {
  let [x, y] = [0, 0];
  const points = text.trim().split(/\s+/).map((move) => {
    const [east, north] = move.split(",").map(Number);
    return [(x += east) / STEPS, (y += north) / STEPS];
  });
  const [longitudes, latitudes] = [points.map(([longitude]) => longitude), points.map(([, latitude]) => latitude)];
  return { points, west: Math.min(...longitudes), east: Math.max(...longitudes), south: Math.min(...latitudes), north: Math.max(...latitudes) };
}

const COAST = RINGS.map(ring);
/** A map may extend beyond 180 degrees, so rings are also drawn one turn to the west and to the east. */
const TURNS = [-360, 0, 360];

/** Sea and land. */
function coast(view) {
  let d = "";
  for (const { points, west, east, south, north } of COAST) {
    if (south > view.north || north < view.south) continue;
    for (const turn of TURNS) if (west + turn < view.east && east + turn > view.west) d += `${outline(view, points, turn)}Z`;
  }
  return [svg("rect", { class: "sea", width: view.width, height: view.height }), svg("path", { class: "land coast", "fill-rule": "evenodd", d })];
}

/** An SVG path through points, all of them in the same turn of the globe. */
function outline(view, points, turn) {
  const at = ([longitude, latitude]) => `${round((longitude + turn - view.west) * view.scale)} ${round(view.y(latitude))}`;
  return `M${points.map(at).join("L")}`;
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
