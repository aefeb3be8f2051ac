// The map of the devices at their last positions.

import { skew } from "./api.js";
import { ground } from "./chart.js";
import { gather, radius } from "./clusters.js";
import { SHAPES, byId, el, linkSymbol, setAttribute, setChildren, setText, svg } from "./dom.js";
import { age, bytes, count, linkKind, place } from "./format.js";
import { View } from "./geo.js";

const MARGIN = 44;
/** Most devices that the card of a cluster lists. */
const LISTED = 50;
/** A pointer within this distance of a device, in pixels, selects it. */
const REACH = 18;
const KINDS = { terrestrial: "terrestrial", satellite: "satellite", unknown: "unknown" };

export class MapView {
  marks = new Map();
  view = null;
  /** How often the store has forgotten everything. */
  epoch = 0;
  /** The device whose card is open, and whether a click keeps it open. */
  open = null;
  pinned = false;
  /** The clusters that are shown, by their squares, and the one whose card is open. */
  clusters = new Map();
  opened = null;
  /** The positions that a click on a cluster has zoomed to; null for those of all devices that are shown. */
  zoomed = null;

  constructor(choose) {
    this.choose = choose;
    this.box = byId("map");
    this.panel = this.box.closest("section");
    this.ground = svg("g");
    this.layer = svg("g");
    this.whole = byId("map-whole");
    this.whole.addEventListener("click", () => this.#zoom(null));
    this.svg = svg("svg", { role: "img", "aria-label": "Map" }, this.ground, this.layer);
    this.#makeCard();
    this.box.append(this.svg, this.card);
    this.#listen();
    new ResizeObserver(([{ contentRect }]) => this.#resize(contentRect)).observe(this.box);
    this.#makeLegend();
  }

  #makeCard() {
    this.cardName = el("strong");
    this.cardLines = el("dl");
    this.cardButton = el("button", { type: "button" }, "Show only this device");
    this.cardList = el("ul", { class: "items" });
    this.card = el("div", { class: "card" }, this.cardName, this.cardLines, this.cardList, this.cardButton);
    this.card.hidden = true;
    this.cardButton.addEventListener("click", () => this.choose(this.open));
  }

  #makeLegend() {
    this.counts = new Map();
    for (const [kind, name] of Object.entries(KINDS)) {
      const number = el("span", { class: "number" }, "0");
      this.counts.set(kind, number);
      byId("map-legend").append(el("li", {}, linkSymbol(kind), `${name} `, number));
    }
  }

  #listen() {
    this.svg.addEventListener("pointermove", (e) => {
      if (e.pointerType === "mouse" && !this.pinned && !this.opened) this.#show(this.#nearest(e));
    });
    this.svg.addEventListener("click", (e) => {
      const cluster = this.#clusterAt(e);
      if (cluster) {
        this.#enter(cluster);
        return;
      }
      const device = this.#nearest(e);
      this.pinned = device !== null;
      this.#show(device);
    });
    this.box.addEventListener("pointerleave", () => {
      if (!this.pinned && !this.opened) this.#show(null);
    });
    document.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      if (this.card.hidden) this.#zoom(null);
      this.pinned = false;
      this.#show(null);
    });
  }

  #resize({ width, height }) {
    this.width = width;
    this.height = height;
    this.view = null;
    if (this.store) this.draw(this.store);
  }

  draw(store) {
    this.store = store;
    if (this.epoch !== store.epoch) this.#forget(store);
    const shown = store.shownDevices();
    const placed = shown.filter((last) => last.position).map((last) => ({ last, where: last.position }));
    // Without positions the map is hidden, and the table of devices takes its place.
    this.panel.hidden = placed.length === 0;
    if (placed.length === 0) {
      this.#show(null);
      return;
    }
    // A panel that was hidden has no size yet; the ResizeObserver reports it, and draws again.
    if (!this.width || !this.height) return;
    this.#setCounts(placed, shown.length);
    if (this.filter !== store.filter) this.zoomed = null;
    this.whole.hidden = !this.zoomed;
    this.#look(this.zoomed ?? placed.map(({ where }) => where), store.filter);
    for (const device of this.marks.keys()) if (!store.knows(device)) this.marks.delete(device);
    const inView = placed.filter(({ where }) => this.view.shows(where, -REACH));
    const { single, clusters } = gather(inView.map(({ last, where }) => this.#place(last, where)));
    const known = this.clusters;
    this.clusters = new Map(clusters.map((cluster) => [cluster.key, drawn(cluster, known.get(cluster.key))]));
    setChildren(this.layer, [...single.map((mark) => mark.node), ...[...this.clusters.values()].map(({ node }) => node)]);
    if (this.opened) return;
    this.#show(this.marks.get(this.open)?.node.isConnected ? this.open : null);
  }

  /** Removes all devices, and the card of any. */
  #forget({ epoch }) {
    this.epoch = epoch;
    this.marks.clear();
    this.clusters = new Map();
    this.layer.replaceChildren();
    this.#show(null);
    this.cardList.replaceChildren();
  }

  /** Keeps the view while the devices are well inside it, because a map that moves all the time cannot be read. */
  #look(points, filter) {
    const view = this.view;
    const fitting = View.fit(points, this.width, this.height, MARGIN);
    const stays = view && this.filter === filter && this.seen === this.zoomed && points.every((p) => view.shows(p, MARGIN / 3)) && fitting.scale < view.scale * 1.6;
    if (stays) return;
    this.view = fitting;
    this.filter = filter;
    this.seen = this.zoomed;
    setAttribute(this.svg, "viewBox", `0 0 ${this.width} ${this.height}`);
    this.ground.replaceChildren(...ground(fitting));
  }

  /** The mark of a device at its place. */
  #place(last, where) {
    let known = this.marks.get(last.device);
    if (!known) this.marks.set(last.device, (known = { node: svg("path", { "data-device": last.device }) }));
    const [x, y] = [this.view.x(where.longitude), this.view.y(where.latitude)];
    if (known.x !== x || known.y !== y) {
      [known.x, known.y] = [x, y];
      setAttribute(known.node, "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    }
    if (known.last !== last) {
      known.last = last;
      known.where = where;
      const kind = linkKind(last.link);
      setAttribute(known.node, "class", `mark ${kind}`);
      setAttribute(known.node, "d", SHAPES[kind]);
    }
    return known;
  }

  #clusterAt(event) {
    const box = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return [...this.clusters.values()].find((cluster) => Math.hypot(cluster.x - x, cluster.y - y) <= cluster.radius);
  }

  /** Zooms to the devices of a cluster, or lists them if that does not tell them apart. */
  #enter(cluster) {
    const fitting = View.fit(cluster.marks.map(({ where }) => where), this.width, this.height, MARGIN);
    if (fitting.scale > this.view.scale * 1.6) this.#zoom(cluster.marks.map(({ where }) => where));
    else this.#list(cluster);
  }

  /** Shows the map of these positions, or of all for null. */
  #zoom(positions) {
    this.zoomed = positions;
    this.#show(null);
    this.draw(this.store);
  }

  /** Opens a card with the devices of a cluster. */
  #list(cluster) {
    this.#show(null);
    this.opened = cluster;
    const names = cluster.marks.map(({ last }) => last.device);
    setText(this.cardName, `${count(names.length)} devices`);
    this.cardLines.replaceChildren();
    this.cardList.replaceChildren(...names.slice(0, LISTED).map((device) => {
      const button = el("button", { type: "button", class: "plain" }, device);
      button.addEventListener("click", () => this.choose(device));
      return el("li", {}, button);
    }));
    if (names.length > LISTED) this.cardList.append(el("li", { class: "soft" }, `and ${count(names.length - LISTED)} more`));
    this.cardButton.hidden = true;
    this.card.hidden = false;
    this.#moveCard(cluster);
  }

  #setCounts(placed, shown) {
    for (const [kind, number] of this.counts) {
      setText(number, count(placed.filter(({ last }) => linkKind(last.link) === kind).length));
    }
    const without = shown - placed.length;
    setText(byId("map-note"), without > 0 ? `${count(without)} without a position` : "");
    setAttribute(this.svg, "aria-label", `Map of ${count(placed.length)} devices; the table of devices has their positions`);
  }

  #nearest(event) {
    const box = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [found, distance] = [null, REACH];
    for (const [device, { node, x: mx, y: my }] of this.marks) {
      const here = Math.hypot(mx - x, my - y);
      if (node.isConnected && here < distance) [found, distance] = [device, here];
    }
    return found;
  }

  /** Opens the card of a device next to its mark, or closes it for null. */
  #show(device) {
    const shown = device === null ? null : this.marks.get(device);
    if (this.open !== device) this.marks.get(this.open)?.node.classList.remove("open");
    this.opened = null;
    this.open = device;
    this.card.hidden = !shown;
    if (!shown) {
      this.pinned = false;
      return;
    }
    shown.node.classList.add("open");
    this.cardList.replaceChildren();
    this.#fillCard(shown);
    this.#moveCard(shown);
  }

  /** Moves the card next to a place. */
  #moveCard({ x, y }) {
    const right = x < this.width / 2;
    const across = right ? x + 12 : x - 12 - this.card.offsetWidth;
    const down = y - this.card.offsetHeight / 2;
    const inside = (at, size, whole) => Math.max(4, Math.min(at, whole - size - 4));
    this.card.style.left = `${inside(across, this.card.offsetWidth, this.width)}px`;
    this.card.style.top = `${inside(down, this.card.offsetHeight, this.height)}px`;
  }

  #fillCard({ last, where }) {
    setText(this.cardName, last.device);
    const seen = age(Date.now() + skew - Date.parse(last.received_at));
    const lines = [
      ["Position", place(where)],
      ["Link", last.link ?? "unknown"],
      ["Last", `${last.format}, ${bytes(last.bytes)}`],
      ["Seen", seen === "now" ? seen : `${seen} ago`],
    ];
    if (this.cardLines.children.length === 0) {
      for (const [name] of lines) this.cardLines.append(el("dt", {}, name), el("dd"));
    }
    const cells = this.cardLines.querySelectorAll("dd");
    lines.forEach(([, text], at) => setText(cells[at], text));
    this.cardButton.hidden = !this.pinned;
  }
}

/** The cluster with its node, which is that of `known` if there was one in its square. */
function drawn(cluster, known) {
  const devices = cluster.marks.length;
  const node = known?.node ?? svg("g", { class: "cluster" }, svg("circle"), svg("text"));
  setAttribute(node, "transform", `translate(${cluster.x.toFixed(1)} ${cluster.y.toFixed(1)})`);
  const size = radius(devices);
  setAttribute(node.firstChild, "r", size.toFixed(1));
  setText(node.lastChild, count(devices));
  return { ...cluster, node, radius: size };
}
