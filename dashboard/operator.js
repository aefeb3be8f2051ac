// Sends operations, after a dialog that describes the effect. The token is asked for there and kept in memory only.

import { at } from "./api.js";
import { el, prose, setText } from "./dom.js";
import { count, counted } from "./format.js";

/** Most parts of one operation: more than any quarantine has. */
const PARTS = 10_000;

/** Returns the gateway's answer to an operation, or why there is none. */
const post = (path, body, token) => send(path, { method: "POST", body: JSON.stringify(body) }, token);

/**
 * Sends a request with the token of an operator. Returns the gateway's answer, or why there is none.
 * @param {string} path
 * @param {{ method: string, body?: any, type?: string }} request a body is JSON, if `type` names nothing else
 * @param {string} token
 */
export async function send(path, { method, body, type = "application/json" }, token) {
  let response;
  try {
    response = await fetch(at(path), {
      method,
      headers: { "content-type": type, accept: "application/json", authorization: `Bearer ${token}` },
      body,
      cache: "no-store",
    });
    const answer = await response.json().catch(() => ({}));
    return response.ok ? { answer } : { status: response.status, detail: answer.detail ?? `it answered ${response.status}` };
  } catch {
    return { status: 0, detail: "" };
  }
}

/** A failed answer as a sentence. */
export function refusal({ status, detail }) {
  if (status === 0) return "The gateway does not answer. It may be restarting: try again when it is back.";
  if (status === 401) return `The gateway did not accept the token: ${detail}. Enter another one.`;
  if (status === 403 && detail === "this token may not operate") {
    return "This token may not operate. `dunnage gateway token new --operate` makes one that may.";
  }
  if (status === 429) return `The gateway refused: ${detail}. Wait a minute.`;
  return `The gateway refused: ${detail}.`;
}

export class Operator {
  #token = "";
  #operation = null;
  #running = false;
  #stopped = false;

  /** `done(text)` is called when an operation has changed something. `id` begins the IDs of the elements of this dialog. */
  constructor(done, id) {
    this.done = done;
    this.title = el("h2", { id: `${id}-title` });
    this.what = el("p", {});
    this.fields = el("div", { class: "entries" });
    this.input = el("input", { id: `${id}-token`, type: "password", autocomplete: "off", spellcheck: "false", autocapitalize: "off", maxlength: 128, "aria-describedby": `${id}-about` });
    this.about = el("p", { class: "soft", id: `${id}-about` }, ...prose("`dunnage gateway token new --operate` makes one. The page keeps it until it is closed, and stores it nowhere."));
    this.entry = el("div", {}, el("label", { for: `${id}-token` }, "Token that may operate"), this.input, this.about);
    this.known = el("p", { class: "soft" }, "The token that you entered before is used. ");
    const other = el("button", { type: "button", class: "plain" }, "Use another one");
    this.known.append(other);
    this.error = el("p", { class: "wrong", role: "alert" });
    this.progress = el("p", { role: "status" });
    this.cancel = el("button", { type: "button" }, "Cancel");
    this.act = el("button", { type: "submit" });
    const form = el("form", {}, this.title, this.what, this.fields, this.entry, this.known, this.error, this.progress, el("p", { class: "buttons" }, this.cancel, this.act));
    this.dialog = el("dialog", { class: "operate", "aria-labelledby": `${id}-title` }, form);
    document.body.append(this.dialog);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    other.addEventListener("click", () => {
      this.#forget();
      this.input.focus();
    });
    this.cancel.addEventListener("click", () => this.#leave());
    this.dialog.addEventListener("cancel", (event) => {
      // A chooser of files that is cancelled says so to the dialog, too.
      if (event.target !== this.dialog) return;
      event.preventDefault();
      this.#leave();
    });
  }

  /**
   * Asks whether to perform an operation: its `title`, `what` happens, the `label` of the button, the `path` and the `selection` of the
   * request, how many messages it concerns (`total`), and `report(sums, failure)`, which makes a sentence of the summed numbers of all
   * answers and of the first message that failed. In place of `path`, `selection` and `total` an operation may have `request(token)`, which
   * returns the answer of one request, or `{ confirm }`, a text and a label that have to be confirmed first. `fields` are nodes for what the request
   * needs.
   */
  ask(operation) {
    this.#operation = operation;
    this.#stopped = false;
    setText(this.title, operation.title);
    setText(this.what, operation.what);
    this.fields.replaceChildren(...(operation.fields ?? []));
    setText(this.act, operation.label);
    this.act.classList.toggle("danger", operation.danger === true);
    setText(this.error, "");
    setText(this.progress, "");
    this.#show();
    if (!this.dialog.open) this.dialog.showModal();
    (this.fields.querySelector("input, textarea") ?? (this.#token ? this.cancel : this.input)).focus();
  }

  /** Closes the dialog, unless an operation is running. */
  close() {
    if (!this.#running) this.dialog.close();
  }

  #show() {
    this.entry.hidden = this.#token !== "";
    this.known.hidden = this.#token === "";
    this.act.disabled = this.#running;
    setText(this.cancel, this.#running ? "Stop" : "Cancel");
  }

  #forget() {
    this.#token = "";
    this.input.value = "";
    this.#show();
  }

  /** Closes the dialog; an operation that is running ends after its current part. */
  #leave() {
    if (this.#running) this.#stopped = true;
    else this.dialog.close();
  }

  async #submit() {
    if (this.#running) return;
    this.#token ||= this.input.value.trim();
    if (!this.#token) {
      setText(this.error, "Enter a token that may operate.");
      this.input.focus();
      return;
    }
    setText(this.error, "");
    this.#running = true;
    this.#show();
    const [sums, failure, example, confirm] = await this.#run();
    this.#running = false;
    if (confirm) {
      setText(this.progress, confirm.text);
      setText(this.act, confirm.label);
      this.#show();
      return;
    }
    const changed = Object.values(sums).some((sum) => sum > 0);
    const text = this.#operation.report(sums, example);
    if (changed || !failure) this.done(failure || this.#stopped ? `${text} The rest was left as it was.` : text);
    if (!failure) {
      this.input.value = "";
      this.dialog.close();
      return;
    }
    if ([401, 403].includes(failure.status)) this.#forget();
    this.#show();
    setText(this.progress, changed ? text : "");
    this.error.replaceChildren(...prose(refusal(failure)));
    (this.#token ? this.cancel : this.input).focus();
  }

  /**
   * Performs the parts of the operation. Returns the sums of the numbers in their answers, the failure that ended it, the first message
   * that failed, and what has to be confirmed before more is done.
   */
  async #run() {
    const { path, selection, total, request } = this.#operation;
    if (request) {
      const { answer, confirm, ...failure } = await request(this.#token);
      return [answer ?? {}, answer || confirm ? null : failure, undefined, confirm];
    }
    const sums = {};
    let after, example;
    for (let part = 0; part < PARTS; part++) {
      const { answer, ...failure } = await post(path, { ...selection, after }, this.#token);
      if (!answer) return [sums, failure, example];
      const { next, ...counts } = answer;
      example ??= answer.failures?.[0];
      for (const [name, n] of Object.entries(counts)) if (typeof n === "number") sums[name] = (sums[name] ?? 0) + n;
      const handled = Object.values(sums).reduce((all, n) => all + n, 0);
      setText(this.progress, `${count(handled)} of ${counted(Math.max(total, handled), "message")}`);
      this.#stopped &&= next !== undefined;
      if (next === undefined || this.#stopped) break;
      after = next;
    }
    return [sums, null, example];
  }
}
