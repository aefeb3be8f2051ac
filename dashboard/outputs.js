// The state of each output; hidden if there are none.

import { byId, el, setAttribute, setChildren, setText } from "./dom.js";
import { age, clockTime, count, fullTime, total } from "./format.js";

export class OutputsView {
  rows = new Map();
  body = byId("outputs");
  panel = byId("outputs-panel");

  draw({ stats }) {
    if (!stats) return;
    this.panel.hidden = stats.outputs.length === 0;
    setChildren(this.body, stats.outputs.flatMap((output) => this.#rows(output)));
  }

  /** The output's row, and one for its last failure, if there was one. */
  #rows(output) {
    const row = this.rows.get(output.output) ?? this.#make(output.output);
    const { state, last_failure: failure } = output;
    setText(row.state, state);
    setAttribute(row.state, "data-state", state);
    this.#figure(row.delivered, output.delivered);
    this.#figure(row.behind, output.lag_messages);
    setAttribute(row.behind, "title", output.lag_messages ? `oldest waiting for ${age(output.age_seconds * 1000)}` : "0");
    this.#figure(row.deadLetters, output.refused);
    if (!failure) return [row.node];
    setText(row.reason, `${clockTime(failure.at)} ${failure.reason}`);
    setAttribute(row.reason, "title", fullTime(failure.at));
    return [row.node, row.failure];
  }

  #figure(cell, n) {
    setText(cell, total(n));
    setAttribute(cell, "title", count(n));
  }

  #make(name) {
    const cell = (name) => el("td", { role: "cell", class: name });
    const row = { state: cell("state"), delivered: cell("number"), behind: cell("number"), deadLetters: cell("number") };
    const head = el("th", { role: "rowheader", scope: "row" }, name);
    row.node = el("tr", { role: "row" }, head, row.state, row.delivered, row.behind, row.deadLetters);
    row.reason = el("td", { role: "cell", colspan: 5 });
    row.failure = el("tr", { role: "row", class: "failure soft" }, row.reason);
    this.rows.set(name, row);
    return row;
  }
}
