// The last messages; each opens to its fields. The list does not move while someone reads it.

import { byId, el, linkSymbol, setChildren, setText } from "./dom.js";
import { bytes, clockTime, count, fullTime, linkKind, percent } from "./format.js";
import { fields } from "./value.js";

export class MessagesView {
  list = byId("messages");
  note = byId("messages-note");
  pause = byId("messages-pause");
  nodes = new Map();
  shown = [];
  filter = "";
  epoch = 0;
  paused = false;
  pointed = false;

  /** `address(id)` is the address of a message, and `open(id)` shows it. */
  constructor(draw, address, open) {
    this.address = address;
    this.open = open;
    this.pause.addEventListener("click", () => {
      this.paused = !this.paused;
      this.pause.setAttribute("aria-pressed", String(this.paused));
      draw();
    });
    this.list.addEventListener("pointerenter", (e) => (this.pointed = e.pointerType === "mouse"));
    this.list.addEventListener("pointerleave", () => {
      this.pointed = false;
      draw();
    });
    this.list.addEventListener("toggle", draw, true);
  }

  get held() {
    if (this.paused || this.pointed) return true;
    return this.list.matches(":focus-within") || this.list.querySelector("details[open]") !== null;
  }

  draw(store) {
    const newest = store.shownMessages();
    const hold = this.shown.length > 0 && this.filter === store.filter && this.epoch === store.epoch && this.held;
    if (!hold) {
      this.shown = newest;
      this.filter = store.filter;
      this.epoch = store.epoch;
    }
    const known = new Set(this.shown);
    for (const message of this.nodes.keys()) if (!known.has(message)) this.nodes.delete(message);
    setChildren(this.list, this.shown.map((message) => this.#node(message)));
    setText(this.note, this.#note(newest, hold));
  }

  #note(newest, hold) {
    if (this.shown.length === 0) return this.filter ? "no recent messages from this device" : "no messages yet";
    if (!hold) return `last ${count(this.shown.length)}`;
    const top = this.shown[0].id;
    const newer = newest.filter((message) => message.id > top).length;
    return newer > 0 ? `paused while you read, ${newer === newest.length ? `${newer} or more` : newer} newer` : "paused while you read";
  }

  #node(message) {
    let node = this.nodes.get(message);
    if (!node) this.nodes.set(message, (node = make(message, this)));
    return node;
  }
}

function make(message, view) {
  const kind = linkKind(message.link);
  const summary = el(
    "summary",
    { class: "message-columns" },
    el("time", { datetime: message.received_at, title: fullTime(message.received_at) }, clockTime(message.received_at)),
    el("span", { class: "name" }, message.device),
    el("span", { class: "link" }, linkSymbol(kind), el("span", {}, message.link ?? "unknown")),
    el("span", { class: "format" }, message.format),
    el("span", { class: "number size" }, bytes(message.bytes), el("span", { class: "soft" }, ` / ${bytes(message.json_bytes)}`)),
    el("span", { class: "number share" }, message.json_bytes ? percent(message.bytes / message.json_bytes) : ""),
  );
  const details = el("details", {}, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(body(message, view));
  });
  return el("li", {}, details);
}

function body(message, view) {
  const slot = Number.isInteger(message.slot) ? `, slot ${message.slot}` : "";
  const schema = message.schema ? `schema ${message.schema}${slot}` : "no schema";
  const id = String(message.id);
  const link = el("a", { href: view.address(id) || "?" }, "Bytes and other formats");
  link.addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    view.open(id);
  });
  return el(
    "div",
    { class: "opened" },
    el("p", { class: "soft" }, `${fullTime(message.received_at)}, message ID ${message.id}, ${schema}`),
    el("div", {}, link),
    fields(message.value),
    ...(message.origin ? [el("p", { class: "soft" }, "Origin"), fields(message.origin)] : []),
  );
}
