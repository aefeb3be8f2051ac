// Messages that could not be decoded: the error, its offset, and their bytes.

import { byId, el, setChildren, setText } from "./dom.js";
import { bytes, clockTime, count, counted, fullTime } from "./format.js";

const ROW = 8;
const ROWS = 24;

export class QuarantineView {
  list = byId("quarantine");
  note = byId("quarantine-note");
  nodes = new Map();

  draw(store) {
    const shown = store.shownQuarantine();
    const known = store.stats?.in_quarantine ?? (shown.length && null);
    setText(this.note, note(shown.length, known, store));
    const kept = new Set(shown);
    for (const reject of this.nodes.keys()) if (!kept.has(reject)) this.nodes.delete(reject);
    this.list.parentElement.hidden = shown.length === 0;
    setChildren(this.list, shown.map((reject) => this.#node(reject)));
  }

  #node(reject) {
    let node = this.nodes.get(reject);
    if (!node) this.nodes.set(reject, (node = entry(reject)));
    return node;
  }
}

function note(shown, known, { filter, device }) {
  if (known === 0) return "empty";
  if (shown === known) return count(known);
  const ofDevice = device?.about?.quarantined ?? shown;
  if (ofDevice > shown) return `last ${count(shown)} of ${count(ofDevice)} from this device`;
  if (known === null) return `last ${count(shown)}`;
  if (filter) return `${shown === 0 ? "none" : count(shown)} from this device, ${count(known)} in total`;
  return `last ${count(shown)} of ${count(known)}`;
}

const offsetOf = (reject) => (Number.isInteger(reject.offset) ? reject.offset : null);

/** A message of the quarantine as an entry of a list. `more` follows its bytes when it is opened. */
export function entry(reject, ...more) {
  const offset = offsetOf(reject);
  const summary = el(
    "summary",
    { class: "reject" },
    el("time", { datetime: reject.received_at, title: fullTime(reject.received_at) }, clockTime(reject.received_at)),
    el("span", { class: "name" }, reject.device),
    el("span", { class: "kind" }, reject.kind),
    el("span", { class: "number soft" }, offset === null ? bytes(reject.bytes) : `at byte ${count(offset)} of ${count(reject.bytes)}`),
    el("span", { class: "reason" }, reject.reason),
  );
  const details = el("details", {}, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(body(reject, more));
  });
  return el("li", {}, details);
}

function body(reject, more) {
  const type = reject.content_type || "no content type";
  return el(
    "div",
    { class: "opened" },
    el("p", { class: "soft" }, `${fullTime(reject.received_at)}, quarantine ID ${reject.id}, ${type}, ${bytes(reject.bytes)}`),
    dump(reject.hex, offsetOf(reject)),
    ...more,
  );
}

/** Rows of 8 bytes with offset and text, around the byte at `offset`, which is marked even if it is missing. */
function dump(hex, offset) {
  const length = hex.length / 2;
  const rows = Math.ceil(Math.max(length, offset === length ? length + 1 : 0) / ROW);
  const middle = Math.floor((offset ?? 0) / ROW) - ROWS / 2;
  const first = Math.max(0, Math.min(middle, rows - ROWS));
  const last = Math.min(rows, first + ROWS);
  const lines = el("pre", { class: "dump", tabindex: "0", "aria-label": "Bytes in hexadecimal" });
  if (first > 0) lines.append(`… ${count(first * ROW)} bytes before\n`);
  for (let row = first; row < last; row++) lines.append(...line(hex, row * ROW, offset));
  const after = length - last * ROW;
  if (after > 0) lines.append(`… ${counted(after, "byte")} after`);
  if (length === 0) lines.append("no bytes");
  return lines;
}

function line(hex, from, offset) {
  const parts = [el("span", { class: "soft" }, from.toString(16).padStart(4, "0")), " "];
  let text = "";
  for (let at = from; at < from + ROW; at++) {
    const pair = hex.slice(2 * at, 2 * at + 2);
    parts.push(" ", at === offset ? el("mark", { title: `byte ${at}` }, pair.padEnd(2)) : pair.padEnd(2));
    const code = parseInt(pair, 16);
    text += code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : pair ? "·" : "";
  }
  parts.push("  ", el("span", { class: "soft" }, text), "\n");
  return parts;
}
