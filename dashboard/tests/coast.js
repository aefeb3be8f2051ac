// Makes ../coast.js from Natural Earth's land at 1:50 million, which is in the public domain: `node coast.js`.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { feature } from "topojson-client";
import { presimplify, simplify } from "topojson-simplify";

/** Smaller bends of the coast and smaller islands are left out: square degrees. */
const BEND = 0.02;
const ISLAND = 0.05;
/** Steps per degree. */
const STEPS = 20;
const WIDTH = 150;

function area(ring) {
  const next = (at) => ring[(at + 1) % ring.length];
  return Math.abs(ring.reduce((sum, [x, y], at) => sum + x * next(at)[1] - next(at)[0] * y, 0)) / 2;
}

/** A ring without jumps from 180 to -180 degrees, and without its last point, which repeats the first. Antarctica is closed at the pole. */
function unrolled(ring) {
  let turn = 0;
  const points = ring.map(([x, y], at) => {
    const step = x - (ring[at - 1]?.[0] ?? x);
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360;
    return [x + turn, y];
  });
  const [[first], [last]] = [points[0], points.at(-1)];
  return Math.abs(last - first) < 180 ? points.slice(0, -1) : [...points, [last, -90], [first, -90]];
}

/** The points of a ring as text: in steps, the first from 0, the others from the one before. */
function steps(ring) {
  const points = ring.map((point) => point.map((degrees) => Math.round(degrees * STEPS)));
  const from = (at) => points[at - 1] ?? [0, 0];
  const moves = points.map(([x, y], at) => `${x - from(at)[0]},${y - from(at)[1]}`);
  return moves.filter((move) => move !== "0,0").join(" ");
}

/** The text of ../coast.js. */
export async function coast() {
  const world = JSON.parse(await readFile(fileURLToPath(import.meta.resolve("world-atlas/land-50m.json")), "utf8"));
  const simple = simplify(presimplify(world), BEND);
  const rings = feature(simple, simple.objects.land).features.flatMap(({ geometry }) => geometry.coordinates.flat());
  const lines = rings.map(unrolled).filter((ring) => ring.length > 2 && area(ring) >= ISLAND).map(steps);
  const wrapped = lines.join("; ").replace(new RegExp(`(.{1,${WIDTH}})( |$)`, "g"), "$1\n").trimEnd();
  return [
    "// The coasts of the world, for orientation, not for navigation: Natural Earth, 1:50 million, simplified. `node tests/coast.js` makes this file.",
    "",
    "/** Steps per degree. */",
    `export const STEPS = ${STEPS};`,
    "/** The rings of land, and of lakes inside others: each point as steps of longitude and latitude from the one before. */",
    "export const RINGS = `",
    wrapped,
    "`.split(\";\");",
    "",
  ].join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(new URL("../coast.js", import.meta.url), await coast());
