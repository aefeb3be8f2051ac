// The package as users get it: both builds, their types, and the tarball in an empty folder with the README's first example.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esm from "@dunnage/packed";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const WEATHER = join(ROOT, "tests/weather.layout.json");
const temporary = mkdtempSync(join(tmpdir(), "packed-"));
after(() => rmSync(temporary, { recursive: true, force: true }));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

test("the builds of ES modules and of CommonJS have the same exports", () => {
  const cjs = require("@dunnage/packed");
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
  const exported = readFileSync(WEATHER, "utf8");
  const message = { station: "A", time: "2026-01-01T00:00:00Z", temperature: null, humidity: 5, pressure: 1000 };
  assert.deepEqual(esm.loadLayout(exported).decode(cjs.loadLayout(JSON.parse(exported)).encode(message)), message);
});

test("no Node API is used", () => {
  const source = readFileSync(join(ROOT, "dist/esm/index.js"), "utf8");
  assert.ok(!/\bprocess\b|\brequire\b|\bBuffer\b/.test(source));
});

test("types fit, for ES modules and CommonJS", () => {
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  for (const type of ["module", "commonjs"]) {
    const folder = join(temporary, `types-${type}`);
    mkdirSync(join(folder, "node_modules/@dunnage/packed"), { recursive: true });
    run("cp", ["-r", "package.json", "dist", join(folder, "node_modules/@dunnage/packed")], ROOT);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type }));
    writeFileSync(join(folder, "types.ts"), readFileSync(join(ROOT, "tests/types.ts")));
    const options = { target: "ES2022", lib: ["ES2022", "DOM"], module: "NodeNext", strict: true, types: [], noEmit: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["types.ts"] }));
    try {
      run(process.execPath, [tsc, "--project", "."], folder);
    } catch (error) {
      assert.fail(`${type}: ${error.stdout}`);
    }
  }
});

test("the tarball installs in an empty folder and runs the README's first example", () => {
  const [{ filename, files }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", temporary], ROOT));
  const paths = files.map(({ path }) => path);
  for (const path of ["LICENSE", "README.md", "dist/esm/index.js", "dist/esm/index.d.ts", "dist/cjs/index.js", "dist/cjs/package.json"]) assert.ok(paths.includes(path), path);
  assert.ok(!paths.some((path) => /^(src|tests|conform)\//.test(path)), paths.join());

  const folder = join(temporary, "empty");
  mkdirSync(folder);
  run("npm", ["init", "--yes"], folder);
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(temporary, filename)], folder);
  run("cp", [WEATHER, join(folder, "weather.layout.json")], ROOT);
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"));
  writeFileSync(join(folder, "example.mjs"), example);
  const printed = run(process.execPath, ["example.mjs"], folder).trimEnd().split("\n");
  // The example's comments are its expected output.
  assert.deepEqual(printed, [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, comment]) => comment));
  assert.ok(printed.length > 0);
});
