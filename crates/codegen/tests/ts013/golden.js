// The codecs with their examples, as the test `codecs` of the crate leaves them: the golden files lack the runtime. Run that test again
// after a change of the generator.

import fs from "node:fs";
import { fileURLToPath } from "node:url";

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../../target", import.meta.url));

/** The codecs of a folder: their names, sources and examples. */
export function codecs(folder) {
  const files = `${target}/tmp/ts013/${folder}`;
  if (!fs.existsSync(files)) throw new Error(`${files} is missing; cargo test -p dunnage-codegen codecs writes it`);
  const read = (file) => fs.readFileSync(`${files}/${file}`, "utf8");
  return fs.readdirSync(files).filter((file) => file.endsWith(".js")).map((file) => {
    const name = file.slice(0, -3);
    return { name, source: read(file), examples: JSON.parse(read(`${name}.examples.json`)).examples };
  });
}

export const golden = codecs("golden");

export const source = (name) => golden.find((codec) => codec.name === name).source;
