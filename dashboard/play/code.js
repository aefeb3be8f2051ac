// The generated code, a file at a time.

import { byId, el, setText } from "../dom.js";

const NAMES = { c: "C", ts013: "TS013 JavaScript", proto: ".proto", avro: ".avsc", thrift: ".thrift", cddl: "CDDL" };

export class CodeView {
  #files = [];
  #shared;

  /** `shared` are the files that all generated C shares; `chosen(language and place)` is called when a file is chosen. */
  constructor(shared, chosen) {
    this.#shared = shared;
    this.chosen = chosen;
    const copy = byId("code-copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(byId("code").textContent);
      setText(copy, "Copied");
      setTimeout(() => setText(copy, "Copy"), 2000);
    });
  }

  /** Draws the file `key`, such as `c/1`, or the first. */
  draw(code, key) {
    this.#files = code.flatMap(({ language, files }) =>
      (language === "c" && files.length ? [...files, ...this.#shared] : files).map((file, at) => ({ ...file, key: `${language}/${at}` })));
    const file = this.#files.find((file) => file.key === key) ?? this.#files[0];
    const keys = this.#files.map(({ name }) => name).join("\n");
    if (byId("files").dataset.names !== keys) {
      byId("files").dataset.names = keys;
      byId("files").replaceChildren(...this.#files.map(({ name, key }) => {
        const button = el("button", { type: "button", "data-key": key }, name);
        button.addEventListener("click", () => this.chosen(key));
        return button;
      }));
    }
    for (const button of byId("files").children) button.setAttribute("aria-pressed", String(button.dataset.key === file?.key));
    setText(byId("code"), file?.text ?? "");
    byId("code").hidden = !file;
    byId("code-copy").hidden = !file || !navigator.clipboard; // which exists only in a secure context
    const refused = code.filter(({ reasons }) => reasons.length > 0);
    byId("reasons").replaceChildren(...refused.flatMap(({ language, reasons }) => reasons.map((reason) => el("li", {}, el("strong", {}, NAMES[language]), `: ${reason}`))));
  }
}
