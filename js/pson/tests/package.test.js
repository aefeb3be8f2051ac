// The package as users get it: both builds, their types, their size, and the tarball in an empty folder.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { transformSync } from "esbuild";
import * as esm from "@dunnage/pson";
import * as esmStream from "@dunnage/pson/stream";

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const temporary = mkdtempSync(join(tmpdir(), "pson-"));
after(() => rmSync(temporary, { recursive: true, force: true }));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

test("the builds of ES modules and of CommonJS have the same exports", async () => {
  const [cjs, cjsStream] = [require("@dunnage/pson"), require("@dunnage/pson/stream")];
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
  assert.deepEqual(Object.keys(cjsStream).sort(), Object.keys(esmStream).sort());
  const message = cjs.encode({ a: [1.03, "text"] });
  assert.deepEqual(esm.decode(message), { a: [1.03, "text"] });
  assert.throws(() => cjs.decode(message.subarray(1)), cjs.DecodeError);
  // The entry points of a build share their classes.
  const first = async () => {
    for await (const _ of cjsStream.decodeStream([message.subarray(0, 3)]));
  };
  await assert.rejects(first, cjs.DecodeError);
});

test("Buffer is not needed: browsers do not have it", async () => {
  const source = readFileSync(join(ROOT, "dist/esm/index.js"), "utf8").replaceAll("globalThis.Buffer", "globalThis.none");
  assert.ok(!/\bprocess\b|\brequire\b|\bBuffer\./.test(source));
  writeFileSync(join(temporary, "browser.mjs"), source);
  const browser = await import(join(temporary, "browser.mjs"));
  const value = { short: "21 °C", long: "a".repeat(50) + "é", "a key of more than twelve bytes": "\ufeff日本語 text of some length" };
  assert.deepEqual(browser.decode(esm.encode(value)), value);
  assert.deepEqual(Buffer.from(browser.encode(value)), Buffer.from(esm.encode(value)));
  assert.throws(() => browser.encode("a".repeat(60) + "\ud800"), browser.EncodeError);
  assert.throws(() => browser.decode(new Uint8Array([0x8e, ...new Uint8Array(13).fill(97), 0xff])), browser.DecodeError);
});

test("the main entry point takes at most 6 kB, minified and compressed", () => {
  const minified = transformSync(readFileSync(join(ROOT, "dist/esm/index.js"), "utf8"), { minify: true, format: "esm" }).code;
  const { length } = gzipSync(minified, { level: 9 });
  assert.ok(length <= 6000, `${length} bytes`);
});

test("types fit, for ES modules and CommonJS", () => {
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  for (const type of ["module", "commonjs"]) {
    const folder = join(temporary, `types-${type}`);
    mkdirSync(join(folder, "node_modules/@dunnage/pson"), { recursive: true });
    run("cp", ["-r", "package.json", "dist", join(folder, "node_modules/@dunnage/pson")], ROOT);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type }));
    writeFileSync(join(folder, "types.ts"), readFileSync(join(ROOT, "tests/types.ts")));
    const options = { target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], module: "NodeNext", strict: true, types: [], noEmit: true };
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
  assert.equal(MANIFEST.dependencies, undefined);

  const folder = join(temporary, "empty");
  mkdirSync(folder);
  run("npm", ["init", "--yes"], folder);
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(temporary, filename)], folder);
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"));
  writeFileSync(join(folder, "example.mjs"), example);
  const printed = run(process.execPath, ["example.mjs"], folder).trimEnd().split("\n");
  // The example's comments are its expected output.
  assert.deepEqual(printed, [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, comment]) => comment));
  assert.ok(printed.length > 0);
});
