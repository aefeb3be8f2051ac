// The view of the register: what operators know of each device. It loads when it is shown and when something changes.

import { byId, el, setText } from "./dom.js";
import { age, count, counted, span } from "./format.js";
import { get, skew } from "./api.js";
import { Operator } from "./operator.js";
import { add, edit, importFile, remove } from "./register-changes.js";
import { Panel, Table, scrolling } from "./table.js";

/** Devices of a page. */
const PAGE = 100;
/** Milliseconds after the last letter until devices are searched. */
const FIND = 200;
/** Milliseconds for which the result of a change stays. */
const RESULT = 20_000;

const SHOWN = [
  { name: "Device", class: "name", text: ({ device }) => device, link: ({ device }) => `?device=${encodeURIComponent(device)}` },
  { name: "Name", class: "name", text: ({ name }) => name ?? "" },
  { name: "Tags", class: "name", text: ({ tags = {} }) => tagLine(tags) },
  { name: "External IDs", class: "name", text: ({ external_ids = [] }) => external_ids.join(", ") },
  { name: "Profile", text: ({ profile }) => profile ?? "" },
  { name: "Every", number: true, text: ({ interval_seconds: seconds }) => (seconds ? span(seconds) : "") },
  { name: "Seen", number: true, text: seen },
];

export const tagLine = (tags) => Object.entries(tags).map(([key, value]) => `${key}=${value}`).join(", ");

function seen({ last_seen: last, disabled }) {
  const text = last ? age(Date.now() + skew - Date.parse(last)) : "never";
  return disabled ? `${text}, disabled` : text;
}

/** The tags of a filter, "site=pisa kind=scale", as an object; null if it is not one. */
export function tagsOf(text) {
  const pairs = text.trim().split(/[\s,]+/).filter(Boolean).map((pair) => pair.split(/=(.*)/s).slice(0, 2));
  return pairs.every(([key, value]) => key && value) ? Object.fromEntries(pairs) : null;
}

export class RegisterView {
  root = byId("register");
  #shown = false;
  #finding = 0;
  #fading = 0;
  #asked = 0;
  /** The IDs after which the pages before this one began. */
  #before = [];
  #after = "";

  /** `choose(device)` shows a device. */
  constructor(choose) {
    this.result = el("p", { role: "status", class: "result" });
    const operator = (this.operator = new Operator((text) => this.#changed(text), "register-operate"));
    this.find = el("input", { id: "register-find", type: "search", placeholder: "ID, name, external ID, notes", autocomplete: "off", spellcheck: "false", maxlength: 128 });
    this.tags = el("input", { id: "register-tags", type: "search", placeholder: "site=pisa", autocomplete: "off", spellcheck: "false", maxlength: 256 });
    const columns = SHOWN.map((column) => (column.link ? { ...column, open: ({ device }) => choose(device) } : column));
    const actions = [
      { label: "Edit", name: ({ device }) => `Edit ${device}`, run: (item) => edit(operator, item) },
      { label: "Remove", name: ({ device }) => `Remove ${device}`, run: (item) => remove(operator, item) },
    ];
    this.table = new Table("Devices of the register", columns, ({ device }) => device, actions);
    this.empty = el("p", { class: "how soft" });
    this.previous = el("button", { type: "button" }, "Previous");
    this.next = el("button", { type: "button" }, "Next");
    const pages = (this.pages = el("nav", { class: "fleet-pages", "aria-label": "Pages of the register" }, this.previous, this.next));
    const label = (input, text) => el("div", {}, el("label", { for: input.id }, text), input);
    const filters = el("div", { class: "fleet-filters", role: "group", "aria-label": "Filters" }, label(this.find, "Search"), label(this.tags, "Tags"));
    this.panel = new Panel("registered", "Register", filters, this.empty, scrolling("registered", this.table.node), pages);
    this.panel.button("Add device", () => add(operator));
    this.panel.button("Import", () => importFile(operator));
    const exported = el("a", { href: "/api/register/export?format=csv", download: "devices.csv" }, "Export CSV");
    this.panel.header.append(exported);
    this.root.append(this.result, this.panel.node);
    for (const input of [this.find, this.tags]) input.addEventListener("input", () => this.#findSoon());
    this.next.addEventListener("click", () => this.#page(() => this.#before.push(this.#after), this.page.next));
    this.previous.addEventListener("click", () => this.#page(() => {}, this.#before.pop() ?? ""));
  }

  /** Loads the shown page again; what was on it may no longer be read. */
  reload() {
    if (!this.#shown) return;
    this.table.draw([]);
    this.#load();
  }

  /** Called with every frame of the page; loads when the view appears. */
  draw() {
    const shown = !this.root.hidden;
    if (shown && !this.#shown) this.#load();
    if (!shown && this.#shown) this.operator.close();
    this.#shown = shown;
  }

  #findSoon() {
    clearTimeout(this.#finding);
    this.#finding = setTimeout(() => {
      [this.#before, this.#after] = [[], ""];
      this.#load();
    }, FIND);
  }

  #page(leave, after) {
    leave();
    this.#after = after;
    this.#load();
  }

  async #load() {
    const asked = ++this.#asked;
    const tags = tagsOf(this.tags.value);
    if (tags === null) {
      setText(this.panel.note, "a tag is KEY=VALUE");
      return;
    }
    const wanted = { limit: String(PAGE), ...(this.#after && { after: this.#after }), ...(this.find.value.trim() && { find: this.find.value.trim() }), ...(Object.keys(tags).length && { tags: JSON.stringify(tags) }) };
    try {
      const page = await get(`/api/register/devices?${new URLSearchParams(wanted)}`, JSON.parse);
      if (asked === this.#asked) this.#show(page, Object.keys(wanted).length > 1);
    } catch ({ status }) {
      setText(this.panel.note, status === 401 || status === 403 ? "the gateway wants a token that may read" : "the gateway does not answer");
    }
  }

  #show(page, filtered) {
    this.page = page;
    const { devices, matches, next } = page;
    setText(this.panel.note, filtered ? `${counted(matches, "device")} found` : counted(matches, "device"));
    this.table.draw(devices);
    this.table.node.hidden = devices.length === 0;
    this.empty.hidden = devices.length > 0;
    setText(this.empty, filtered ? "No registered device matches." : "No device is registered. Messages are stored all the same; the register adds names, tags and other IDs of devices to them.");
    this.pages.hidden = !next && this.#before.length === 0;
    this.previous.disabled = this.#before.length === 0;
    this.next.disabled = !next;
    setText(this.next, next ? `Next ${count(Math.min(PAGE, matches))}` : "Next");
  }

  async #changed(text) {
    setText(this.result, text);
    clearTimeout(this.#fading);
    this.#fading = setTimeout(() => setText(this.result, ""), RESULT);
    await this.#load();
    if (document.activeElement === document.body) this.panel.heading.focus({ preventScroll: true });
  }
}
