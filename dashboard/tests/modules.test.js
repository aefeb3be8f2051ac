// Tests of the modules that need no browser.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { format, parse, range } from "../address.js";
import { LEFT, ticks, timeAt } from "../axis.js";
import { gather, radius } from "../clusters.js";
import { csv, ndjson } from "../export.js";
import { age, bytes, counted, lateness, linkKind, percent, place, rate, secondTime, span } from "../format.js";
import { graticule, scaleBar, View } from "../geo.js";
import { change, sift } from "../latest.js";
import { figure, nearest, runs } from "../plot.js";
import { LIMITS, Store } from "../store.js";
import { suffix, titled, unitOf } from "../units.js";
import { ExactNumber, json, leaves } from "../value.js";
import { coast } from "./coast.js";

test("the coast is what Natural Earth has", async () => {
  assert.equal(await readFile(new URL("../coast.js", import.meta.url), "utf8"), await coast());
});

test("links are told apart by what carries them", () => {
  for (const link of ["astrocast", "iridium-sbd-mo", "kineis", "orbcomm", "satellite"]) assert.equal(linkKind(link), "satellite", link);
  for (const link of ["terrestrial", "lte-m", "lorawan", "leopard"]) assert.equal(linkKind(link), "terrestrial", link);
  assert.equal(linkKind(null), "unknown");
});

test("figures are never better than they are", () => {
  assert.deepEqual([1, 0.99999, 0.5, 0.00001, 0].map(rate), ["100 %", "99.99 %", "50.00 %", "below 0.01 %", "0 %"]);
  assert.deepEqual([0.262, 1.5, 0.00002].map((share) => percent(share)), ["26 %", "150 %", "below 1 %"]);
  assert.deepEqual([counted(1, "message"), counted(3943, "message")], ["1 message", "3,943 messages"]);
  assert.equal(secondTime("2026-01-31T08:00:00.123Z"), "2026-01-31 08:00:00 UTC");
  assert.deepEqual([138, 9999, 10_000, 2_500_000, 2 ** 33].map(bytes), ["138 B", "9,999 B", "10 kB", "2.5 MB", "8.6 GB"]);
  assert.deepEqual([-5000, 1999, 59_000, 61_000, 7_200_000, 172_800_000].map(age), ["now", "now", "59 s", "1 min", "2 h", "2 d"]);
  assert.equal(place({ latitude: -33.9, longitude: 18.4321 }), "33.900° S, 18.432° E");
});

test("an address comes back from its URL, and what is wrong in a URL is not there", () => {
  for (const search of ["", "?device=tank-1", "?find=tank", "?device=a%26b&last=24h", "?device=tank-1&with=pump,tank-2", "?device=t&from=2026-01-31T08%3A00%3A00.000Z&until=2026-02-01T00%3A00%3A00.000Z"]) {
    assert.equal(format(parse(search)), search);
  }
  assert.deepEqual(parse("?device=d&find=x&last=9y&from=yesterday&other=1&message=x"), { view: "", device: "d", find: "", last: "", from: null, until: null, message: "" });
  assert.deepEqual(parse("?device=d&with=a,,d,a, b,c,e,f").with, ["a", "b", "c", "e"]);
  assert.equal(parse("?with=a").with, undefined);
  assert.deepEqual(range(parse("?last=1h"), 10_000_000), { from: 6_400_000, until: null });
  assert.deepEqual(range(parse("?until=1970-01-01T00:00:01Z"), 5), { from: null, until: 1000 });
});

test("the address of the fleet has its filters, also empty ones", () => {
  for (const search of ["?view=fleet", "?view=fleet&link=&sort=name&order=desc", "?find=a&view=fleet&late=true&cursor=abc"]) {
    assert.deepEqual(parse(format(parse(search))), parse(search));
  }
  assert.deepEqual(parse("?view=fleet&link=&sort=name&other=1").fleet, { link: "", sort: "name" });
  assert.equal(parse("?sort=name").fleet, undefined);
});

test("a device is late only if an interval is known", () => {
  const device = (expected_every, expected_from, late) => lateness({ expected_every, expected_from, late });
  assert.deepEqual([device(null, null, null), device(900, "schema", null), device(900, "messages", 10_800), device(3600, "profile", 0.5)], ["", "every 15 min", "every 15 min, 3 h late", "within 1 h, 500 ms late"]);
});

test("marks that would cover each other become one, and none is lost", () => {
  const mark = (at) => ({ x: (at * 37) % 600, y: (at * 91) % 400, at });
  const few = Array.from({ length: 100 }, () => mark(0));
  assert.deepEqual(gather(few), { single: few, clusters: [] });
  const many = Array.from({ length: 5000 }, (_, at) => mark(at));
  const { single, clusters } = gather(many);
  const all = [...single, ...clusters.flatMap(({ marks }) => marks)];
  assert.equal(new Set(all.map(({ at }) => at)).size, 5000);
  assert.ok(all.length === 5000 && single.length + clusters.length < 400);
  for (const { x, y, marks } of clusters) {
    assert.ok(marks.length > 1 && marks.every((mark) => Math.hypot(mark.x - x, mark.y - y) < 120));
    const covered = clusters.filter((other) => Math.hypot(other.x - x, other.y - y) < radius(other.marks.length) + radius(marks.length));
    assert.equal(covered.length, 1, "only itself");
  }
});

test("silence is a gap in a line, and the nearest point is found", () => {
  assert.deepEqual(runs([0, 10, 20, 90, 100]), [[0, 3], [3, 5]]);
  assert.deepEqual([runs([]), runs([5]), runs([5, 6])], [[], [[0, 1]], [[0, 2]]]);
  assert.deepEqual([-5, 4, 5, 6, 500].map((time) => nearest([0, 10, 20], time)), [0, 0, 0, 1, 2]);
  assert.equal(nearest([], 1), -1);
  assert.deepEqual([0.1 + 0.2, 1e300, -1e-300, 0].map(figure), ["0.3", "1.000e+300", "-1.000e-300", "0"]);
  assert.deepEqual([0.04, 1.52, 900].map(span), ["40 ms", "1.5 s", "15 min"]);
});

test("an axis has round times that do not touch each other", () => {
  const day = 86_400_000;
  for (const span of [1, 360, 4000, 90_000, day / 4, day, 9 * day, 400 * day, 9000 * day]) {
    for (const width of [330, 900, 1500]) {
      const range = { from: 1_775_000_123_456, until: 1_775_000_123_456 + span };
      const { step, at } = ticks(range, width);
      const pixels = (step / span) * (width - LEFT);
      assert.ok(at.length < 16 && pixels >= 100 && (at.length > 2 || pixels < width), `${span} ${width}: ${at.length} of ${step}`);
      assert.ok(at.every((time) => time % step === 0 && time >= range.from && time <= range.until));
      assert.ok(Math.abs(timeAt(width, range, width) - range.until) <= 1);
    }
  }
});

test("what changed is told from what is constant, and how it changed", () => {
  const values = [{ t: 21.5, door: "open", fw: "1.2" }, { t: new ExactNumber("20.50"), door: "closed", fw: "1.2", alarm: true }, { t: 20, door: "closed", fw: "1.2" }];
  const messages = values.map((value, i) => ({ value, received_at: `2026-01-31T08:0${9 - i}:00Z` }));
  const cells = values.map((value) => leaves(value));
  const { varying, constant } = sift(messages, cells, []);
  assert.deepEqual(varying.map((field) => [field.pointer, field.at.slice(14, 16), change(field)]), [["/t", "09", "+1"], ["/door", "09", "was closed"], ["/alarm", "08", ""]]);
  assert.deepEqual(constant.map(({ pointer }) => pointer), ["/fw"]);
  // The series may have messages that the page does not have, and a single message does not show which fields are constant.
  const series = [{ pointer: "/fw", low: [1, 1], high: [1, 2] }];
  assert.equal(sift(messages, cells, series).constant.length, 0);
  assert.equal(sift(messages.slice(0, 1), cells.slice(0, 1), []).varying.length, 3);
});

test("the unit of a value is that of the first pointer that fits", () => {
  const units = [{ pointer: "/a/b", unit: "m" }, { pointer: "/a/*", unit: "°" }];
  assert.deepEqual(["/a/b", "/a/0", "/a", "/a/0/1"].map((pointer) => unitOf(units, pointer)), ["m", "°", "", ""]);
  assert.deepEqual([suffix("m"), suffix("°"), titled("a", "m"), titled("a", "")], [" m", "°", "a [m]", "a"]);
});

test("files have every field and every digit, and no formulas", () => {
  const value = { a: new ExactNumber("1.50"), b: { "c/d": ["x,y", null] }, e: "-2+3", f: new ExactNumber("18446744073709551615") };
  const message = { id: 7, received_at: "2026-01-31T08:00:00.123Z", format: "json", schema: null, link: "=cmd", bytes: 9, value };
  assert.deepEqual([...leaves(value).keys()], ["/a", "/b/c~1d/0", "/b/c~1d/1", "/e", "/f"]);
  assert.equal(json(value), '{"a":1.50,"b":{"c/d":["x,y",null]},"e":"-2+3","f":18446744073709551615}');
  assert.equal(csv([message]), 'id,received_at,format,schema,link,bytes,a,b/c~1d/0,b/c~1d/1,e,f\r\n7,2026-01-31T08:00:00.123Z,json,,\'=cmd,9,1.50,"x,y",,\'-2+3,18446744073709551615\r\n');
  assert.match(csv([message], [{ pointer: "/a", unit: "m/s" }]), /,bytes,a \[m\/s\],b/);
  assert.equal(ndjson([{ id: 1, value: 2 }, { id: 2, value }]).split("\n")[1], `{"id":2,"value":${json(value)}}`);
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
  for (let id = 6; id < 7000; id++) store.apply("message", message(id, `d${id}`));
  assert.deepEqual([store.messages.length, store.devices.size], [LIMITS.messages, LIMITS.devices]);
  assert.equal(store.messages[0].id, 6999);
  assert.ok(!store.devices.has("d6") && store.devices.has("d6999"));
});

test("the shown devices are sorted, with their last messages, after each message", () => {
  const store = new Store();
  store.load({ stats: stats(0), devices: [], messages: [], quarantine: [] });
  for (let id = 1; id < 300; id++) {
    store.apply("message", message(id, `d${(id * 7) % 40}`));
    if (id === 200) store.filter = "1";
    const expected = [...store.devices.values()].filter((m) => store.matches(m.device)).sort((a, b) => (a.device < b.device ? -1 : 1));
    assert.deepEqual(store.shownDevices(), expected, `after ${id}`);
  }
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

test("devices that did not send lately are shown when they are found", () => {
  const store = new Store();
  store.load({ stats: stats(1), devices: [{ device: "new", last: message(9, "new"), messages: 1 }], messages: [], quarantine: [] });
  const shown = () => store.shownDevices().map((last) => `${last.device} ${last.id}`);
  store.filter = "e";
  store.find([{ device: "old-e", last: message(1, "old-e"), messages: 7 }, { device: "new", last: message(2, "new"), messages: 1 }]);
  assert.deepEqual(shown(), ["new 9", "old-e 1"]);
  assert.equal(store.shownCount(), 8);
  store.apply("message", message(10, "old-e"));
  assert.deepEqual(shown(), ["new 9", "old-e 10"]);
  const [newer] = store.withNewer([{ device: "new", last: message(11, "new"), messages: 2 }]);
  assert.deepEqual([newer.last.id, store.withNewer([newer]).length], [11, 2]);
  store.filter = "";
  store.find([]);
  assert.deepEqual(shown(), ["new 9", "old-e 10"]);
  [store.filter, store.exact] = ["gone", true];
  store.admit(message(3, "gone"));
  assert.deepEqual([shown(), store.chosen], [["gone 3"], "gone"]);
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
