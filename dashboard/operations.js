// The view of operators: it loads while it is shown, and says when the gateway does not answer.

import * as api from "./operations-api.js";
import { byId, el, prose, setText } from "./dom.js";
import { clockTime } from "./format.js";
import { CredentialsPanel, InputsPanel, RatesPanel, SchemasPanel, StoragePanel } from "./operations-facts.js";
import { OutputsPanel } from "./operations-outputs.js";
import { QuarantinePanel } from "./operations-quarantine.js";
import { Operator } from "./operator.js";

/** Milliseconds between two loads while the view is shown. */
const REFRESH = 5000;
/** Milliseconds for which the result of an operation stays. */
const RESULT = 20_000;

const LIMITS =
  "This page retries, discards and replays messages, with a token that may operate. Everything else needs the command `dunnage gateway` on the gateway's machine: " +
  "reload schemas, profiles, tokens and keys, make and revoke tokens and keys. Settings are changed in the configuration file.";

export class OperationsView {
  root = byId("operations");
  #timer = 0;
  #loading = null;
  #loadedAt = "";
  #fading = 0;

  /** `open(id)` shows a message, `address(id)` is its URL. */
  constructor(address, open) {
    this.result = el("p", { role: "status", class: "result" });
    this.problem = el("p", { class: "wrong", role: "alert" });
    const operator = (this.operator = new Operator((text) => this.#changed(text), "operate"));
    this.rates = new RatesPanel();
    this.inputs = new InputsPanel();
    this.outputs = new OutputsPanel(operator, address, open);
    this.quarantine = new QuarantinePanel(operator);
    this.storage = new StoragePanel();
    this.schemas = new SchemasPanel();
    this.tokens = new CredentialsPanel("tokens", "Tokens");
    this.keys = new CredentialsPanel("keys", "DTLS keys");
    this.panels = [this.rates, this.inputs, this.outputs, this.quarantine, this.storage, this.schemas, this.tokens, this.keys];
    const head = el("div", { class: "operations-head" }, el("p", { class: "soft" }, ...prose(LIMITS)), this.problem);
    this.root.prepend(head, this.result, ...this.panels.flatMap((panel) => panel.nodes()));
  }

  /** Called with every frame of the page; loads when the view appears. */
  draw({ stats }) {
    // It is about the whole gateway, which not every token may read.
    if (this.root.hidden || !stats) {
      if (this.#timer) this.operator.close();
      clearTimeout(this.#timer);
      this.#timer = 0;
      return;
    }
    if (!this.#timer) this.#load();
  }

  #load() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), REFRESH);
    if (this.root.hidden) return null;
    this.#loading ??= this.#loadAll().finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #loadAll() {
    try {
      const [state, rates, schemas] = await Promise.all([api.state(), api.rates(), api.schemas()]);
      this.inputs.load(state);
      this.storage.load(state);
      this.rates.load(rates);
      this.schemas.load(schemas);
      await Promise.all([this.outputs.load(state), this.quarantine.load(state), this.tokens.load(), this.keys.load()]);
      this.#loadedAt = new Date().toISOString();
      setText(this.problem, "");
    } catch (failure) {
      setText(this.problem, this.#sentence(failure));
    }
    if (!this.root.hidden) for (const panel of this.panels) panel.draw();
  }

  #sentence({ status }) {
    const since = this.#loadedAt ? ` The figures are those of ${clockTime(this.#loadedAt)} UTC.` : "";
    if (status === 401 || status === 403) return `The gateway wants a token that may read.${since}`;
    return `The gateway ${status ? `answers ${status}` : "does not answer"}.${since}`;
  }

  /** Reports the result of an operation, and loads the new state, after a load that may be in progress. */
  async #changed(text) {
    setText(this.result, text);
    clearTimeout(this.#fading);
    this.#fading = setTimeout(() => setText(this.result, ""), RESULT);
    this.outputs.changed();
    this.quarantine.changed();
    await this.#loading;
    await this.#load();
    // The button that was pressed may be gone.
    if (document.activeElement === document.body) this.quarantine.panel.heading.focus({ preventScroll: true });
  }
}
