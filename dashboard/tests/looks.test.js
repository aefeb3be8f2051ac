// How it looks: nothing sticks out, everything can be read, in both colour schemes, on a phone and on a desk.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { get } from "node:http";
import { after, before, describe, test } from "node:test";
import { eventually, launch, open, shot } from "./browser.js";
import { cbor, containerAt, Gateway } from "./gateway.js";

const SIZES = { phone: { width: 360, height: 760 }, tablet: { width: 820, height: 1100 }, desktop: { width: 1280, height: 900 } };

const nested = (depth, value) => (depth === 0 ? value : { deep: nested(depth - 1, value) });

/** Fifty containers on a line from Valencia to Port Said, and what does not fit anywhere. */
async function fill(gateway) {
  for (let at = 0; at < 50; at++) {
    const device = `LMCU${1231237 + at * 113}`;
    const message = containerAt(device, 39 - at * 0.15 + (at % 5) * 0.2, 1 + at * 0.62);
    if (at % 3) await gateway.send(device, message, at % 7 ? "terrestrial" : undefined);
    else await gateway.post(device, cbor(message), { type: "application/cbor", link: "astrocast" });
  }
  const long = "x".repeat(300);
  await gateway.send("d".repeat(64), { [long]: long, list: Array(50).fill(123456789), deep: nested(30, long) }, "l".repeat(64));
  await gateway.post("q".repeat(64), `{"${long}": ${long}`, {});
  await gateway.post("half-sent", new Uint8Array([0xa2, 0x61, 0x61, 0x01, 0x61]), { type: "application/cbor" });
}

/** The size in bytes of a file as the gateway sends it to a client that accepts gzip. */
const sent = (url) =>
  new Promise((done, fail) => {
    get(url, { headers: { "accept-encoding": "gzip" } }, async (answer) => {
      assert.equal(`${answer.statusCode} ${answer.headers["content-encoding"]}`, "200 gzip", url);
      let size = 0;
      for await (const chunk of answer) size += chunk.length;
      done(size);
    }).on("error", fail);
  });

/** Returns the elements that make the page or a list scroll sideways, or are cut off at the window's edge. Runs in the page. */
function sticksOut() {
  const scrolls = (node) => node && (["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const out = [...document.body.querySelectorAll("*")].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth + 0.5 || box.left < -0.5) && !node.matches(".skip") && !scrolls(node.parentElement);
  });
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [];
  for (const list of document.querySelectorAll(".scroll")) {
    if (list.scrollWidth > list.clientWidth) wide.push(`${list.getAttribute("aria-labelledby")} scrolls sideways`);
  }
  return [...wide, ...out.map((node) => `${node.tagName} ${node.className} ${node.id}`)];
}

/** Texts with less contrast than WCAG 2.2 AA asks for (4.5, large text 3). Runs in the page. */
function tooFaint() {
  const channels = (color) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest(".unseen, noscript")) continue;
    seen++;
    const style = getComputedStyle(node);
    const ink = channels(node instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < (large ? 3 : 4.5)) found.add(`${node.tagName} ${node.className.baseVal ?? node.className}: ${contrast.toFixed(2)}`);
  }
  return { seen, faint: [...found] };
}

describe("the look of the page", () => {
  let browser, gateway;

  before(async () => {
    gateway = await Gateway.start({}, `[[output]]\nname = "${"o".repeat(64)}"\n[output.http]\nurl = "http://127.0.0.1:9/"\n`);
    await fill(gateway);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
      test(`fits and can be read: ${size}, ${colorScheme}`, async () => {
        const page = await open(browser, gateway.url, { viewport, colorScheme });
        await page.locator("#devices tr").nth(50).waitFor();
        await page.locator("#map .mark").nth(49).waitFor({ state: "attached" });
        await shot(page, `${size}-${colorScheme}`);
        await eventually(async () => assert.deepEqual(await page.evaluate(sticksOut), []));
        await page.locator("#messages summary").first().click();
        for (const summary of await page.locator("#quarantine summary").all()) await summary.click();
        await page.locator("#devices button").nth(1).click();
        await page.locator("#filter-clear").waitFor();
        const first = await page.evaluate(tooFaint);
        await page.locator("#filter-clear").click();
        await page.locator("#messages summary").first().click();
        await page.locator("#messages .opened").waitFor();
        await eventually(async () => {
          assert.deepEqual(await page.evaluate(sticksOut), []);
          const second = await page.evaluate(tooFaint);
          assert.ok(second.seen > 500, `${second.seen} texts looked at`);
          assert.deepEqual([...first.faint, ...second.faint], []);
        });
        await shot(page, `${size}-${colorScheme}-open`);
        assert.deepEqual(page.faults, []);
        await page.close();
      });
    }
  }

  test("has landmarks, headings, captions, names, and nothing that moves for those who do not want it", async () => {
    const page = await open(browser, gateway.url);
    for (const role of ["banner", "main", "contentinfo", "search"]) assert.equal(await page.getByRole(role).count(), 1, role);
    const headings = await page.getByRole("heading").evaluateAll((all) => all.map((h) => `${h.tagName} ${h.textContent.trim()}`));
    assert.deepEqual(headings, ["H1 Dunnage gateway", "H2 Totals", "H2 Last positions", "H2 Devices", "H2 Messages", "H2 Size compared with JSON", "H2 Quarantine", "H2 Outputs"]);
    assert.equal(await page.locator("table:not(:has(caption))").count(), 0);
    assert.equal(await page.getByRole("columnheader").count(), 17);
    const nameless = await page.locator("button, input, [tabindex='0'], [role=img]").evaluateAll(
      (all) => all.filter((node) => node.checkVisibility() && !(node.textContent.trim() || node.ariaLabel || node.labels?.length)).length,
    );
    assert.equal(nameless, 0);
    const moving = await page.evaluate(() => document.getAnimations().length + [...document.querySelectorAll(".bar")].filter((bar) => getComputedStyle(bar).transitionDuration !== "0s").length);
    assert.equal(moving, 0);
    await page.close();
  });

  test("all files of all views together are at most 200 kB, compressed", async () => {
    const folder = new URL("../", import.meta.url);
    const files = (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith("tests/") && /\.(js|css|html|svg)$/.test(name));
    assert.ok(files.includes("index.html") && files.includes("play/code.js"), files.join());
    const sizes = await Promise.all(files.map((name) => sent(`${gateway.url}/${name}`)));
    const sum = sizes.reduce((sum, size) => sum + size);
    assert.ok(sum > 20_000 && sum <= 200_000, `${sum} bytes in ${files.length} files`);
  });

  test("every control can be reached with the Tab key", async () => {
    const page = await open(browser, gateway.url);
    await page.locator("#devices tr").nth(50).waitFor();
    const reached = new Set();
    for (let presses = 0; presses < 130; presses++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.closest("section, search, header, a")?.getAttribute("aria-labelledby") ?? document.activeElement.id));
    }
    for (const part of ["filter", "devices-title", "messages-title", "quarantine-title"]) assert.ok(reached.has(part), `${part} in ${[...reached]}`);
    await page.close();
  });
});
