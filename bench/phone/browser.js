// The page in headless Chromium, from a server on localhost, where pages have files and a fine clock.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
// Chromium's clock has steps of 100 µs on other pages.
const HEADERS = { "content-type": "text/html", "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/** Opens the page, calls `use(page)`, and ends browser and server. */
export async function withPage(use) {
  const html = readFileSync(new URL("../../target/phone/phone.html", import.meta.url));
  const server = createServer((_, response) => response.writeHead(200, HEADERS).end(html));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(error.stack));
    await page.goto(`http://127.0.0.1:${server.address().port}`);
    return await use(page);
  } finally {
    await browser.close();
    server.close();
  }
}

/** Presses the button that runs all, and waits for its end. Returns the lines that the page saves. */
export async function runAll(page) {
  await page.getByRole("button", { name: "Run all" }).click();
  const status = page.getByRole("status").filter({ hasText: /Done|Failed/ });
  await status.waitFor({ timeout: 300_000 });
  const outcome = await status.textContent();
  if (outcome !== "Done") throw new Error(outcome);
  return saved(page);
}

/** The content of the file that the page offers. */
export const saved = (page) => page.evaluate(async () => (await fetch(document.getElementById("save").href)).text());
