// Decodes the bytes as The Things Stack and ChirpStack do, and compares the result, and the message that the gateway stored, with the
// schema's example.
const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");

const [build, hex] = process.argv.slice(2);
const expected = JSON.parse(fs.readFileSync("station.json", "utf8")).examples[0];

const stored = JSON.parse(fs.readFileSync(`${build}/messages.json`, "utf8")).messages[0];
assert.strictEqual(JSON.stringify(stored.value), JSON.stringify(expected));
assert.strictEqual(stored.bytes, hex.length / 2);

const network = vm.createContext({});
vm.runInContext(fs.readFileSync(`${build}/station.js`, "utf8"), network);
network.input = { bytes: [...Buffer.from(hex, "hex")], fPort: 1 };
const decoded = JSON.parse(vm.runInContext("JSON.stringify(decodeUplink(input))", network));
assert.deepStrictEqual(decoded.errors ?? [], []);
assert.strictEqual(JSON.stringify(decoded.data), JSON.stringify(expected));

console.log(JSON.stringify(decoded.data));
