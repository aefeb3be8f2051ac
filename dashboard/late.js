// The devices that are late, the longest first, above everything else.

import { format, parse } from "./address.js";
import { skew } from "./api.js";
import { byId, el, setChildren, setText } from "./dom.js";
import { age, count, fullTime, lateness } from "./format.js";

/** How many devices the list has. */
export const LATE = 5;

export class LateView {
  panel = byId("late-panel");
  rows = new Map();

  /** `choose(device)` shows a device. */
  constructor(choose) {
    this.choose = choose;
  }

  draw({ late, devices }) {
    // One that has sent since is not late.
    const listed = late?.devices.filter(({ device, last }) => !(devices.get(device)?.id > last?.id)) ?? [];
    this.panel.hidden = listed.length === 0;
    if (this.panel.hidden) return;
    const all = late.matches - (late.devices.length - listed.length);
    setText(byId("late-note"), `${count(all)} of ${count(late.stored)}`);
    for (const device of this.rows.keys()) if (!listed.some((one) => one.device === device)) this.rows.delete(device);
    setChildren(byId("late"), listed.map((device) => this.#row(device)));
  }

  #row(device) {
    const row = this.rows.get(device.device) ?? this.#make(device.device);
    setText(row.late, lateness(device));
    setText(row.seen, device.last ? `last seen ${age(Date.now() + skew - Date.parse(device.last.received_at))} ago` : "");
    row.seen.title = device.last ? fullTime(device.last.received_at) : "";
    return row.node;
  }

  #make(device) {
    const link = el("a", { href: format(parse(`?${new URLSearchParams({ device })}`)) }, device);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
      event.preventDefault();
      this.choose(device);
    });
    const row = { late: el("span", { class: "late" }), seen: el("span", { class: "soft" }) };
    row.node = el("li", {}, link, row.late, row.seen);
    this.rows.set(device, row);
    return row;
  }
}
