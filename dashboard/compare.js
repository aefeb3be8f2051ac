// The devices whose fields are drawn with those of the chosen one.

import { devices } from "./api.js";
import { WITH } from "./address.js";
import { byId, el } from "./dom.js";
import { count } from "./format.js";

/** Names that are proposed, and milliseconds after the last letter until they are. */
const PROPOSED = 10;
const FIND = 200;

export class Compare {
  input = byId("compare-with");
  #device = null;
  #timer = 0;
  #drawn = "";

  /** `change(names)` compares with other devices. */
  constructor(change) {
    this.change = change;
    this.input.addEventListener("input", (event) => {
      clearTimeout(this.#timer);
      // A name that was chosen from the list is complete.
      if (event.inputType === "insertReplacementText" || event.inputType === undefined) this.#add();
      else this.#timer = setTimeout(() => this.#propose(), FIND);
    });
    this.input.addEventListener("change", () => this.#add());
    this.input.addEventListener("focus", () => this.#propose());
  }

  /** The devices that the fleet finds for the typed text. */
  async #propose() {
    const find = this.input.value.trim();
    const page = await devices({ ...(find && { find }), sort: "name", limit: PROPOSED + 1 }).catch(() => null);
    if (!page || find !== this.input.value.trim()) return;
    const names = page.devices.map(({ device }) => device).filter((name) => !this.#shown().includes(name));
    byId("compare-found").replaceChildren(...names.slice(0, PROPOSED).map((value) => el("option", { value })));
  }

  #shown() {
    return this.#device ? [this.#device.name, ...this.#device.others.map(({ name }) => name)] : [];
  }

  #add() {
    const name = this.input.value.trim();
    clearTimeout(this.#timer);
    this.input.value = "";
    const [, ...others] = this.#shown();
    if (name && !this.#shown().includes(name)) this.change([...others, name]);
  }

  draw(device) {
    this.#device = device;
    const drawn = JSON.stringify([device.name, device.others.map(({ name, series }) => [name, series?.messages])]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.input.disabled = device.others.length >= WITH;
    const legend = byId("compare-legend");
    legend.hidden = device.others.length === 0;
    const swatch = (place) => el("span", { class: `line-swatch o${place}`, "aria-hidden": "true" });
    legend.replaceChildren(
      el("li", {}, swatch(0), device.name),
      ...device.others.map((other, i) => el("li", {}, swatch(i + 1), `${other.name}${note(other)}`, this.#button(other.name))),
    );
  }

  #button(name) {
    const button = el("button", { type: "button", class: "plain", "aria-label": `Do not compare with ${name}` }, "×");
    button.addEventListener("click", () => {
      this.change(this.#shown().slice(1).filter((other) => other !== name));
      this.input.focus();
    });
    return button;
  }
}

/** Why a device has no line, or how many messages its lines have. */
function note({ series }) {
  if (series === undefined) return ": loading";
  if (series === null) return ": nothing of it is stored";
  return series.messages === 0 ? ": no messages in this time range" : ` (${count(series.messages)})`;
}
