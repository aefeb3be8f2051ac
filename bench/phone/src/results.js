// The results, a line of JSON for each figure, as bench/record.schema.json has it. They stay in the browser until they are removed.

const KEY = "dunnage-phone";

/** The browser and the processor as far as pages are told. */
const environment = `${navigator.userAgent}, ${navigator.hardwareConcurrency} threads`;

/** The lines so far. */
export const lines = () => (localStorage.getItem(KEY) ?? "").split("\n").filter(Boolean);

export const clear = () => localStorage.removeItem(KEY);

/** Adds the figures of a trial; the size only if there is no line with it yet. Returns the time in nanoseconds. */
export function add(format, object, operation, place, { bytes, sets, count }) {
  const subject = { record: 1, suite: "phone", target: "browser", payload: object.name, format: format.id, library: format.library, version: format.version };
  const value = Math.min(...sets);
  const spread = { low: value, high: Math.max(...sets), of: "range of the two sets" };
  const options = `two sets of ${count}, in ${place}`;
  const size = { ...subject, operation: "serialize", metric: "bytes", value: bytes, unit: "bytes", repetitions: 1, environment, source: "measured" };
  const time = { ...subject, operation, metric: "ns", value, unit: "ns", repetitions: 2, spread, environment, options, source: "measured" };
  const known = new Set(lines());
  const added = [size, time].map((record) => JSON.stringify(record)).filter((line) => !known.has(line));
  localStorage.setItem(KEY, [...known, ...added].join("\n"));
  return value;
}
