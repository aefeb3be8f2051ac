// Reads the gateway's JSON API, and follows its event stream.

import { parse } from "./value.js";

/** Milliseconds by which the gateway's clock is ahead of this one. */
export let skew = 0;

/** The absolute URL of a path of the gateway. It is not relative to the page's URL, which may contain a user and a
 * password, and which fetch() then rejects. */
export const at = (path) => new URL(path, location.origin);

export async function get(path, read = parse) {
  const response = await fetch(at(path), { headers: { accept: "application/json" }, cache: "no-store" });
  if (!response.ok) throw Object.assign(new Error(`${path}: ${response.status}`), { status: response.status });
  const date = Date.parse(response.headers.get("date"));
  // The header has whole seconds, so small differences may be rounding.
  if (!Number.isNaN(date)) skew = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0;
  return read(await response.text());
}

/** What the token of this page may read: everything, or the devices of a pattern and with tags. */
export const scope = () => get("/api/scope", JSON.parse);
export const stats = () => get("/api/stats", JSON.parse); // numbers for calculation, whose exact digits do not matter
/** A page of the devices. `wanted` has the parameters of /api/devices. */
export const devices = (wanted) => get(`/api/devices?${new URLSearchParams(wanted)}`, JSON.parse);

/** At most `limit` devices: those that sent last. */
export async function newestDevices(limit, wanted = {}) {
  const all = [];
  let page = { next: null };
  do {
    const cursor = page.next ? { cursor: page.next } : {};
    page = await devices({ ...wanted, ...cursor, limit: Math.min(limit - all.length, 1000) });
    all.push(...page.devices);
  } while (page.next && all.length < limit);
  return all;
}

/** One device, or null if nothing of it is stored. */
export const device = (name) => get(`/api/devices/${encodeURIComponent(name)}`, JSON.parse);

export const messages = async (limit) => (await get(`/api/messages?limit=${limit}`)).messages;
/** The newest messages of the quarantine. `wanted` may have a device. */
export const quarantine = async (limit, wanted = {}) => (await get(`/api/quarantine?${new URLSearchParams({ ...wanted, limit })}`)).messages;
const time = (milliseconds) => milliseconds && new Date(milliseconds).toISOString();

function query({ from, until, limit, before }) {
  const given = Object.entries({ from: time(from), until: time(until), limit, before }).filter(([, value]) => value);
  return new URLSearchParams(given).toString();
}

/** The newest messages of a device: of the times from `from` until `until`, and with IDs below `before`, if these are given. */
export const history = async (device, range) =>
  (await get(`/api/devices/${encodeURIComponent(device)}/messages?${query(range)}`)).messages;

/** A message with its bytes and their meaning. Only the numbers of the value keep their digits; the others are for calculation. */
export const message = (id) => get(`/api/messages/${id}`, (text) => ({ ...JSON.parse(text), value: parse(text).value }));

/** The numbers of a device over time. */
export const series = (device, range) => get(`/api/devices/${encodeURIComponent(device)}/series?${query(range)}`, JSON.parse);

/** The result of `answer`, or null if the gateway has no such thing. */
export async function found(answer) {
  try {
    return await answer;
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    return null;
  }
}

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const KINDS = { message: parse, quarantine: parse, stats: JSON.parse, scope: JSON.parse };

/**
 * Follows /api/events. EventSource itself reconnects at a fixed interval and gives up on an error status, so each
 * attempt uses a new one, after a wait that doubles from 1 s to 30 s.
 *
 * `opened()` may be async: if it fails, the connection counts as lost. `event(kind, object)` is called for each event,
 * `lost(until)` with the time of the next attempt, in milliseconds since 1970.
 */
export function follow({ opened, event, lost }) {
  let wait = FIRST_WAIT;
  function connect() {
    const source = new EventSource(at("/api/events"));
    let isRetired = false;
    const retry = () => {
      if (source.readyState === EventSource.CLOSED && isRetired) return;
      isRetired = true;
      source.close();
      // Randomized, so that many pages do not reconnect at once.
      const pause = wait * (0.75 + Math.random() / 2);
      wait = Math.min(wait * 2, LONGEST_WAIT);
      lost(Date.now() + pause);
      setTimeout(connect, pause);
    };
    source.onerror = retry;
    source.onopen = async () => {
      try {
        await opened();
        wait = FIRST_WAIT;
      } catch {
        retry();
      }
    };
    for (const [kind, read] of Object.entries(KINDS)) source.addEventListener(kind, (e) => event(kind, read(e.data)));
  }
  connect();
}
