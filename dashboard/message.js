// One message: its origin, the meaning of each byte, its value, its size in other formats.

import { byId, el, setText } from "./dom.js";
import { bytes, fullTime, percent } from "./format.js";
import { PartsView } from "./parts.js";
import { fields } from "./value.js";

export class MessageView {
  panel = byId("message");
  parts = new PartsView(byId("message-bytes"), byId("message-parts"), byId("message-explained"));
  /** What is drawn. */
  data = null;

  /** `close()` leaves the message. */
  constructor(close) {
    byId("message-close").addEventListener("click", close);
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
    this.parts.draw(detail.hex, detail.explanation, "The bytes of this message are not explained: its format is text, or it is above 64 KiB.");
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

const STATES = { waiting: "waiting or being delivered", done: "done", dead_letter: "a dead letter" };

/** The state of the message at each output. */
function outcomes(outputs) {
  const texts = outputs.map(({ output, state, reason }) => [output, reason ? `${STATES[state]}: ${reason}` : STATES[state]]);
  return el("dl", { class: "facts" }, ...texts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
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
