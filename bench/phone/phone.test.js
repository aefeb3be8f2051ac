import assert from "node:assert/strict";
import { test } from "node:test";
import { runAll, saved, withPage } from "./browser.js";

// Table 1 of the paper, and the project's formats in its other libraries. The DOM writes no XML declaration, so XML is not in the list.
const SIZES = { json: [781, 139], protobuf: [687, 59], "thrift-binary": [720, 92], msgpack: [752, 105], cbor: [753, 106], pson: [753, 107], packed: [569, 45] };

const parsed = (lines) => lines.trim().split("\n").map((line) => JSON.parse(line));

test("a button measures both objects, and its results stay", () =>
  withPage(async (page) => {
    await page.getByLabel("Deserialize").check();
    await page.getByLabel("Batch").uncheck();
    await page.getByRole("button", { name: "PSON", exact: true }).click();
    await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
    const records = parsed(await saved(page));
    assert.deepEqual(records.map(({ payload, operation, metric }) => [payload, operation, metric].join(" ")), [
      "Book serialize bytes", "Book deserialize ns", "Video serialize bytes", "Video deserialize ns",
    ]);
    assert.ok(records.filter(({ metric }) => metric === "ns").every(({ options }) => options === "two sets of 1, in memory"));
    await page.reload();
    assert.equal(parsed(await saved(page)).length, 4);
    await page.getByRole("button", { name: "Remove all results" }).click();
    assert.equal(await saved(page), "");
  }));

test("a text format in a file takes longer, and a binary one stays in memory", () =>
  withPage(async (page) => {
    await page.getByLabel("in a file").check();
    for (const name of ["JSON", "CBOR"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("status").filter({ hasText: "Done" }).waitFor();
    }
    const places = parsed(await saved(page)).filter(({ metric }) => metric === "ns").map(({ format, options }) => `${format}: ${options}`);
    assert.deepEqual(places, [
      "json: two sets of 100, in a file", "json: two sets of 100, in a file", "cbor: two sets of 1000, in memory", "cbor: two sets of 1000, in memory",
    ]);
  }));

test("all formats have the sizes of the paper and of the other libraries", () =>
  withPage(async (page) => {
    const records = parsed(await runAll(page));
    const bytes = records.filter(({ metric }) => metric === "bytes");
    for (const [format, [book, video]] of Object.entries(SIZES)) {
      assert.deepEqual(bytes.filter((record) => record.format === format).map(({ payload, value }) => [payload, value]), [["Book", book], ["Video", video]], format);
    }
    // Eight formats with two objects there and back, and two of them in files, too.
    assert.equal(records.filter(({ metric, value }) => metric === "ns" && value > 0).length, 8 * 4 + 2 * 4);
  }));
