// Bytes per format, compared with the same messages as compact JSON.

import { byId, el, setAttribute, setChildren, setText } from "./dom.js";
import { bytes, count, percent, total } from "./format.js";

export class FormatsView {
  rows = new Map();
  body = byId("formats");

  draw({ stats }) {
    if (!stats) return;
    const formats = stats.formats.filter((f) => f.messages > 0 && f.json_bytes > 0);
    formats.sort((a, b) => a.bytes / a.json_bytes - b.bytes / b.json_bytes);
    const widest = Math.max(1, ...formats.map((f) => f.bytes / f.json_bytes));
    setChildren(this.body, formats.map((format) => this.#row(format, widest)));
  }

  #row(format, widest) {
    const row = this.rows.get(format.format) ?? this.#make(format.format);
    const share = format.bytes / format.json_bytes;
    row.bar.style.width = `${(100 * share) / widest}%`;
    row.json.style.left = `${100 / widest}%`;
    setText(row.bytes, bytes(format.bytes / format.messages));
    setText(row.jsonBytes, bytes(format.json_bytes / format.messages));
    setText(row.share, percent(share));
    setText(row.messages, total(format.messages));
    setAttribute(row.messages, "title", count(format.messages));
    return row.node;
  }

  #make(name) {
    const cell = (name, ...children) => el("td", { role: "cell", class: name }, ...children);
    const bar = el("div", { class: "bar" });
    const json = el("div", { class: "bar-json", title: "JSON, 100 %" });
    const row = { bar, json, bytes: cell("number"), jsonBytes: cell("number soft"), share: cell("number strong"), messages: cell("number soft") };
    row.node = el(
      "tr",
      { role: "row" },
      el("th", { role: "rowheader", scope: "row" }, name),
      cell("bar-cell", el("div", { class: "track", "aria-hidden": "true" }, bar, json)),
      row.bytes,
      row.jsonBytes,
      row.share,
      row.messages,
    );
    this.rows.set(name, row);
    return row;
  }
}
