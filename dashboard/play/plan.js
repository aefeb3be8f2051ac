// The needs of a fleet over a link in a month.

import { byId, el, prose, setText } from "../dom.js";
import { bytes, count, percent, span } from "../format.js";

const FITS = { always: "always", messages: "these", some: "some", no: "no", unknown: "?" };
const amount = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** A number with two decimals, or four below 1, as in the sentences (`crates/plan/src/numbers.rs`). */
function figure(value) {
  if (value <= 0 || value >= 1) return amount.format(value);
  return value < 0.0001 ? "<0.0001" : value.toFixed(4);
}

/** The boxes with which links are chosen. */
export class LinksView {
  #boxes = new Map();

  /** `changed(ids)` is called when the choice changes. */
  constructor(links, changed) {
    this.links = links;
    const items = links.map((link) => {
      const box = el("input", { type: "checkbox" });
      box.addEventListener("change", () => changed(this.chosen));
      this.#boxes.set(link.id, box);
      const limit = link.max_payload_bytes === null ? "no limit, or none published" : bytes(link.max_payload_bytes);
      const about = [limit, link.direction === "down" ? "to the device" : "", link.ended ? `ended ${link.ended}` : ""].filter(Boolean).join(", ");
      return el("label", {}, box, el("span", {}, `${link.name} `, el("span", { class: "soft" }, about)));
    });
    byId("links").querySelector("div").replaceChildren(...items);
  }

  get chosen() {
    return this.links.filter((link) => this.#boxes.get(link.id).checked).map((link) => link.id);
  }

  set chosen(ids) {
    for (const [id, box] of this.#boxes) box.checked = ids.includes(id);
    setText(byId("links").querySelector("summary"), `Links: ${count(ids.length)} of ${count(this.links.length)} chosen`);
    const options = this.links.filter((link) => ids.includes(link.id));
    const select = byId("plan-link");
    const { value } = select;
    select.replaceChildren(...options.map((link) => el("option", { value: link.id }, link.name)));
    if (ids.includes(value)) select.value = value;
  }
}

/** Draws the plan for the link `id`. */
export function draw(plan, id) {
  const link = plan?.links.find((link) => link.id === id) ?? plan?.links[0];
  byId("advice").replaceChildren(...(plan?.advice.sentences ?? ["Choose a link to see prices and airtime."]).map((text) => el("li", {}, ...prose(text))));
  const choice = plan?.advice.choices.find((choice) => choice.link === link?.id)?.format;
  byId("plan").replaceChildren(...(link?.formats ?? []).map((format) => row(format, format.format === choice)));
  byId("plan").closest(".scroll").hidden = !link;
  const standard = link?.standard_payload_bytes ? `Its standard message has ${bytes(link.standard_payload_bytes)}.` : null;
  setText(byId("plan-note"), [link?.price && `Price: ${link.price}.`, link?.price_note, link?.note, standard].filter(Boolean).map(sentence).join(" "));
}

/** A note as a sentence. */
const sentence = (note) => note[0].toUpperCase() + note.slice(1) + (note.endsWith(".") ? "" : ".");

function row(format, chosen) {
  const cell = (text, name = "number") => el("td", { role: "cell", class: name }, text);
  const { cost_per_month: cost, airtime_s: airtime, max_messages_per_day: most } = format;
  let fits = FITS[format.fits];
  if (!format.lossless) fits += ", lossy";
  if (!format.allowed) fits += ", too often";
  return el(
    "tr",
    { role: "row", class: chosen ? "chosen" : null },
    el("th", { role: "rowheader", scope: "row" }, chosen ? el("strong", {}, format.format) : format.format),
    cell(fits, ""),
    cell(cost ? `${cost.currency} ${figure(cost.amount)}` : "–"),
    cell(format.fragments === null ? "–" : count(format.fragments)),
    cell(figure(format.billed_bytes_per_month / 1024 / 1024)),
    cell(airtime === null ? "–" : `${span(airtime)}${format.share_on_air ? `, ${percent(format.share_on_air, 2)}` : ""}`),
    cell(most === null ? "–" : count(Math.floor(most))),
  );
}
