// Builds the package in the working directory: one file of ES modules, one of CommonJS, and types for each. Browsers and Deno load the
// former as it is.

import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

await rm("dist", { recursive: true, force: true });
const common = { entryPoints: ["src/index.ts"], bundle: true, target: "es2022", platform: "neutral", charset: "utf8", legalComments: "none" };
await build({ ...common, format: "esm", outfile: "dist/esm/index.js" });
await build({ ...common, format: "cjs", outfile: "dist/cjs/index.js" });
await writeFile("dist/cjs/package.json", '{ "type": "commonjs" }\n');

execFileSync(process.execPath, [join(typescript, "bin/tsc"), "--project", "."], { stdio: "inherit" });
await mkdir("dist/cjs", { recursive: true });
for (const name of await readdir("dist/esm")) {
  if (name.endsWith(".d.ts")) await cp(join("dist/esm", name), join("dist/cjs", name));
}
