// The table of devices: last position, link, format, bytes, time. Sorted by name, so that rows keep their places.

import { skew } from "./api.js";
import { byId, el, linkSymbol, setAttribute, setChildren, setText } from "./dom.js";
import { age, bytes, count, fullTime, linkKind, place } from "./format.js";

/** Most rows: those that sent last. The fleet has all devices. */
const ROWS = 60;

export class DevicesView {
  rows = new Map();
  body = byId("devices");
  note = byId("devices-note");
  places = byId("devices-places");

  constructor(choose) {
    this.choose = choose;
  }

  draw(store) {
    const shown = newest(store.shownDevices());
    const known = store.stats?.devices ?? shown.length;
    setText(this.note, shown.length < known ? `${count(shown.length)} of ${count(known)}` : count(known));
    this.places.hidden = shown.every(({ position }) => position);
    const kept = new Set(shown.map(({ device }) => device));
    for (const device of this.rows.keys()) if (!kept.has(device)) this.rows.delete(device);
    const now = Date.now() + skew;
    setChildren(this.body, shown.map((last) => this.#row(last, now)));
  }

  #row(last, now) {
    const row = this.rows.get(last.device) ?? this.#make(last.device);
    if (row.last !== last) this.#fill(row, last);
    setText(row.seen, age(now - row.time));
    return row.node;
  }

  #fill(row, last) {
    row.last = last;
    row.time = Date.parse(last.received_at);
    const where = last.position;
    setText(row.position, where ? place(where) : "none");
    row.position.classList.toggle("soft", !where);
    const kind = linkKind(last.link);
    row.link.replaceChildren(linkSymbol(kind), el("span", {}, last.link ?? "unknown"));
    setText(row.format, last.format);
    setText(row.bytes, bytes(last.bytes));
    setAttribute(row.seen, "datetime", last.received_at);
    setAttribute(row.seen, "title", fullTime(last.received_at));
  }

  #make(device) {
    const cell = (name, ...children) => el("td", { role: "cell", class: name }, ...children);
    const row = {
      button: el("button", { type: "button", class: "plain", title: "Show only this device" }, device),
      position: cell("place"),
      link: cell("link"),
      format: cell("format"),
      bytes: cell("number size"),
      seen: el("time"),
    };
    row.button.addEventListener("click", () => this.choose(device));
    const name = el("th", { role: "rowheader", scope: "row" }, row.button);
    row.node = el("tr", { role: "row" }, name, row.position, row.link, row.format, row.bytes, cell("number seen", row.seen));
    this.rows.set(device, row);
    return row;
  }
}

/** The devices that sent last, in the order of `devices`. */
function newest(devices) {
  if (devices.length <= ROWS) return devices;
  const oldest = Float64Array.from(devices, ({ id }) => id).sort().at(-ROWS);
  return devices.filter(({ id }) => id >= oldest);
}
