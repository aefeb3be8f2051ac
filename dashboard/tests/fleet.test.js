// The fleet: order, filters, pages and addresses of the list of devices; clusters on the map.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot } from "./browser.js";
import { Gateway } from "./gateway.js";
import { fill } from "./scale.js";

const PROFILES = '[[profile]]\ndevice = "pump-*"\nlink = "lorawan"\nsilent_after_seconds = 1\n';

describe("the fleet", () => {
  let browser, gateway, page;

  before(async () => {
    browser = await launch();
    gateway = await Gateway.start({}, PROFILES);
    for (let at = 0; at < 60; at++) await gateway.send(`tank-${at}`, { temperature: at, lat: 40 + at / 10, lon: at / 5 }, at % 3 ? "kineis" : undefined);
    for (let at = 0; at < 5; at++) await gateway.send("busy", { text: "x".repeat(200) });
    await gateway.send("pump-1", { rpm: 900 });
    await gateway.post("tank-7", "{", {});
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });
  beforeEach(async () => {
    page = await open(browser, gateway.url, {}, `${gateway.url}/?view=fleet`);
    await rows().nth(49).waitFor();
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    assert.deepEqual(faults, []);
  });

  const rows = () => page.locator("#fleet-rows tr");
  const names = () => page.locator("#fleet-rows th").allTextContents();
  const shows = (check) => eventually(async () => check(await names()));
  const head = (name) => page.getByRole("columnheader", { name, exact: true });
  const sortBy = (name) => head(name).getByRole("button").click();
  const search = () => new URL(page.url()).search;
  const note = (text) => page.locator("#fleet-note").filter({ hasText: text }).waitFor();

  test("the overview begins with who is late, and leads to them", async () => {
    // One second after its message, the pump counts as silent.
    await eventually(async () => assert.equal((await gateway.api("/api/devices?late=true")).matches, 1));
    await page.goto(gateway.url);
    const late = page.getByRole("region", { name: "Late or silent" });
    await eventually(async () => {
      assert.match(await late.locator("li").innerText(), /^pump-1\s+within 1 s, .+ late\s+last seen \d+ s ago$/);
      assert.equal(await page.locator("#late-note").textContent(), "1 of 62");
      assert.ok((await late.boundingBox()).y < (await page.locator("#totals").boundingBox()).y);
    });
    assert.deepEqual(await axe(page), []);
    await shot(page, "late");
    await late.getByRole("link", { name: "All in the fleet" }).click();
    await shows((all) => assert.deepEqual(all, ["pump-1"]));
    assert.equal(search(), "?view=fleet&late=true&sort=late");
    await page.goBack();
    await late.getByRole("link", { name: "pump-1" }).click();
    await page.locator("#device-title").filter({ hasText: "pump-1" }).waitFor();
    assert.equal(search(), "?device=pump-1");
  });

  test("is sorted by its headers, with the mouse and the keyboard", async () => {
    assert.equal(await head("Last message").getAttribute("aria-sort"), "descending");
    assert.equal((await names())[0], "pump-1");
    await sortBy("Device");
    await shows((all) => assert.deepEqual(all.slice(0, 3), ["busy", "pump-1", "tank-0"]));
    assert.deepEqual([search(), await head("Device").getAttribute("aria-sort"), await head("Last message").getAttribute("aria-sort")], ["?view=fleet&sort=name", "ascending", "none"]);
    await page.keyboard.press("Enter"); // the header has the focus still
    await shows((all) => assert.equal(all[0], "tank-9"));
    assert.equal(search(), "?view=fleet&sort=name&order=desc");
    await sortBy("Messages");
    await shows((all) => assert.equal(all[0], "busy"));
    await sortBy("Bytes");
    await shows((all) => assert.equal(all[0], "busy"));
    await page.goBack();
    await page.goBack();
    await shows((all) => assert.equal(all[0], "tank-9"));
  });

  test("is filtered, and the address has the filters", async () => {
    const select = (label) => page.locator("#fleet-filters").getByLabel(label, { exact: true });
    await note("1 to 50 of 62");
    await select("Link").selectOption("=kineis");
    await note("1 to 40 of 40");
    await page.locator("#filter").fill("TANK-1");
    await note("of 8"); // 10, 11, 13, 14, 16, 17, 19 and 1
    for (const part of ["link=kineis", "find=TANK-1"]) assert.ok(search().includes(part), search());
    const other = await open(browser, gateway.url, {}, page.url());
    await other.locator("#fleet-note").filter({ hasText: "1 to 8 of 8" }).waitFor();
    assert.equal(await other.locator("#filter").inputValue(), "TANK-1");
    await other.close();

    await page.getByRole("button", { name: "Clear filters" }).click();
    await note("of 62");
    await select("Link").selectOption("=");
    await note("of 21");
    await page.goBack();
    await note("of 62");
    await select("Quarantine").selectOption("=true");
    await shows((all) => assert.deepEqual(all, ["tank-7"]));
    assert.equal(await page.locator("#fleet-rows .quarantined").textContent(), "1");
    await select("Next message").selectOption("=true");
    await page.locator("#fleet-message").filter({ hasText: "No device matches." }).waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await select("Profile").selectOption("=pump-*");
    await shows((all) => assert.deepEqual(all, ["pump-1"]));
    await select("Next message").selectOption("=true");
    await eventually(async () => assert.match(await page.locator("#fleet-rows .expected").textContent(), /^within 1 s, .* late$/));
  });

  test("has pages, also for the keyboard, and they can be sent", async () => {
    await page.goto(`${gateway.url}/?view=fleet&sort=name`);
    await note("1 to 50 of 62");
    const first = await names();
    const next = page.getByRole("button", { name: "Next" });
    assert.equal(await page.getByRole("button", { name: "Previous" }).getAttribute("aria-disabled"), "true");
    await next.focus();
    await page.keyboard.press("Enter");
    await note("51 to 62 of 62");
    const second = await names();
    assert.equal(new Set([...first, ...second]).size, 62);
    assert.equal(await next.getAttribute("aria-disabled"), "true");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Next");
    await page.reload();
    await note("51 to 62 of 62");
    await page.getByRole("button", { name: "Previous" }).click();
    await shows((all) => assert.deepEqual(all, first));
    await page.goBack();
    await shows((all) => assert.deepEqual(all, second));
    await sortBy("Messages"); // a new order begins with its first page
    await note("1 to 50 of 62");
  });

  test("a row opens its device, and back returns to the list as it was", async () => {
    await sortBy("Device");
    await shows((all) => assert.equal(all[0], "busy"));
    await rows().nth(3).locator(".messages").click();
    await page.locator("#device-title").filter({ hasText: "tank-1" }).waitFor();
    assert.equal(search(), "?device=tank-1");
    await page.goBack();
    await shows((all) => assert.equal(all[0], "busy"));
    await page.getByRole("link", { name: "pump-1" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#device-title").filter({ hasText: "pump-1" }).waitFor();
    await eventually(async () => assert.match(await page.locator("#device-facts").innerText(), /Expected\s+within 1 s, .* late/));
  });

  test("follows what arrives, and keeps focus and scroll", async () => {
    await page.getByRole("link", { name: "tank-30", exact: true }).focus();
    await page.evaluate(() => scrollTo(0, 300));
    // The browser keeps what is in sight where it is when a row goes to the top.
    const place = () => page.evaluate(() => [document.activeElement.textContent, Math.round(document.activeElement.getBoundingClientRect().top)]);
    const before = await place();
    await gateway.send("tank-1", { temperature: -1 });
    await shows((all) => assert.equal(all[0], "tank-1"));
    assert.deepEqual(await place(), before);
    await gateway.send("tank-30", { temperature: -1 });
    await shows((all) => assert.equal(all[0], "tank-30"));
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "tank-30");
  });

  test("what an address says wrong is said plainly, and is only text", async () => {
    const message = (text) => page.locator("#fleet-message").filter({ hasText: text }).waitFor();
    for (const wrong of ["sort=size", "cursor=AAAA", "late=perhaps"]) {
      await page.goto(`${gateway.url}/?view=fleet&${wrong}`);
      await message("The address has a filter, an order or a page that does not exist.");
      page.faults = page.faults.filter((fault) => !fault.includes("400")); // Chromium logs the answer
    }
    for (const odd of ["<b>bold</b>", "שלום", "\u202eevil"]) {
      await page.goto(`${gateway.url}/?view=fleet&${new URLSearchParams({ find: odd, link: odd })}`);
      await message("No device matches.");
      assert.equal(await page.locator("#fleet-link").inputValue(), `=${odd}`);
      assert.equal(await page.locator("#fleet b").count(), 0);
    }
    await page.getByRole("button", { name: "Clear filters" }).click();
    await note("of 62");
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`nothing keeps anybody out: ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      for (const size of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
        await page.setViewportSize(size);
        await page.goto(`${gateway.url}/?view=fleet`);
        await note("of 62");
        assert.deepEqual(await axe(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        await shot(page, `fleet-${size.width}-${colorScheme}`);
        await page.goto(`${gateway.url}/?view=fleet&link=nowhere`);
        await page.locator("#fleet-message").filter({ hasText: "No device matches." }).waitFor();
        assert.deepEqual(await axe(page), []);
      }
    });
  }
});

test("the fleet of an empty gateway, of one that is gone, and of one that is back", async () => {
  const [browser, gateway] = [await launch(), await Gateway.start()];
  const page = await open(browser, gateway.url, {}, `${gateway.url}/?view=fleet`);
  try {
    const message = (text) => page.locator("#fleet-message").filter({ hasText: text }).waitFor();
    await message("No device has sent anything yet.");
    await shot(page, "fleet-empty");
    await gateway.send("first", 1);
    await page.locator("#fleet-rows tr").waitFor();
    await gateway.down();
    await message("The gateway does not answer. Trying again.");
    assert.equal(await page.locator("#fleet-rows tr").count(), 1);
    await gateway.up();
    await page.locator("#fleet-message").waitFor({ state: "hidden" });
    assert.equal(await page.locator("#fleet-rows tr").count(), 1);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});

test("5,000 devices are clusters on the map, which open to their devices", async () => {
  const [browser, gateway] = [await launch(), await Gateway.start()];
  try {
    await fill(gateway, 5000);
    const page = await open(browser, gateway.url);
    const sum = async () => {
      const clusters = await page.locator("#map .cluster text").allTextContents();
      return clusters.reduce((all, text) => all + Number(text.replaceAll(",", "")), await page.locator("#map .mark").count());
    };
    await page.locator("#map .cluster").first().waitFor();
    await eventually(async () => assert.equal(await sum(), 5000));
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axe(page), []);
      await shot(page, `map-${colorScheme}`);
    }
    const before = await page.locator("#map .cluster").count();
    await page.locator("#map .cluster").nth(3).click();
    await page.getByRole("button", { name: "Whole map" }).waitFor();
    const inside = await sum();
    assert.ok(inside < 5000 && inside > 3, String(inside));
    // As near as the map goes, a cluster lists its devices.
    for (let clicks = 0; (await page.locator("#map .card .items button").count()) === 0; clicks++) {
      assert.ok(clicks < 8);
      const cluster = page.locator("#map .cluster").first();
      if ((await cluster.count()) === 0) break;
      await cluster.click();
    }
    await shot(page, "map-zoomed");
    const listed = page.locator("#map .card .items button").first();
    if (await listed.count()) {
      const name = await listed.textContent();
      await page.getByRole("button", { name: "Whole map" }).click();
      await eventually(async () => assert.equal(await page.locator("#map .cluster").count(), before));
      await page.goto(`${gateway.url}/?device=${name}`);
      await page.locator("#device-title").filter({ hasText: name }).waitFor();
      await page.goto(gateway.url);
      await page.locator("#map .cluster").first().waitFor();
    }
    await page.locator("#map .cluster").nth(3).click();
    await page.getByRole("button", { name: "Whole map" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await eventually(async () => assert.equal(await page.locator("#map .cluster").count(), before));
    assert.equal(await page.locator("#devices tr").count(), 60);
    assert.deepEqual(page.faults, []);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});
