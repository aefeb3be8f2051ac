// Answers the requests of conform/README.md about exported layouts with @dunnage/packed, a line each.

import { createInterface } from "node:readline";
import { describe, hex, parse, unhex } from "../../conform/words.js";
import { DecodeError, EncodeError, LayoutError, loadLayout } from "@dunnage/packed";

let layout = null;

function load(text) {
  try {
    layout = loadLayout(text);
    return "ok";
  } catch (error) {
    if (error instanceof LayoutError) return `refused ${error.message}`;
    throw error;
  }
}

function encode(words) {
  try {
    return `ok ${hex(layout.encode(parse(words.values())))}`;
  } catch (error) {
    if (error instanceof EncodeError) return `error ${error.kind} ${hex(Buffer.from(error.pointer))}`;
    throw error;
  }
}

function decode(bytes, known) {
  const { device, ...others } = JSON.parse(known);
  try {
    return ["ok", ...describe(layout.decode(unhex(bytes), { device, known: others }), [])].join(" ");
  } catch (error) {
    if (error instanceof DecodeError) return `error ${error.kind} ${error.offset}`;
    throw error;
  }
}

function answer(line) {
  const [request] = line.split(" ", 1);
  const rest = line.slice(request.length + 1);
  switch (request) {
    case "load":
      return load(rest);
    case "encode":
      return encode(rest.split(" "));
    case "decode": {
      const [bytes] = rest.split(" ", 1);
      return decode(bytes, rest.slice(bytes.length + 1));
    }
    default:
      return "skip";
  }
}

let out = "";
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "") {
    try {
      out += `${answer(line)}\n`;
    } catch (error) {
      out += `fault ${error.stack.replaceAll("\n", " ")}\n`;
    }
  }
  if (line === "" || out.length > 1 << 16) {
    process.stdout.write(out);
    out = "";
  }
}
