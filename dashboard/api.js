// The gateway's JSON API: what it has, and what happens.

import { parse } from "./value.js";

/** Milliseconds that the gateway's clock is ahead of this one's. */
export let skew = 0;

/** An address of the gateway. Not that of the page, which may have a user and a password in it, and which fetch() refuses then. */
const at = (path) => new URL(path, location.origin);

async function get(path, read = parse) {
  const response = await fetch(at(path), { headers: { accept: "application/json" }, cache: "no-store" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  const date = Date.parse(response.headers.get("date"));
  // The header has whole seconds; small differences are its rounding.
  if (!Number.isNaN(date)) skew = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0;
  return read(await response.text());
}

export const stats = () => get("/api/stats", JSON.parse); // figures to reckon with, whose digits do not matter
export const devices = async (limit) => (await get(`/api/devices?limit=${limit}`)).devices;
export const messages = async (limit) => (await get(`/api/messages?limit=${limit}`)).messages;
export const quarantine = async (limit) => (await get(`/api/quarantine?limit=${limit}`)).messages;
export const history = async (device, limit) =>
  (await get(`/api/devices/${encodeURIComponent(device)}/messages?limit=${limit}`)).messages;

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const KINDS = { message: parse, quarantine: parse, stats: JSON.parse };

/**
 * Follows /api/events. EventSource itself tries again at a fixed pace and gives up on an error status, so each try is a
 * new one, after a wait that doubles from 1 s to 30 s.
 *
 * `opened()` may be async: when it fails, the connection counts as lost. `event(kind, object)` is called for each event,
 * `lost(until)` with the time of the next try.
 */
export function follow({ opened, event, lost }) {
  let wait = FIRST_WAIT;
  function connect() {
    const source = new EventSource(at("/api/events"));
    const retry = () => {
      if (source.readyState === EventSource.CLOSED && source.retired) return;
      source.retired = true;
      source.close();
      // Spread, so that many pages do not come back at one moment.
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
