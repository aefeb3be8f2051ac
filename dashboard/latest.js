// The latest value of each field of a device, what changed, and which fields do not change.

import { skew } from "./api.js";
import { byId, el, setText } from "./dom.js";
import { age, count, counted, fullTime } from "./format.js";
import { signed } from "./plot.js";
import { suffix, unitOf } from "./units.js";
import { brief, short, title } from "./value.js";

/** Most rows of the table, and most fields that are listed as constant. */
const ROWS = 100;
/** Longest text of a value. */
const LONGEST = 200;

/**
 * The fields of `messages`, newest first, whose scalars are `cells`: those that vary, and those that had the same value in every one of
 * them. `fields` are the series of the numeric ones, which may have more messages. Each has its `pointer`, its last `value`, the time `at` which
 * that came, and the value `before`, if there is one.
 */
export function sift(messages, cells, fields) {
  const found = new Map();
  cells.forEach((of, i) => {
    for (const [pointer, value] of of) {
      const field = found.get(pointer);
      if (!field) {
        found.set(pointer, { pointer, value, at: messages[i].received_at, before: undefined, times: 1, varies: false });
        continue;
      }
      if (field.times === 1) field.before = value;
      field.times += 1;
      field.varies ||= short(value) !== short(field.value);
    }
  });
  for (const { pointer, low, high } of fields) {
    const field = found.get(pointer);
    if (field) field.varies ||= Math.min(...low) !== Math.max(...high);
  }
  const isConstant = ({ varies, times }) => messages.length > 1 && !varies && times === messages.length;
  const all = [...found.values()];
  return { varying: all.filter((field) => !isConstant(field)), constant: all.filter(isConstant) };
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The change of a value: "+0.5", "was open"; nothing for the first one. */
export function change({ value, before }) {
  if (before === undefined) return "";
  const [now, then] = [short(value), short(before)];
  if (now === then) return "unchanged";
  return NUMBER.test(now) && NUMBER.test(then) ? signed(Number(now) - Number(then)) : `was ${clipped(brief(before) || "empty")}`;
}

const clipped = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** The value with its unit. */
const shown = (value, unit) => `${clipped(brief(value))}${unit && NUMBER.test(short(value)) ? suffix(unit) : ""}`;

export class LatestView {
  #ages = [];

  /** Shows the fields that `sift` has found, with the `units` of their series. */
  fill({ varying, constant }, units) {
    this.#ages = [];
    byId("latest").replaceChildren(...varying.slice(0, ROWS).map((field) => this.#row(field, unitOf(units, field.pointer))));
    setText(byId("latest-more"), varying.length > ROWS ? `The table has ${count(ROWS)} of ${count(varying.length)} fields; the exports have all.` : "");
    byId("latest-table").hidden = varying.length === 0;
    byId("latest-constant").hidden = constant.length === 0;
    setText(byId("latest-constant-title"), `${counted(constant.length, "field")} that did not change`);
    byId("latest-constants").replaceChildren(...constant.slice(0, ROWS).map(({ pointer, value }) => el(
      "div",
      {},
      el("dt", {}, title(pointer)),
      el("dd", { class: "value" }, shown(value, unitOf(units, pointer))),
    )));
    this.draw();
  }

  #row(field, unit) {
    const time = el("time", { datetime: field.at, title: fullTime(field.at) });
    this.#ages.push([time, Date.parse(field.at)]);
    return el(
      "tr",
      { role: "row" },
      el("th", { role: "rowheader", scope: "row" }, title(field.pointer)),
      el("td", { role: "cell", class: "value" }, shown(field.value, unit)),
      el("td", { role: "cell", class: "soft" }, change(field)),
      el("td", { role: "cell", class: "number soft" }, time),
    );
  }

  /** Ages grow. */
  draw() {
    const now = Date.now() + skew;
    for (const [time, at] of this.#ages) setText(time, age(now - at));
  }
}
