// The changes of the schema that make packed messages smaller.

import { byId, el, setText } from "../dom.js";
import { bytes } from "../format.js";

const sizes = ({ schema_max_bytes: max, largest_bytes: largest }) => `${max === null ? "no largest message" : `${bytes(max)} at most`}, ${bytes(largest)} in these messages`;

/** Draws the changes; none if `savings` is null. */
export function draw(savings) {
  byId("savings").hidden = !savings?.changes.length;
  if (byId("savings").hidden) return;
  setText(byId("savings-note"), `Now ${sizes(savings)}. Each change is measured alone and allows what these messages have, and little or nothing more. Its line replaces that of the field.`);
  byId("savings-list").replaceChildren(...savings.changes.map(item));
}

const item = (change) =>
  el("li", {}, el("p", {}, el("strong", {}, change.field), ` ${change.what}${change.rounds ? ", rounded" : ""}: ${sizes(change)}`), el("pre", { tabindex: "0", "aria-label": `Schema of ${change.field}` }, change.line));
