// Tests of the modules that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { age, bytes, linkKind, percent, place, rate } from "../format.js";
import { graticule, scaleBar, View } from "../geo.js";
import { LIMITS, Store } from "../store.js";
import { position } from "../value.js";

test("a position is a pair of numbers in range, also as texts", () => {
  assert.deepEqual(position({ latitude: "31.8682", longitude: "-28.7" }), { latitude: 31.8682, longitude: -28.7 });
  assert.deepEqual(position({ lat: 0, lon: 180 }), { latitude: 0, longitude: 180 });
  const none = [null, 5, "x", [], {}, { lat: 1 }, { lat: 91, lon: 0 }, { lat: 0, lon: 181 }, { lat: "", lon: "" }, { lat: "0x10", lon: 1 }, { lat: true, lon: [] }];
  for (const value of none) assert.equal(position(value), null, JSON.stringify(value));
});

test("links are told apart by what carries them", () => {
  for (const link of ["astrocast", "iridium-sbd-mo", "kineis", "orbcomm", "satellite"]) assert.equal(linkKind(link), "satellite", link);
  for (const link of ["terrestrial", "lte-m", "lorawan", "leopard"]) assert.equal(linkKind(link), "terrestrial", link);
  assert.equal(linkKind(null), "unknown");
});

test("figures are never better than they are", () => {
  assert.deepEqual([1, 0.99999, 0.5, 0.00001, 0].map(rate), ["100 %", "99.99 %", "50.00 %", "0.01 %", "0 %"]);
  assert.deepEqual([0.262, 1.5].map((share) => percent(share)), ["26 %", "150 %"]);
  assert.deepEqual([138, 9999, 10_000, 2_500_000].map(bytes), ["138 B", "9,999 B", "10 kB", "2.5 MB"]);
  assert.deepEqual([-5000, 1999, 59_000, 61_000, 7_200_000, 172_800_000].map(age), ["now", "now", "59 s", "1 min", "2 h", "2 d"]);
  assert.equal(place({ latitude: -33.9, longitude: 18.4321 }), "33.900° S, 18.432° E");
});

test("a view shows every point inside its margin, also across 180°", () => {
  const fleets = [
    [{ longitude: 28.7, latitude: 31.9 }],
    [{ longitude: -4, latitude: 36 }, { longitude: 35, latitude: 44 }, { longitude: 32, latitude: 31 }],
    [{ longitude: 179, latitude: -10 }, { longitude: -178, latitude: 20 }],
    [{ longitude: -120, latitude: 84 }, { longitude: 100, latitude: -84 }, { longitude: 0, latitude: 0 }],
  ];
  for (const fleet of fleets) {
    for (const [width, height] of [[620, 400], [330, 270]]) {
      const view = View.fit(fleet, width, height, 30);
      for (const point of fleet) assert.ok(view.shows(point, 29.9), JSON.stringify([point, view]));
      const { meridians, parallels } = graticule(view);
      assert.ok(meridians.length < 12 && parallels.length < 12);
      const { pixels } = scaleBar(view, 120);
      assert.ok(pixels <= 120 && pixels >= 40, String(pixels));
    }
  }
  const pacific = View.fit(fleets[2], 600, 400, 30);
  assert.ok(pacific.east - pacific.west < 90, "the fleet stays together");
});

const stats = (stored) => ({ stored, received: stored, devices: 0 });
const message = (id, device) => ({ id, device, value: {} });

test("the store keeps the newest, once, in order, whatever the order of arrival", () => {
  const store = new Store();
  store.load({ stats: stats(0), devices: [], messages: [], quarantine: [] });
  for (const id of [2, 5, 3, 5, 1, 4]) store.apply("message", message(id, `d${id % 2}`));
  assert.deepEqual(store.messages.map((m) => m.id), [5, 4, 3, 2, 1]);
  assert.deepEqual([...store.devices.values()].map((m) => m.id).sort(), [4, 5]);
  for (let id = 6; id < 2000; id++) store.apply("message", message(id, `d${id}`));
  assert.deepEqual([store.messages.length, store.devices.size], [LIMITS.messages, LIMITS.devices]);
  assert.equal(store.messages[0].id, 1999);
  assert.ok(!store.devices.has("d6") && store.devices.has("d1999"));
});

test("the store notices what the stream left out", () => {
  const store = new Store();
  store.load({ stats: stats(10), devices: [], messages: [], quarantine: [] });
  for (let id = 11; id <= 20; id++) store.apply("message", message(id, "d"));
  store.apply("stats", stats(20));
  assert.equal(store.behind, false);
  store.apply("stats", stats(500));
  assert.equal(store.behind, true);
  store.load({ stats: stats(500), devices: [], messages: [], quarantine: [] });
  assert.equal(store.behind, false);
  store.apply("stats", { ...stats(500), devices: 1 });
  assert.equal(store.behind, true, "a device is missing");
});

test("a full name chooses one device, a part of a name all that have it", () => {
  const store = new Store();
  const devices = ["tank-1", "tank-10", "pump"].map((device, at) => ({ device, last: message(at, device) }));
  store.load({ stats: stats(3), devices, messages: devices.map((d) => d.last), quarantine: [] });
  const shown = (filter) => {
    store.filter = filter;
    return store.shownDevices().map((last) => last.device);
  };
  assert.deepEqual(shown(""), ["pump", "tank-1", "tank-10"]);
  assert.deepEqual(shown("TANK"), ["tank-1", "tank-10"]);
  assert.deepEqual(shown("tank-1"), ["tank-1"]);
  assert.deepEqual(shown("nothing"), []);
});
