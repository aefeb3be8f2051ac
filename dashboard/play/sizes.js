// The size of the messages in every format, as bars that are crossed by the limits of links.

import { byId, el, setText } from "../dom.js";
import { bytes, count } from "../format.js";

const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const share = (value, scale) => `${Math.min(100, (100 * value) / scale)}%`;

/**
 * The bytes at the end of the chart: the size of the largest message as JSON, and at most twice JSON's mean. Formats far above JSON would leave the
 * small ones a few pixels.
 */
function scaleOf(rows) {
  const largest = Math.max(1, ...rows.map((row) => row.largest_bytes));
  const json = rows.find((row) => row.format === "json");
  return json ? Math.min(largest, json.largest_bytes, 2 * json.mean_bytes) : largest;
}

/** Draws the formats of an answer, and the limits of `links`. */
export function draw(answer, links, enough) {
  const { formats, refused, trained } = answer;
  const rows = formats.map((format) => ({ ...format, note: format.lossless ? "" : "lossy" }));
  if (trained) rows.push({ ...trained, format: "packed, trained", schema_max_bytes: null, lossless: true, note: "" });
  rows.sort((a, b) => a.mean_bytes - b.mean_bytes);
  const scale = scaleOf(rows);
  const limits = links.filter((link) => link.max_payload_bytes !== null).sort((a, b) => a.max_payload_bytes - b.max_payload_bytes);
  const drawn = limits.filter((link) => link.max_payload_bytes <= scale);
  byId("flags").replaceChildren(...drawn.map((link) => flag(link, scale)));
  byId("sizes").replaceChildren(...rows.map((row) => bar(row, scale, limits, drawn)));
  const readable = answer.messages - answer.unread;
  setText(byId("sizes-note"), formats.length ? `${count(readable - answer.broken || readable)} measured` : "");
  const isCut = rows.some((row) => row.largest_bytes > scale);
  setText(byId("sizes-foot"), [isCut ? "A bar with a pointed end is longer than the chart." : "", ...notes(answer, limits.filter((link) => !drawn.includes(link)), refused, enough)].filter(Boolean).join(" "));
}

function flag(link, scale) {
  const place = (100 * link.max_payload_bytes) / scale;
  const label = el("span", { class: place > 60 ? "left" : "right" }, `${link.max_payload_bytes} B ${link.name}`);
  label.style.setProperty("--place", `${place}%`);
  return el("li", {}, el("span", { class: "unseen" }, "Limit: "), label);
}

function bar(row, scale, limits, drawn) {
  const mean = el("div", { class: row.lossless ? "bar" : "bar lossy" });
  mean.style.width = share(row.mean_bytes, scale);
  mean.classList.toggle("beyond", row.mean_bytes > scale);
  const track = el("div", { class: "track", "aria-hidden": "true" }, mean);
  if (row.largest_bytes > row.mean_bytes && row.mean_bytes < scale) {
    const most = el("div", { class: row.largest_bytes > scale ? "most beyond" : "most" });
    [most.style.left, most.style.width] = [share(row.mean_bytes, scale), share(Math.min(row.largest_bytes, scale) - row.mean_bytes, scale)];
    track.append(most);
  }
  for (const link of drawn) {
    const line = el("div", { class: "limit" });
    line.style.left = share(link.max_payload_bytes, scale);
    track.append(line);
  }
  const fitting = limits.filter((link) => row.largest_bytes <= link.max_payload_bytes);
  const fits = limits.length ? `${fitting.length} of ${limits.length}` : "–";
  const cell = (text, attributes = {}) => el("td", { role: "cell", class: "number", ...attributes }, text);
  const name = [row.format, row.note ? el("span", { class: "soft" }, ` ${row.note}`) : ""];
  return el(
    "tr",
    { role: "row" },
    el("th", { role: "rowheader", scope: "row" }, ...name),
    el("td", { role: "cell", class: "bar-cell" }, track),
    cell(`${short.format(row.mean_bytes)} B`),
    cell(bytes(row.largest_bytes)),
    cell(fits, { title: fitting.map((link) => link.name).join(", ") }),
  );
}

function notes({ formats, messages, unread, broken, trained }, beyond, refused, enough) {
  const notes = [];
  const packed = formats.find((format) => format.format === "packed");
  if (packed?.schema_max_bytes) notes.push(`The schema allows packed messages of at most ${bytes(packed.schema_max_bytes)}.`);
  if (trained) notes.push(`Trained on these messages, without deltas; the schema grows by ${bytes(trained.statistics_bytes)} of statistics. Other messages take a little more.`);
  else if (formats.length) notes.push(`From ${count(enough)} messages on, packed is also shown as trained.`);
  if (beyond.length) notes.push(`Beyond the chart: ${beyond.map((link) => `${link.name} ${count(link.max_payload_bytes)} B`).join(", ")}.`);
  if (unread) notes.push(`${count(unread)} of ${count(messages)} messages cannot be read and ${unread === 1 ? "is" : "are"} left out.`);
  if (broken && broken < messages - unread) notes.push(`${count(broken)} of ${count(messages)} messages break the schema and are left out.`);
  for (const { format, reason } of refused) notes.push(`${format} cannot carry ${reason}.`);
  return notes;
}
