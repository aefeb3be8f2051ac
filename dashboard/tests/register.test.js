// The register on the page: devices are found, added, edited, imported after a preview, and removed.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { axe, eventually, launch, open, shot } from "./browser.js";
import { Gateway } from "./gateway.js";

describe("the register", () => {
  let browser, gateway, page, operates;

  before(async () => (browser = await launch()));
  after(() => browser.close());
  beforeEach(async () => {
    gateway = await Gateway.start();
    operates = gateway.token("--operate", "--name", "olga");
    for (const [id, site] of [["hive-7", "pisa"], ["hive-8", "rome"]]) gateway.command("device", "add", id, "--name", `Hive ${id.at(-1)}`, "--tag", `site=${site}`, "--external-id", `70b3d57e0000000${id.at(-1)}`);
    await gateway.send("70b3d57e00000007", { kg: 31 });
  });
  afterEach(async () => {
    const faults = page ? [...page.faults, ...(await page.evaluate(() => window.violations))] : [];
    await page?.close();
    page = null;
    await gateway.stop();
    assert.deepEqual(faults.filter((fault) => !/ (40[0134]|409|422) /.test(fault)), []);
  });

  const visit = async (options) => {
    page = await open(browser, gateway.url, options, `${gateway.url}/?view=register`);
    await page.getByRole("row").filter({ hasText: "hive-7" }).waitFor();
  };
  const dialog = () => page.getByRole("dialog");
  const press = (name, where = page) => where.getByRole("button", { name, exact: true }).click();
  const ids = () => page.locator("#registered tbody th").allTextContents();
  const result = (text) => page.locator("#register .result").filter({ hasText: text }).waitFor();

  test("devices are found by their names and tags, and lead to their messages", async () => {
    await visit();
    assert.deepEqual(await ids(), ["hive-7", "hive-8"]);
    await page.getByLabel("Search").fill("hive 8");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-8"]));
    await page.getByLabel("Search").fill("");
    await page.getByRole("searchbox", { name: "Tags" }).fill("site=pisa");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-7"]));
    await page.getByText("1 device found").waitFor();
    await page.getByRole("searchbox", { name: "Tags" }).fill("site");
    await page.getByText("a tag is KEY=VALUE").waitFor();
    await page.getByRole("link", { name: "hive-7" }).click();
    const facts = page.locator("#device-facts");
    await facts.getByText("Hive 7").waitFor();
    assert.match(await facts.innerText(), /Tags\s+site=pisa/);
  });

  test("an operator adds, edits and removes a device", async () => {
    await visit();
    await press("Add device");
    await dialog().getByLabel("Device ID").fill("hive-8");
    await dialog().getByLabel("Token that may operate").fill(operates);
    await press("Add", dialog());
    await dialog().getByRole("alert").filter({ hasText: 'the device "hive-8" is in the register already' }).waitFor();
    await dialog().getByLabel("Device ID").fill("hive-9");
    await dialog().getByLabel("Tags, one").fill("site=pisa\nkind=a=b");
    await dialog().getByLabel("External IDs").fill("70b3d57e00000008");
    await press("Add", dialog());
    await dialog().getByRole("alert").filter({ hasText: 'of the device "hive-9" belongs to the device "hive-8"' }).waitFor();
    await dialog().getByLabel("External IDs").fill("");
    await press("Add", dialog());
    await result("hive-9 is registered.");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-7", "hive-8", "hive-9"]));
    await press("Edit hive-9");
    assert.equal(await dialog().getByLabel("Tags, one").inputValue(), "kind=a=b\nsite=pisa");
    await dialog().getByLabel("Name", { exact: true }).fill("<b>Nine</b>");
    await dialog().getByLabel("Latitude").fill("43.7");
    await dialog().getByLabel("Longitude").fill("10.4");
    await shot(page, "register-edit");
    await press("Save", dialog());
    await result("hive-9 was changed.");
    await page.getByRole("row").filter({ hasText: "<b>Nine</b>" }).waitFor();
    assert.deepEqual(await gateway.api("/api/register/devices/hive-9"), { device: "hive-9", name: "<b>Nine</b>", tags: { kind: "a=b", site: "pisa" }, latitude: 43.7, longitude: 10.4, first_seen: null, last_seen: null });
    await press("Remove hive-9");
    await press("Remove", dialog());
    await result("hive-9 was removed");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-7", "hive-8"]));
  });

  test("an import shows what it will do first, and names the line of a mistake", async () => {
    await visit();
    const file = join(gateway.folder, "devices.csv");
    await writeFile(file, "device,name,tag.site\nhive-7,Seven,pisa\nhive-10,Ten,pisa\n\nhive-10,Ten,pisa\n");
    await press("Import");
    await dialog().getByLabel("File").setInputFiles(file);
    await dialog().getByLabel("Token that may operate").fill(operates);
    await press("Preview", dialog());
    await dialog().getByRole("alert").filter({ hasText: 'line 5: device: "hive-10" is in line 3 already' }).waitFor();
    await writeFile(file, "device,name,tag.site\nhive-7,Seven,pisa\nhive-10,Ten,pisa\n");
    await dialog().getByLabel("File").setInputFiles(file);
    await press("Preview", dialog());
    await dialog().getByText("The file adds 1 device, changes 1 and leaves 0 as they are.").waitFor();
    await shot(page, "register-import");
    assert.equal((await gateway.api("/api/register/devices")).matches, 2);
    await press("Import", dialog());
    await result("1 device added, 1 changed, 0 unchanged.");
    await eventually(async () => assert.deepEqual(await ids(), ["hive-10", "hive-7", "hive-8"]));
  });

  for (const [name, options] of Object.entries({ desktop: {}, phone: { viewport: { width: 390, height: 844 } }, dark: { colorScheme: "dark" } })) {
    test(`it is accessible and nothing sticks out: ${name}`, async () => {
      await visit(options);
      await shot(page, `register-${name}`);
      assert.deepEqual(await axe(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await press("Add device");
      await shot(page, `register-${name}-add`);
      assert.deepEqual(await axe(page), []);
    });
  }
});
