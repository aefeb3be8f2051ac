// The entry point: loads, follows the stream, and draws: user actions at once, events ten times a second.

import * as api from "./api.js";
import { DevicesView } from "./devices.js";
import { FormatsView } from "./formats.js";
import { MapView } from "./map.js";
import { MessagesView } from "./messages.js";
import { OutputsView } from "./outputs.js";
import { QuarantineView } from "./quarantine.js";
import { LIMITS, Store } from "./store.js";
import { ConnectionView, TotalsView, WelcomeView } from "./status.js";

/** Milliseconds for which events are collected before they are drawn: nobody reads fifty changes a second. */
const GATHER = 100;
/** Minimum milliseconds between a load and the next one, which fetches what the stream omitted. */
const CATCH_UP = 5000;

const store = new Store();
const connection = { state: "connecting", until: 0 };
const views = [
  new ConnectionView(connection),
  new TotalsView(),
  new WelcomeView(),
  new FormatsView(),
  new MapView(choose),
  new DevicesView(choose),
  new MessagesView(draw, choose),
  new QuarantineView(),
  new OutputsView(),
];

/** Events that arrive during a load; null outside of loads. */
let waiting = null;
let loading = null;
let loadedAt = 0;
let frame = 0;
let gathering = 0;
let catchUp = 0;

function draw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    for (const view of views) view.draw(store);
  });
}

function drawSoon() {
  gathering ||= setTimeout(() => {
    gathering = 0;
    draw();
  }, GATHER);
}

/** Loads everything; calls during a load share it. */
function load() {
  loading ??= loadAll().finally(() => (loading = null));
  return loading;
}

async function loadAll() {
  waiting = [];
  try {
    const [stats, devices, messages, quarantine] = await Promise.all([
      api.stats(),
      api.devices(LIMITS.devices),
      api.messages(LIMITS.messages),
      api.quarantine(LIMITS.quarantine),
    ]);
    store.load({ stats, devices, messages, quarantine });
  } finally {
    const arrived = waiting;
    waiting = null;
    loadedAt = Date.now();
    for (const [kind, object] of arrived) store.apply(kind, object);
  }
  await loadHistory();
  draw();
}

async function loadHistory() {
  const device = store.chosen;
  if (!device) {
    store.history = null;
    return;
  }
  const messages = await api.history(device, LIMITS.shown);
  if (store.chosen === device) store.history = { device, messages };
}

function fetchMissed() {
  catchUp = 0;
  // A failure here is a failure of the connection, which then loads everything again.
  load().catch(() => {});
}

function apply(kind, object) {
  if (waiting) {
    waiting.push([kind, object]);
    return;
  }
  store.apply(kind, object);
  if (store.behind) catchUp ||= setTimeout(fetchMissed, loadedAt + CATCH_UP - Date.now());
  drawSoon();
}

const filter = document.getElementById("filter");
const clear = document.getElementById("filter-clear");

/** Shows one device, or all (""). */
function choose(device) {
  filter.value = device;
  store.filter = device.trim();
  clear.hidden = device === "";
  loadHistory().catch(() => {}).finally(draw);
  draw();
}

filter.addEventListener("input", () => choose(filter.value));
clear.addEventListener("click", () => {
  choose("");
  filter.focus();
});

setInterval(draw, 1000); // ages grow
choose(filter.value); // a browser may restore the text of the input

api.follow({
  event: apply,
  async opened() {
    await load();
    connection.state = "live";
    draw();
  },
  lost(until) {
    connection.state = "reconnecting";
    connection.until = until;
    draw();
  },
});
