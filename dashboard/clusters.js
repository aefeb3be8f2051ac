// Gathers marks that would cover each other.

/** The width and height, in pixels, of the squares whose marks become one. */
const SQUARE = 36;
/** Fewest marks in a square that become one. */
const FEWEST = 4;
/** Up to this many marks, each is shown. */
const ALL = 100;

/** Splits `marks`, each with x and y in pixels, into single ones and clusters: { x, y, marks }, at the mean of their places. */
export function gather(marks) {
  if (marks.length <= ALL) return { single: marks, clusters: [] };
  const squares = new Map();
  for (const mark of marks) {
    const key = `${Math.floor(mark.x / SQUARE)} ${Math.floor(mark.y / SQUARE)}`;
    const square = squares.get(key);
    if (square) square.push(mark);
    else squares.set(key, [mark]);
  }
  const [single, clusters] = [[], []];
  for (const [key, square] of squares) {
    if (square.length < FEWEST) single.push(...square);
    else clusters.push({ key, x: mean(square, "x"), y: mean(square, "y"), marks: square });
  }
  return { single, clusters: apart(clusters) };
}

const mean = (marks, key) => marks.reduce((sum, mark) => sum + mark[key], 0) / marks.length;

/** Joins clusters whose circles would cover each other, until none does. */
function apart(clusters) {
  const kept = [];
  for (const cluster of clusters.sort((a, b) => b.marks.length - a.marks.length)) {
    const near = kept.find((other) => Math.hypot(other.x - cluster.x, other.y - cluster.y) < radius(other.marks.length) + radius(cluster.marks.length));
    if (near) join(near, cluster);
    else kept.push(cluster);
  }
  return kept.length < clusters.length ? apart(kept) : kept;
}

function join(cluster, other) {
  const share = other.marks.length / (cluster.marks.length + other.marks.length);
  cluster.x += share * (other.x - cluster.x);
  cluster.y += share * (other.y - cluster.y);
  cluster.marks = [...cluster.marks, ...other.marks];
}

/** The radius of a cluster's circle: its number fits. */
export const radius = (count) => 8 + 2 * String(count).length + Math.min(4, Math.log10(count));
