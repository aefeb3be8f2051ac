// The fleet: all devices as a table that the gateway sorts, filters and pages.

import { format, parse } from "./address.js";
import * as api from "./api.js";
import { byId, el, linkSymbol, setAttribute, setChildren, setText } from "./dom.js";
import { age, bytes, count, fullTime, lateness, linkKind } from "./format.js";
import { tagLine, tagsOf } from "./register.js";

const LIMIT = 50;
/** Milliseconds between two loads of the shown page. */
const REFRESH = 3000;
/** Milliseconds after the last letter that is typed until devices are searched. */
const FIND = 200;

/** The columns: name, sort key of the API, class. */
const COLUMNS = [
  ["Device", "name", ""],
  ["Last message", "last", "number"],
  ["Expected", "late", "expected"],
  ["Link", null, "link"],
  ["Format", null, "format"],
  ["Schema", null, "schema"],
  ["Profile", null, "profile"],
  ["Messages", "messages", "number"],
  ["Bytes", "bytes", "number"],
  ["In quarantine", null, "number"],
];

/**
 * The filters: label, parameter, meaning of the empty value, and fixed choices.
 * @type {any[][]}
 */
const FILTERS = [
  ["Link", "link", "unknown"],
  ["Format", "format", null],
  ["Schema", "schema", "none"],
  ["Profile", "profile", "none"],
  ["Next message", "late", null, { true: "late", false: "not late" }],
  ["Quarantine", "quarantined", null, { true: "with messages", false: "without messages" }],
];

export class FleetView {
  panel = byId("fleet");
  rows = new Map();
  /** The page as the API answers it, and the address to which it belongs. */
  page = null;
  loaded = null;
  failure = null;
  /** The filters of the address that is shown; null while another view is. */
  wanted = null;
  timer = 0;
  turn = 0;

  /** `show(fleet)` shows other filters, another order or another page; `choose(device)` shows a device. */
  constructor(show, choose) {
    this.show = show;
    this.choose = choose;
    this.#makeHead();
    this.#makeFilters();
    byId("fleet-clear").addEventListener("click", () => show({ ...this.#order() }));
    for (const side of ["previous", "next"]) byId(`fleet-${side}`).addEventListener("click", () => this.#turn(side));
    byId("fleet-rows").addEventListener("click", (event) => this.#open(event));
    document.addEventListener("visibilitychange", () => this.#refreshSoon());
  }

  #makeHead() {
    this.heads = COLUMNS.map(([name, sort, kind]) => {
      const head = el("th", { role: "columnheader", scope: "col", class: kind });
      if (!sort) {
        head.append(name);
        return { head };
      }
      const button = el("button", { type: "button", class: "sort" }, name);
      button.addEventListener("click", () => this.#sort(sort));
      head.append(button);
      return { head, sort };
    });
    byId("fleet-head").append(...this.heads.map(({ head }) => head));
    // On a phone, the table has no header.
    this.order = byId("fleet-order");
    const choices = COLUMNS.filter(([, sort]) => sort).map(([name, sort]) => el("option", { value: sort }, name));
    this.order.append(...choices);
    this.order.addEventListener("change", () => this.#sort(this.order.value));
  }

  #makeFilters() {
    this.filters = FILTERS.map(([label, name, nothing, fixed]) => {
      const select = el("select", { id: `fleet-${name}` });
      select.addEventListener("change", () => this.#filter(name, select.value));
      byId("fleet-filters").append(el("div", {}, el("label", { for: select.id }, label), select));
      return { select, name, nothing, fixed };
    });
    this.tags = el("input", { id: "fleet-tags", type: "search", placeholder: "site=pisa", autocomplete: "off", spellcheck: "false", maxlength: 256 });
    this.tags.addEventListener("input", () => this.#tag());
    byId("fleet-filters").append(el("div", {}, el("label", { for: this.tags.id }, "Tags"), this.tags));
  }

  #tag() {
    const tags = tagsOf(this.tags.value);
    if (tags === null) return;
    const { cursor, tags: before, ...rest } = this.wanted;
    const text = Object.keys(tags).length > 0 && JSON.stringify(tags);
    this.show({ ...rest, ...(text && { tags: text }) }, true);
  }

  #order() {
    const { sort, order } = this.wanted ?? {};
    return { ...(sort && { sort }), ...(order && { order }) };
  }

  #sort(sort) {
    const { cursor, order, ...rest } = this.wanted;
    const [now, direction] = sorted(this.wanted);
    const natural = sort === "name" ? "asc" : "desc";
    const next = now === sort && direction === natural ? (natural === "asc" ? "desc" : "asc") : natural;
    this.show({ ...rest, sort, ...(next !== natural && { order: next }) });
  }

  #filter(name, value) {
    const { cursor, [name]: before, ...rest } = this.wanted;
    this.show({ ...rest, ...(value !== "all" && { [name]: value.slice(1) }) });
  }

  #turn(side) {
    const to = this.page?.[side];
    if (to) this.show({ ...this.wanted, cursor: to });
  }

  /** A click anywhere in a row opens its device, unless text is being selected. */
  #open(event) {
    const link = event.target.closest("a");
    if (event.ctrlKey || event.metaKey || event.shiftKey || (!link && !getSelection().isCollapsed)) return;
    const row = event.target.closest("tr");
    if (!row) return;
    event.preventDefault();
    this.choose(row.dataset.device);
  }

  /** Shows the devices of `address`, if it is one of this view. */
  look(address) {
    clearTimeout(this.timer);
    const wanted = address.view === "fleet" ? address.fleet : null;
    const before = this.wanted;
    this.wanted = wanted;
    if (wanted && before && (wanted.find !== before.find || wanted.tags !== before.tags)) this.timer = setTimeout(() => this.#load(), FIND);
    else if (wanted && JSON.stringify(wanted) !== JSON.stringify(before)) this.#load();
    else this.#refreshSoon();
  }

  #refreshSoon() {
    clearTimeout(this.timer);
    if (this.wanted && document.visibilityState === "visible") this.timer = setTimeout(() => this.#load(), REFRESH);
  }

  /** Loads the shown page again; what was on it may no longer be read. */
  reload() {
    this.page = null;
    if (this.wanted) this.#load();
  }

  async #load() {
    const [wanted, turn] = [this.wanted, ++this.turn];
    let [page, failure] = [null, null];
    this.draw();
    try {
      page = await api.devices({ ...wanted, limit: LIMIT });
    } catch (error) {
      failure = error;
    }
    // Another page was asked for meanwhile.
    if (turn !== this.turn) return;
    this.failure = failure;
    if (page || failure.status === 400) [this.page, this.loaded] = [page, wanted];
    this.draw();
    this.#refreshSoon();
  }

  draw() {
    if (!this.wanted) return;
    this.#drawControls();
    this.#drawRows();
    const state = this.#state();
    setText(byId("fleet-note"), state.note);
    setText(byId("fleet-message"), state.message);
    byId("fleet-message").hidden = state.message === "";
    byId("fleet-table").hidden = !this.page?.devices.length;
    byId("fleet-pages").hidden = !this.page?.previous && !this.page?.next;
    byId("fleet-clear").hidden = !filtered(this.wanted);
    setAttribute(this.panel, "aria-busy", this.loaded !== this.wanted);
  }

  /** The note next to the title, and a message below the filters if one is needed. */
  #state() {
    const { page, failure } = this;
    if (failure?.status === 400) return { note: "", message: "The address has a filter, an order or a page that does not exist. Clear the filters to see all devices." };
    if (failure && failure.status !== undefined) return { note: this.#range(), message: `The list cannot be loaded: the gateway answered ${failure.status}. Trying again.` };
    if (failure) return { note: this.#range(), message: "The gateway does not answer. Trying again." };
    if (!page) return { note: "", message: "Loading" };
    if (page.stored === 0) return { note: "", message: "No device has sent anything yet." };
    const missing = page.listed < page.stored ? `The list has the ${count(page.listed)} devices that sent last, of ${count(page.stored)}.` : "";
    if (page.matches === 0) return { note: "", message: `No device matches. ${missing}`.trim() };
    return { note: this.#range(), message: page.devices.length > 0 ? missing : "There are no devices on this page any more." };
  }

  #range() {
    if (!this.page?.devices.length) return "";
    const { offset, devices, matches } = this.page;
    return `${count(offset + 1)} to ${count(offset + devices.length)} of ${count(matches)}`;
  }

  #drawControls() {
    const [sort, direction] = sorted(this.wanted);
    for (const { head, sort: by } of this.heads) {
      if (by) setAttribute(head, "aria-sort", by !== sort ? "none" : direction === "asc" ? "ascending" : "descending");
    }
    if (this.order.value !== sort) this.order.value = sort;
    for (const { select, name, nothing, fixed } of this.filters) {
      const chosen = name in this.wanted ? `=${this.wanted[name]}` : "all";
      const choices = new Map([["all", "all"]]);
      if (fixed) for (const [value, text] of Object.entries(fixed)) choices.set(`=${value}`, text);
      else for (const [value, devices] of Object.entries(this.page?.names[name] ?? {})) choices.set(`=${value}`, `${value} (${count(devices)})`);
      if (nothing && choices.size > 1) choices.set("=", nothing);
      if (!choices.has(chosen)) choices.set(chosen, chosen === "=" ? nothing ?? "none" : chosen.slice(1));
      const text = JSON.stringify([...choices]);
      // An open list must not change under the pointer.
      if (select.dataset.choices !== text && document.activeElement !== select) {
        select.dataset.choices = text;
        select.replaceChildren(...[...choices].map(([value, name]) => el("option", { value }, name)));
      }
      if (select.value !== chosen) select.value = chosen;
    }
    if (document.activeElement !== this.tags) this.tags.value = tagText(this.wanted.tags);
    for (const side of ["previous", "next"]) {
      const button = byId(`fleet-${side}`);
      // A disabled button would lose the focus.
      setAttribute(button, "aria-disabled", !this.page?.[side]);
    }
  }

  #drawRows() {
    const devices = this.page?.devices ?? [];
    const now = Date.now() + api.skew;
    const nodes = devices.map((device) => {
      const row = this.rows.get(device.device) ?? makeRow(device.device);
      this.rows.set(device.device, row);
      if (row.of !== device) fillRow(row, device);
      const since = row.of.last ? age(now - row.time) : "";
      setText(row.seen, { "": "never", now: "just now" }[since] ?? `${since} ago`);
      return row.node;
    });
    const shown = new Set(devices.map(({ device }) => device));
    for (const device of this.rows.keys()) if (!shown.has(device)) this.rows.delete(device);
    const focused = document.activeElement;
    setChildren(byId("fleet-rows"), nodes);
    // A row that moves loses the focus.
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }
}

/** The order of a list: its sort key, and the direction. */
function sorted({ sort = "last", order }) {
  return [sort, order ?? (sort === "name" ? "asc" : "desc")];
}

/** The tags of an address as the text of a filter. */
function tagText(json) {
  try {
    return json ? tagLine(JSON.parse(json)) : "";
  } catch {
    return json;
  }
}

const filtered = ({ sort, order, cursor, ...filters }) => Object.keys(filters).length > 0 || cursor !== undefined;

function makeRow(device) {
  const cell = (name, ...children) => el("td", { role: "cell", class: name }, ...children);
  const row = {
    about: el("span", { class: "soft about" }),
    seen: el("time"),
    expected: cell("expected"),
    link: cell("link"),
    format: cell("format"),
    schema: cell("schema"),
    profile: cell("profile"),
    messages: cell("number messages"),
    bytes: cell("number size"),
    quarantined: cell("number quarantined"),
  };
  const name = el("th", { role: "rowheader", scope: "row" }, el("a", { href: format(parse(`?${new URLSearchParams({ device })}`)) }, device), row.about);
  row.node = el("tr", { role: "row", "data-device": device }, name, cell("number seen", row.seen), row.expected, row.link, row.format, row.schema, row.profile, row.messages, row.bytes, row.quarantined);
  return row;
}

function fillRow(row, device) {
  row.of = device;
  // A device of which there are messages in the quarantine alone has stored none.
  const { last } = device;
  row.time = Date.parse(last?.received_at);
  setText(row.about, [device.device_name, device.tags && tagLine(device.tags)].filter(Boolean).join(", "));
  setAttribute(row.seen, "datetime", last?.received_at ?? "");
  setAttribute(row.seen, "title", last ? fullTime(last.received_at) : "no message has been stored");
  setText(row.expected, lateness(device));
  row.expected.classList.toggle("late", device.late !== null);
  row.link.replaceChildren(linkSymbol(linkKind(last?.link)), el("span", {}, last?.link ?? "unknown"));
  setText(row.format, last?.format ?? "");
  setText(row.schema, last?.schema ?? "");
  setText(row.profile, device.profile ?? "");
  setText(row.messages, count(device.messages));
  setText(row.bytes, bytes(device.bytes));
  setText(row.quarantined, device.quarantined > 0 ? count(device.quarantined) : "");
}
