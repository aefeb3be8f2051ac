// One message: its address, its bytes by parts, its size in other formats.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot } from "./browser.js";
import { cbor, CONTAINER, Gateway, packed } from "./gateway.js";

const PACKED = { type: "application/vnd.dunnage.packed", schema: "container", link: "astrocast" };

describe("a message", () => {
  let browser, gateway, page;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    gateway = await Gateway.start();
    assert.equal(await gateway.post("LMCU1231237", packed("container", CONTAINER), PACKED), 204);
    assert.equal(await gateway.post("box", cbor({ "<b>a</b>": "<i>x</i>", t: "21.5" }), { type: "application/cbor" }), 204);
    page = await open(browser, gateway.url);
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    await gateway.stop();
    assert.deepEqual(faults.filter((fault) => !/404/.test(fault)), []);
  });

  const panel = () => page.locator("#message");
  const part = (text) => page.locator("#message-parts tr").filter({ hasText: text });
  const search = () => new URL(page.url()).search;

  test("opens from the list, with its bits by fields and its size in each format", async () => {
    await page.locator("#messages > li").filter({ hasText: "LMCU1231237" }).locator("summary").click();
    await page.getByRole("link", { name: "Bytes and other formats" }).click();
    await page.getByRole("heading", { name: "Message 1" }).waitFor();
    assert.equal(search(), "?message=1");
    const temperature = part("/temperature");
    await temperature.waitFor();
    assert.match(await temperature.innerText(), /17\.00/);
    const place = await temperature.getAttribute("data-part");
    await temperature.hover();
    await eventually(async () => assert.ok((await page.locator(`#message-bytes .lit[data-part="${place}"]`).count()) > 1));
    const drawn = (await page.locator("#message-bytes").textContent()).replaceAll(/\s/g, "");
    assert.equal(drawn, [...packed("container", CONTAINER)].map((byte) => byte.toString(2).padStart(8, "0")).join(""));
    const facts = await page.locator("#message-facts").innerText();
    for (const text of ["packed", "container, slot 1", "astrocast", "Request ID"]) assert.ok(facts.includes(text), `${text} in ${facts}`);
    const [shown, whole] = await page.locator("#message .scroll").evaluate((list) => [list.clientHeight, list.scrollHeight]);
    assert.equal(shown, whole, "no part is cut off by a scroll area");
    const sizes = await page.locator("#message-sizes tr").allInnerTexts();
    assert.match(sizes[0], /^packed/);
    for (const format of ["json", "cbor", "pson", "protobuf", "struct"]) assert.ok(sizes.some((text) => text.startsWith(format)), format);
    await page.getByRole("button", { name: "Close" }).click();
    await panel().waitFor({ state: "hidden" });
    await page.goBack();
    await page.getByRole("heading", { name: "Message 1" }).waitFor();
  });

  test("has an address; what is in it is text and nothing else; what is gone is said", async () => {
    await page.goto(`${gateway.url}/?message=2`);
    await part("<i>x</i>").waitFor();
    assert.equal(await panel().locator("b, i").count(), 0);
    assert.equal(await page.locator("#message-bytes .byte").count(), cbor({ "<b>a</b>": "<i>x</i>", t: "21.5" }).length);
    await page.goto(`${gateway.url}/?message=99`);
    await page.locator("#message-note").filter({ hasText: "there is no such message" }).waitFor();
    await page.goto(`${gateway.url}/?message=nothing`);
    await page.locator("#devices tr").first().waitFor();
    assert.equal(await panel().isVisible(), false);
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`nothing keeps anybody out: ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      for (const size of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
        await page.setViewportSize(size);
        for (const id of [1, 2]) {
          await page.goto(`${gateway.url}/?message=${id}`);
          await page.locator("#message-parts tr").nth(3).waitFor();
          assert.deepEqual(await axe(page), []);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
          await shot(page, `message-${id}-${size.width}-${colorScheme}`);
        }
      }
    });
  }
});
