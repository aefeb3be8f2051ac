// Builds the package in the working directory: a file per entry point, as ES modules and as CommonJS, with types for
// each. Browsers and Deno load the former as they are.

import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

await rm("dist", { recursive: true, force: true });
// Fields are assigned, which takes fewer bytes than declaring them.
const tsconfigRaw = { compilerOptions: { useDefineForClassFields: false } };
const common = { bundle: true, target: "es2022", platform: "neutral", charset: "utf8", legalComments: "none", tsconfigRaw };
const { exports } = JSON.parse(await readFile("package.json", "utf8"));
for (const format of ["esm", "cjs"]) {
  for (const name of Object.keys(exports).filter((path) => !path.endsWith(".json")).map((path) => path.slice(2) || "index")) {
    // Every other entry point imports the first one, so that its classes exist once.
    const external = name === "index" ? [] : ["./index.js"];
    await build({ ...common, format, external, entryPoints: [`src/${name}.ts`], outfile: `dist/${format}/${name}.js` });
  }
}
await writeFile("dist/cjs/package.json", '{ "type": "commonjs" }\n');

execFileSync(process.execPath, [join(typescript, "bin/tsc"), "--project", "."], { stdio: "inherit" });
await mkdir("dist/cjs", { recursive: true });
for (const name of await readdir("dist/esm")) {
  if (name.endsWith(".d.ts")) await cp(join("dist/esm", name), join("dist/cjs", name));
}
