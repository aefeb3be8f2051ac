// A table whose rows stay in place while their texts change, so that the focus and the selection stay, too.

import { el, setAttribute, setChildren, setText } from "./dom.js";

export class Table {
  #rows = new Map();

  /**
   * `columns` have a `name`, `text(item)`, and optionally `title(item)`, `number`, `class` and `link(item)`, a URL for which `open(item)`
   * is called. `key(item)` tells rows apart. `actions` are buttons: `label`, `name(item)` for screen readers, `run(item)`, and optionally
   * `hidden(item)`.
   */
  constructor(caption, columns, key, actions = []) {
    this.columns = columns;
    this.actions = actions;
    this.key = key;
    this.body = el("tbody", { role: "rowgroup" });
    const heads = columns.map(({ name, number }) => el("th", { role: "columnheader", scope: "col", class: number ? "number" : null }, name));
    if (actions.length) heads.push(el("th", { role: "columnheader", scope: "col" }, el("span", { class: "unseen" }, "Actions")));
    const head = el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads));
    this.node = el("table", { class: "records", role: "table" }, el("caption", { class: "unseen" }, caption), head, this.body);
  }

  draw(items) {
    const keys = new Set(items.map(this.key));
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
    setChildren(this.body, items.map((item) => this.#row(item)));
  }

  #row(item) {
    const key = this.key(item);
    if (!this.#rows.has(key)) this.#rows.set(key, this.#make());
    const row = this.#rows.get(key);
    row.item = item;
    this.columns.forEach(({ text, title, link }, i) => {
      setText(row.cells[i], text(item));
      if (title) setAttribute(row.cells[i], "title", title(item));
      if (link) setAttribute(row.cells[i], "href", link(item));
    });
    this.actions.forEach(({ name, hidden }, i) => {
      setAttribute(row.buttons[i], "aria-label", name(item));
      row.buttons[i].hidden = hidden?.(item) ?? false;
    });
    return row.node;
  }

  #make() {
    const row = {};
    row.buttons = this.actions.map(({ label, run }) => {
      const button = el("button", { type: "button" }, label);
      button.addEventListener("click", () => run(row.item));
      return button;
    });
    row.cells = this.columns.map(({ link, open }) => {
      if (!link) return el("span", {});
      const cell = el("a", {});
      cell.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
        event.preventDefault();
        open(row.item);
      });
      return cell;
    });
    const cells = this.columns.map((column, i) => {
      const attributes = { class: [column.number && "number", column.class].filter(Boolean).join(" "), "data-label": column.name };
      return i === 0 ? el("th", { role: "rowheader", scope: "row", ...attributes }, row.cells[i]) : el("td", { role: "cell", ...attributes }, row.cells[i]);
    });
    if (row.buttons.length) cells.push(el("td", { role: "cell", class: "actions" }, ...row.buttons));
    row.node = el("tr", { role: "row" }, ...cells);
    return row;
  }
}

/** A panel with a heading, a note next to it, and `nodes`. */
export class Panel {
  constructor(id, title, ...nodes) {
    this.heading = el("h2", { id: `${id}-title`, tabindex: "-1" }, title);
    this.note = el("p", { class: "soft" });
    this.header = el("header", {}, this.heading, this.note);
    this.node = el("section", { class: "panel", id, "aria-labelledby": `${id}-title` }, this.header, ...nodes);
  }

  /** Adds a button to the heading. */
  button(label, run) {
    const button = el("button", { type: "button" }, label);
    button.addEventListener("click", run);
    this.header.append(button);
    return button;
  }
}

/** A scrollable region, with a name for users who reach it with the Tab key. */
export const scrolling = (id, ...nodes) => el("div", { class: "scroll", tabindex: "0", role: "group", "aria-labelledby": `${id}-title` }, ...nodes);
