// Tries the expressions of an output on the last messages: a dialog with the expressions, and a panel with what would happen.

import { el, setText } from "./dom.js";
import { counted, fullTime } from "./format.js";
import { send } from "./operator.js";
import { Panel, scrolling, Table } from "./table.js";

const FIELDS = [
  { key: "when", label: "when: which messages are delivered" },
  { key: "until", label: "until: when the alarm of a device ends" },
  { key: "map", label: "map: what is delivered" },
];
const RESULTS = { delivered: "delivered", skipped: "skipped", dead_letter: "dead letter" };

export class TrialPanel {
  /** `open(id)` shows a message, `address(id)` is its URL. */
  constructor(operator, address, open) {
    this.operator = operator;
    const columns = [
      { name: "Message", text: (m) => String(m.id), link: (m) => address(String(m.id)), open: (m) => open(String(m.id)) },
      { name: "Device", text: (m) => m.device, class: "name" },
      { name: "Received", text: (m) => fullTime(m.received_at) },
      { name: "Result", text: (m) => RESULTS[m.result] },
      { name: "Payload or reason", text: (m) => m.reason ?? (m.payload === null ? "–" : JSON.stringify(m.payload)), class: "reason" },
    ];
    this.table = new Table("What the output would do with the last messages", columns, (m) => m.id);
    this.panel = new Panel("trial", "Trial", scrolling("trial", this.table.node));
    this.panel.button("Close", () => this.#show(null));
    this.panel.node.hidden = true;
  }

  /** Asks for expressions, which are those of `output` at first, and shows what they would do. */
  ask(output) {
    const inputs = FIELDS.map(({ key, label }) => {
      const input = el("textarea", { id: `trial-${key}`, rows: 2, autocomplete: "off", spellcheck: "false" });
      input.value = output[key] ?? "";
      return { key, input, node: el("div", {}, el("label", { for: `trial-${key}` }, label), input) };
    });
    const filled = () => inputs.map(({ key, input }) => [key, input.value.trim()]).filter(([, text]) => text);
    this.operator.ask({
      title: `Try the expressions of ${output.name}`,
      what: "The last 20 messages show what the output would do with these expressions in jq. Nothing is delivered, and the configuration stays as it is.",
      label: "Try",
      fields: inputs.map(({ node }) => node),
      request: async (token) => {
        const body = JSON.stringify(Object.fromEntries(filled()));
        const answered = await send(`/api/outputs/${encodeURIComponent(output.name)}/try`, { method: "POST", body }, token);
        if (answered.answer) this.#show(answered.answer.messages, output.name);
        return answered;
      },
      report: () => `Tried on ${counted(this.tried, "message")}.`,
    });
  }

  #show(messages, name) {
    this.panel.node.hidden = messages === null;
    if (!messages) return;
    this.tried = messages.length;
    setText(this.panel.heading, `Trial of ${name}`);
    const delivered = messages.filter((m) => m.result === "delivered").length;
    setText(this.panel.note, `${delivered} of ${counted(messages.length, "message")} would be delivered, the oldest first`);
    this.table.draw(messages);
    this.panel.node.scrollIntoView({ block: "nearest" });
  }
}
