// The read-only part of the view of operators: rates, inputs, storage, schemas, tokens and keys.

import { Axis } from "./axis.js";
import { credentials } from "./operations-api.js";
import { el, setChildren, setText } from "./dom.js";
import { bytes, count, counted, fullTime, percent, secondTime, total } from "./format.js";
import { partOf } from "./status.js";
import { failure } from "./operations-outputs.js";
import { Plot } from "./plot.js";
import { Panel, scrolling, Table } from "./table.js";

const DAY = 86_400_000;
const RATES = [["messages", "Messages", "/s"], ["bytes", "Bytes", " B/s"], ["rejected", "Rejected", "/s"]];

export class RatesPanel {
  #rates = null;
  #width = 0;

  constructor() {
    this.plots = RATES.map(([field, name, unit]) => ({ field, plot: new Plot(name, unit, true), axis: new Axis() }));
    for (const { plot, axis } of this.plots) plot.node.append(axis.node);
    this.list = el("ol", { class: "plots" }, ...this.plots.map(({ plot }) => plot.node));
    this.panel = new Panel("operations-rates", "Rates", this.list);
  }

  nodes() {
    return [this.panel.node];
  }

  load(rates) {
    const at = rates.points.map((point) => point.at);
    const range = { from: Math.max(Date.parse(rates.started_at), (at.at(-1) ?? 0) - DAY), until: at.at(-1) ?? 0 };
    const of = (field) => {
      const numbers = rates.points.map((point) => Number(point[field].toPrecision(3)));
      return { at, low: numbers, high: numbers, last: numbers };
    };
    this.#rates = { range, since: rates.started_at, points: Object.fromEntries(RATES.map(([field]) => [field, of(field)])), any: at.length > 0 };
    this.#width = 0;
  }

  draw() {
    if (!this.#rates?.any) return;
    const { range, since, points } = this.#rates;
    setText(this.panel.note, `in each minute since the start at ${fullTime(since).slice(0, 16)} UTC, for at most a day`);
    const width = Math.floor(this.list.clientWidth / (matchMedia("(min-width: 68rem)").matches ? 3 : 1)) - 8;
    if (width <= 0 || width === this.#width) return;
    this.#width = width;
    for (const { field, plot, axis } of this.plots) {
      plot.draw(points[field], range, width);
      axis.draw(range, width);
    }
  }
}

export class InputsPanel {
  #inputs = [];

  constructor() {
    this.table = new Table("The inputs, and what they have received since the start", [
      { name: "Input", text: (i) => i.name, class: "name" },
      { name: "Kind", text: (i) => i.kind },
      { name: "Address", text: (i) => i.address ?? "a client of its server" },
      { name: "Connections", text: (i) => (i.connections === null ? "–" : count(i.connections)), number: true },
      { name: "Received", text: (i) => total(i.received), number: true },
      { name: "Rejected", text: (i) => total(i.rejected), number: true },
      { name: "Last error", text: (i) => failure(i.last_failure), class: "reason" },
    ], (i) => i.name);
    this.panel = new Panel("operations-inputs", "Inputs", scrolling("operations-inputs", this.table.node));
    setText(this.panel.note, "since the start");
  }

  nodes() {
    return [this.panel.node];
  }

  load({ inputs }) {
    this.#inputs = inputs;
  }

  draw() {
    this.table.draw(this.#inputs);
  }
}

/** @returns {any[][]} name, figure, note, and the filled part of a bar or null */
function facts({ buffer, queue }) {
  const condition = !buffer.writable ? "not writable: messages are refused" : buffer.full ? "full: messages are refused" : "writable";
  // The limit is that of the file: the write-ahead log is emptied again and again.
  const file = buffer.bytes - buffer.log_bytes;
  const limit = buffer.limit_bytes ? `${percent(file / buffer.limit_bytes)} of ${bytes(buffer.limit_bytes)}` : "no limit";
  return [
    ["Buffer", bytes(file), `${limit}, and ${bytes(buffer.log_bytes)} of write-ahead log`, file / (buffer.limit_bytes || Infinity)],
    ["Free on its disk", buffer.free_bytes === null ? "unknown" : bytes(buffer.free_bytes), condition, null],
    ["Queue", counted(queue.messages, "message"), `of ${count(queue.limit_messages)}`, queue.messages / queue.limit_messages],
    ["Messages in memory", bytes(queue.bytes), `of ${bytes(queue.limit_bytes)}`, queue.bytes / queue.limit_bytes],
  ];
}

export class StoragePanel {
  #state = null;

  constructor() {
    this.list = el("dl", { class: "facts" });
    this.panel = new Panel("operations-storage", "Storage and queue", this.list);
  }

  nodes() {
    return [this.panel.node];
  }

  load(state) {
    this.#state = state;
  }

  draw() {
    if (!this.#state) return;
    setText(this.panel.note, `buffer ${this.#state.buffer.name}`);
    const nodes = facts(this.#state).map(([name, figure, note, filled]) => {
      const bar = el("div", { class: "bar" });
      bar.style.width = `${Math.min(100, 100 * (filled ?? 0))}%`;
      const track = filled === null ? [] : [el("div", { class: "track", "aria-hidden": "true" }, bar)];
      return el("div", {}, el("dt", {}, name), el("dd", {}, el("strong", {}, figure), " ", el("span", { class: "soft" }, note), ...track));
    });
    setChildren(this.list, nodes);
  }
}

export class SchemasPanel {
  #rows = [];

  constructor() {
    this.table = new Table("The schemas in use, with their packed layouts", [
      { name: "Schema", text: (s) => s.name, class: "name" },
      { name: "Profiles", text: (s) => s.profiles.join(", ") || "–" },
      { name: "Slot", text: (s) => (s.slot ? String(s.slot.slot) : "–"), number: true },
      { name: "Fingerprint", text: (s) => s.slot?.fingerprint.slice(0, 16) ?? "–", title: (s) => s.slot?.fingerprint ?? "", class: "mono" },
      { name: "File", text: (s) => s.slot?.file ?? "bundled" },
      { name: "In the buffer", text: (s) => (s.slot?.stored ? "yes" : "no") },
    ], (s) => `${s.name} ${s.slot?.slot ?? ""}`);
    this.panel = new Panel("operations-schemas", "Schemas", scrolling("operations-schemas", this.table.node));
  }

  nodes() {
    return [this.panel.node];
  }

  load(schemas) {
    this.#rows = schemas.flatMap(({ name, profiles, slots }) => (slots.length ? slots : [null]).map((slot) => ({ name, profiles, slot })));
  }

  draw() {
    setText(this.panel.note, "a row for each layout; “in the buffer”: it has decoded packed messages");
    this.table.draw(this.#rows);
  }
}

const RIGHTS = { send: (c) => `send as ${c.devices}`, read: (c) => (c.devices || c.tags ? `read ${partOf({ device: c.devices, tags: c.tags ?? {} })}` : "read"), operate: () => "operate" };

/** The tokens ("tokens"), or the DTLS keys ("keys"). */
export class CredentialsPanel {
  #entries = [];
  #total = 0;
  #more = false;
  #extended = false;

  constructor(kind, title) {
    this.kind = kind;
    const id = `operations-${kind}`;
    this.table = new Table(title, [
      { name: "Name", text: (c) => c.name, class: "name" },
      { name: "Right", text: (c) => RIGHTS[c.right](c) },
      { name: "Expires", text: (c) => (c.until ? `${c.expired ? "expired " : ""}${secondTime(c.until)}` : "never") },
      { name: "Last used", text: (c) => (c.last_used ? secondTime(c.last_used) : "not since the start") },
    ], (c) => c.name);
    this.moreButton = el("button", { type: "button" }, "Show more");
    this.moreButton.addEventListener("click", () => this.#extend());
    this.end = el("p", { class: "more-entries" }, this.moreButton);
    this.panel = new Panel(id, title, scrolling(id, this.table.node), this.end);
  }

  nodes() {
    return [this.panel.node];
  }

  async load() {
    if (this.#extended) return;
    const page = await credentials(this.kind);
    [this.#entries, this.#total, this.#more] = [page.entries, page.total, page.more];
  }

  async #extend() {
    const before = this.#entries;
    const page = await credentials(this.kind, before.at(-1).name).catch(() => null);
    if (!page || this.#entries !== before) return;
    this.#extended = true;
    [this.#entries, this.#total, this.#more] = [[...before, ...page.entries], page.total, page.more];
    this.draw();
  }

  draw() {
    setText(this.panel.note, this.#total ? `${count(this.#total)}, without secrets` : "none");
    this.table.draw(this.#entries);
    this.table.node.hidden = this.#total === 0;
    this.end.hidden = !this.#more;
  }
}
