// The units of values, as the API has them with a series.

/** The unit of the value at `pointer`, or "". In the pointers of `units`, `*` matches any element or field. */
export function unitOf(units, pointer) {
  const tokens = pointer.split("/");
  const fits = (pattern) => pattern.length === tokens.length && pattern.every((token, i) => token === "*" || token === tokens[i]);
  return units.find((unit) => fits(unit.pointer.split("/")))?.unit ?? "";
}

/** The text after a number: " °C", but "°". */
export const suffix = (unit) => (unit === "" || unit === "°" ? unit : ` ${unit}`);

/** The title of a column: "temperature [°C]". */
export const titled = (name, unit) => (unit ? `${name} [${unit}]` : name);
