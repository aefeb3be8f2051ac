// The quarantine: which devices have messages in it, why, their bytes, and what to do with them.

import { quarantine, quarantineDevices } from "./operations-api.js";
import { el, prose, setChildren, setText } from "./dom.js";
import { bytes, count } from "./format.js";
import { messages } from "./operations-outputs.js";
import { entry } from "./quarantine.js";
import { Panel, scrolling, Table } from "./table.js";

/** Messages of a page, and in the list at most. */
const PAGE = 50;
const MOST = 1000;

const PATH = "/api/quarantine";

/** The effect of decoding messages again. */
const RETRIED = {
  one: "If it can be decoded, it is stored as a new message with its original time of arrival, and goes to the outputs. Otherwise it stays here.",
  several: "Those that can be decoded are stored as new messages with their original times of arrival, and go to the outputs. The others stay here.",
};

/** Why a message still cannot be decoded; nothing without one. */
const because = (failure) => (failure ? ` Message ${failure.id} of ${failure.device}: ${failure.reason}.` : "");

export class QuarantinePanel {
  #size = { messages: 0, bytes: 0, limit_messages: 0 };
  #last = 0;
  #devices = [];
  #list = [];
  #more = false;
  #extended = false;
  #nodes = new Map();

  constructor(operator) {
    this.operator = operator;
    const columns = [
      { name: "Device", text: (d) => d.device, class: "name" },
      { name: "Messages", text: (d) => count(d.messages), number: true },
      { name: "Size", text: (d) => bytes(d.bytes), number: true },
      { name: "Last error", text: (d) => d.kind },
    ];
    this.devices = new Table("Devices with messages in the quarantine", columns, (d) => d.device, [
      { label: "Retry all", name: (d) => `Retry all of ${d.device}`, run: (d) => this.#ofDevice(d, (...asked) => this.#retry(...asked)) },
      { label: "Discard all", name: (d) => `Discard all of ${d.device}`, run: (d) => this.#ofDevice(d, (...asked) => this.#discard(...asked)) },
    ]);
    this.rows = el("ol", { class: "rows" });
    this.moreButton = el("button", { type: "button" }, "Show more");
    this.moreButton.addEventListener("click", () => this.#extend());
    this.end = el("p", { class: "more-entries" }, this.moreButton);
    this.how = el("p", { class: "soft how" }, ...prose("After you have changed a schema or a profile, run `dunnage gateway reload` on the gateway's machine. A retry then decodes with the new one."));
    this.panel = new Panel("operations-quarantine", "Quarantine", this.how, this.devices.node, scrolling("operations-quarantine", this.rows), this.end);
    this.retryAll = this.panel.button("Retry all", () => this.#retry({ up_to: this.#last }, this.#size.messages, ""));
    this.discardAll = this.panel.button("Discard all", () => this.#discard({ up_to: this.#last }, this.#size.messages, ""));
  }

  nodes() {
    return [this.panel.node];
  }

  async load(state) {
    this.#size = state.quarantine;
    this.#last = state.last_quarantine_id;
    const [devices, list] = await Promise.all([quarantineDevices(), this.#extended ? this.#list : quarantine(PAGE)]);
    this.#devices = devices.devices;
    if (this.#extended) return;
    this.#list = list;
    this.#more = list.length > 0 && this.#size.messages > list.length;
  }

  async #extend() {
    const before = this.#list;
    const page = await quarantine(PAGE, before.at(-1).id).catch(() => null);
    if (!page || this.#list !== before) return;
    this.#extended = true;
    this.#list = [...before, ...page];
    this.#more = page.length > 0 && this.#list.length < Math.min(this.#size.messages, MOST);
    this.draw();
  }

  /** After an operation, the first page is shown again. */
  changed() {
    this.#extended = false;
  }

  /** Asks for all messages of a device, as many as there are now. */
  async #ofDevice({ device, messages: known }, ask) {
    const now = await quarantineDevices(device).catch(() => null);
    const n = now ? (now.devices[0]?.messages ?? 0) : known;
    ask({ device, up_to: now?.last_quarantine_id ?? this.#last }, n, ` of ${device}`);
  }

  #retry(selection, n, of) {
    this.operator.ask({
      title: `Decode ${messages(n)}${of} again?`,
      what: `${messages(n)}${of} will be decoded with the current schemas and profiles. ${n === 1 ? RETRIED.one : RETRIED.several}`,
      label: "Retry",
      path: `${PATH}/retry`,
      selection,
      total: n,
      report: ({ stored = 0, failed = 0 }, example) => `${messages(stored)} decoded and stored${failed ? `, ${count(failed)} still cannot be decoded` : ""}.${because(example)}`,
    });
  }

  #discard(selection, n, of) {
    this.operator.ask({
      title: `Discard ${messages(n)}${of}?`,
      what: `${messages(n)}${of} will be deleted from the quarantine, bytes included. This cannot be undone.`,
      label: "Discard",
      danger: true,
      path: `${PATH}/discard`,
      selection,
      total: n,
      report: ({ dropped = 0 }) => `${messages(dropped)} discarded.`,
    });
  }

  draw() {
    const { messages: known, bytes: size, limit_messages: limit } = this.#size;
    setText(this.panel.note, known ? `${messages(known)} of ${count(limit)}, ${bytes(size)}` : "empty: every message was decoded");
    this.devices.draw(this.#devices);
    this.devices.node.hidden = this.#devices.length === 0;
    this.how.hidden = known === 0;
    this.rows.parentElement.hidden = known === 0;
    this.end.hidden = !this.#more;
    for (const button of [this.retryAll, this.discardAll]) button.hidden = known === 0;
    const shown = new Set(this.#list.map((kept) => kept.id));
    for (const id of this.#nodes.keys()) if (!shown.has(id)) this.#nodes.delete(id);
    setChildren(this.rows, this.#list.map((kept) => this.#node(kept)));
  }

  #node(kept) {
    if (!this.#nodes.has(kept.id)) {
      const button = (label, run) => {
        const node = el("button", { type: "button", "aria-label": `${label} message ${kept.id} of the quarantine` }, label);
        node.addEventListener("click", run);
        return node;
      };
      const selection = { ids: [kept.id] };
      const of = ` of ${kept.device}`;
      const buttons = el("p", { class: "buttons" }, button("Retry", () => this.#retry(selection, 1, of)), button("Discard", () => this.#discard(selection, 1, of)));
      this.#nodes.set(kept.id, entry(kept, buttons));
    }
    return this.#nodes.get(kept.id);
  }
}
