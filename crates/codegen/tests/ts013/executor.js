// Answers a line with a line, for the comparison with crates/packed on random schemas (conform/):
//   load "SOURCE"    ok
//   encode MESSAGE   bytes [1,2] or error TEXT
//   decode [1,2]     message MESSAGE or error TEXT
// -0 crosses as -0.0, which JSON.stringify would lose.

import readline from "node:readline";
import vm from "node:vm";

const EXCHANGE = `
  var ANSWER = (function () {
    function text(value) {
      if (value === 0 && 1 / value < 0) return "-0.0";
      if (value === null || typeof value !== "object") return JSON.stringify(value);
      if (Array.isArray(value)) return "[" + value.map(text).join(",") + "]";
      return "{" + Object.keys(value).map(function (key) { return JSON.stringify(key) + ":" + text(value[key]); }).join(",") + "}";
    }
    return function (word, json) {
      var output = word === "encode" ? encodeDownlink({ data: JSON.parse(json) }) : decodeUplink({ fPort: SLOT, bytes: JSON.parse(json) });
      if (output.errors.length > 0) return "error " + output.errors[0].replace(/\\n/g, " ");
      return word === "encode" ? "bytes " + text(output.bytes) : "message " + text(output.data);
    };
  })();`;

let context;

function answer(line) {
  const space = line.indexOf(" ");
  const [word, json] = [line.slice(0, space), line.slice(space + 1)];
  if (word !== "load") return context.ANSWER(word, json);
  context = vm.createContext(Object.create(null));
  vm.runInContext(JSON.parse(json) + EXCHANGE, context);
  return "ok";
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${answer(line)}\n`);
}
