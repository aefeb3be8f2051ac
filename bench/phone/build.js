// Builds target/phone/phone.html: one file that loads nothing, for a browser on any device.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const version = (path) => JSON.parse(text(path)).version;
const libraries = Object.keys(JSON.parse(text("package.json")).dependencies);
const versions = Object.fromEntries(libraries.map((name) => [name, version(`node_modules/${name}/package.json`)]));

const { outputFiles } = await build({
  entryPoints: [new URL("src/app.js", import.meta.url).pathname],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  legalComments: "none",
  define: { VERSIONS: JSON.stringify({ ...versions, dunnage: version("../../js/pson/package.json") }), global: "globalThis", "process.env.NODE_DEBUG": "undefined" },
  inject: [new URL("src/buffer.js", import.meta.url).pathname],
});
// A closing tag in the code would end the script.
const code = outputFiles[0].text.replaceAll("</script", "<\\/script");
const folder = new URL("../../target/phone/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("phone.html", folder), text("src/page.html").replace("/* the code */", () => code));
