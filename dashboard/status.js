// The connection, the totals, and the welcome text of a gateway without messages.

import { skew } from "./api.js";
import { byId, el, setAttribute, setText } from "./dom.js";
import { age, bytes, count, counted, rate, secondTime, total } from "./format.js";
import { LIMITS } from "./store.js";

const STATES = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting" };

export class ConnectionView {
  constructor(connection) {
    this.connection = connection;
  }

  draw() {
    const { state, until } = this.connection;
    setAttribute(byId("connection"), "data-state", state);
    setText(byId("connection-text"), STATES[state]);
    const seconds = Math.ceil((until - Date.now()) / 1000);
    setText(byId("connection-wait"), state === "reconnecting" && seconds > 0 ? `in ${seconds} s` : "");
  }
}

/**
 * Each row: name, figure, an explanation of the figure ("–" without data), and a function that returns both for the devices that a filter shows, if
 * figures per device exist.
 * @type {any[][]}
 */
const TOTALS = [
  ["Messages", (s) => total(s.stored), (s) => `${count(s.received)} received`, messages],
  ["Devices", (s) => total(s.devices), (_, { messages }) => lastMessage(messages[0]), devices],
  ["Success rate", (s) => (s.received > s.refused ? rate(s.success_rate) : "–"), failures],
  ["Compression", (s) => (s.stored ? `${s.compression_ratio.toFixed(2)}×` : "–"), saved],
  ["Queue depth", (s) => total(s.queue_depth), (s) => `of ${count(s.queue_capacity)}`],
];

function messages(stats, store) {
  return [total(store.shownCount()), `of ${count(stats.stored)}`];
}

function devices(stats, store) {
  const shown = store.shownDevices();
  const newest = shown.reduce((newest, last) => (newest && newest.id > last.id ? newest : last), undefined);
  return [total(shown.length), `of ${count(stats.devices)}, ${lastMessage(newest)}`];
}

function lastMessage(newest) {
  if (!newest) return "no messages yet";
  const since = age(Date.now() + skew - Date.parse(newest.received_at));
  return since === "now" ? "last message just now" : `last message ${since} ago`;
}

function failures(stats) {
  const { refused, duplicates } = stats;
  const parts = [`${count(stats.in_quarantine)} in quarantine`];
  if (duplicates > 0) parts.push(counted(duplicates, "duplicate"));
  // A wrong token does not count as a failed message.
  if (refused > 0) parts.push(`${count(refused)} refused, not counted`);
  return parts.join(", ");
}

function saved(stats) {
  if (!stats.stored) return "JSON size / received size";
  const sum = (key) => stats.formats.reduce((all, format) => all + format[key], 0);
  return `${bytes(sum("json_bytes"))} JSON, ${bytes(sum("bytes"))} received`;
}

export class TotalsView {
  constructor() {
    this.tiles = TOTALS.map(([name]) => {
      const figure = el("dd", { class: "figure" }, "–");
      const explanation = el("dd", { class: "soft" });
      const tile = el("div", {}, el("dt", {}, name), figure, explanation);
      byId("totals").append(tile);
      return { tile, figure, explanation };
    });
  }

  draw(store) {
    TOTALS.forEach(([name], at) => (this.tiles[at].tile.hidden = store.scope !== null && !PART[name]));
    if (store.scope) this.#drawPart(store);
    if (!store.stats) return;
    const { stats } = store;
    TOTALS.forEach(([, figure, explanation, filtered], at) => {
      let texts = [figure(stats), explanation(stats, store)];
      if (store.filter) texts = filtered ? filtered(stats, store) : [texts[0], `all devices: ${texts[1]}`];
      setText(this.tiles[at].figure, texts[0]);
      setText(this.tiles[at].explanation, texts[1]);
    });
    setText(byId("about"), `Dunnage ${stats.version}, running since ${secondTime(stats.started_at)}`);
  }

  #drawPart(store) {
    TOTALS.forEach(([name], at) => {
      const [figure, explanation] = PART[name]?.(store) ?? ["", ""];
      setText(this.tiles[at].figure, figure);
      setText(this.tiles[at].explanation, explanation);
    });
  }
}

/** The figures of a part of the devices, from their list. */
const PART = {
  Messages: (store) => [total(store.shownCount()), store.filter ? "" : listed(store)],
  Devices: (store) => [total(store.shownDevices().length), lastMessage(store.messages[0])],
};

const listed = ({ devices }) => (devices.size < LIMITS.devices ? "" : `of the ${count(LIMITS.devices)} devices that sent last`);

/** Says once that the page shows a part of the devices, and hides what is about the whole gateway. */
export class ScopeView {
  note = byId("scope");

  draw({ scope, devices, quarantine }) {
    this.note.hidden = !scope;
    byId("formats-panel").hidden = scope !== null;
    byId("operations-link").hidden = scope !== null;
    if (!scope) return;
    const empty = devices.size === 0 && quarantine.length === 0;
    setText(this.note, `This token shows a part of the fleet: ${partOf(scope)}.${empty ? " None of them has sent anything yet." : ""}`);
  }
}

/** The devices of a part, as `dunnage gateway token list` writes them. */
export function partOf({ device, tags }) {
  const wanted = Object.entries(tags).map(([key, value]) => `${key}=${value}`).join(", ");
  return ["devices", device, wanted && `with ${wanted}`].filter(Boolean).join(" ");
}

const FIRST = JSON.stringify({ temperature: 21.5, latitude: 43.3, longitude: 5.2 });

export class WelcomeView {
  constructor() {
    const command = `curl -i '${location.origin}/ingest/my-first-device' \\\n  -H 'Content-Type: application/json' \\\n  -d '${FIRST}'`;
    setText(byId("welcome-command"), command);
    const copy = byId("welcome-copy");
    copy.hidden = !navigator.clipboard; // only in a secure context
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command);
      setText(copy, "Copied");
      setTimeout(() => setText(copy, "Copy"), 2000);
    });
  }

  draw({ stats, scope, devices, quarantine }) {
    if (!stats && !scope) return;
    byId("welcome").hidden = devices.size > 0 || scope !== null;
    byId("board").hidden = devices.size === 0 && quarantine.length === 0;
  }
}
