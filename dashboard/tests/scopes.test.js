// The page with a token that reads a part of the devices: it says so, shows nothing of the others, and follows tags that change.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot, tile } from "./browser.js";
import { Gateway } from "./gateway.js";

describe("the page of a part of the devices", () => {
  let browser, gateway, page, part, all, sends;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    gateway = await Gateway.start({ DUNNAGE_ACCESS_WHO: "tokens" });
    part = gateway.token("--read", "--tag", "site=pisa", "--name", "pisa");
    all = gateway.token("--read", "--name", "all");
    sends = gateway.token("--device", "*", "--name", "devices");
    for (const [id, site] of [["hive-7", "pisa"], ["hive-8", "rome"]]) {
      gateway.command("device", "add", id, "--name", `Bees ${id.at(-1)}`, "--tag", `site=${site}`);
      await send(id, { kg: 31, latitude: 43.7, longitude: 10.4 });
    }
    assert.equal(await gateway.post("hive-7", "{", { token: sends }), 400);
    assert.equal(await gateway.post("hive-8", "[", { token: sends }), 400);
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    page = null;
    await gateway.stop();
    assert.deepEqual(faults, []);
  });

  const send = async (device, message) => assert.equal(await gateway.post(device, JSON.stringify(message), { token: sends }), 204);
  const visit = async (search = "", options = {}, token = part) => {
    page = await open(browser, gateway.url, { httpCredentials: { username: "any", password: token, send: "unauthorized" }, ...options }, `${gateway.url}/${search}`);
  };
  const text = () => page.locator("body").innerText();
  const has = (device) => eventually(async () => assert.ok((await text()).includes(device), device));
  const lacks = (device) => eventually(async () => assert.ok(!(await page.content()).includes(device), device));

  test("it shows its devices, and what is about the whole gateway is not offered", async () => {
    await visit();
    await page.getByText("This token shows a part of the fleet: devices with site=pisa.").waitFor();
    await has("hive-7");
    await lacks("hive-8");
    assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 0);
    assert.equal(await page.getByText("Size compared with JSON").isVisible(), false);
    assert.deepEqual((await tile(page, "Messages"))[0], "1");
    assert.deepEqual((await tile(page, "Devices"))[0], "1");
    await page.getByRole("button", { name: "hive-7", exact: true }).click();
    await page.locator("#device-facts").getByText("First message").waitFor();
    assert.match(await page.locator("#device-facts").innerText(), /First message\s+\d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    await shot(page, "scope-device");
    await page.close();
    // The view of operators leads to the overview.
    await visit("?view=operations");
    await has("hive-7");
    await eventually(() => assert.equal(new URL(page.url()).search, ""));
  });

  test("a token for everything has no note", async () => {
    await visit("", {}, all);
    await has("hive-8");
    assert.equal(await page.locator("#scope").isVisible(), false);
    assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 1);
    assert.equal(await page.getByText("Size compared with JSON").isVisible(), true);
  });

  test("a tag that changes adds and removes devices of an open page", async () => {
    await visit();
    await has("hive-7");
    // A list that is held while someone reads it is no exception.
    await page.getByRole("button", { name: "Pause" }).click();
    gateway.command("device", "set", "hive-7", "--tag", "site=rome");
    await lacks("hive-7");
    await page.getByText("None of them has sent anything yet.").waitFor();
    gateway.command("device", "set", "hive-8", "--tag", "site=pisa");
    await has("hive-8");
    await send("hive-7", { kg: 1 });
    await send("hive-8", { kg: 2 });
    await eventually(async () => assert.deepEqual((await tile(page, "Messages"))[0], "2"));
    await lacks("hive-7");
  });

  test("the open fleet, register and device follow tags, too", async () => {
    for (const search of ["?view=fleet", "?view=register", "?device=hive-7"]) {
      await visit(search);
      await has(search.includes("device") ? "kg" : "hive-7");
      gateway.command("device", "set", "hive-7", "--tag", "site=rome");
      await (search.includes("device") ? has("Nothing of this device is stored") : lacks("hive-7"));
      gateway.command("device", "set", "hive-7", "--tag", "site=pisa");
      await has(search.includes("device") ? "kg" : "hive-7");
      // A device that is gone answers 404.
      page.faults = page.faults.filter((fault) => !/ 404 /.test(fault));
      await page.close();
    }
    page = null;
  });

  test("the fleet is filtered by tags, and by names of the register", async () => {
    await visit("?view=fleet", {}, all);
    const ids = () => page.locator("#fleet-rows th a").allTextContents();
    await eventually(async () => assert.deepEqual((await ids()).sort(), ["hive-7", "hive-8"]));
    await page.getByText("Bees 8, site=rome").waitFor();
    await page.getByRole("searchbox", { name: "Tags" }).fill("site=rome");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-8"]));
    await page.reload();
    await eventually(async () => assert.deepEqual([await ids(), await page.getByRole("searchbox", { name: "Tags" }).inputValue()], [["hive-8"], "site=rome"]));
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.locator("#filter").fill("bees 7");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-7"]));
  });

  for (const [name, options] of Object.entries({ desktop: {}, phone: { viewport: { width: 390, height: 844 } }, dark: { colorScheme: "dark" } })) {
    test(`it is accessible and nothing sticks out: ${name}`, async () => {
      for (const [view, search] of [["overview", ""], ["fleet", "?view=fleet"]]) {
        await visit(search, options);
        await has("hive-7");
        await shot(page, `scope-${view}-${name}`);
        assert.deepEqual(await axe(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        if (view === "overview") await page.close();
      }
    });
  }
});
