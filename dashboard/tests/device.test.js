// One device: its address, plots, table, time ranges and files.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot } from "./browser.js";
import { CONTAINER, Gateway, packed } from "./gateway.js";

const COUNT = 12;

/** Messages some milliseconds apart: a temperature that rises, a door as text, a figure as text. */
async function fill(gateway, device) {
  for (let at = 0; at < COUNT; at++) {
    await gateway.send(device, { temperature: 20 + at / 2, door: "closed", deep: { "a/b": `${at}.50` } }, at % 2 ? "lorawan" : "kineis");
    await new Promise((done) => setTimeout(done, 30));
  }
}

/** A container whose numbers all change. */
const moved = (at) => ({
  ...CONTAINER,
  iso6346: "MNHU7675439",
  rssi: String(10 + at),
  "bat-soc": String(90 - at),
  temperature: (17 + at / 4).toFixed(2),
  humidity: (40 + at).toFixed(2),
  pressure: (1010 + at).toFixed(4),
  latitude: (31.8 + at / 100).toFixed(4),
  longitude: (28.7 + at / 100).toFixed(4),
  altitude: (49.5 + at).toFixed(2),
  speed: (12 + at).toFixed(1),
});

describe("a device", () => {
  let browser, gateway, page;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    gateway = await Gateway.start();
    await fill(gateway, "tank-1");
    await gateway.send("pump", { rpm: 900 });
    page = await open(browser, gateway.url);
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    await gateway.stop();
    assert.deepEqual(faults, []);
  });

  const panel = () => page.getByRole("region", { name: "tank-1" });
  const plot = (name) => panel().locator("#device-plots > li").filter({ has: page.locator("strong", { hasText: name }) });
  const note = (text) => page.locator("#device-note").filter({ hasText: text }).waitFor();
  const choose = async (name) => {
    await page.locator("#devices").getByRole("button", { name, exact: true }).click();
    await page.locator("#device-title").filter({ hasText: name }).waitFor();
  };
  const search = () => new URL(page.url()).search;

  test("lists what it has in quarantine, however old that is, and what follows", async () => {
    for (let at = 0; at < 3; at++) await gateway.post("tank-1", `{"at": ${at}`, {});
    for (let at = 0; at < 22; at++) await gateway.post("pump", "{", {});
    await choose("tank-1");
    const listed = page.locator("#quarantine > li");
    await eventually(async () => assert.deepEqual(await listed.locator(".name").allTextContents(), ["tank-1", "tank-1", "tank-1"]));
    await gateway.post("tank-1", `{"at": 3,`, {});
    await eventually(async () => assert.match(await listed.first().textContent(), /at byte 9 of 9/));
    assert.equal(await listed.count(), 4);
    await page.goto(`${gateway.url}/?device=pump`);
    await eventually(async () => assert.equal(await page.locator("#quarantine-note").textContent(), "last 20 of 22 from this device"));
  });

  test("has an address: it can be sent, and back and forward work", async () => {
    assert.equal(search(), "");
    assert.equal(await page.locator("#device").isVisible(), false);
    await choose("tank-1");
    await note(`${COUNT} messages`);
    assert.equal(search(), "?device=tank-1");
    assert.equal(await page.title(), "tank-1 – Dunnage gateway");
    await page.getByRole("button", { name: "All devices" }).click();
    await choose("pump");
    await page.goBack();
    await page.locator("#device").waitFor({ state: "hidden" });
    await page.goBack();
    await page.locator("#device-title").filter({ hasText: "tank-1" }).waitFor();
    await page.goBack();
    await page.locator("#device").waitFor({ state: "hidden" });
    assert.equal(await page.locator("#filter").inputValue(), "");
    await page.goForward();
    await page.locator("#device-title").filter({ hasText: "tank-1" }).waitFor();

    const other = await open(browser, gateway.url, {}, page.url());
    await other.locator("#device-note").filter({ hasText: `${COUNT} messages` }).waitFor();
    await other.goto(`${gateway.url}/?device=nobody`);
    await other.locator("#device-note").filter({ hasText: "Nothing of this device is stored." }).waitFor();
    await eventually(async () => assert.match(await other.locator("main").innerText(), /^nobody\s+Nothing of this device is stored\.\s+All devices$/));
    await other.close();
  });

  test("has plots of its numbers, and a cursor that the keyboard moves", async () => {
    await choose("tank-1");
    await eventually(async () => assert.deepEqual(await panel().locator("#device-plots strong").allTextContents(), ["temperature", "deep / a/b", "Bytes of the message"]));
    await eventually(async () => assert.equal(await plot("temperature").locator(".value").textContent(), "25.5"));
    assert.equal(await plot("temperature").locator(".value + .soft").textContent(), "+0.5");
    await page.locator("#device-plots").focus();
    await page.keyboard.press("Home");
    await eventually(async () => assert.equal(await plot("temperature").locator(".value").textContent(), "20"));
    await page.keyboard.press("ArrowRight");
    await eventually(async () => assert.equal(await plot("temperature").locator(".value").textContent(), "20.5"));
    assert.match(await page.locator("#device-cursor").textContent(), /^20\d\d-.* UTC$/);
    await page.keyboard.press("Escape");
    await eventually(async () => assert.equal(await plot("temperature").locator(".value").textContent(), "25.5"));
    const facts = await page.locator("#device-facts").innerText();
    for (const part of ["Last message", "Usual interval", "Bytes per message", "kineis", "lorawan", "json"]) assert.ok(facts.includes(part), `${part} in ${facts}`);
    await gateway.send("tank-1", { temperature: -5 });
    await note(`${COUNT + 1} messages`);
    await eventually(async () => assert.equal(await plot("temperature").locator(".value").textContent(), "-5"));
  });

  const latest = () => page.locator("#latest tr").evaluateAll((rows) => rows.map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent)));

  test("lists the latest value of every field, what changed, and in one line what did not", async () => {
    await choose("tank-1");
    await eventually(async () => assert.deepEqual(await latest(), [["temperature", "25.5", "+0.5"], ["deep / a/b", "11.50", "+1"]]));
    const constant = page.locator("#latest-constant");
    assert.equal((await constant.innerText()).trim(), "1 field that did not change");
    await constant.locator("summary").click();
    assert.match(await constant.innerText(), /door\s+closed/);
    await gateway.send("tank-1", { temperature: 25.5, door: "open", on: true });
    await note(`${COUNT + 1} messages`);
    await eventually(async () => {
      assert.deepEqual(await latest(), [["temperature", "25.5", "unchanged"], ["door", "open", "was closed"], ["on", "true", ""], ["deep / a/b", "11.50", "+1"]]);
      assert.equal(await constant.isVisible(), false);
    });
    await page.goto(`${gateway.url}/?device=pump`);
    await eventually(async () => assert.deepEqual(await latest(), [["rpm", "900", ""]]));
  });

  test("has a time axis below its plots, and a dot for each of a few messages", async () => {
    await choose("tank-1");
    const axis = page.locator("#device .axis");
    await eventually(async () => assert.match(await axis.textContent(), /^UTC\d\d:\d\d:\d\d\.\d+20\d\d-\d\d-\d\d/));
    assert.equal((await plot("temperature").locator(".dots").getAttribute("d")).match(/M/g).length, COUNT);
    const [above, below] = [await plot("Bytes of the message").boundingBox(), await axis.boundingBox()];
    assert.ok(below.y < page.viewportSize().height && below.y + below.height <= above.y + above.height + 60);
  });

  test("shows the units of its schema in plots, tables and the file", async () => {
    for (const n of [1, 2]) {
      const message = { station: "PISA01", time: `2026-03-29T12:0${n}:00Z`, temperature: 14 + n, humidity: 50, pressure: 1010, wind: { speed: n, direction: 10 * n } };
      assert.equal(await gateway.post("roof", JSON.stringify(message), { schema: "weather" }), 204);
    }
    await page.goto(`${gateway.url}/?device=roof`);
    await note("2 messages");
    await eventually(async () => {
      assert.match(await page.locator("#device-plots > li").first().innerText(), /^temperature\s+16 °C\s+\+1/);
      assert.deepEqual((await latest()).slice(1), [["temperature", "16 °C", "+1"], ["wind / speed", "2 m/s", "+1"], ["wind / direction", "20°", "+10"]]);
      assert.ok((await page.locator("#device-head th").allTextContents()).includes("wind / speed [m/s]"));
    });
    await page.locator("#latest-constant summary").click();
    assert.match(await page.locator("#latest-constant").innerText(), /humidity\s+50 %/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV", exact: true }).click()]);
    assert.match(await readFile(await download.path(), "utf8"), /,temperature \[°C\],humidity \[%\],/);
  });

  test("is compared with others in the same plots, which the address keeps", async () => {
    for (const temperature of [5, 35]) await gateway.send("tank-2", { temperature });
    await choose("tank-1");
    await note(`${COUNT} messages`);
    const box = page.getByLabel("Compare with");
    await box.fill("nk-2");
    await page.locator('#compare-found option[value="tank-2"]').waitFor({ state: "attached" });
    await box.fill("tank-2");
    await page.keyboard.press("Enter");
    await eventually(async () => {
      assert.equal(search(), "?device=tank-1&with=tank-2");
      assert.match(await page.locator("#compare-legend").innerText(), /tank-1\s+tank-2 \(2\)/);
      assert.equal(await plot("temperature").locator(".line.o1").count(), 1);
      assert.equal(await plot("temperature").locator(".others").textContent(), "35");
      assert.equal(await plot("deep / a/b").locator(".o1").count(), 0);
    });
    // Both fit: the axis of numbers is that of all lines.
    assert.equal(await plot("temperature").locator("svg > .degrees").last().textContent(), "35");
    assert.deepEqual(await axe(page), []);
    await shot(page, "device-compared");
    await page.getByRole("button", { name: "Do not compare with tank-2" }).click();
    await eventually(async () => assert.equal(search(), "?device=tank-1"));
    const other = await open(browser, gateway.url, {}, `${gateway.url}/?device=tank-1&with=tank-2,nobody`);
    await eventually(async () => assert.match(await other.locator("#compare-legend").innerText(), /tank-2 \(2\)[\s\S]*nobody: nothing of it is stored/));
    await other.close();
  });

  test("fits a phone: the name stays in one line, and nothing is higher than 2,500 pixels", async () => {
    for (let at = 0; at < 5; at++) await gateway.post("MNHU7675439", packed("container", moved(at)), { type: "application/vnd.dunnage.packed", schema: "container", link: "astrocast" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${gateway.url}/?device=MNHU7675439`);
    await note("5 messages");
    await page.locator("#device-plots > li").nth(5).waitFor();
    const bottom = async (id) => (await page.locator(id).boundingBox()).height;
    assert.ok((await page.locator("#device-title").boundingBox()).height < 30);
    assert.ok((await bottom("#device")) < 2300, `${await bottom("#device")}`);
    await shot(page, "device-phone");
    await page.getByRole("button", { name: /^Show \d+ more plots?$/ }).click();
    await page.locator("#device-plots > li").nth(7).waitFor();
    await page.goto(`${gateway.url}/?message=14`);
    await page.locator("#message-parts tr").nth(3).waitFor();
    assert.ok((await bottom("#message")) < 2500, `${await bottom("#message")}`);
    await shot(page, "message-phone");
  });

  test("has a track with times, and the cursor of the plots is a mark on it", async () => {
    for (let at = 0; at < 5; at++) await gateway.send("van", { lat: String(48.85 + at / 500), lon: 2.35 - at / 300, speed: at });
    await page.goto(`${gateway.url}/?device=van`);
    const track = page.locator("#device-track svg");
    await track.waitFor();
    assert.equal((await track.locator(".track-line").getAttribute("d")).match(/[ML]/g).length, 5);
    assert.match(await track.locator(".time").first().textContent(), /^\d\d:\d\d:\d\d$/);
    const mark = () => track.locator(".here").getAttribute("cx").then(Number);
    const last = await mark();
    await page.locator("#device-plots").focus();
    await page.keyboard.press("Home");
    await eventually(async () => assert.ok((await mark()) > last + 100, "the first position is east of the last one"));
    const box = await track.boundingBox();
    await page.mouse.move(box.x + last + 3, box.y + Number(await track.locator(".stop").first().getAttribute("cy")));
    await eventually(async () => assert.equal(await mark(), last));
    await page.goto(`${gateway.url}/?device=pump`);
    await note("1 message");
    assert.equal(await track.isVisible(), false);
  });

  test("has plots of how a provider received it", async () => {
    const lora = await Gateway.start({}, '[[input]]\nname = "lora"\n[input.webhook]\nprovider = "chirpstack"\nformat = "cbor"\ndevices = "*"\ntoken_file = "lora.tokens"\n', { "lora.tokens": "0123456789abcdef0123456789abcdef\n" });
    try {
      const event = JSON.parse(await readFile(new URL("../../crates/gateway/tests/webhooks/chirpstack-up.json", import.meta.url), "utf8"));
      for (const [at, rssi] of [-101, -97.5].entries()) {
        const body = JSON.stringify({ ...event, deduplicationId: crypto.randomUUID(), fCnt: at, rxInfo: [{ ...event.rxInfo[0], rssi }] });
        const headers = { "content-type": "application/json", authorization: "Bearer 0123456789abcdef0123456789abcdef" };
        const answer = await fetch(`${lora.url}/hooks/lora?event=up`, { method: "POST", headers, body });
        assert.equal(answer.status, 200, await answer.text());
      }
      const devices = (await (await fetch(`${lora.url}/api/devices`)).json()).devices;
      const other = await open(browser, lora.url, {}, `${lora.url}/?device=${devices[0].device}`);
      const plot = other.locator("#device-plots > li").filter({ hasText: "Signal strength" });
      await eventually(async () => assert.match(await plot.innerText(), /-97\.5 dBm\s*\+3\.5/));
      assert.deepEqual(other.faults, []);
      await other.close();
    } finally {
      await lora.stop();
    }
  });

  test("a drag over a plot chooses a time range, a button another one", async () => {
    await choose("tank-1");
    await note(`${COUNT} messages`);
    const box = await plot("temperature").locator("svg").boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.98, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await eventually(async () => assert.match(search(), /^\?device=tank-1&from=20.*&until=20/));
    await eventually(async () => assert.match(await page.locator("#device-note").textContent(), /^[1-6] messages?, 20.* to 20/));
    const few = await page.locator("#device-rows tr").count();
    assert.ok(few >= 1 && few <= 6, String(few));
    await page.reload();
    await eventually(async () => assert.equal(await page.locator("#device-rows tr").count(), few));
    await page.getByRole("button", { name: "24 hours" }).click();
    await note(`${COUNT} messages`);
    assert.equal(search(), "?device=tank-1&last=24h");
    assert.equal(await page.getByRole("button", { name: "24 hours" }).getAttribute("aria-pressed"), "true");
    await page.goto(`${gateway.url}/?device=tank-1&until=2001-01-01T00:00:00Z`);
    await note("no messages in this time range");
    assert.equal(await page.locator("#device-plots").isVisible(), false);
  });

  test("has a table with a column for each field, and files of it", async () => {
    await gateway.post("tank-1", '{"temperature":-0.0,"note":"=1+1","big":18446744073709551615}');
    await choose("tank-1");
    await note(`${COUNT + 1} messages`);
    const texts = async (selector) => (await page.locator(selector).allTextContents()).map((text) => text.trim());
    await eventually(async () => {
      assert.deepEqual(await texts("#device-head th"), ["Received (UTC)", "temperature", "note", "big", "door", "deep / a/b", "Format", "Bytes"]);
      assert.deepEqual((await texts("#device-rows tr:first-child td")).slice(0, 3), ["-0.0", "=1+1", "18446744073709551615"]);
    });
    const file = async (name) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
      return [download.suggestedFilename(), await readFile(await download.path(), "utf8")];
    };
    const [csvName, csv] = await file("CSV");
    assert.equal(csvName, "tank-1.csv");
    const lines = csv.trimEnd().split("\r\n");
    assert.equal(lines.length, COUNT + 2);
    await page.getByRole("status").filter({ hasText: `${COUNT + 1} messages saved` }).waitFor();
    assert.match(lines[0], /^id,received_at,format,schema,link,bytes,temperature,door,deep\/a~1b,note,big$/);
    assert.match(lines.at(-1), /,json,,,\d+,-0\.0,,,'=1\+1,18446744073709551615$/);
    const [, ndjson] = await file("NDJSON");
    const objects = ndjson.trimEnd().split("\n");
    assert.equal(objects.length, COUNT + 1);
    assert.ok(objects.at(-1).includes('"value":{"temperature":-0.0,"note":"=1+1","big":18446744073709551615}'), objects.at(-1));
  });

  test("whatever it sends, the page shows it and stays whole", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, at]));
    await gateway.send("odd", many);
    await gateway.send("odd", { "<b>bold</b>": "<i>x</i>", "שלום": 1e300, "": -1e-300, long: "x".repeat(100_000), ["n".repeat(2000)]: 1 });
    await page.goto(`${gateway.url}/?device=odd`);
    await note("the plots are of its first 32 numeric fields");
    await page.locator("#device-more").filter({ hasText: "The table has 12 of 10,005 fields" }).waitFor();
    assert.equal(await page.locator("#device b, #device i").count(), 0);
    await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false));
  });

  test("is found by a part of its name, however long ago it sent", async () => {
    for (let at = 0; at < 520; at += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => gateway.send(`d-${at + n}`, 1)));
    await page.goto(gateway.url);
    await page.locator("#devices tr").nth(59).waitFor();
    assert.equal(await page.locator("#devices").getByRole("button", { name: "pump", exact: true }).count(), 0);
    await page.locator("#filter").fill("PUM");
    await page.locator("#devices").getByRole("button", { name: "pump", exact: true }).waitFor();
    assert.equal(search(), "?find=PUM");
    await page.reload();
    await choose("pump");
    await note("1 message");
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`nothing keeps anybody out: ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      for (const size of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
        await page.setViewportSize(size);
        await page.goto(gateway.url);
        await page.locator("#devices tr").nth(1).waitFor();
        assert.deepEqual(await axe(page), []);
        await page.goto(`${gateway.url}/?device=tank-1`);
        await note(`${COUNT} messages`);
        await plot("temperature").waitFor();
        assert.deepEqual(await axe(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        await shot(page, `device-${size.width}-${colorScheme}`);
      }
    });
  }
});
