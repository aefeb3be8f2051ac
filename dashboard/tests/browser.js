// Headless Chromium, and everything on a page that nobody should see.

import { mkdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const SHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS });

/** A page for the server at `url`. `page.faults` gathers errors, policy violations, dialogs and requests to elsewhere. */
export async function watched(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  page.faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.faults.push(`error: ${error}`));
  page.on("dialog", (dialog) => {
    page.faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) page.faults.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  return page;
}

/** Opens the gateway's page, at `address`. */
export async function open(browser, url, options = {}, address = url) {
  const page = await watched(browser, url, options);
  await page.goto(address);
  await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
  return page;
}

/**
 * Repeats `check` until it passes, for at most five seconds; then its last failure is thrown. The page draws a frame after it learns
 * something, and figures, lists and the map come from different requests, so no single event tells that all of them are drawn.
 */
export async function eventually(check) {
  for (const end = Date.now() + 5000; ; await setTimeout(25)) {
    try {
      return await check();
    } catch (failure) {
      if (Date.now() > end) throw failure;
    }
  }
}

const AXE = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/**
 * Returns the violations that axe-core finds: the rules, and the elements that break them. In the dark scheme only the colours are checked, because
 * only they differ.
 */
export async function axe(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return window.axe.run({ resultTypes: ["violations"], preload: false, ...(isDark && { runOnly: ["color-contrast"] }) });
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

export async function shot(page, name) {
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}${name}.png`, fullPage: true });
}

/** The figure and the note of the tile `name`. */
export async function tile(page, name) {
  const tile = page.locator("#totals > div").filter({ has: page.locator("dt", { hasText: name }) });
  return (await tile.locator("dd").allTextContents()).map((text) => text.trim());
}
