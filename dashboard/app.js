// The entry point: loads, follows the stream, and draws: user actions at once, events ten times a second.

import * as address from "./address.js";
import * as api from "./api.js";
import { DeviceView } from "./device.js";
import { DevicesView } from "./devices.js";
import { byId, setAttribute } from "./dom.js";
import { FleetView } from "./fleet.js";
import { FormatsView } from "./formats.js";
import { LATE, LateView } from "./late.js";
import { MapView } from "./map.js";
import { MessageView } from "./message.js";
import { MessagesView } from "./messages.js";
import { OperationsView } from "./operations.js";
import { OutputsView } from "./outputs.js";
import { RegisterView } from "./register.js";
import { QuarantineView } from "./quarantine.js";
import { LIMITS, Store } from "./store.js";
import { ConnectionView, ScopeView, TotalsView, WelcomeView } from "./status.js";

/** Milliseconds for which events are collected before they are drawn: nobody reads fifty changes a second. */
const GATHER = 100;
/** Minimum milliseconds between a load and the next one, which fetches what the stream omitted. */
const CATCH_UP = 5000;
/** How many of the devices such a load fetches, if the page has more, and the milliseconds after which it fetches all of them again. */
const CATCH_UP_DEVICES = 1000;
const ALL = 60_000;
/** Minimum milliseconds between two loads of the chosen device. */
const REFRESH = 5000;
/** Milliseconds between two loads of the devices that are late. */
const LATE_REFRESH = 10_000;
/** Milliseconds after the last letter that is typed until devices are searched. */
const FIND = 200;

const store = new Store();
const connection = { state: "connecting", until: 0 };
const fleet = new FleetView((wanted, replace) => show(address.parse(address.format({ view: "fleet", fleet: wanted })), replace), choose);
const register = new RegisterView(choose);
/** @type {any[]} Each draws what it shows of the store. */
const views = [
  fleet,
  new ConnectionView(connection),
  new ScopeView(),
  new LateView(choose),
  new TotalsView(),
  new WelcomeView(),
  new FormatsView(),
  new DeviceView(choose, (change) => show({ ...shown, device: store.chosen, find: "", ...change })),
  new MessageView(() => show({ ...shown, message: "" })),
  new MapView(choose),
  new DevicesView(choose),
  new MessagesView(draw, (message) => address.format({ ...shown, message }), (message) => show({ ...shown, message })),
  new QuarantineView(),
  new OutputsView(),
  register,
  new OperationsView((message) => address.format({ ...shown, message }), (message) => show({ ...shown, message })),
];

/** The address that is shown. */
let shown = address.current();
let refreshing = 0;
let finding = 0;
/** Events that arrive during a load; null outside of loads. */
let waiting = null;
let loading = null;
let loadedAt = 0;
let allLoadedAt = 0;
let lateAt = 0;
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
    const scope = await api.scope();
    const [stats, devices, messages, quarantine] = await Promise.all([
      scope.everything ? api.stats() : null,
      loadDevices(),
      api.messages(LIMITS.messages),
      api.quarantine(LIMITS.quarantine),
    ]);
    store.load({ scope: scope.everything ? null : scope, stats, devices, messages, quarantine });
  } finally {
    const arrived = waiting;
    waiting = null;
    loadedAt = Date.now();
    for (const [kind, object] of arrived) store.apply(kind, object);
  }
  if (store.scope && shown.view === "operations") show(address.parse(""), true);
  await Promise.all([loadDevice(), loadMessage(), loadFound(), loadLate()]);
  draw();
}

/** Loads everything again after tags have changed, because the page may read other devices now. Those of before are gone at once. */
function rescope() {
  allLoadedAt = lateAt = 0;
  store.forget();
  draw();
  // A load that is in progress may have read what was before.
  Promise.resolve(loading).catch(() => {}).then(load).catch(() => {});
  fleet.reload();
  register.reload();
}

/** Loads all devices that the page keeps, or, soon after that, only those that sent last. */
async function loadDevices() {
  if (store.devices.size > CATCH_UP_DEVICES && Date.now() < allLoadedAt + ALL) {
    const newest = await api.newestDevices(CATCH_UP_DEVICES);
    return store.withNewer(newest);
  }
  const all = await api.newestDevices(LIMITS.devices);
  allLoadedAt = Date.now();
  return all;
}

/** Loads the devices whose names have the typed part, which may not be among those that sent last. */
async function loadFound() {
  const part = shown.find;
  const known = store.stats?.devices ?? store.devices.size + 1;
  if (!part || shown.view || known <= LIMITS.devices) return;
  const found = await api.newestDevices(LIMITS.found, { find: part });
  if (shown.find === part) store.find(found);
}

/** Loads the devices that are late, for the overview, unless that was just done. */
async function loadLate() {
  if (shown.view || shown.device || Date.now() < lateAt + LATE_REFRESH / 5) return;
  lateAt = Date.now();
  store.late = await api.devices({ late: true, sort: "late", limit: LATE });
}

function findSoon() {
  clearTimeout(finding);
  finding = setTimeout(() => loadFound().catch(() => {}).finally(draw), FIND);
}

/** Loads the message of the address. */
async function loadMessage() {
  const id = shown.message;
  if (!id) store.message = null;
  if (!id || (store.message?.id === id && store.message.detail)) return;
  store.message = { id, detail: null };
  const detail = await api.found(api.message(id));
  if (shown.message === id) store.message = { id, detail, missing: detail === null };
}

/** Loads the chosen device in the time range of the address. */
async function loadDevice() {
  const name = store.chosen;
  if (!name) {
    store.device = store.history = null;
    return;
  }
  const at = shown;
  const range = address.range(at, Date.now() + api.skew);
  if (store.device?.name !== name || store.device.address !== at) store.device = { name, address: at, range, series: null, messages: [], quarantine: [], others: (at.with ?? []).map((name) => ({ name })) };
  // A device may have messages in the quarantine alone.
  const quarantine = await api.quarantine(LIMITS.quarantine, { device: name });
  const all = Promise.all([api.series(name, range), api.history(name, { ...range, limit: LIMITS.table }), api.device(name)]);
  const [series, messages, about] = (await api.found(all)) ?? [null, [], null];
  const others = [];
  // One after the other: the gateway answers few such requests at a time.
  for (const other of at.with ?? []) others.push({ name: other, series: await api.found(api.series(other, range)) });
  if (store.chosen !== name || shown !== at) return;
  store.device = { name, address: at, range, series, messages, about, quarantine, others, missing: series === null };
  store.history = { device: name, messages: messages.slice(0, LIMITS.shown), live: range.until === null };
  if (range.until === null) store.admit(messages[0]);
}

/** Loads the chosen device again soon if `object`, a message or a quarantined one, is from it or from one that it is compared with. */
function refreshSoon(object) {
  const { name, range, others } = store.device ?? {};
  if (range?.until !== null || (object.device !== name && !others.some((other) => other.name === object.device))) return;
  refreshing ||= setTimeout(() => {
    refreshing = 0;
    // A failure here is a failure of the connection, which then loads everything again.
    loadDevice().catch(() => {}).finally(draw);
  }, REFRESH);
}

function fetchMissed() {
  catchUp = 0;
  // A failure here is a failure of the connection, which then loads everything again.
  load().catch(() => {});
}

function apply(kind, object) {
  if (kind === "scope") {
    rescope();
    return;
  }
  if (waiting) {
    waiting.push([kind, object]);
    return;
  }
  store.apply(kind, object);
  if (kind !== "stats") refreshSoon(object);
  if (store.behind) catchUp ||= setTimeout(fetchMissed, loadedAt + CATCH_UP - Date.now());
  drawSoon();
}

const filter = byId("filter");
const clear = byId("filter-clear");

/** Shows the view of `next`. With `replace`, "back" does not return to the previous view. */
function show(next, replace = false) {
  shown = next;
  address.go(next, replace);
  store.filter = next.device || next.find;
  fleet.look(next);
  store.exact = next.device !== "";
  if (filter.value.trim() !== store.filter) filter.value = store.filter;
  clear.hidden = store.filter === "";
  for (const view of document.querySelectorAll(".view")) view.hidden = view.dataset.view !== next.view;
  for (const link of document.querySelectorAll("[data-goes]")) setAttribute(link, "aria-current", link.dataset.goes === next.view ? "page" : "false");
  document.title = next.device ? `${next.device} – Dunnage gateway` : "Dunnage gateway";
  findSoon();
  for (const load of [loadDevice, loadMessage, loadLate]) load().catch(() => {}).finally(draw);
  draw();
}

/** Shows one device, or all (""). What was clicked may be hidden then. */
function choose(device) {
  show(address.parse(address.format({ device })));
  if (!device) return;
  requestAnimationFrame(() => {
    scrollTo(0, 0);
    byId("device-title").focus({ preventScroll: true });
  });
}

filter.addEventListener("input", () => {
  const text = filter.value.trim();
  if (shown.view === "fleet") {
    const { find, cursor, ...rest } = shown.fleet;
    show(address.parse(address.format({ view: "fleet", fleet: { ...rest, ...(text && { find: text }) } })), true);
    return;
  }
  show(address.parse(address.format(store.devices.has(text) ? { device: text } : { find: text })), true);
});
for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("[data-goes]"))) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab or window
    event.preventDefault();
    show(address.parse(link.search));
  });
}
clear.addEventListener("click", () => {
  show(address.parse(address.format({ view: shown.view })));
  filter.focus();
});

setInterval(draw, 1000); // ages grow
setInterval(() => {
  // A failure here is a failure of the connection, which then loads everything again.
  if (connection.state !== "live" || document.visibilityState !== "visible") return;
  // Without counts of all messages, nothing says what the stream, which is a sample, has omitted.
  (store.scope ? load() : loadLate()).catch(() => {});
}, LATE_REFRESH);
address.follow((next) => show(next, true));
show(shown, true);

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
