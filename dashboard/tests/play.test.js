// The playground: from pasted messages to code that compiles, mistakes at their place, and links that hold the state.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, shot, watched } from "./browser.js";
import { Gateway, Playground } from "./gateway.js";

/** The messages of a sensor. */
const READINGS = Array.from({ length: 40 }, (_, at) => JSON.stringify({ temperature: (200 + (at % 17)) / 10, door: at % 3 ? "closed" : "open", count: at })).join("\n");

describe("the playground", () => {
  let browser, server, page;

  before(async () => {
    browser = await launch();
    server = await Playground.start();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });
  const open = async (address = `${server.url}/play`, options = {}) => {
    const opened = await watched(browser, server.url, options);
    await opened.goto(address);
    await opened.locator("html[data-ready]").waitFor();
    return opened;
  };
  beforeEach(async () => (page = await open()));
  afterEach(async () => {
    const faults = [...page.faults, ...(await page.evaluate(() => window.violations))];
    await page.close();
    assert.deepEqual(faults, []);
  });

  const messages = () => page.getByRole("textbox", { name: "Messages" });
  const schema = () => page.getByRole("textbox", { name: "Schema" });
  const mistakes = (of) => page.getByRole("list", { name: `Mistakes in the ${of}` }).getByRole("listitem");
  const format = (name, at = page) => at.locator("#sizes tr").filter({ has: at.getByRole("rowheader", { name, exact: true }) });
  const settled = (at = page) => at.locator("main[aria-busy=false]").waitFor();
  const saved = () => eventually(async () => assert.match(page.url(), /#.{50}/));
  /** Waits until the input is computed and a size is drawn; returns it. */
  const size = async (name, at = page) => {
    await settled(at);
    await format(name, at).waitFor();
    return format(name, at).locator("td").nth(1).textContent();
  };

  test("leads from pasted messages to C that compiles", async () => {
    // The page begins with an example.
    assert.match(await size("packed"), /B$/);
    assert.match(await schema().inputValue(), /"title": "Container"/);
    assert.match(await messages().inputValue(), /^\{.*\}$/);
    assert.equal(new URL(page.url()).hash, "");
    assert.match(await page.locator("#computed").textContent(), /nothing leaves it/);
    assert.equal(await page.getByRole("navigation").count(), 0, "there is no gateway to go to");
    await messages().click();
    await page.evaluate((text) => document.execCommand("insertText", false, text), READINGS);
    assert.equal(await messages().inputValue(), READINGS, "one click and typing replace the example");
    assert.equal(await page.locator("#start").isVisible(), false);
    await eventually(async () => assert.match(await schema().inputValue(), /"temperature": \{ "type": "number", "multipleOf": 0.1/));
    assert.equal(await page.locator("#messages-note").textContent(), "40 messages");
    await page.getByRole("region", { name: "Smaller messages" }).locator("li").filter({ hasText: /^temperature.*B at most.*"temperature": \{ "type": "number"/ }).first().waitFor();
    const folder = await mkdtemp(join(tmpdir(), "dunnage-play-"));
    try {
      for (const name of ["message.h", "message.c", "dunnage_message.h", "dunnage_message.c"]) {
        await page.getByRole("button", { name, exact: true }).click();
        await page.locator("#files [aria-pressed=true]").filter({ hasText: name }).waitFor();
        await writeFile(join(folder, name), await page.locator("#code").textContent());
      }
      for (const name of ["message.c", "dunnage_message.c"]) {
        const { status, stderr } = spawnSync("cc", ["-std=c99", "-Wall", "-Werror", "-c", name], { cwd: folder });
        assert.equal(status, 0, `${stderr}`);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
    for (const name of ["message.js", "message.proto", "message.avsc", "message.thrift", "message.cddl"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await eventually(async () => assert.ok((await page.locator("#code").textContent()).length > 30, name));
    }
  });

  test("shows mistakes of messages and of the schema at their lines, and keeps the caret", async () => {
    await page.getByRole("button", { name: "Weather station" }).click();
    const bytes = await size("packed");
    const text = await schema().inputValue();
    const line = text.slice(0, text.indexOf('"type": "number"')).split("\n").length;
    await schema().fill(text.replace('"type": "number"', '"type": "numbre"'));
    await mistakes("schema").filter({ hasText: `line ${line}, /properties/` }).waitFor();
    assert.match(await mistakes("schema").textContent(), /there is no type "numbre"/);
    await mistakes("schema").getByRole("button").click();
    const caret = () => page.evaluate(() => document.activeElement.value.slice(document.activeElement.selectionStart).slice(0, 8));
    assert.equal(await caret(), '"numbre"');
    await page.locator("#schema-editor .gutter .wrong").filter({ hasText: String(line) }).waitFor();
    assert.ok((await format("cbor").count()) === 1 && (await format("packed").count()) === 0, "formats without a schema are still measured");
    for (const [panel, reason] of [
      ["Bytes of a message", "The schema has a mistake, so these formats are missing: protobuf"],
      ["Bytes explained", "The schema has a mistake, so packed cannot be shown."],
      ["A fleet per month", "so these formats are missing, and none is recommended: protobuf"],
      ["Code", "The schema has a mistake, so there is no code."],
    ]) {
      await page.getByRole("region", { name: panel }).locator(".lack").filter({ hasText: reason }).waitFor();
    }
    assert.equal(await page.locator(".lacking").count(), 4);
    assert.equal(await page.locator("#plan .chosen").count(), 0, "another format is not recommended");
    assert.equal(await page.getByRole("button", { name: "Copy", exact: true }).isVisible(), false, "there is nothing to copy");

    await page.keyboard.press("Delete");
    await page.keyboard.press("Delete");
    await mistakes("schema").filter({ hasText: "umbre" }).waitFor();
    await settled();
    assert.equal((await caret()).slice(0, 6), 'umbre"', "the caret stays where the user types");
    await schema().fill(text);
    await eventually(async () => assert.equal(await mistakes("schema").count(), 0));
    assert.equal(await size("packed"), bytes);
    await eventually(async () => assert.equal(await page.locator(".lacking").count(), 0));

    const sent = await messages().inputValue();
    await messages().fill(`${sent}\n{"station": 7}\n`);
    await mistakes("messages").filter({ hasText: "message 3, line 3, /station" }).waitFor();
    await page.locator("#sizes-foot").filter({ hasText: "1 of 3 messages break the schema" }).waitFor();
    await messages().fill(`${sent}\n{"station": tru}\n`);
    await mistakes("messages").filter({ hasText: /^message 3, line 3.*text needs double quotes/ }).waitFor();
    await page.locator("#sizes-foot").filter({ hasText: "1 of 3 messages cannot be read and is left out" }).waitFor();
    assert.equal(await size("packed"), bytes, "the others are measured");
    await messages().fill('{"station": tru}');
    await page.locator("#results.old").waitFor();
    await messages().fill(sent);
    await page.locator("#results:not(.old)").waitFor();
  });

  test("a link holds the messages, the schema, the links and the fleet", async () => {
    await page.getByRole("button", { name: "Container", exact: true }).click();
    await size("packed");
    await page.getByLabel("Devices").fill("250");
    await page.locator("#links summary").click();
    await page.getByRole("checkbox", { name: /^Sigfox/ }).first().check();
    await page.getByRole("button", { name: "cbor", exact: true }).click();
    await page.locator("#plan-link").selectOption({ label: "Kinéis" });
    await saved();
    const before = page.url();
    await schema().fill((await schema().inputValue()).replace('"title": "Container"', '"title": "Box"'));
    await page.getByRole("button", { name: "box.h" }).waitFor();
    await eventually(async () => assert.notEqual(page.url(), before));
    const other = await open(page.url());
    await other.getByRole("button", { name: "box.h" }).waitFor();
    assert.equal(await other.locator("#messages").inputValue(), await messages().inputValue());
    assert.equal(await other.locator("#schema").inputValue(), await schema().inputValue());
    assert.equal(await other.getByLabel("Devices").inputValue(), "250");
    assert.equal(await other.getByRole("checkbox", { name: /^Sigfox/, includeHidden: true }).first().isChecked(), true);
    assert.equal(await other.locator("#formats [aria-pressed=true]").textContent(), "cbor");
    assert.equal(await other.locator("#plan-link option:checked").textContent(), "Kinéis");
    assert.equal(await size("packed", other), await size("packed"));
    assert.deepEqual(other.faults, []);
    await other.close();
  });

  test("back and forward move between what was begun", async () => {
    await page.getByRole("button", { name: "Container", exact: true }).click();
    await saved();
    const container = await messages().inputValue();
    await page.getByRole("button", { name: "Weather station" }).click();
    await eventually(async () => assert.notEqual(await messages().inputValue(), container));
    await size("packed");
    const first = page.url();
    await eventually(async () => assert.ok(page.url().includes("#")));
    await page.goBack();
    await eventually(async () => assert.equal(await messages().inputValue(), container));
    await page.goBack();
    await page.locator("#start").waitFor();
    await page.getByRole("button", { name: "Clear it for your own" }).click();
    assert.deepEqual([await messages().inputValue(), await schema().inputValue()], ["", ""]);
    await page.locator("#results").waitFor({ state: "hidden" });
    await page.goForward();
    await eventually(async () => assert.equal(await messages().inputValue(), container));
    await page.goto(first);
    await eventually(async () => assert.notEqual(await messages().inputValue(), container));
  });

  test("says when a link would be too long, and when one is damaged", async () => {
    const random = Array.from({ length: 300 }, (_, at) => `{"n":${at},"t":"${Array.from({ length: 8 }, () => Math.random().toString(36)).join("")}"}`).join("\n");
    await messages().fill(random);
    await page.locator("#share-note").filter({ hasText: /Too long for a link: [\d,]+ characters, at most 16,000/ }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    assert.equal(await page.getByRole("button", { name: "Copy link" }).isDisabled(), true);
    await page.goto(`${server.url}/play#AAAA`);
    await page.locator("#share-note").filter({ hasText: "damaged or incomplete" }).waitFor();
    // A few bytes that expand to a hundred megabytes.
    const bomb = await page.evaluate(async () => {
      const { write } = await import("/play/link.js");
      return write({ messages: " ".repeat(50_000_000) });
    });
    assert.ok(bomb.length < 100_000);
    await page.goto(`${server.url}/play#${bomb}`);
    await page.locator("#share-note").filter({ hasText: "damaged or incomplete" }).waitFor();
  });

  test("a dropped file of many messages is cut, and a thousand are enough to train", async () => {
    const lines = Array.from({ length: 1500 }, (_, at) => `{"t":${(at * 7) % 40},"on":${at % 9 > 0}}`).join("\n");
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "log.ndjson"));
      return data;
    }, lines);
    await page.dispatchEvent("#messages", "drop", { dataTransfer: transfer });
    await page.locator("#messages-note").filter({ hasText: "log.ndjson: These are the first 1,000 lines" }).waitFor();
    assert.match(await size("packed, trained"), /B$/);
    assert.ok(parseFloat(await size("packed, trained")) <= parseFloat(await size("packed")));
  });

  test("CSV is read, formats far above JSON leave room for the small ones, and amounts are written one way", async () => {
    await messages().fill("time,temp,door\n2026-01-31T08:00:00Z,21.5,open\n2026-01-31T08:15:00Z,,closed\n");
    await page.locator("#messages-note").filter({ hasText: "2 messages" }).waitFor();
    await eventually(async () => assert.match(await schema().inputValue(), /"required": \["time", "door"\]/));
    await size("packed");
    const width = async (name) => (await format(name).locator(".bar").boundingBox()).width;
    assert.ok((await width("json")) > 0.4 * (await format("json").locator(".track").boundingBox()).width);
    assert.equal(await format("xml").locator(".bar.beyond").count(), 1);
    assert.equal(await format("json").locator(".bar.beyond").count(), 0);
    await page.locator("#sizes-foot").filter({ hasText: "A bar with a pointed end is longer than the chart." }).waitFor();
    await page.getByLabel("Devices").fill("50000");
    await page.locator("#links summary").click();
    while (await page.locator("#links input:checked").count()) await page.locator("#links input:checked").first().uncheck();
    await page.getByRole("checkbox", { name: /^Astrocast/ }).check();
    await eventually(async () => {
      const [amount] = /[A-Z]{3} [\d,.]*\d/.exec(await page.locator("#advice").textContent()) ?? [""];
      assert.match(amount, /^[A-Z]{3} \d{1,3}(,\d{3})+\.\d\d$/);
      assert.ok((await page.locator("#plan .chosen td").allTextContents()).includes(amount), amount);
    });
  });

  test("many parts are folded, not cut by a scroll area", async () => {
    await messages().fill(JSON.stringify(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, at]))));
    await page.getByRole("group", { name: "Format" }).getByRole("button", { name: "pson", exact: true }).click();
    const rows = page.locator("#bytes-parts tr");
    await rows.nth(40).waitFor({ state: "attached" });
    const shown = async () => (await rows.all()).length && (await page.locator("#bytes-parts tr:not([hidden])").count());
    const whole = () => page.evaluate(() => {
      const list = document.querySelector("#bytes-parts").closest(".scroll");
      return list.scrollHeight <= list.clientHeight;
    });
    assert.deepEqual([await shown(), await whole()], [24, true]);
    await page.getByRole("button", { name: /^Show all \d+ parts/ }).click();
    assert.deepEqual([await shown(), await whole()], [await rows.count(), true]);
  });

  test("whatever is pasted, it is shown as text and the page stays whole", async () => {
    const hostile = [
      '{"<b>bold</b>":"<img src=x onerror=alert(1)>","שלום":"مرحبا","__proto__":1,"":2}',
      '{"a":"\\ud800"}',
      '{"a":1e999}',
      "[".repeat(50_000),
      "NaN",
      JSON.stringify(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`field${at}`, at]))),
      JSON.stringify({ text: "x".repeat(300_000) }),
      JSON.stringify({ text: "x".repeat(1_000_000) }),
    ];
    for (const text of hostile) {
      await messages().fill(text);
      await settled();
      assert.equal(await page.locator("main b, main img:not([alt=''])").count(), 0);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    }
    await mistakes("messages").filter({ hasText: "at most 393216 are read" }).waitFor();
    await messages().fill(hostile[0]);
    await page.locator("#bytes-parts").filter({ hasText: "<img src=x onerror=alert(1)>" }).waitFor();
    // Chromium reports answers that are errors: the largest of these messages may take too long on a slow machine.
    page.faults = page.faults.filter((fault) => !/status of 422/.test(fault));
  });

  test("explains bytes in seven formats, of any of the messages", async () => {
    await page.getByRole("button", { name: "Weather station" }).click();
    for (const name of ["packed", "pson", "cbor", "msgpack", "protobuf", "avro", "struct"]) {
      await page.getByRole("group", { name: "Format" }).getByRole("button", { name, exact: true }).click();
      await page.locator("#formats [aria-pressed=true]").filter({ hasText: name }).waitFor();
      await eventually(async () => assert.ok((await page.locator("#bytes-parts tr").count()) > 5, name));
    }
    const first = await page.locator("#bytes").textContent();
    await page.getByLabel("Message", { exact: true }).fill("2");
    await eventually(async () => assert.notEqual(await page.locator("#bytes").textContent(), first));
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`nothing keeps anybody out: ${colorScheme}`, async () => {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 800 }]) {
        await page.setViewportSize(viewport);
        await page.goto("about:blank");
        await page.goto(`${server.url}/play`);
        await page.locator("html[data-ready]").waitFor();
        assert.deepEqual(await axe(page), []);
        await page.getByRole("button", { name: "Container", exact: true }).click();
        await size("packed");
        await page.locator("#bytes .byte").first().waitFor();
        await schema().fill((await schema().inputValue()).replace('"string"', '"strong"'));
        await mistakes("schema").first().waitFor();
        await eventually(async () => assert.deepEqual(await axe(page), []));
        await page.getByRole("button", { name: "Container", exact: true }).click();
        await size("packed");
        await page.locator("#bytes-parts tr").nth(5).waitFor();
        await page.locator("#links summary").click();
        assert.deepEqual(await axe(page), []);
        await page.locator("#links summary").click();
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        await shot(page, `play-${viewport.width}-${colorScheme}`);
      }
    });
  }
});

test("the playground of a gateway is at /play, and says so", async () => {
  const gateway = await Gateway.start();
  const browser = await launch();
  try {
    const page = await watched(browser, gateway.url);
    await page.goto(gateway.url);
    await page.getByRole("link", { name: "Playground" }).click();
    await page.locator("#computed").filter({ hasText: `this gateway at ${new URL(gateway.url).host}` }).waitFor();
    await page.getByRole("button", { name: "Container", exact: true }).click();
    await page.locator("#sizes tr").first().waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    assert.deepEqual([...page.faults, ...(await page.evaluate(() => window.violations))], []);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});

test("after the server restarts, the page goes on with what was typed meanwhile", async () => {
  let server = await Playground.start();
  const browser = await launch();
  try {
    const page = await watched(browser, server.url);
    await page.goto(`${server.url}/play`);
    await page.getByRole("button", { name: "Container", exact: true }).click();
    await page.locator("#sizes tr").first().waitFor();
    const port = new URL(server.url).port;
    await server.stop();
    await page.getByRole("textbox", { name: "Messages" }).fill('{"missed":1}');
    await page.locator("#status").filter({ hasText: "cannot be reached. Trying again" }).waitFor();
    server = await Playground.start(port);
    await eventually(async () => assert.match(await page.getByRole("textbox", { name: "Schema" }).inputValue(), /missed/));
    assert.equal(await page.locator("#status").textContent(), "");
    assert.deepEqual(page.faults.filter((fault) => !/ERR_|Failed to load resource/.test(fault)), []);
  } finally {
    await browser.close();
    await server.stop();
  }
});
