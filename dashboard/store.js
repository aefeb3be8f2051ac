// What the page knows. Everything has a bound; views read it and never write.

export const LIMITS = { devices: 500, messages: 200, shown: 50, quarantine: 20 };

export class Store {
  stats = null;
  /** The last message of each device, by device. */
  devices = new Map();
  /** How many messages each of them has sent. */
  #counts = new Map();
  /** Newest first. */
  messages = [];
  quarantine = [];
  /** Part of a device's name, as typed. */
  filter = "";
  /** The newest messages of the one device that the filter names, or null. */
  history = null;
  /** Messages stored since the last load, less those that the stream brought. */
  #missed = 0;
  #delivered = 0;

  /** Replaces everything by what the API said. */
  load({ stats, devices, messages, quarantine }) {
    this.stats = stats;
    this.devices = new Map(devices.map(({ device, last }) => [device, last]));
    this.#counts = new Map(devices.map(({ device, messages }) => [device, messages]));
    this.messages = messages;
    this.quarantine = quarantine;
    this.#missed = 0;
    this.#delivered = 0;
  }

  /** Takes one event of the stream. What is known already changes nothing. */
  take(kind, object) {
    if (kind === "stats") this.#takeStats(object);
    else if (kind === "quarantine") this.quarantine = newest(this.quarantine, object, LIMITS.quarantine);
    else this.#takeMessage(object);
  }

  #takeStats(stats) {
    this.#missed += stats.stored - (this.stats?.stored ?? stats.stored) - this.#delivered;
    this.#delivered = 0;
    this.stats = stats;
  }

  /** Whether the stream, which is a sample, has left out what should be here. */
  get behind() {
    if (!this.stats) return false;
    // Figures and messages are not sent at one moment: a few of difference mean nothing.
    return this.#missed > 5 || this.devices.size < Math.min(this.stats.devices, LIMITS.devices);
  }

  #takeMessage(message) {
    this.#delivered += 1;
    this.messages = newest(this.messages, message, LIMITS.messages);
    if (this.history?.device === message.device) {
      this.history = { ...this.history, messages: newest(this.history.messages, message, LIMITS.shown) };
    }
    const last = this.devices.get(message.device);
    if (last && last.id >= message.id) return;
    this.devices.set(message.device, message);
    this.#counts.set(message.device, (this.#counts.get(message.device) ?? 0) + 1);
    if (this.devices.size > LIMITS.devices) this.#forgetOldest();
  }

  #forgetOldest() {
    let oldest = null;
    for (const last of this.devices.values()) if (!oldest || last.id < oldest.id) oldest = last;
    this.devices.delete(oldest.device);
    this.#counts.delete(oldest.device);
  }

  matches(device) {
    return this.filter === "" || device.toLowerCase().includes(this.filter.toLowerCase());
  }

  /** The device that the filter names in full, or null. */
  get chosen() {
    return this.devices.has(this.filter) ? this.filter : null;
  }

  /** Last messages of the devices that the filter lets through, by name. */
  shownDevices() {
    const shown = [...this.devices.values()].filter((last) => this.#lets(last.device));
    return shown.sort((a, b) => (a.device < b.device ? -1 : 1));
  }

  /** The messages that the shown devices have sent, all together. */
  shownCount() {
    return this.shownDevices().reduce((sum, last) => sum + this.#counts.get(last.device), 0);
  }

  shownMessages() {
    const chosen = this.chosen;
    const from = chosen && this.history?.device === chosen ? this.history.messages : this.messages;
    return from.filter((message) => this.#lets(message.device)).slice(0, LIMITS.shown);
  }

  shownQuarantine() {
    return this.quarantine.filter((reject) => this.matches(reject.device));
  }

  /** A full name means that device alone, though it may be part of another's name. */
  #lets(device) {
    return this.chosen ? device === this.chosen : this.matches(device);
  }
}

/** `list`, newest first, with `object` at its place; the same list when it is there already or too old. */
function newest(list, object, limit) {
  if (list.some((known) => known.id === object.id)) return list;
  const at = list.findIndex((known) => known.id < object.id);
  const place = at < 0 ? list.length : at;
  return [...list.slice(0, place), object, ...list.slice(place)].slice(0, limit);
}
