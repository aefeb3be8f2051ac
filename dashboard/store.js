// The state of the page. Every list has a limit; views only read it.

import { short } from "./value.js";

export const LIMITS = { devices: 5000, found: 500, messages: 200, shown: 50, table: 200, quarantine: 20 };

export class Store {
  /** Counts of the whole gateway; null for a token that reads a part of the devices. */
  stats = null;
  /** The part of the devices that is shown, as /api/scope answers; null for all. */
  scope = null;
  /** How often everything was forgotten. */
  epoch = 0;
  /** The last message of each device, by device, with its position in place of its value. */
  devices = new Map();
  /** The number of messages that each of them has sent. */
  #counts = new Map();
  /** Newest first. */
  messages = [];
  quarantine = [];
  /** Part of a device's name, or with `exact` all of it. */
  filter = "";
  exact = false;
  /**
   * The chosen device: its name, the address and time range, its messages there and its numbers, what it has in quarantine, and the series of those
   * that it is compared with; or null.
   */
  device = null;
  /** The first devices that are late, as /api/devices answers, or null. */
  late = null;
  /** The chosen message: its ID and what the API knows of it; or null. */
  message = null;
  /** The newest messages of the chosen device in that range, or null. `live` tells whether new messages belong there. */
  history = null;
  /** Devices that were found for the filter, with their last messages then. They may not be among those that sent last. */
  #found = new Map();
  /** The answer of `shownDevices` and the filter that it is for; null after a change. */
  #shown = null;
  /** Messages stored since the last load minus those that the stream delivered. */
  #missed = 0;
  #delivered = 0;

  /** Forgets everything but the filter, because the page may read other devices than before. */
  forget() {
    this.load({ scope: this.scope, stats: null, devices: [], messages: [], quarantine: [] });
    this.device = this.late = this.message = this.history = null;
    this.#found = new Map();
    this.epoch += 1;
  }

  /** Replaces everything by the API's answers. */
  load({ scope, stats, devices, messages, quarantine }) {
    this.scope = scope;
    this.stats = stats;
    this.devices = byDevice(devices);
    this.#shown = null;
    this.#counts = new Map(devices.map(({ device, messages }) => [device, messages]));
    this.messages = messages;
    this.quarantine = quarantine;
    this.#missed = 0;
    this.#delivered = 0;
  }

  /** Applies one event of the stream. Known messages change nothing. */
  apply(kind, object) {
    if (kind === "stats") this.#applyStats(object);
    else if (kind === "quarantine") this.#applyReject(object);
    else this.#applyMessage(object);
  }

  #applyStats(stats) {
    this.#missed += stats.stored - (this.stats?.stored ?? stats.stored) - this.#delivered;
    this.#delivered = 0;
    this.stats = stats;
  }

  #applyReject(reject) {
    this.quarantine = newest(this.quarantine, reject, LIMITS.quarantine);
    if (this.device?.name === reject.device) this.device.quarantine = newest(this.device.quarantine, reject, LIMITS.quarantine);
  }

  /** Whether the stream, which is a sample, has omitted messages or devices that the page should show. */
  get behind() {
    if (!this.stats) return false;
    // Figures and messages are not sent at the same time, so small differences are ignored.
    return this.#missed > 5 || this.devices.size < Math.min(this.stats.devices, LIMITS.devices);
  }

  #applyMessage(message) {
    this.#delivered += 1;
    this.messages = newest(this.messages, message, LIMITS.messages);
    if (this.history?.live && this.history.device === message.device) {
      this.history = { ...this.history, messages: newest(this.history.messages, message, LIMITS.shown) };
    }
    const last = this.devices.get(message.device);
    if (last && last.id >= message.id) return;
    this.devices.set(message.device, lastOf(message));
    if (last) this.#renew(message.device);
    else this.#shown = null;
    this.#counts.set(message.device, (this.#counts.get(message.device) ?? 0) + 1);
    if (this.devices.size > LIMITS.devices) this.#forgetOldest();
  }

  /** Replaces the last message of a known device in the sorted list, so that the list need not be sorted again. */
  #renew(device) {
    const shown = this.#shown?.devices ?? [];
    let [from, until] = [0, shown.length];
    while (from < until) {
      const middle = (from + until) >> 1;
      if (shown[middle].device < device) from = middle + 1;
      else until = middle;
    }
    if (shown[from]?.device === device) shown[from] = this.devices.get(device);
  }

  #forgetOldest() {
    let oldest = null;
    for (const last of this.devices.values()) if (!oldest || last.id < oldest.id) oldest = last;
    this.devices.delete(oldest.device);
    this.#shown = null;
    this.#counts.delete(oldest.device);
  }

  /** Adds the last message of the chosen device, which may not be among those that sent last. */
  admit(last) {
    if (!last) return;
    this.#found = new Map([[last.device, lastOf(last)]]);
    this.#shown = null;
  }

  /** Adds devices that the API has found for the filter. */
  find(devices) {
    this.#found = byDevice(devices);
    this.#shown = null;
    for (const { device, messages } of devices) if (!this.devices.has(device)) this.#counts.set(device, messages);
  }

  /** The known devices as the API has them, with `newest` in place of older messages. */
  withNewer(newest) {
    const replaced = new Set(newest.map(({ device }) => device));
    const others = [...this.devices.values()].filter(({ device }) => !replaced.has(device));
    const all = [...newest, ...others.map((last) => ({ device: last.device, messages: this.#counts.get(last.device), last }))];
    return all.slice(0, LIMITS.devices);
  }

  matches(device) {
    return this.filter === "" || device.toLowerCase().includes(this.filter.toLowerCase());
  }

  /** The device that the filter names in full, or null. */
  get chosen() {
    return (this.exact && this.filter) || this.devices.has(this.filter) ? this.filter : null;
  }

  /** The last messages of the devices that match the filter, sorted by name. */
  shownDevices() {
    if (this.#shown?.filter === this.filter && this.#shown.exact === this.exact) return this.#shown.devices;
    const found = this.filter ? [...this.#found.values()].filter((last) => !this.devices.has(last.device)) : [];
    const shown = [...this.devices.values(), ...found].filter((last) => this.#isShown(last.device));
    shown.sort((a, b) => (a.device < b.device ? -1 : 1));
    this.#shown = { filter: this.filter, exact: this.exact, devices: shown };
    return shown;
  }

  /** Whether a device is among those that sent last, or was found. */
  knows(device) {
    return this.devices.has(device) || this.#found.has(device);
  }

  /** The number of messages that the shown devices have sent. */
  shownCount() {
    return this.shownDevices().reduce((sum, last) => sum + (this.#counts.get(last.device) ?? 0), 0);
  }

  shownMessages() {
    const chosen = this.chosen;
    const from = chosen && this.history?.device === chosen ? this.history.messages : this.messages;
    return from.filter((message) => this.#isShown(message.device)).slice(0, LIMITS.shown);
  }

  shownQuarantine() {
    return this.chosen && this.device?.name === this.chosen ? this.device.quarantine : this.quarantine.filter((reject) => this.matches(reject.device));
  }

  /** A full name matches only that device, even if it is part of another's name. */
  #isShown(device) {
    return this.chosen ? device === this.chosen : this.matches(device);
  }
}

/** The last messages by device. A device of which there are messages in the quarantine alone has none. */
const byDevice = (devices) => new Map(devices.filter(({ last }) => last).map(({ device, last }) => [device, { ...last, device }]));

/**
 * The fields of a message that the lists and the map need, without its value, which may be large. Numbers of messages keep their original digits; the
 * map needs numbers to calculate with.
 */
function lastOf({ id, device, received_at, format, schema, link, bytes, position }) {
  const [latitude, longitude] = [position?.latitude, position?.longitude].map((degrees) => Number(short(degrees)));
  return { id, device, received_at, format, schema, link, bytes, position: position && { latitude, longitude } };
}

/** `list`, newest first, with `object` inserted in order; the same list if it contains `object` already, or if `object` is too old. */
function newest(list, object, limit) {
  if (list.some((known) => known.id === object.id)) return list;
  const at = list.findIndex((known) => known.id < object.id);
  const place = at < 0 ? list.length : at;
  return [...list.slice(0, place), object, ...list.slice(place)].slice(0, limit);
}
