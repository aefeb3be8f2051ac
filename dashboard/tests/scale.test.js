// The page with 5,000 devices that send 50 messages per second: it answers at once, and its memory does not grow. `node scale.js` is the long form.

import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, open } from "./browser.js";
import { Gateway } from "./gateway.js";
import { fill, workWith } from "./scale.js";

test("interactions are answered within 100 ms, and the heap stays", async (t) => {
  const [browser, gateway] = [await launch(), await Gateway.start()];
  try {
    await fill(gateway, 5000);
    const page = await open(browser, gateway.url);
    await page.locator("#map .cluster").first().waitFor();
    // The first round fills caches.
    await workWith(page, gateway, { devices: 5000, perSecond: 50, seconds: 4 });
    const { interactions, heap, p75, p98 } = await workWith(page, gateway, { devices: 5000, perSecond: 50, seconds: 16, heapEvery: 1 });
    t.diagnostic(`${interactions.length} interactions: 75 % within ${p75} ms, 98 % within ${p98} ms; heap ${heap.map((size) => size.toFixed(1)).join(", ")} MB`);
    assert.ok(interactions.length > 30, `${interactions.length} interactions`);
    assert.ok(p75 < 100, `${p75} ms`);
    // Other programs may take the processor for a moment.
    assert.ok(p98 < 250, `${p98} ms`);
    assert.ok(heap.at(-1) < heap[0] * 1.2 + 1, heap.join(", "));
    assert.deepEqual(page.faults, []);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});
