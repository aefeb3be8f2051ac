// The page as a person sees it, in a real browser, of a real gateway.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { eventually, launch, open, shot, tile } from "./browser.js";
import { cbor, CONTAINER, containerAt, Gateway, packed } from "./gateway.js";

describe("the page", () => {
  let browser, gateway, page;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    gateway = await Gateway.start();
    page = await open(browser, gateway.url);
  });
  afterEach(async () => {
    if (!page) return;
    const faults = [...page.faults, ...(await page.evaluate(() => window.violations))];
    await page.close();
    await gateway.stop();
    assert.deepEqual(faults, []);
  });

  const device = (name) => page.locator("#devices tr").filter({ has: page.getByRole("button", { name, exact: true }) });
  const message = (name) => page.locator("#messages > li").filter({ hasText: name });
  const stored = (count) => page.locator("#totals .figure").first().filter({ hasText: new RegExp(`^${count}$`) });

  test("an empty gateway tells how to send the first message, and the command works", async () => {
    await page.getByRole("heading", { name: "No device has sent anything yet" }).waitFor();
    await eventually(async () => assert.deepEqual(await tile(page, "Success rate"), ["–", "0 in quarantine"]));
    await shot(page, "empty");
    const command = await page.locator("#welcome-command").textContent();
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    assert.match(stdout, /^HTTP\/1\.1 204 /);
    await device("my-first-device").waitFor();
    await eventually(async () => assert.equal(await page.locator("#welcome").isVisible(), false));
  });

  test("messages appear without a reload: totals, device, position, format", async () => {
    await page.evaluate(() => (window.stayed = true));
    const ship = containerAt("LMCU1231237", 35.5, 18.25);
    await gateway.send("LMCU1231237", ship, "terrestrial");
    assert.equal(await gateway.post("LMCU1231237", cbor(ship), { type: "application/cbor", link: "astrocast" }), 204);
    await gateway.send("MSCU7654321", containerAt("MSCU7654321", 38, 6), "terrestrial");
    await gateway.send("no-position", { temperature: 20 });
    await stored(4).waitFor();

    const stats = await gateway.api("/api/stats");
    await eventually(async () => {
      assert.deepEqual((await tile(page, "Messages"))[1], "4 received");
      assert.equal((await tile(page, "Devices"))[0], "3");
      assert.equal((await tile(page, "Success rate"))[0], "100 %");
      assert.equal((await tile(page, "Compression"))[0], `${stats.compression_ratio.toFixed(2)}×`);
      assert.deepEqual(await tile(page, "Queue depth"), ["0", `of ${stats.queue_capacity.toLocaleString("en")}`]);
    });

    await eventually(async () => {
      const cells = (await device("LMCU1231237").locator("th, td").allTextContents()).slice(0, 5);
      assert.deepEqual(cells, ["LMCU1231237", "35.500° N, 18.250° E", "astrocast", "cbor", `${cbor(ship).length} B`]);
      assert.equal(await device("no-position").locator(".place").textContent(), "none");
      assert.equal(await page.locator("#map-note").textContent(), "1 without a position");
      assert.ok(await page.getByText("A device is on the map if its message has latitude").isVisible());
    });

    const [east, west] = ["LMCU1231237", "MSCU7654321"].map((name) => page.locator(`#map .mark[data-device="${name}"]`));
    assert.match(await east.getAttribute("class"), /satellite/);
    assert.match(await west.getAttribute("class"), /terrestrial/);
    const [e, w, map] = [await east.boundingBox(), await west.boundingBox(), await page.locator("#map").boundingBox()];
    assert.ok(e.x > w.x && e.y > w.y, "18° E 35.5° N lies east and south of 6° E 38° N");
    for (const box of [e, w]) assert.ok(box.x > map.x && box.y > map.y && box.x < map.x + map.width && box.y < map.y + map.height);

    const share = Math.round((100 * cbor(ship).length) / JSON.stringify(ship).length);
    await eventually(async () => {
      const rows = await page.locator("#formats tr").allTextContents();
      assert.equal(rows.length, 2);
      assert.ok(rows[0].startsWith("cbor") && rows[0].includes(`${share} %`), rows[0]);
    });
    assert.equal(await page.evaluate(() => window.stayed), true);
  });

  test("a message opens to its fields, with every digit it came with, and the list waits", async () => {
    await gateway.post("counter", '{"big":18446744073709551615,"small":-0.0,"list":[1,2,3],"deep":{"text":"06"},"gone":null}');
    await message("counter").locator("summary").click();
    const fields = message("counter").locator(".opened > .fields > div");
    await eventually(async () => {
      assert.deepEqual(await fields.allInnerTexts().then((all) => all.map((text) => text.split(/\s+/)[0])), ["big", "small", "list", "deep", "gone"]);
      assert.equal(await fields.nth(0).locator(".value").textContent(), "18446744073709551615");
      assert.equal(await fields.nth(1).locator(".value").textContent(), "-0.0");
      assert.deepEqual(await fields.nth(2).locator("li").allTextContents(), ["1", "2", "3"]);
      assert.equal(await fields.nth(3).locator("dd dd").textContent(), "06");
    });

    await gateway.send("later", { a: 1 });
    await page.getByText("paused while you read, 1 newer").waitFor();
    assert.equal(await message("later").count(), 0);
    await message("counter").locator("summary").click();
    await page.locator("h1").click();
    await page.mouse.move(5, 5);
    await message("later").waitFor();
  });

  test("a packed message shows its slot, and one of a slot without a layout why it was not read", async () => {
    const bytes = packed("container", CONTAINER);
    const as = { type: "application/vnd.dunnage.packed", schema: "container", link: "astrocast" };
    assert.equal(await gateway.post("LMCU1231237", bytes, as), 204);
    await message("LMCU1231237").locator("summary").click();
    await eventually(async () => assert.ok((await message("LMCU1231237").locator(".opened > p").innerText()).endsWith("schema container, slot 1")));
    const temperature = message("LMCU1231237").locator(".opened > .fields > div").filter({ hasText: "temperature" });
    await eventually(async () => assert.equal(await temperature.locator(".value").textContent(), "17.00"));
    await eventually(async () => {
      const row = await page.locator("#formats tr").innerText();
      for (const part of ["packed", `${bytes.length} B`, "379 B"]) assert.ok(row.includes(part), `${part} in ${row}`);
    });

    bytes[0] = 9;
    assert.equal(await gateway.post("LMCU1231237", bytes, as), 422);
    await page.locator("#quarantine > li").filter({ hasText: "slot 9 has no layout" }).waitFor();
  });

  test("what could not be read shows its kind, its offset, its reason and its bytes", async () => {
    const broken = new Uint8Array([0xa2, 0x61, 0x61, 0x01, 0x61]);
    assert.equal(await gateway.post("half-sent", broken, { type: "application/cbor" }), 400);
    const row = page.locator("#quarantine > li");
    await row.waitFor();
    const [stored] = (await gateway.api("/api/quarantine")).messages;
    const text = await row.innerText();
    assert.equal(stored.kind, "truncated");
    for (const part of ["half-sent", "truncated", `at byte ${stored.offset} of 5`, stored.reason]) assert.ok(text.includes(part), `${part} in ${text}`);
    await row.locator("summary").click();
    await eventually(async () => {
      assert.match(await row.locator(".dump").textContent(), /^0000 {2}a2 61 61 01 61 /);
      assert.equal(await row.locator(".dump mark").getAttribute("title"), `byte ${stored.offset}`);
    });
    await page.getByText("1 in quarantine").waitFor();
    await eventually(async () => assert.equal((await tile(page, "Success rate"))[0], "0 %"));
  });

  test("markup in a message is text and nothing else", async () => {
    const attack = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const hostile = { name: attack, [attack]: { [attack]: [attack] }, latitude: attack, longitude: "0", device: attack, ["__proto__"]: attack };
    await gateway.post("hostile", JSON.stringify(hostile));
    await gateway.post("hostile", `{"a": "${attack.replaceAll('"', "'")}`, { type: "application/json" });
    await gateway.post("hostile", attack, { type: `application/json; x="<b>"` });
    await page.locator("#quarantine > li").nth(1).waitFor();
    for (const summary of await page.locator("#messages summary, #quarantine summary").all()) await summary.click();
    await eventually(async () => {
      assert.ok((await message("hostile").innerText()).includes(attack));
      assert.equal(await device("hostile").locator(".place").textContent(), "none");
    });
    const scripts = await page.evaluate(() => [window.hacked, document.querySelectorAll("main img, main script, main b").length]);
    assert.deepEqual(scripts, [undefined, 0]);
    const answer = await fetch(gateway.url);
    assert.match(answer.headers.get("content-security-policy"), /(^|; *)default-src 'self'(;|$)/);
    assert.doesNotMatch(answer.headers.get("content-security-policy"), /unsafe/);
  });

  test("one device can be chosen from the keyboard, and has its history and its track", async () => {
    for (let at = 0; at < 6; at++) await gateway.send("TGHU0000001", containerAt("TGHU0000001", 36 + at / 2, 14 + at), "astrocast");
    await gateway.send("TGHU0000002", containerAt("TGHU0000002", 43, 8), "terrestrial");
    await stored(7).waitFor();
    await page.getByRole("button", { name: "TGHU0000001" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#messages > li").nth(5).waitFor();
    await eventually(async () => {
      assert.equal(await page.locator("#filter").inputValue(), "TGHU0000001");
      assert.equal(await page.locator("#messages > li").count(), 6);
      assert.equal(await page.evaluate(() => document.activeElement.id), "device-title");
      for (const part of ["Totals", "Last positions", "Devices", "Size compared with JSON"]) {
        assert.equal(await page.getByRole("heading", { name: part, exact: true }).count(), 0, part);
      }
    });
    await eventually(async () => assert.equal((await page.locator("#device-track .track-line").getAttribute("d")).split("L").length, 6));
    await page.getByRole("button", { name: "Show all" }).click();
    await page.locator("#devices tr").nth(1).waitFor();
    await page.locator("#filter").fill("0002");
    await eventually(async () => {
      assert.equal(await page.locator("#messages > li").count(), 1);
      assert.equal(await page.locator("#devices tr").count(), 1);
    });
  });

  test("totals follow the filter, and say which figures are of all devices", async () => {
    for (const [device, times] of [["tank-1", 3], ["tank-2", 2], ["pump", 1]]) {
      for (let at = 0; at < times; at++) await gateway.send(device, { level: at });
    }
    await stored(6).waitFor();
    await page.locator("#filter").fill("tank");
    await stored(5).waitFor();
    await eventually(async () => {
      assert.deepEqual(await tile(page, "Messages"), ["5", "of 6"]);
      assert.match((await tile(page, "Devices")).join(" "), /^2 of 3, last message (just now|\d+ s ago)$/);
      assert.deepEqual(await tile(page, "Success rate"), ["100 %", "all devices: 0 in quarantine"]);
    });
    await gateway.send("tank-2", { level: 9 });
    await gateway.send("pump", { level: 9 });
    await eventually(async () => assert.deepEqual(await tile(page, "Messages"), ["6", "of 8"]));
    await page.locator("#filter").fill("nothing");
    await eventually(async () => assert.deepEqual(await tile(page, "Devices"), ["0", "of 3, no messages yet"]));
    await page.getByRole("button", { name: "Show all" }).click();
    await stored(8).waitFor();
  });

  test("a refused request is no failed message, and an empty quarantine is one line", async () => {
    await gateway.send("tank", { level: 1 });
    assert.equal(await gateway.post("%00", "1"), 400);
    await eventually(async () => assert.deepEqual(await tile(page, "Success rate"), ["100 %", "0 in quarantine, 1 refused, not counted"]));
    assert.ok((await page.locator(".quarantine-panel").boundingBox()).height < 60);
    assert.match(await page.locator("#about").textContent(), /running since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  });

  test("there is no map while no device has a position, and a link that is not said is unknown", async () => {
    await gateway.send("blind", { temperature: 20 });
    await device("blind").waitFor();
    await eventually(async () => {
      assert.equal(await page.locator(".map-panel").isVisible(), false);
      assert.equal(await device("blind").locator(".link").innerText(), "unknown");
    });
    await gateway.send("CMAU1", { t: 20, gps: { lat: 40, lng: 5 } }, "astrocast");
    await page.locator("#map .mark").waitFor();
    await eventually(async () => assert.equal(await page.locator(".map-panel").isVisible(), true));
    await page.locator("#filter").fill("blind");
    await page.locator(".map-panel").waitFor({ state: "hidden" });
    await page.locator("#filter").fill("");
    await page.locator("#map .mark").waitFor();
  });

  test("a device on the map tells about itself when it is clicked", async () => {
    await gateway.send("CMAU1", containerAt("CMAU1", 40, 5), "astrocast");
    await page.locator("#map .mark").click();
    const card = await page.locator("#map .card").innerText();
    for (const part of ["CMAU1", "40.000° N, 5.000° E", "astrocast", "json"]) assert.ok(card.includes(part), card);
    await page.keyboard.press("Escape");
    await eventually(async () => assert.equal(await page.locator("#map .card").isVisible(), false));
  });

  test("lists stay bounded however much arrives", async () => {
    const names = Array.from({ length: 620 }, (_, at) => `device-${at}`);
    for (let at = 0; at < names.length; at += 20) {
      await Promise.all(names.slice(at, at + 20).map((name, i) => gateway.send(name, { lat: 30 + (at + i) / 50, lon: i })));
    }
    await stored(620).waitFor();
    // The stream carries a sample; the page fetches the omitted messages.
    await page.locator("#devices tr").nth(59).waitFor();
    await eventually(async () => {
      assert.equal(await page.locator("#devices tr").count(), 60);
      const clusters = await page.locator("#map .cluster text").allTextContents();
      const single = await page.locator("#map .mark").count();
      assert.ok(clusters.length > 0 && single + clusters.length < 250, `${clusters.length} clusters and ${single} marks`);
      assert.equal(clusters.reduce((sum, text) => sum + Number(text), single), 620);
      assert.equal(await page.locator("#messages > li").count(), 50);
      assert.equal(await page.locator("#devices-note").textContent(), "60 of 620");
    });
  });
});

test("outputs show delivered and waiting messages, dead letters, and why they were rejected", async () => {
  // It takes its time, so that outputs go on when no message comes any more.
  const other = createServer((request, response) => {
    const answer = () => response.writeHead(request.url === "/takes" ? 204 : 400).end("<i>no</i>");
    request.resume().on("end", () => setTimeout(answer, 1100));
  });
  await once(other.listen(0, "127.0.0.1"), "listening");
  const { port } = other.address();
  const output = (name, url) => `[[output]]\nname = "${name}"\n[output.http]\nurl = "${url}"\n`;
  const to = { takes: `http://127.0.0.1:${port}/takes`, refuses: `http://127.0.0.1:${port}/refuses`, away: "http://127.0.0.1:9/" };
  const gateway = await Gateway.start({}, Object.entries(to).map(([name, url]) => output(name, url)).join(""));
  const browser = await launch();
  try {
    const page = await open(browser, gateway.url);
    for (let n = 0; n < 3; n++) await gateway.send("d", { n });
    const row = (name) => page.locator("#outputs tr").filter({ has: page.getByRole("rowheader", { name }) });
    const cells = (name) => row(name).locator("td");
    const shows = (name, text) => row(name).filter({ hasText: text }).waitFor();
    const failed = (name, text) => row(name).locator("+ tr.failure").filter({ hasText: text }).waitFor();
    await shows("takes", /^takes\s*idle300$/);
    await shows("refuses", /^refuses\s*idle003$/);
    await failed("refuses", /^\d\d:\d\d:\d\d .*400/);
    await shows("away", /^away\s*(delivering|behind|paused|probing)030$/);
    await failed("away", /^\d\d:\d\d:\d\d .*refused/);
    await eventually(async () => assert.equal(await cells("takes").count(), 4));
    assert.equal(await page.locator("main i").count(), 0);
    assert.deepEqual([...page.faults, ...(await page.evaluate(() => window.violations))], []);
  } finally {
    await browser.close();
    await gateway.stop();
    other.close();
  }
});

test("after the gateway restarts the page comes back by itself, with what it missed", async () => {
  const gateway = await Gateway.start();
  const browser = await launch();
  try {
    await gateway.send("before", { a: 1 });
    const page = await open(browser, gateway.url);
    await page.getByRole("button", { name: "before" }).waitFor();
    await gateway.down();
    await page.getByRole("status").filter({ hasText: "Reconnecting" }).waitFor();
    await gateway.up();
    await gateway.send("missed", { a: 2 });
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    await page.getByRole("button", { name: "missed" }).waitFor();
    await gateway.send("after", { a: 3 });
    await page.getByRole("button", { name: "after" }).waitFor();
    await eventually(async () => assert.equal(await page.locator("#devices tr").count(), 3));
    // Chromium itself reports that it could not connect; other faults are errors.
    assert.deepEqual(page.faults.filter((fault) => !/ERR_|Failed to load resource/.test(fault)), []);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});
