// Converts degrees to pixels: Mercator, a view that fits points, its graticule and its scale.

const RADIANS = Math.PI / 180;
/** Mercator ends short of the poles. */
const EDGE = 85;
/** The coast is too coarse for a view that is narrower than this many degrees. */
export const COARSE = 4;
const KM_PER_DEGREE = 111.32;

/** Converts degrees of latitude to Mercator units, each as long as a degree of longitude. */
export function mercator(latitude) {
  const clamped = Math.max(-EDGE, Math.min(EDGE, latitude));
  return Math.log(Math.tan(Math.PI / 4 + (clamped * RADIANS) / 2)) / RADIANS;
}

const unmercator = (y) => (2 * Math.atan(Math.exp(y * RADIANS)) - Math.PI / 2) / RADIANS;

/** The western edge that leaves the widest gap between the devices outside of the view, so that a fleet across 180°
 * stays together. */
function cut(longitudes) {
  const sorted = [...longitudes].sort((a, b) => a - b);
  let west = sorted[0];
  let widest = sorted[0] + 360 - sorted.at(-1);
  for (let at = 1; at < sorted.length; at++) {
    const gap = sorted[at] - sorted[at - 1];
    if (gap > widest) [widest, west] = [gap, sorted[at]];
  }
  return west;
}

/** The part of the world that a map of width by height pixels shows. */
export class View {
  constructor(x, y, scale, width, height) {
    /** Pixels per degree of longitude. */
    this.scale = scale;
    this.width = width;
    this.height = height;
    this.west = x - width / 2 / scale;
    this.east = x + width / 2 / scale;
    this.top = y + height / 2 / scale;
    this.north = unmercator(this.top);
    this.south = unmercator(y - height / 2 / scale);
    this.middle = x;
  }

  /** The view that shows all `points` with `margin` pixels around them, and at least `narrowest` degrees of longitude. */
  static fit(points, width, height, margin, narrowest = COARSE) {
    const west = cut(points.map((p) => p.longitude));
    const xs = points.map((p) => (p.longitude < west ? p.longitude + 360 : p.longitude));
    const ys = points.map((p) => mercator(p.latitude));
    const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = Math.min(
      (width - 2 * margin) / Math.max(right - left, narrowest),
      (height - 2 * margin) / Math.max(top - bottom, narrowest / 2),
    );
    return new View((left + right) / 2, (bottom + top) / 2, scale, width, height);
  }

  /** Pixels from the left, for the turn of the globe that is nearest to the middle. */
  x(longitude) {
    const turns = Math.round((this.middle - longitude) / 360);
    return (longitude + 360 * turns - this.west) * this.scale;
  }

  /** Pixels from the top. */
  y(latitude) {
    return (this.top - mercator(latitude)) * this.scale;
  }

  /** Whether the point is at least `margin` pixels inside the map. */
  shows({ longitude, latitude }, margin) {
    const [x, y] = [this.x(longitude), this.y(latitude)];
    return x >= margin && x <= this.width - margin && y >= margin && y <= this.height - margin;
  }
}

const STEPS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 90];

/** Meridians and parallels in view, at multiples of a step that is at least 90 pixels wide. */
export function graticule(view) {
  const step = STEPS.find((s) => s * view.scale >= 90) ?? STEPS.at(-1);
  const ticks = (from, to) => {
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
    return found;
  };
  const wrap = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
  return { meridians: ticks(view.west, view.east).map(wrap), parallels: ticks(view.south, view.north), step };
}

/** A round distance in km and its length in pixels in the middle of the view, at most `longest` pixels. */
export function scaleBar(view, longest) {
  const latitude = (view.north + view.south) / 2;
  const perPixel = (KM_PER_DEGREE * Math.cos(latitude * RADIANS)) / view.scale;
  const power = 10 ** Math.floor(Math.log10(longest * perPixel));
  const km = [5, 2, 1].map((n) => n * power).find((n) => n <= longest * perPixel) ?? power;
  return { km, pixels: km / perPixel };
}
