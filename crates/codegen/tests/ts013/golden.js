// The golden codecs, with their examples.

import fs from "node:fs";

const folder = new URL("golden/", import.meta.url);

export const golden = fs.readdirSync(folder).filter((file) => file.endsWith(".js")).map((file) => {
  const name = file.slice(0, -3);
  return {
    name,
    source: fs.readFileSync(new URL(file, folder), "utf8"),
    examples: JSON.parse(fs.readFileSync(new URL(`${name}.examples.json`, folder), "utf8")).examples,
  };
});

export const source = (name) => golden.find((codec) => codec.name === name).source;
