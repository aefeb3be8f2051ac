// Replays of outputs: a dialog that begins one, and a panel with the last one of each output.

import { el, setText } from "./dom.js";
import { counted, fullTime, secondTime, total } from "./format.js";
import { send } from "./operator.js";
import { Panel, scrolling, Table } from "./table.js";

const FIELDS = [
  { key: "from", label: "Received from, in UTC" },
  { key: "until", label: "Received before; empty for no end" },
  { key: "device", label: "Device, where * stands for any characters; empty for all" },
];
/** The start of the range that the dialog proposes, in milliseconds before now. */
const PROPOSED = 3_600_000;

const path = (name) => `/api/outputs/${encodeURIComponent(name)}/replay`;
const of = ({ replay }) => `${replay.device ?? "all devices"}, from ${secondTime(replay.from)}${replay.until ? ` until ${secondTime(replay.until)}` : ""}`;

export class ReplayPanel {
  constructor(operator) {
    this.operator = operator;
    const columns = [
      { name: "Output", text: (o) => o.name, class: "name" },
      { name: "Messages", text: of },
      { name: "State", text: (o) => o.replay.state },
      { name: "Done", text: (o) => `${total(o.replay.done)} of ${total(o.replay.messages)}`, number: true },
      { name: "Begun", text: (o) => fullTime(o.replay.begun_at) },
    ];
    const action = (label, state, run) => ({ label, name: (o) => `${label} the replay of ${o.name}`, hidden: (o) => !state.includes(o.replay.state), run });
    this.table = new Table("The last replay of each output", columns, (o) => o.name, [
      action("Pause", ["running"], (o) => this.#pause(o, true)),
      action("Resume", ["paused"], (o) => this.#pause(o, false)),
      action("Cancel", ["running", "paused"], (o) => this.#cancel(o)),
    ]);
    this.panel = new Panel("replays", "Replays", scrolling("replays", this.table.node));
    this.panel.node.hidden = true;
  }

  /** Asks which messages `output` delivers again, counts them, and begins when that is confirmed. */
  ask(output) {
    const inputs = FIELDS.map(({ key, label }) => {
      const input = el("input", { id: `replay-${key}`, type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
      return { key, input, node: el("div", {}, el("label", { for: `replay-${key}` }, label), input) };
    });
    inputs[0].input.value = `${new Date(Date.now() - PROPOSED).toISOString().slice(0, 19)}Z`;
    // What was counted last. It begins only if nothing was changed since.
    let known = "";
    this.operator.ask({
      title: `Deliver messages of ${output.name} again`,
      what: "The output delivers what it has delivered before, beside new messages. Each message has the same stable ID as before, so that the receiver can drop those that it has.",
      label: "Count",
      fields: inputs.map(({ node }) => node),
      request: async (token) => {
        const wanted = Object.fromEntries(inputs.map(({ key, input }) => [key, input.value.trim()]).filter(([, text]) => text));
        const given = JSON.stringify(wanted);
        const body = given === known ? given : JSON.stringify({ ...wanted, dry_run: true });
        const answered = await send(path(output.name), { method: "POST", body }, token);
        if (!answered.answer || given === known) return answered;
        known = given;
        const { messages } = answered.answer.replay;
        return { confirm: { text: `${counted(messages, "message")} would be delivered again.`, label: "Deliver again" } };
      },
      report: () => `${output.name} delivers messages again.`,
    });
  }

  #pause({ name }, paused) {
    this.#change(name, ...(paused ? ["Pause", "paused"] : ["Resume", "resumed"]), paused ? "No more of its messages are delivered until it is resumed." : "Its messages are delivered again.", {
      method: "PATCH",
      body: JSON.stringify({ paused }),
    });
  }

  #cancel({ name }) {
    this.#change(name, "Cancel", "cancelled", "It ends. What has been delivered stays delivered.", { method: "DELETE" });
  }

  #change(name, label, done, what, request) {
    this.operator.ask({
      title: `${label} the replay of ${name}?`,
      what,
      label: `${label} the replay`,
      request: (token) => send(path(name), request, token),
      report: () => `The replay of ${name} is ${done}.`,
    });
  }

  draw(outputs) {
    const replays = outputs.filter((output) => output.status?.replay).map(({ name, status }) => ({ name, replay: status.replay }));
    this.panel.node.hidden = replays.length === 0;
    setText(this.panel.note, "the last one of each output");
    this.table.draw(replays);
  }
}
