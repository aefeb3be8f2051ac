// One device: its last values, its numbers over time, its messages as a table.

import { skew } from "./api.js";
import { Axis, timeAt } from "./axis.js";
import { Compare } from "./compare.js";
import { byId, el, setAttribute, setChildren, setText } from "./dom.js";
import { save } from "./export.js";
import { age, bytes, count, counted, fullTime, lateness, span, total } from "./format.js";
import { LatestView, sift } from "./latest.js";
import { Plot } from "./plot.js";
import { tagLine } from "./register.js";
import { Track } from "./track.js";
import { suffix, titled, unitOf } from "./units.js";
import { brief, leaves, title } from "./value.js";

const RANGES = [["1h", "1 hour"], ["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["", "All"]];
/** The columns of the table, besides those that every message has. */
const COLUMNS = 12;
/** The plots of a phone, until all are asked for. */
const FEW = 6;
/** Pixels that a pointer has to move to choose a range. */
const DRAG = 8;

export class DeviceView {
  panel = byId("device");
  phone = matchMedia("(max-width: 40rem)");
  latest = new LatestView();
  axis = new Axis();
  plots = new Map();
  width = 0;
  /** Where a drag began, in pixels from the left of the plots. */
  from = null;
  /** The time of the cursor. */
  cursor = null;

  /** Whether all plots are shown on a phone. */
  expanded = false;
  /** The name of the device whose messages are shown. */
  loaded = null;

  /**
   * `choose(device)` shows another device or all (""), `show({last, from, until})` another time range, `show({with})` other devices for comparison.
   */
  constructor(choose, show) {
    this.show = show;
    byId("device-all").addEventListener("click", () => choose(""));
    this.#makeRanges();
    for (const kind of ["csv", "ndjson"]) byId(`device-${kind}`).addEventListener("click", () => this.#export(kind));
    this.list = byId("device-plots");
    this.list.after(this.axis.node);
    this.compare = new Compare((names) => show({ with: names }));
    byId("device-history").open = !this.phone.matches;
    byId("device-more-plots").addEventListener("click", () => {
      this.expanded = true;
      this.draw(this.store);
    });
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
    return this.range && timeAt(x, this.range, this.width);
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
    // Figures about all devices are not repeated below one.
    setAttribute(byId("main"), "data-shows", !data ? "all" : data.missing ? "unknown" : "device");
    if (!data) return;
    if (data.series) this.loaded = data.name;
    byId("device-body").hidden = data.missing || this.loaded !== data.name;
    setText(byId("device-title"), data.name);
    for (const [last, button] of this.ranges) setAttribute(button, "aria-pressed", last === data.address.last && !data.address.from && !data.address.until);
    setText(byId("device-note"), note(data));
    this.#facts(store);
    const isNew = this.data !== data;
    if (isNew) {
      this.data = data;
      this.range = domain(data);
      this.#sort(data);
      this.positions = data.series?.track ?? [];
    }
    this.compare.draw(data);
    this.latest.draw();
    // Without plots the list has no size; the ResizeObserver reports it, and draws again.
    this.list.hidden = this.fields.length === 0;
    this.axis.node.style.display = this.list.hidden ? "none" : "";
    if (this.width > 0) {
      this.#plots();
      this.track.draw(this.positions, this.width);
    }
    if (isNew && this.cursor !== null) this.#point(this.cursor);
  }

  /** Sorts the fields into those with a plot and those that are constant, and fills the tables. */
  #sort({ series, messages, others }) {
    const cells = messages.map((message) => leaves(message.value));
    const units = series?.units ?? [];
    const fields = sift(messages, cells, series?.fields ?? []);
    const constant = new Set(fields.constant.map(({ pointer }) => pointer));
    const all = this.range ? plotted(series).map((field) => ({ ...field, others: beside(field, others) })) : [];
    // Constant fields have a plot only if another device has other numbers.
    const isPlotted = ({ pointer, last, others: of }) => !constant.has(pointer) || of.some(({ points }) => !isAlways(points, last[0]));
    this.fields = all.filter(isPlotted).sort((a, b) => Number(constant.has(a.pointer)) - Number(constant.has(b.pointer)));
    this.latest.fill(fields, units);
    this.#table(messages, cells, units);
  }

  #facts({ device: { name, series, messages, about }, devices }) {
    const last = devices.get(name) ?? messages[0];
    const facts = [];
    if (about?.device_name) facts.push(["Name", about.device_name]);
    if (about?.tags) facts.push(["Tags", tagLine(about.tags)]);
    if (last) facts.push(["Last message", seen(last)]);
    if (about?.first_seen) facts.push(["First message", `${fullTime(about.first_seen).slice(0, 16)} UTC`]);
    if (about && about.expected_every !== null && (last ?? about.last)) facts.push(["Expected", lateness(lateNow(about, last))]);
    if (series?.interval != null) facts.push(["Usual interval", span(series.interval)]);
    if (about) facts.push(["Messages", total(about.messages)]);
    if (about?.quarantined) facts.push(["In quarantine", total(about.quarantined)]);
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
    const shown = this.phone.matches && !this.expanded ? this.fields.slice(0, FEW) : this.fields;
    const nodes = shown.map((field) => {
      const key = `${field.key} ${field.unit}`;
      const plot = this.plots.get(key) ?? new Plot(field.name, field.unit);
      this.plots.set(key, plot);
      plot.draw(field, this.range, this.width, field.others);
      return plot.node;
    });
    setChildren(this.list, nodes);
    if (this.range) this.axis.draw(this.range, this.width);
    const more = this.fields.length - shown.length;
    byId("device-more-plots").hidden = more === 0;
    setText(byId("device-more-plots"), `Show ${counted(more, "more plot")}`);
  }

  #table(messages, cells, units) {
    const names = [...new Set(cells.flatMap((of) => [...of.keys()]))];
    const columns = names.slice(0, COLUMNS);
    setText(byId("device-more"), names.length > columns.length ? `The table has ${columns.length} of ${count(names.length)} fields; the exports have all.` : "");
    const header = ["Received (UTC)", ...columns.map((name) => titled(title(name), unitOf(units, name))), "Format", "Bytes"];
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
      const { saved, complete } = await save(kind, this.data.name, this.data.range, this.data.series?.units);
      setText(byId("device-cursor"), complete ? `${counted(saved, "message")} saved` : `only the newest ${count(saved)} messages were saved; choose a shorter range for the others`);
    } catch (failure) {
      setText(byId("device-cursor"), `The export failed: ${failure.message}`);
    } finally {
      button.disabled = false;
    }
  }
}

/** The reception of messages as reported by providers, by its pointer in their origin: a name and a unit. */
const RECEPTION = { "/gateway/rssi": ["Signal strength", " dBm"], "/gateway/snr": ["Signal-to-noise ratio", " dB"] };

/** The series that have a plot: the numbers of the messages, their reception, their bytes. */
function plotted({ fields, origin, bytes, units }) {
  const reception = origin.filter(({ pointer }) => pointer in RECEPTION);
  return [
    ...fields.map((field) => ({ ...field, key: field.pointer, name: title(field.pointer), unit: suffix(unitOf(units, field.pointer)) })),
    ...reception.map((field) => ({ ...field, pointer: undefined, key: `origin ${field.pointer}`, name: RECEPTION[field.pointer][0], unit: RECEPTION[field.pointer][1] })),
    { ...bytes, key: "bytes", name: "Bytes of the message", unit: " B" },
  ];
}

/** The same field of other devices, each with its place among the colours. */
function beside({ key }, others) {
  const same = others.map(({ series }, i) => {
    const points = series?.messages ? plotted(series).find((field) => field.key === key) : undefined;
    return { points, place: i + 1 };
  });
  return same.filter(({ points }) => points);
}

const isAlways = ({ low, high }, number) => low.every((least, i) => least === number && high[i] === number);

const mean = (numbers) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;

/** When the last message came. */
function seen(last) {
  const silence = age(Date.now() + skew - Date.parse(last.received_at));
  return silence === "now" ? "just now" : `${silence} ago`;
}

/** Returns the API's view of a device, updated to now: it may have sent since, or may be late since. */
function lateNow(about, last) {
  const silence = (Date.now() + skew - Date.parse((last ?? about.last).received_at)) / 1000;
  return { ...about, late: silence > about.late_after ? Math.max(0, silence - about.expected_every) : null };
}

/** Milliseconds that are shown on either side of a single message. */
const ALONE = 60_000;

/** The times that the plots span: the range, and where it is open, the messages. */
function domain({ series, range, others }) {
  if (!series?.messages) return null;
  const all = [series, ...others.map((other) => other.series).filter((other) => other?.messages)];
  const from = range.from ?? Math.min(...all.map(({ first }) => Date.parse(first)));
  const until = range.until ?? Math.max(range.from ?? 0, ...all.map(({ last }) => Date.parse(last)));
  return until > from ? { from, until } : { from: from - ALONE, until: until + ALONE };
}

function note({ missing, series, address }) {
  if (missing) return "Nothing of this device is stored.";
  if (!series) return "loading";
  if (series.messages === 0) return "no messages in this time range";
  const more = series.more_fields ? `; the plots are of its first ${series.fields.length} numeric fields` : "";
  const times = address.from || address.until ? `, ${[address.from, address.until].map((time) => (time ? fullTime(time).slice(0, 19) : "…")).join(" to ")}` : "";
  return `${series.complete ? "" : "the newest "}${counted(series.messages, "message")}${times}${more}`;
}

