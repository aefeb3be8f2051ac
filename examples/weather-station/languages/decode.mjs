// Decodes a packed message with its exported layout: decode.mjs LAYOUT HEX.

import { readFileSync } from "node:fs";
import { loadLayout } from "../../../js/packed/dist/esm/index.js";

const [layout, message] = process.argv.slice(2);
console.log(JSON.stringify(loadLayout(readFileSync(layout, "utf8")).decode(Buffer.from(message, "hex"))));
