// One message: where it came from, what each byte means, its value, its size in other formats.

import { el, setText } from "./dom.js";
import { bytes, count, fullTime, percent } from "./format.js";
import { fields } from "./value.js";

const byId = (id) => document.getElementById(id);

/** Bytes that are drawn; the table of parts has them all. */
const DRAWN = 256;
/** Neighbouring parts differ in colour; there are so many. */
const COLOURS = 6;

export class MessageView {
  panel = byId("message");
  /** What is drawn. */
  data = null;

  /** `close()` leaves the message. */
  constructor(close) {
    byId("message-close").addEventListener("click", close);
    for (const name of ["message-bytes", "message-parts"]) {
      byId(name).addEventListener("pointerover", (e) => this.#light(e.target.closest("[data-part]")?.dataset.part));
      byId(name).addEventListener("pointerleave", () => this.#light());
    }
  }

  /** Marks the bytes and the row of a part. */
  #light(part) {
    for (const node of this.panel.querySelectorAll(".lit")) node.classList.remove("lit");
    if (part !== undefined) for (const node of this.panel.querySelectorAll(`[data-part="${part}"]`)) node.classList.add("lit");
  }

  draw({ message }) {
    this.panel.hidden = !message;
    if (this.data === message) return;
    const isOther = message && message.id !== this.data?.id;
    this.data = message;
    if (message) this.#fill(message);
    if (!isOther) return;
    // The list in which it was chosen may be far below.
    this.panel.scrollIntoView();
    byId("message-title").focus();
  }

  #fill({ id, detail, missing }) {
    setText(byId("message-title"), `Message ${id}`);
    setText(byId("message-note"), missing ? "there is no such message, or retention has dropped it" : detail ? `${detail.device}, ${fullTime(detail.received_at)}` : "loading");
    byId("message-body").hidden = !detail;
    if (!detail) return;
    byId("message-facts").replaceChildren(...facts(detail).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    byId("message-origin").replaceChildren(...(detail.origin ? [el("h3", {}, "Origin"), fields(detail.origin)] : []));
    byId("message-outputs").replaceChildren(...(detail.outputs.length > 0 ? [el("h3", {}, "Outputs"), outcomes(detail.outputs)] : []));
    byId("message-value").replaceChildren(fields(detail.value));
    const { parts, more, error } = detail.explanation ?? { parts: [], more: false, error: null };
    byId("message-bytes").replaceChildren(...cells(detail.hex, parts));
    byId("message-parts").replaceChildren(...parts.map(row));
    byId("message-parts").closest(".scroll").hidden = parts.length === 0;
    setText(byId("message-explained"), explained(detail, more, error));
    byId("message-sizes").replaceChildren(...sizes(detail));
    byId("message-sizes").closest("table").hidden = detail.sizes.length === 0;
  }
}

function facts({ format, schema, slot, link, bytes: length, json_bytes: json, request }) {
  const all = [
    ["Format", format],
    ["Schema", schema && `${schema}${Number.isInteger(slot) ? `, slot ${slot}` : ""}`],
    ["Link", link],
    ["Size", `${bytes(length)}${json ? `, ${percent(length / json)} of JSON` : ""}`],
    ["Request ID", request],
  ];
  return all.filter(([, value]) => value);
}

const STATES = { waiting: "waiting or being delivered", done: "done", dead_letter: "rejected by the receiver" };

/** What each output did with the message. */
function outcomes(outputs) {
  const texts = outputs.map(({ output, state, reason }) => [output, reason ? `${STATES[state]}: ${reason}` : STATES[state]]);
  return el("dl", { class: "facts" }, ...texts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
}

function explained({ explanation, bytes: length }, more, error) {
  const notes = [];
  if (!explanation) notes.push("The bytes of this message are not explained: its format is text, or it is above 64 KiB.");
  if (error) notes.push(`The explanation ends here: ${error}.`);
  if (more) notes.push("These are the first parts of more.");
  if (length > DRAWN) notes.push(`The first ${count(DRAWN)} bytes of ${count(length)} are drawn.`);
  return notes.join(" ");
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

function sizes({ sizes: all, format }) {
  const largest = Math.max(1, ...all.map((size) => size.bytes));
  return [...all].sort((a, b) => a.bytes - b.bytes).map((size) => {
    const bar = el("div", { class: "bar" });
    bar.style.width = `${(100 * size.bytes) / largest}%`;
    const name = size.format === format ? el("strong", {}, size.format) : size.format;
    return el("tr", { role: "row" }, el("th", { role: "rowheader", scope: "row" }, name), el("td", { role: "cell", class: "bar-cell" }, el("div", { class: "track", "aria-hidden": "true" }, bar)), el("td", { role: "cell", class: "number" }, bytes(size.bytes)));
  });
}
