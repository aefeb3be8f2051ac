// A text area with the numbers of its lines, and the mistakes below it.

import { el } from "../dom.js";
import { count } from "../format.js";

/** The offset in UTF-16 of a line and a column in characters, both counted from 1. */
function offset(text, line, column) {
  let at = 0;
  for (let n = 1; n < line; n++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  for (let n = 1; n < column && at < text.length && text[at] !== "\n"; n++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

export class Editor {
  #lines = 1;
  #wrong = new Set();

  /** `changed(text)` is called after each edit by the user. */
  constructor(editor, mistakes, changed) {
    this.gutter = editor.querySelector(".gutter");
    this.area = editor.querySelector("textarea");
    this.mistakes = mistakes;
    this.area.addEventListener("input", () => {
      this.#count();
      changed(this.area.value);
    });
    this.area.addEventListener("scroll", () => this.#number());
    new ResizeObserver(() => this.#number()).observe(this.area);
    this.#count();
  }

  get text() {
    return this.area.value;
  }

  /** Replaces the text, and leaves the caret and the scroll position where they are. */
  set text(text) {
    if (this.area.value === text) return;
    const { selectionStart, selectionEnd, scrollTop, scrollLeft } = this.area;
    this.area.value = text;
    if (document.activeElement === this.area) this.area.setSelectionRange(selectionStart, selectionEnd);
    [this.area.scrollTop, this.area.scrollLeft] = [scrollTop, scrollLeft];
    this.#count();
  }

  /** Shows mistakes: `{line, column, pointer, message, detail}`, and the number of further ones. */
  show(mistakes, more = 0) {
    this.#wrong = new Set(mistakes.map(({ line }) => line));
    const items = mistakes.map((mistake) => {
      const place = [mistake.message === null ? "" : `message ${count(mistake.message + 1)}`, `line ${count(mistake.line)}`, mistake.pointer ?? `column ${count(mistake.column)}`].filter(Boolean).join(", ");
      const button = el("button", { type: "button", class: "plain" }, place);
      button.addEventListener("click", () => this.#go(mistake));
      return el("li", {}, button, el("span", {}, ` ${mistake.detail}`));
    });
    if (more > 0) items.push(el("li", {}, `and ${count(more)} more`));
    this.mistakes.replaceChildren(...items);
    if (mistakes.length) this.area.setAttribute("aria-invalid", "true");
    else this.area.removeAttribute("aria-invalid");
    this.#number();
  }

  #go({ line, column }) {
    const at = offset(this.text, line, column);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 4) * this.#height());
    this.area.scrollLeft = 0;
  }

  #height = () => parseFloat(getComputedStyle(this.area).lineHeight);

  #count() {
    const text = this.area.value;
    this.#lines = 1;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#lines++;
    this.#number();
  }

  /** Draws the numbers of the lines that can be seen. */
  #number() {
    const height = this.#height();
    const { scrollTop, clientHeight } = this.area;
    const first = Math.floor(scrollTop / height) + 1;
    const last = Math.min(this.#lines, first + Math.ceil(clientHeight / height));
    const numbers = [];
    for (let line = first; line <= last; line++) numbers.push(el("div", { class: this.#wrong.has(line) ? "wrong" : null }, String(line)));
    this.gutter.replaceChildren(...numbers);
    this.gutter.style.setProperty("--shift", `${-(scrollTop % height)}px`);
  }
}
