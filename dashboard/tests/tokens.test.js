// The page of a gateway that lets nobody in without a token, also from this machine.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open } from "./browser.js";
import { Gateway } from "./gateway.js";

describe("the page behind tokens", () => {
  let browser, gateway, reads, sends;

  before(async () => {
    browser = await launch();
    gateway = await Gateway.start({ DUNNAGE_ACCESS_WHO: "tokens" });
    reads = gateway.token("--read", "--name", "page");
    sends = gateway.token("--device", "*", "--name", "devices");
    assert.equal(await gateway.post("buoy-7", '{"secret":"cargo-of-buoy-7"}', { token: sends }), 204);
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
  });

  const device = (page, name) => page.getByRole("button", { name, exact: true });

  /** A new message arrives over the stream, and a device's history by a further request. */
  async function works(page, name) {
    await device(page, "buoy-7").waitFor();
    assert.equal(await gateway.post(name, '{"a":"<b>1</b>"}', { token: sends }), 204);
    await device(page, name).click();
    await page.locator("#messages > li").filter({ hasText: name }).locator("summary").click();
    await page.locator("#messages").getByText("<b>1</b>").waitFor();
    assert.equal(await page.locator("main b").count(), 0);
    assert.deepEqual([...page.faults, ...(await page.evaluate(() => window.violations))], []);
  }

  test("a token as the password of the browser's dialogue opens the page, the API and the stream", async () => {
    // The browser is challenged first, as a person's would be, and keeps the password.
    const page = await open(browser, gateway.url, { httpCredentials: { username: "any", password: reads, send: "unauthorized" } });
    await works(page, "ship-1");
    await page.reload();
    await page.getByRole("heading", { name: "ship-1", exact: true }).waitFor();
    await page.close();
  });

  test("an address with the token in it opens the page, too", async () => {
    const page = await open(browser, gateway.url, {}, gateway.url.replace("//", `//any:${reads}@`));
    await works(page, "ship-2");
    assert.ok(!(await page.content()).includes(reads));
    await page.close();
  });

  const LOCKED = ["/", "/app.js", "/api/messages", "/api/stats", "/api/events", "/api/devices/buoy-7/messages", "/metrics"];

  test("whoever closes the dialogue sees nothing", async () => {
    const page = await browser.newPage();
    // The result of a 401 that asks for a password in Chromium without a dialogue.
    await assert.rejects(page.goto(gateway.url), /ERR_INVALID_AUTH_CREDENTIALS/);
    assert.ok(!(await page.locator("body").innerText()).includes("buoy-7"));
    await page.close();
    for (const path of LOCKED) {
      const answer = await fetch(gateway.url + path);
      assert.equal(answer.status, 401, path);
      assert.match(answer.headers.get("www-authenticate"), /Basic realm="dunnage"/);
      assert.match(answer.headers.get("content-security-policy"), /(^|; *)default-src 'self'(;|$)/);
      assert.ok(!(await answer.text()).includes("buoy-7"), path);
    }
  });

  for (const [who, token, status] of [
    ["a token that is not known", () => reads.slice(0, 4) + reads.slice(4).split("").reverse().join(""), 401],
    ["a token that may send", () => sends, 403],
  ]) {
    test(`${who} shows nothing`, async () => {
      const page = await browser.newPage({ httpCredentials: { username: "any", password: token() } });
      const answer = await page.goto(gateway.url);
      assert.equal(answer.status(), status);
      assert.match(answer.headers()["content-security-policy"], /(^|; *)default-src 'self'(;|$)/);
      assert.equal(await page.locator("main, script, link, img").count(), 0);
      const asked = await page.evaluate(async (paths) => {
        const answers = await Promise.all(paths.map((path) => fetch(path)));
        const texts = await Promise.all(answers.map((answer) => answer.text()));
        return { statuses: answers.map((answer) => answer.status), all: texts.join() };
      }, LOCKED);
      assert.deepEqual(asked.statuses, LOCKED.map(() => status));
      assert.ok(!`${asked.all}${await page.content()}`.includes("buoy-7"), asked.all);
      await page.close();
    });
  }
});
