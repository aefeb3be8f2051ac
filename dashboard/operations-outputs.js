// The outputs, the dead letters of one of them, and the messages that it retries.

import { deadLetters, deadLettersPath } from "./operations-api.js";
import { el, setText } from "./dom.js";
import { age, bytes, clockTime, counted, fullTime, total } from "./format.js";
import { ReplayPanel } from "./operations-replay.js";
import { TrialPanel } from "./operations-trial.js";
import { Panel, scrolling, Table } from "./table.js";

/** "1 message", "3 messages" */
export const messages = (n) => counted(n, "message");
/** The rows of a list: its dead letters, and at its end the messages that are retried. */
const rows = (letters) => {
  const retried = letters.more ? [] : letters.retried;
  return [...letters.messages, ...retried.map((m) => ({ ...m, refused_at: m.failed_at, bytes: null, retried: true }))];
};

/** The time and the reason of a failure. */
export const failure = (last) => (last ? `${clockTime(last.at)} ${last.reason}` : "–");

const waiting = (status) => (status ? `${total(status.lag_messages)}${status.lag_messages ? `, oldest ${age(status.age_seconds * 1000)}` : ""}` : "–");

const COLUMNS = [
  { name: "Output", text: (o) => o.name, class: "name" },
  { name: "Kind", text: (o) => o.kind ?? "not configured" },
  { name: "State", text: (o) => o.state },
  { name: "Delivered", text: (o) => (o.status ? total(o.status.delivered) : "–"), number: true },
  { name: "Waiting", text: (o) => waiting(o.status), title: (o) => (o.status ? `resolved up to message ${o.status.cursor}` : ""), number: true },
  { name: "Dead letters", text: (o) => total(o.dead_letters), number: true },
  { name: "Last error", text: (o) => failure(o.status?.last_failure), class: "reason" },
];

export class OutputsPanel {
  #outputs = [];
  #chosen = null;
  #letters = null;
  /** Whether more than the first page is shown, which is then not replaced. */
  #extended = false;

  /** `open(id)` shows a message, `address(id)` is its URL. */
  constructor(operator, address, open) {
    this.operator = operator;
    this.trial = new TrialPanel(operator, address, open);
    this.replays = new ReplayPanel(operator);
    const show = { label: "Dead letters", name: (o) => `Dead letters of ${o.name}`, hidden: (o) => o.dead_letters === 0 && !o.status?.failing, run: (o) => this.#choose(o.name) };
    const tryOut = { label: "Try", name: (o) => `Try the expressions of ${o.name}`, hidden: (o) => o.kind === null, run: (o) => this.trial.ask(o) };
    const again = { label: "Replay", name: (o) => `Replay messages of ${o.name}`, hidden: (o) => !o.status?.can_replay, run: (o) => this.replays.ask(o) };
    this.table = new Table("The outputs, what they have delivered since the start, and what waits", COLUMNS, (o) => o.name, [show, tryOut, again]);
    this.panel = new Panel("operations-outputs", "Outputs", scrolling("operations-outputs", this.table.node));
    const columns = [
      { name: "Message", text: (l) => String(l.id), link: (l) => address(String(l.id)), open: (l) => open(String(l.id)) },
      { name: "Device", text: (l) => l.device ?? "no longer in the buffer", class: "name" },
      { name: "State", text: (l) => (l.retried ? "retried" : "dead letter") },
      { name: "Since", text: (l) => fullTime(l.refused_at) },
      { name: "Bytes", text: (l) => (l.bytes === null ? "–" : bytes(l.bytes)), number: true },
      { name: "Reason", text: (l) => l.reason, class: "reason" },
    ];
    this.list = new Table("Dead letters, and messages that are retried", columns, (l) => l.id, [
      { label: "Retry", name: (l) => `Retry message ${l.id}`, hidden: (l) => l.retried, run: (l) => this.#retry({ ids: [l.id] }, 1) },
      { label: "Discard", name: (l) => `Discard message ${l.id}`, run: (l) => this.#discard({ ids: [l.id] }, 1) },
    ]);
    this.more = el("button", { type: "button" }, "Show more");
    this.more.addEventListener("click", () => this.#extend());
    this.end = el("p", { class: "more-entries" }, this.more);
    this.letters = new Panel("dead-letters", "Dead letters", scrolling("dead-letters", this.list.node), this.end);
    this.retryAll = this.letters.button("Retry all", () => this.#retry(...this.#all()));
    this.discardAll = this.letters.button("Discard all", () => this.#discard(...this.#all()));
    this.letters.button("Close", () => this.#choose(null));
    this.letters.node.hidden = true;
  }

  nodes() {
    return [this.panel.node, this.replays.panel.node, this.trial.panel.node, this.letters.node];
  }

  /** Takes over the outputs of the gateway's state, and loads the dead letters that are shown. */
  async load({ outputs }) {
    this.#outputs = outputs;
    if (this.#chosen && !this.#extended) await this.#first();
  }

  async #choose(name) {
    this.#chosen = name;
    this.#letters = null;
    this.#extended = false;
    this.draw();
    if (!name) {
      this.panel.heading.focus();
      return;
    }
    await this.#first().catch(() => {});
    this.draw();
    this.letters.node.scrollIntoView({ block: "nearest" });
    this.letters.heading.focus();
  }

  /** Loads the first page. An output without dead letters that the configuration no longer has is unknown to the gateway. */
  async #first() {
    const name = this.#chosen;
    let letters;
    try {
      letters = await deadLetters(name);
    } catch (error) {
      if (error.status !== 404) throw error;
      letters = { count: 0, messages: [], more: false, last_message_id: 0, retried: [] };
    }
    if (this.#chosen === name && !this.#extended) this.#letters = letters;
  }

  async #extend() {
    const before = this.#letters;
    const page = await deadLetters(this.#chosen, before.messages.at(-1)?.id).catch(() => null);
    if (!page || this.#letters !== before) return;
    this.#extended = true;
    this.#letters = { ...page, messages: [...before.messages, ...page.messages] };
    this.draw();
  }

  /** After an operation, the first page is shown again. */
  changed() {
    this.#extended = false;
  }

  /** The selection of all dead letters that were there when the list was loaded, and their number. */
  #all() {
    return [{ up_to: this.#letters.last_message_id }, this.#letters.count];
  }

  #retry(selection, n) {
    this.operator.ask({
      title: `Deliver ${messages(n)} again?`,
      what: `The output ${this.#chosen} delivers ${messages(n)} again. ${n === 1 ? "If its receiver accepts it, it leaves the list; otherwise it stays" : "Those that its receiver accepts leave the list; those that it rejects stay"}.`,
      label: "Retry",
      path: `${deadLettersPath(this.#chosen)}/retry`,
      selection,
      total: n,
      report: (sums) => `${messages(sums.messages ?? 0)} handed to ${this.#chosen} again.`,
    });
  }

  #discard(selection, n) {
    this.operator.ask({
      title: `Discard ${messages(n)}?`,
      what: `${messages(n)} will never be delivered to ${this.#chosen}. ${n === 1 ? "It leaves this list and stays" : "They leave this list and stay"} in the buffer. This cannot be undone.`,
      label: "Discard",
      danger: true,
      path: `${deadLettersPath(this.#chosen)}/discard`,
      selection,
      total: n,
      report: (sums) => `${messages(sums.messages ?? 0)} of ${this.#chosen} discarded.`,
    });
  }

  draw() {
    this.table.draw(this.#outputs);
    setText(this.panel.note, this.#outputs.length ? "since the start" : "none is configured");
    this.table.node.hidden = this.#outputs.length === 0;
    this.replays.draw(this.#outputs);
    this.letters.node.hidden = !this.#chosen;
    const letters = this.#letters;
    setText(this.letters.heading, `Dead letters of ${this.#chosen ?? ""}`);
    const list = letters ? rows(letters) : [];
    const retried = list.length ? "retried" : "none";
    setText(this.letters.note, !letters ? "loading" : letters.count ? `${messages(letters.count)}, the oldest first` : retried);
    this.list.draw(list);
    this.list.node.hidden = !list.length;
    this.end.hidden = !letters?.more;
    for (const button of [this.retryAll, this.discardAll]) button.hidden = !letters?.count;
    this.retryAll.hidden ||= !this.#outputs.find((output) => output.name === this.#chosen)?.status;
  }
}
