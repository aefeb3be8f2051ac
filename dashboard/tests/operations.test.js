// The view of operators: its content, and operations with a token.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot } from "./browser.js";
import { Gateway } from "./gateway.js";

/** A receiver that rejects every message until `accepts` is true. */
async function receiver() {
  const receiver = { accepts: false, received: [] };
  receiver.server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    receiver.received.push(body);
    response.writeHead(receiver.accepts ? 204 : 422).end();
  }).listen(0, "127.0.0.1");
  await once(receiver.server, "listening");
  receiver.url = `http://127.0.0.1:${receiver.server.address().port}/in`;
  return receiver;
}

describe("the view of operators", () => {
  let browser, gateway, page, archive, operates;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    archive = await receiver();
    gateway = await Gateway.start({}, `[[output]]\nname = "archive"\n[output.http]\nurl = "${archive.url}"\n`);
    operates = gateway.token("--operate", "--name", "olga");
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    page = null;
    await gateway.stop();
    archive.server.closeAllConnections();
    archive.server.close();
    // The console also has lines about requests that the gateway refuses, and about failed connections while the gateway is down.
    assert.deepEqual(faults.filter((fault) => !/ (40[013]|409|429) |ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(fault)), []);
  });

  const visit = async (options) => {
    page = await open(browser, gateway.url, options, `${gateway.url}/?view=operations`);
    await page.getByRole("heading", { name: "Inputs" }).waitFor();
  };
  const panel = (name) => page.getByRole("region", { name });
  const dialog = () => page.getByRole("dialog");
  const press = (name, where = page) => where.getByRole("button", { name, exact: true }).click();
  const enter = async (token) => {
    await dialog().getByLabel("Token that may operate").fill(token);
    await dialog().getByRole("button", { name: /^(Retry|Discard)$/ }).click();
  };
  const result = (text) => page.locator(".result").filter({ hasText: text }).waitFor();
  const refused = (text) => dialog().getByRole("alert").filter({ hasText: text }).waitFor();

  /** Two messages of one device and one of another that name a schema which is not there yet. */
  async function quarantine() {
    for (const [device, body] of [["buoy-7", '{"n":1}'], ["buoy-7", '{"n":2}'], ["ship", '{"<b>n</b>":3}']]) {
      assert.equal(await gateway.post(device, body, { schema: "later" }), 404);
    }
  }

  async function addSchema() {
    await mkdir(`${gateway.folder}/schemas`);
    await writeFile(`${gateway.folder}/schemas/later.json`, '{"title":"Later","type":"object"}');
    await writeFile(`${gateway.folder}/dunnage.toml`, `[schemas]\npath = "schemas"\n[[output]]\nname = "archive"\n[output.http]\nurl = "${archive.url}"\n`);
    gateway.reload();
  }

  test("quarantined messages are stored once their schema is there, with a token that stays in memory", async () => {
    await quarantine();
    await visit();
    const device = panel("Quarantine").getByRole("row").filter({ hasText: "buoy-7" });
    await device.getByText("unknown-schema").waitFor();
    await addSchema();
    await press("Retry all of buoy-7");
    await dialog().getByRole("heading", { name: "Decode 2 messages of buoy-7 again?" }).waitFor();
    // Nothing is asked of the gateway before there is a token.
    await press("Retry", dialog());
    await refused("Enter a token that may operate");
    await enter(operates);
    await result("2 messages decoded and stored.");
    await dialog().waitFor({ state: "hidden" });
    await device.waitFor({ state: "detached" });
    // The token is still known: the next operation needs only its confirmation.
    await panel("Quarantine").locator("summary").filter({ hasText: "ship" }).click();
    await press("Retry message 3 of the quarantine");
    await dialog().getByText("The token that you entered before is used.").waitFor();
    assert.equal(await dialog().getByLabel("Token that may operate").isVisible(), false);
    await press("Retry", dialog());
    await result("1 message decoded and stored.");
    await panel("Quarantine").getByText("empty: every message was decoded").waitFor();
    const stored = (await gateway.api("/api/messages")).messages.map(({ device, value }) => [device, value]);
    assert.deepEqual(stored, [["ship", { "<b>n</b>": 3 }], ["buoy-7", { n: 2 }], ["buoy-7", { n: 1 }]]);
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.documentElement.outerHTML]));
    assert.ok(!kept.includes(operates));
    // The log says who it was.
    assert.equal(gateway.log.match(/an operator retried quarantined messages[^\n]*olga/g).length, 2);
    assert.ok(!gateway.log.includes(operates));
    await page.reload();
    await panel("Tokens").getByRole("row").filter({ hasText: "olga" }).filter({ hasText: "operate" }).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("button", { name: "ship", exact: true }).waitFor();
  });

  test("rates begin at zero over a time axis, and storage says what its figures include", async () => {
    await gateway.send("d", { n: 1 });
    await eventually(async () => assert.ok((await gateway.api("/api/rates")).points.length > 0));
    await visit();
    const rate = panel("Rates").locator("li").filter({ hasText: "Messages" });
    await eventually(async () => {
      assert.equal(await rate.locator(".plot > .degrees").first().textContent(), "0");
      assert.match(await rate.locator(".axis").textContent(), /^UTC\d\d:\d\d/);
    });
    assert.match(await panel("Storage and queue").innerText(), /below 1 % of 8\.6 GB, and [\d.,]+ [kM]?B of write-ahead log/);
  });

  test("expressions are tried on stored messages, and nothing is delivered", async () => {
    for (const n of [1, 2, 3]) await gateway.send("d", { n });
    await visit();
    await press("Try the expressions of archive");
    await dialog().getByLabel("when:").fill(".value.n >");
    await dialog().getByLabel("Token that may operate").fill(operates);
    await press("Try", dialog());
    await dialog().getByText("when: line 1, column 11: expected term, but the expression ends").waitFor();
    await dialog().getByLabel("when:").fill(".value.n > 1");
    await dialog().getByLabel("map:").fill("{device, n: (6 / (.value.n - 2))}");
    await press("Try", dialog());
    await result("Tried on 3 messages.");
    const trial = panel("Trial of archive");
    await trial.getByText("1 of 3 messages would be delivered, the oldest first").waitFor();
    const rows = await trial.getByRole("row").allInnerTexts();
    assert.match(rows[1], /skipped/);
    assert.match(rows[2], /dead letter.*map: the result has the number inf/s);
    assert.match(rows[3], /delivered.*\{"device":"d","n":6\}/s);
    assert.deepEqual(await axe(page), []);
    await shot(page, "trial");
    await trial.getByRole("button", { name: "Close" }).click();
    await trial.waitFor({ state: "hidden" });
  });

  test("messages are counted and delivered again, and a replay is paused and cancelled", async () => {
    archive.accepts = true;
    for (const [device, n] of [["pump-1", 1], ["hive", 2], ["pump-2", 3]]) await gateway.send(device, { n });
    await eventually(async () => assert.equal(archive.received.length, 3));
    await visit();
    await press("Replay messages of archive");
    await dialog().getByLabel("Token that may operate").fill(operates);
    await dialog().getByLabel("Received from").fill("yesterday");
    await press("Count", dialog());
    await refused("from must be a time such as 2026-01-31T08:00:00Z");
    await dialog().getByLabel("Received from").fill("2026-01-01T00:00:00Z");
    await dialog().getByLabel("Device").fill("pump-*");
    await press("Count", dialog());
    await dialog().getByText("2 messages would be delivered again.").waitFor();
    assert.equal(archive.received.length, 3);
    await press("Deliver again", dialog());
    await result("archive delivers messages again.");
    await eventually(async () => assert.equal(archive.received.length, 5));
    const replays = panel("Replays");
    await replays.getByText("complete").waitFor();
    assert.match(await replays.getByRole("row").nth(1).innerText(), /pump-\*, from 2026-01-01 00:00:00 UTC\s+complete\s+2 of 2/);
    assert.deepEqual(await axe(page), []);
    await shot(page, "replay");
    // A receiver that does not answer keeps the replay running.
    archive.server.removeAllListeners("request");
    archive.server.closeAllConnections();
    await press("Replay messages of archive");
    await press("Count", dialog());
    await dialog().getByText("3 messages would be delivered again.").waitFor();
    await press("Deliver again", dialog());
    await press("Pause the replay of archive");
    await press("Pause the replay", dialog());
    await result("The replay of archive is paused.");
    await replays.getByText("paused").waitFor();
    await press("Cancel the replay of archive");
    await press("Cancel the replay", dialog());
    await result("The replay of archive is cancelled.");
    await replays.waitFor({ state: "hidden" });
  });

  test("a dead letter is delivered again, another one discarded, and both are gone", async () => {
    for (const n of [1, 2, 3]) await gateway.send("d", { n });
    await eventually(async () => assert.equal((await gateway.api("/api/outputs/archive/dead-letters")).count, 3));
    await visit();
    await press("Dead letters of archive");
    const letters = panel("Dead letters of archive");
    await letters.getByText("3 messages, the oldest first").waitFor();
    assert.match(await letters.getByRole("row").nth(1).innerText(), /422/);
    archive.accepts = true;
    await press("Retry message 2");
    await dialog().getByText("The output archive delivers 1 message again").waitFor();
    await enter(operates);
    await result("1 message handed to archive again.");
    await eventually(async () => assert.deepEqual((await gateway.api("/api/outputs/archive/dead-letters")).messages.map((m) => m.id), [1, 3]));
    assert.match(archive.received.at(-1), /"n":2/);
    await press("Discard message 1");
    await dialog().getByText("will never be delivered to archive").waitFor();
    await press("Discard", dialog());
    await result("1 message of archive discarded.");
    await letters.getByText("1 message, the oldest first").waitFor();
    await press("Discard all", letters);
    await dialog().getByRole("heading", { name: "Discard 1 message?" }).waitFor();
    await press("Cancel", dialog());
    assert.equal((await gateway.api("/api/outputs/archive/dead-letters")).count, 1);
    await letters.getByRole("link", { name: "3", exact: true }).click();
    await page.getByRole("heading", { name: "Message 3" }).waitFor();
    assert.equal(new URL(page.url()).search, "?view=operations&message=3");
  });

  test("a wrong, insufficient, expired or revoked token is said plainly", async () => {
    await quarantine();
    const reads = gateway.token("--read", "--name", "reads");
    await visit();
    await press("Discard all", panel("Quarantine").locator("header"));
    await dialog().getByRole("heading", { name: "Discard 3 messages?" }).waitFor();
    await enter("wrong");
    await refused("The gateway did not accept the token: the token is unknown");
    await enter(reads);
    await refused("This token may not operate");
    await enter(operates.slice(0, -1));
    await refused("the token is unknown");
    gateway.command("token", "revoke", "olga", "--until", "2020-01-01");
    gateway.reload();
    await enter(operates);
    await refused("the token has expired");
    assert.equal((await gateway.api("/api/operations")).quarantine.messages, 3);
    // One that expires while the page is open and knows it.
    const second = gateway.token("--operate", "--name", "otto");
    await press("Cancel", dialog());
    await press("Discard all of ship");
    await enter(second);
    await result("1 message discarded.");
    gateway.command("token", "revoke", "otto");
    gateway.reload();
    await press("Discard all of buoy-7");
    await press("Discard", dialog());
    await refused("the token is unknown");
    await dialog().getByLabel("Token that may operate").waitFor();
    assert.equal((await gateway.api("/api/operations")).quarantine.messages, 2);
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "hidden" });
  });

  test("a gateway that is away is said, and the page works on when it is back", async () => {
    await quarantine();
    await visit();
    await panel("Quarantine").getByText("3 messages of 10,000").waitFor();
    await press("Retry all", panel("Quarantine").locator("header"));
    await gateway.down();
    await enter(operates);
    await refused("The gateway does not answer");
    await page.locator(".operations-head").getByRole("alert").filter({ hasText: "The gateway does not answer. The figures are those of" }).waitFor({ timeout: 15_000 });
    await gateway.up();
    await press("Retry", dialog());
    await result('0 messages decoded and stored, 3 still cannot be decoded. Message 1 of buoy-7: there is no schema "later".');
    await eventually(async () => assert.equal(await page.locator(".operations-head [role=alert]").innerText(), ""));
  });

  test("behind tokens, the password that opens the page does not operate, and no other dialogue of the browser appears", async () => {
    await gateway.stop();
    gateway = await Gateway.start({ DUNNAGE_ACCESS_WHO: "tokens" });
    operates = gateway.token("--operate", "--name", "olga");
    const sends = gateway.token("--device", "*");
    assert.equal(await gateway.post("ship", "{", { token: sends }), 400);
    await visit({ httpCredentials: { username: "any", password: gateway.token("--read"), send: "unauthorized" } });
    await press("Discard all of ship");
    await enter("wrong");
    await refused("the token is unknown");
    await enter(operates);
    await result("1 message discarded.");
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`nothing keeps anybody out: ${colorScheme}`, async () => {
      await quarantine();
      for (const n of [1, 2]) await gateway.send("d".repeat(64), { n });
      gateway.command("key", "new", "--device", "buoy-*", "--name", "k".repeat(64));
      gateway.reload();
      await eventually(async () => assert.equal((await gateway.api("/api/outputs/archive/dead-letters")).count, 2));
      await eventually(async () => assert.ok((await gateway.api("/api/rates")).points.length > 0));
      await visit({ colorScheme });
      await press("Dead letters of archive");
      await panel("Quarantine").locator("summary").first().click();
      for (const size of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
        await page.setViewportSize(size);
        await panel("Dead letters of archive").getByRole("row").nth(1).waitFor();
        await page.locator(".plot .line[d]").first().waitFor({ state: "attached" });
        await shot(page, `operations-${size.width}-${colorScheme}`);
        assert.deepEqual(await axe(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        await press("Discard all", panel("Quarantine").locator("header"));
        await dialog().waitFor();
        await shot(page, `operations-dialog-${size.width}-${colorScheme}`);
        assert.deepEqual(await axe(page), []);
        await page.keyboard.press("Escape");
      }
      // By keyboard alone: the button, the token, the confirmation.
      await panel("Quarantine").getByRole("button", { name: "Discard all of ship" }).focus();
      await page.keyboard.press("Enter");
      await dialog().getByRole("heading", { name: "Discard 1 message of ship?" }).waitFor();
      await page.keyboard.type(operates);
      await page.keyboard.press("Enter");
      await result("1 message discarded.");
    });
  }
});
