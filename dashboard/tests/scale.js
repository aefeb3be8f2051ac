// Fills a gateway with many devices, and measures the page with them: `node scale.js` prints the tables of docs/page.md.

import { Agent, request } from "node:http";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.js";
import { Gateway } from "./gateway.js";

const LINKS = ["kineis", "astrocast", "lorawan", "lte-m", ""];
/** Towns around which devices stand: latitude, longitude. */
const TOWNS = [[52.5, 13.4], [48.9, 2.3], [40.4, -3.7], [41.9, 12.5], [37.9, 23.7], [59.9, 10.7], [51.5, -0.1], [47.5, 19]];

/** The name of a device, and a message of it. */
export const nameOf = (at) => `${["buoy", "meter", "tank", "truck"][at % 4]}-${at}`;
export function messageOf(at, turn = 0) {
  const [latitude, longitude] = TOWNS[at % TOWNS.length];
  // Spread by the golden ratio, so that it is the same every time.
  const [across, along] = [(at * 0.618) % 1, (at * 0.7548) % 1];
  return { temperature: 10 + ((at + turn) % 200) / 10, battery: 3.1 + (at % 9) / 10, latitude: +(latitude + 3 * across - 1.5).toFixed(4), longitude: +(longitude + 5 * along - 2.5).toFixed(4) };
}

/** Posts a message of each device, several at a time. Resolves with the number of messages per second. */
export async function fill(gateway, devices, first = 0, turn = 0) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const begun = performance.now();
  let next = first;
  async function sendAll() {
    while (next < first + devices) await post(gateway, agent, next++, turn);
  }
  await Promise.all(Array.from({ length: 64 }, sendAll));
  agent.destroy();
  return devices / ((performance.now() - begun) / 1000);
}

function post(gateway, agent, at, turn) {
  const link = LINKS[at % LINKS.length];
  return new Promise((done, failed) => {
    const path = `/ingest/${nameOf(at)}${link && `?link=${link}`}`;
    const sent = request({ agent, port: gateway.port, host: "127.0.0.1", method: "POST", path, headers: { "content-type": "application/json" } }, (answer) => {
      answer.resume().on("end", () => (answer.statusCode === 204 ? done() : failed(new Error(`${path}: ${answer.statusCode}`))));
    });
    sent.on("error", failed).end(JSON.stringify(messageOf(at, turn)));
  });
}

/** Sends `perSecond` messages of random devices until `stop()`. */
export function keepSending(gateway, devices, perSecond) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let [turn, failure] = [0, null];
  const timer = setInterval(() => {
    turn += 1;
    post(gateway, agent, (turn * 7919) % devices, turn).catch((error) => (failure ??= error));
  }, 1000 / perSecond);
  return {
    stop() {
      clearInterval(timer);
      agent.destroy();
      if (failure) throw failure;
      return turn;
    },
  };
}

const percentile = (numbers, share) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];

/** Times of `/api/devices` with these parameters, in ms. */
async function apiTimes(gateway, query, times = 30) {
  const all = [];
  for (let at = 0; at < times; at++) {
    const begun = performance.now();
    const answer = await fetch(`${gateway.url}/api/devices?${query}`);
    await answer.text();
    if (!answer.ok) throw new Error(`${query}: ${answer.status}`);
    all.push(performance.now() - begun);
  }
  return [percentile(all, 0.5), Math.max(...all)];
}

/** Milliseconds from the start of the navigation until the rows of the fleet are on the screen. */
async function firstScreen(browser, gateway) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("#fleet-rows tr")) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => (window.rowsAt = performance.now())));
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${gateway.url}/?view=fleet`);
  await page.waitForFunction(() => window.rowsAt);
  const at = await page.evaluate(() => window.rowsAt);
  await page.close();
  return at;
}

/** Clicks and keys of a person at work, on the overview and in the fleet. Playwright sends them through the browser's input. */
async function work(page, at) {
  const click = (selector) => page.locator(selector).first().click({ timeout: 5000 });
  switch (at % 8) {
    case 0: return click("[data-goes='']");
    case 1: return page.locator("#filter").press("t");
    case 2: return page.locator("#filter").press("a");
    case 3: return click("#filter-clear");
    case 4: return click("#messages-pause");
    case 5: return click("[data-goes='fleet']");
    case 6: return click("#fleet-head .sort");
    default: return page.locator("#fleet-next").press("Enter");
  }
}

/**
 * Works with the page for some seconds while devices send. Returns the milliseconds from each interaction to the next frame (Event
 * Timing, which counts in steps of 8 ms and reports none below 16), how many there were, and the heap in MB, after a collection, over time.
 */
export async function workWith(page, gateway, { devices, perSecond, seconds, heapEvery = 5 }) {
  const session = await page.context().newCDPSession(page);
  await page.evaluate(() => {
    window.interactions = new Map();
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries()) {
        if (interactionId) window.interactions.set(interactionId, Math.max(duration, window.interactions.get(interactionId) ?? 0));
      }
    }).observe({ type: "event", durationThreshold: 16 });
  });
  const sending = keepSending(gateway, devices, perSecond);
  const heap = [];
  let done = 0;
  for (const begun = performance.now(), next = () => begun + heap.length * heapEvery * 1000; performance.now() < begun + seconds * 1000; done++) {
    await work(page, done);
    await page.waitForTimeout(150);
    // Always on the same view, because the views differ.
    if (done % 8 === 0 && performance.now() >= next()) {
      await session.send("HeapProfiler.collectGarbage");
      heap.push((await session.send("Runtime.getHeapUsage")).usedSize / 1e6);
    }
  }
  const sent = sending.stop();
  await page.waitForTimeout(300);
  const slow = await page.evaluate(() => [...window.interactions.values()]);
  // Interactions that are not reported took less than 16 ms.
  const interactions = [...slow, ...Array(Math.max(0, done - slow.length)).fill(16)];
  return { interactions, heap, sent, p75: percentile(interactions, 0.75), p98: percentile(interactions, 0.98), worst: Math.max(...interactions) };
}

const ms = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;
const mb = (number) => `${number.toFixed(1)} MB`;

async function measureMany(browser, devices) {
  const gateway = await Gateway.start();
  const before = await gateway.memory();
  const rate = await fill(gateway, devices);
  const filled = await gateway.memory();
  await gateway.down();
  await gateway.up();
  const begun = performance.now();
  await apiTimes(gateway, "limit=50", 1);
  const loading = performance.now() - begun;
  const lines = [`| ${devices.toLocaleString("en")} devices in the buffer | |`, "|---|--:|"];
  lines.push(`| messages per second while they were sent | ${rate.toFixed(0)} |`);
  lines.push(`| gateway's memory, empty | ${mb(before.now)} |`, `| after the messages | ${mb(filled.now)} |`);
  lines.push(`| first page after a restart, with the reading of the list | ${ms(loading)} |`);
  const restarted = await gateway.memory();
  const first = [];
  for (let at = 0; at < 5; at++) first.push(await firstScreen(browser, gateway));
  lines.push(`| after a restart | ${mb(restarted.now)} |`);
  const last = await (await fetch(`${gateway.url}/api/devices?sort=name&limit=1000`)).json();
  const queries = [["50 devices", "limit=50"], ["1,000 devices", "limit=1000"], ["by name, second page", `sort=name&limit=1000&cursor=${last.next}`], ["a part of a name", "find=9-99"], ["that nobody has", "find=nobody"], ["by lateness", "sort=late"], ["of a link, by bytes", "link=kineis&sort=bytes"]];
  for (const [name, query] of queries) {
    const [median, most] = await apiTimes(gateway, query);
    lines.push(`| /api/devices, ${name}: median, longest of 30 | ${ms(median)}, ${ms(most)} |`);
  }
  lines.push(`| first screen of the fleet, median and longest of 5 | ${ms(percentile(first, 0.5))}, ${ms(Math.max(...first))} |`);
  lines.push(`| gateway's memory, after all that | ${mb((await gateway.memory()).now)} |`);
  await gateway.stop();
  return lines;
}

async function measureLive(browser, devices, perSecond, minutes) {
  const gateway = await Gateway.start();
  await fill(gateway, devices);
  const page = await open(browser, gateway.url);
  await page.locator("#map .cluster").first().waitFor();
  const { interactions, heap, sent, p75, p98, worst } = await workWith(page, gateway, { devices, perSecond, seconds: minutes * 60, heapEvery: Math.max(2, (minutes * 60) / 30) });
  const thirds = [heap.slice(0, heap.length / 3), heap.slice(-heap.length / 3)].map((some) => percentile(some, 0.5));
  const lines = [`| ${devices.toLocaleString("en")} devices, ${perSecond} messages per second, ${minutes} min | |`, "|---|--:|"];
  lines.push(`| messages sent | ${sent} |`, `| interactions | ${interactions.length} |`);
  lines.push(`| interaction to next paint: 75 %, 98 %, worst | ${ms(p75)}, ${ms(p98)}, ${ms(worst)} |`);
  lines.push(`| JS heap after a collection, median of the first and of the last third | ${mb(thirds[0])}, ${mb(thirds[1])} |`, `| most | ${mb(Math.max(...heap))} |`);
  await page.close();
  await gateway.stop();
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => Number(process.argv.find((text) => text.startsWith(`--${name}=`))?.split("=")[1] ?? otherwise);
  const browser = await launch();
  console.log(`${cpus().length} × ${cpus()[0].model}, load average at the start ${loadavg()[0].toFixed(0)}\n`);
  if (option("devices", 100_000) > 0) console.log((await measureMany(browser, option("devices", 100_000))).join("\n"), "\n");
  if (option("minutes", 30) > 0) console.log((await measureLive(browser, option("live", 5000), option("rate", 50), option("minutes", 30))).join("\n"));
  await browser.close();
}
