// One device: what it last said, its numbers over time, its messages as a table.

import { skew } from "./api.js";
import { el, setAttribute, setChildren, setText } from "./dom.js";
import { save } from "./export.js";
import { age, bytes, count, fullTime, lateness, span } from "./format.js";
import { LEFT, Plot } from "./plot.js";
import { Track } from "./track.js";
import { brief, leaves } from "./value.js";

const byId = (id) => document.getElementById(id);

const RANGES = [["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["", "All"]];
/** The columns of the table, beside those that every message has. */
const COLUMNS = 12;
/** Pixels that a pointer has to move to choose a range. */
const DRAG = 8;

export class DeviceView {
  panel = byId("device");
  plots = new Map();
  rows = new Map();
  width = 0;
  /** Where a drag began, in pixels from the left of the plots. */
  from = null;
  /** The time of the cursor. */
  cursor = null;

  /** `choose(device)` shows another device or all (""), `show({last, from, until})` another time range. */
  constructor(choose, show) {
    this.show = show;
    byId("device-all").addEventListener("click", () => choose(""));
    this.#makeRanges();
    for (const kind of ["csv", "ndjson"]) byId(`device-${kind}`).addEventListener("click", () => this.#export(kind));
    this.list = byId("device-plots");
    this.track = new Track(byId("device-track"), (time) => this.#point(time));
    this.#listen();
    new ResizeObserver(([{ contentRect }]) => {
      this.width = Math.floor(contentRect.width);
      if (this.store) this.draw(this.store);
    }).observe(this.list);
  }

  #makeRanges() {
    this.ranges = RANGES.map(([last, name]) => {
      const button = el("button", { type: "button" }, name);
      button.addEventListener("click", () => this.show({ last, from: null, until: null }));
      return [last, button];
    });
    byId("device-ranges").append(...this.ranges.map(([, button]) => button));
  }

  #listen() {
    const x = (event) => event.clientX - this.list.getBoundingClientRect().left;
    this.list.addEventListener("pointerdown", (e) => (this.from = e.button === 0 ? x(e) : null));
    this.list.addEventListener("pointermove", (e) => this.#point(this.#time(x(e))));
    this.list.addEventListener("pointerup", (e) => this.#zoom(x(e)));
    this.list.addEventListener("pointerleave", () => {
      this.from = null;
      this.#point(null);
    });
    this.list.addEventListener("blur", () => this.#point(null));
    this.list.addEventListener("keydown", (e) => this.#step(e));
  }

  /** The time that is `x` pixels from the left of the plots. */
  #time(x) {
    const share = Math.max(0, Math.min((x - LEFT) / (this.width - LEFT), 1));
    return this.range && this.range.from + share * (this.range.until - this.range.from);
  }

  #zoom(x) {
    const [from, until] = [this.from, x].sort((a, b) => a - b).map((at) => this.#time(at));
    if (this.from !== null && Math.abs(x - this.from) >= DRAG && this.range) {
      this.show({ last: "", from: new Date(from).toISOString(), until: new Date(until).toISOString() });
    }
    this.from = null;
  }

  /** Moves the cursor with the arrow keys, from point to point; Escape removes it. */
  #step(event) {
    const at = this.data?.series?.bytes.at;
    const to = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Escape") this.#point(null);
    if (!at?.length || to === undefined) return;
    event.preventDefault();
    const now = this.cursor === null ? at.length - (to < 0 ? 0 : 1) : at.findIndex((time) => time >= this.cursor);
    this.#point(at[Math.max(0, Math.min(at.length - 1, now + to))]);
  }

  #point(time) {
    this.cursor = time;
    for (const plot of this.plots.values()) if (plot.node.isConnected) plot.point(time);
    this.track.point(time);
    setText(byId("device-cursor"), time ? fullTime(new Date(time).toISOString()) : "");
  }

  draw(store) {
    this.store = store;
    const data = store.device;
    this.panel.hidden = !data;
    if (!data) return;
    setText(byId("device-title"), data.name);
    for (const [last, button] of this.ranges) setAttribute(button, "aria-pressed", last === data.address.last && !data.address.from && !data.address.until);
    setText(byId("device-note"), note(data));
    this.#facts(store);
    const isNew = this.data !== data;
    if (isNew) {
      this.data = data;
      this.range = domain(data);
      this.fields = this.range ? plotted(data.series) : [];
      this.positions = data.series?.track ?? [];
      this.#table(data.messages);
    }
    // Without plots the list has no size; the ResizeObserver reports it, and draws again.
    this.list.hidden = this.fields.length === 0;
    if (this.width > 0) {
      this.#plots();
      this.track.draw(this.positions, this.width);
    }
    if (isNew && this.cursor !== null) this.#point(this.cursor);
  }

  #facts({ device: { name, series, messages, about }, devices }) {
    const last = devices.get(name) ?? messages[0];
    const facts = [];
    if (last) facts.push(["Last message", seen(last)]);
    if (about && about.expected_every !== null && (last ?? about.last)) facts.push(["Expected", lateness(lateNow(about, last))]);
    if (series?.interval != null) facts.push(["Usual interval", span(series.interval)]);
    if (series?.messages) facts.push(["Bytes per message", bytes(mean(series.bytes.last))]);
    for (const [name, key] of [["Links", "link"], ["Formats", "format"], ["Schemas", "schema"]]) {
      const all = [...new Set(messages.map((message) => message[key]).filter(Boolean))];
      if (all.length > 0) facts.push([name, all.slice(0, 4).join(", ")]);
    }
    const text = JSON.stringify(facts);
    if (this.facts === text) return;
    this.facts = text;
    byId("device-facts").replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  #plots() {
    const nodes = this.fields.map((field) => {
      const plot = this.plots.get(field.key) ?? new Plot(field.name, field.unit);
      this.plots.set(field.key, plot);
      plot.draw(field, this.range, this.width);
      return plot.node;
    });
    setChildren(this.list, nodes);
  }

  #table(messages) {
    const cells = messages.map((message) => leaves(message.value));
    const names = [...new Set(cells.flatMap((of) => [...of.keys()]))];
    const columns = names.slice(0, COLUMNS);
    setText(byId("device-more"), names.length > columns.length ? `The table has ${columns.length} of ${count(names.length)} fields; the exports have all.` : "");
    const header = ["Received (UTC)", ...columns.map(title), "Format", "Bytes"];
    byId("device-head").replaceChildren(...header.map((name) => el("th", { role: "columnheader", scope: "col" }, name)));
    const cell = (...children) => el("td", { role: "cell" }, ...children);
    byId("device-rows").replaceChildren(...messages.map((message, i) => el(
      "tr",
      { role: "row" },
      el("th", { role: "rowheader", scope: "row" }, el("time", { datetime: message.received_at }, fullTime(message.received_at).slice(0, 19))),
      ...columns.map((name) => cell(brief(cells[i].get(name)))),
      cell(message.format),
      cell(bytes(message.bytes)),
    )));
  }

  async #export(kind) {
    const button = byId(`device-${kind}`);
    button.disabled = true;
    try {
      const { saved, complete } = await save(kind, this.data.name, this.data.range);
      setText(byId("device-cursor"), complete ? `${count(saved)} messages saved` : `only the newest ${count(saved)} messages were saved; choose a shorter range for the others`);
    } catch (failure) {
      setText(byId("device-cursor"), `The export failed: ${failure.message}`);
    } finally {
      button.disabled = false;
    }
  }
}

/** "/data/0" -> "data / 0" */
const title = (pointer) => pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).join(" / ") || "value";

/** What providers say about the reception of messages, by its pointer in their origin: a name and a unit. */
const RECEPTION = { "/gateway/rssi": ["Signal strength", " dBm"], "/gateway/snr": ["Signal-to-noise ratio", " dB"] };

/** The series that have a plot: the numbers of the messages, their reception, their bytes. */
function plotted({ fields, origin, bytes }) {
  const reception = origin.filter(({ pointer }) => pointer in RECEPTION);
  return [
    ...fields.map((field) => ({ ...field, key: field.pointer, name: title(field.pointer), unit: "" })),
    ...reception.map((field) => ({ ...field, key: `origin ${field.pointer}`, name: RECEPTION[field.pointer][0], unit: RECEPTION[field.pointer][1] })),
    { ...bytes, key: null, name: "Bytes of the message", unit: " B" },
  ];
}

const mean = (numbers) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;

/** When the last message came. */
function seen(last) {
  const silence = age(Date.now() + skew - Date.parse(last.received_at));
  return silence === "now" ? "just now" : `${silence} ago`;
}

/** What the API says of a device, by now: it may have sent since, or may be late since. */
function lateNow(about, last) {
  const silence = (Date.now() + skew - Date.parse((last ?? about.last).received_at)) / 1000;
  return { ...about, late: silence > about.late_after ? Math.max(0, silence - about.expected_every) : null };
}

/** The times that the plots span: the range, and where it is open, the messages. */
function domain({ series, range }) {
  if (!series?.messages) return null;
  const [from, until] = [range.from ?? Date.parse(series.first), range.until ?? Math.max(Date.parse(series.last), range.from ?? 0)];
  return { from, until: Math.max(until, from + 1) };
}

function note({ missing, series, address }) {
  if (missing) return "nothing of this device is stored";
  if (!series) return "loading";
  if (series.messages === 0) return "no messages in this time range";
  const more = series.more_fields ? `; the plots are of its first ${series.fields.length} numeric fields` : "";
  const times = address.from || address.until ? `, ${[address.from, address.until].map((time) => (time ? fullTime(time).slice(0, 19) : "…")).join(" to ")}` : "";
  return `${series.complete ? "" : "the newest "}${count(series.messages)} ${series.messages === 1 ? "message" : "messages"}${times}${more}`;
}

