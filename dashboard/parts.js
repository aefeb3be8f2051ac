// The bytes of a message, each with the colour of its part, and a table with the meaning of each part.

import { el, setText } from "./dom.js";
import { bytes, count } from "./format.js";

/** Bytes that are drawn; the table of parts has them all. */
const DRAWN = 256;
/** Rows that are shown before the others are asked for. */
const SHOWN = 24;
/** Neighbouring parts differ in colour. This is the number of colours. */
const COLOURS = 6;

export class PartsView {
  #all = false;

  /** `strip` gets the bytes, `rows` (the body of a table in a `.scroll`) the parts, `notes` the remarks about them. */
  constructor(strip, rows, notes) {
    this.more = el("button", { type: "button", class: "more-parts", hidden: "" });
    this.strip = strip;
    this.rows = rows;
    this.notes = notes;
    notes.before(this.more);
    this.more.addEventListener("click", () => {
      this.#all = true;
      this.#fold();
      rows.children[SHOWN]?.closest(".scroll").focus();
    });
    for (const node of [strip, rows]) {
      node.addEventListener("pointerover", (e) => this.#light(e.target.closest("[data-part]")?.dataset.part));
      node.addEventListener("pointerleave", () => this.#light());
    }
  }

  /** Marks the bytes and the row of a part. */
  #light(part) {
    for (const parent of [this.strip, this.rows]) {
      for (const node of parent.querySelectorAll(".lit")) node.classList.remove("lit");
      if (part !== undefined) for (const node of parent.querySelectorAll(`[data-part="${part}"]`)) node.classList.add("lit");
    }
  }

  /** Shows the first rows, or all of them. */
  #fold() {
    const { length } = this.rows.children;
    const isFolded = !this.#all && length > SHOWN + 1;
    for (const [i, row] of [...this.rows.children].entries()) row.hidden = isFolded && i >= SHOWN;
    this.more.hidden = !isFolded;
    setText(this.more, `Show all ${count(length)} parts, ${count(length - SHOWN)} more`);
  }

  /** Draws the bytes `hex`. Without an explanation, `reason` says why. */
  draw(hex, explanation, reason) {
    const { parts, more, error } = explanation ?? { parts: [], more: false, error: null };
    this.strip.replaceChildren(...cells(hex, parts));
    this.rows.replaceChildren(...parts.map(row));
    this.rows.closest(".scroll").hidden = parts.length === 0;
    this.#fold();
    const notes = explanation ? [] : [reason];
    if (error) notes.push(`The explanation ends here: ${error}.`);
    if (more) notes.push("These are the first parts of more.");
    if (hex.length / 2 > DRAWN) notes.push(`The first ${count(DRAWN)} bytes of ${count(hex.length / 2)} are drawn.`);
    setText(this.notes, notes.join(" "));
  }
}

/** The bytes, each with the colour of its part: in bits, if a part begins or ends within a byte. */
function cells(hex, parts) {
  const own = parts.map(({ bit, bits }, i) => ({ i, bit, end: bit + bits })).filter(({ bit, end }) => bit !== null && end > bit);
  const inBits = own.some(({ bit, end }) => bit % 8 || end % 8);
  const drawn = Math.min(hex.length / 2, DRAWN);
  const nodes = [];
  let at = 0;
  for (let byte = 0; byte < drawn; byte++) {
    const pair = hex.slice(2 * byte, 2 * byte + 2);
    const texts = inBits ? [...parseInt(pair, 16).toString(2).padStart(8, "0")] : [pair];
    const cell = el("span", { class: "byte", title: `byte ${byte}: ${pair}` });
    texts.forEach((text, n) => {
      const bit = 8 * byte + n;
      while (at < own.length && own[at].end <= bit) at++;
      const part = own[at]?.bit <= bit ? own[at].i : null;
      cell.append(part === null ? el("span", {}, text) : el("span", { class: `p${part % COLOURS}`, "data-part": part }, text));
    });
    nodes.push(cell);
  }
  return nodes;
}

function row({ bit, bits, depth, path, meaning, about }, i) {
  const place = bit === null ? "" : `${Math.floor(bit / 8)}${bit % 8 ? `.${bit % 8}` : ""}`;
  const size = bits === null ? "" : bits % 8 || bit === null ? `${Math.round(bits * 10) / 10} bit` : bytes(bits / 8);
  const name = el("td", { role: "cell", class: "meaning" }, path ? el("span", { class: "soft" }, `${path} `) : "", el("span", { class: "value" }, meaning), about ? el("span", { class: "soft" }, ` ${about}`) : "");
  if (depth) name.style.paddingLeft = `${0.5 + depth}rem`;
  const swatch = el("span", { class: `swatch ${bit === null ? "" : `p${i % COLOURS}`}`, "aria-hidden": "true" });
  return el("tr", { role: "row", "data-part": i }, el("th", { role: "rowheader", scope: "row", class: "number" }, swatch, place), el("td", { role: "cell", class: "number" }, size), name);
}
