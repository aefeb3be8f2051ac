// The libraries that are compared, each in the form that its documentation recommends for messages without a schema.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as messagepack from "@msgpack/msgpack";
import * as cbor from "cbor-x";
import * as msgpackr from "msgpackr";
import * as pson from "../pson/dist/esm/index.js";

const require = createRequire(import.meta.url);
const manifest = (path) => JSON.parse(readFileSync(path, "utf8")).version;
const version = (name) => manifest(require.resolve(name).replace(new RegExp(`(.*node_modules/${name})/.*`), "$1/package.json"));

const NATIVE = "without the native addon";
for (const [name, library] of [["msgpackr", msgpackr], ["cbor-x", cbor]]) {
  if (library.isNativeAccelerationEnabled) throw new Error(`${name} uses its native addon; remove node_modules and run js/bench/run`);
}

/** A row of the table: a library in one mode. `yardstick` rows are not compared with ours. */
export function libraries() {
  const packr = new msgpackr.Packr({ useRecords: false });
  const records = new msgpackr.Packr({ useRecords: true });
  const cborx = new cbor.Encoder({ useRecords: false });
  const packer = new messagepack.Encoder();
  const unpacker = new messagepack.Decoder();
  const utf8 = new TextDecoder();
  const text = new TextEncoder();
  return [
    {
      name: "@dunnage/pson", library: "dunnage", format: "pson", version: manifest(new URL("../pson/package.json", import.meta.url)), options: "",
      encode: pson.encode, decode: pson.decode,
    },
    {
      name: "msgpackr", library: "msgpackr", format: "msgpack", version: version("msgpackr"), options: `useRecords: false, ${NATIVE}`,
      encode: (value) => packr.pack(value), decode: (bytes) => packr.unpack(bytes),
    },
    {
      name: "cbor-x", library: "cbor-x", format: "cbor", version: version("cbor-x"), options: `useRecords: false, ${NATIVE}`,
      encode: (value) => cborx.encode(value), decode: (bytes) => cborx.decode(bytes),
    },
    {
      name: "@msgpack/msgpack", library: "@msgpack/msgpack", format: "msgpack", version: version("@msgpack/msgpack"), options: "",
      encode: (value) => packer.encode(value), decode: (bytes) => unpacker.decode(bytes),
    },
    {
      name: "msgpackr records", library: "msgpackr-records", format: "msgpack", version: version("msgpackr"), options: `useRecords: true, ${NATIVE}`, yardstick: true,
      encode: (value) => records.pack(value), decode: (bytes) => records.unpack(bytes),
    },
    {
      name: "JSON", library: "v8", format: "json", version: process.versions.v8, options: "with TextEncoder and TextDecoder", yardstick: true,
      encode: (value) => text.encode(JSON.stringify(value)), decode: (bytes) => JSON.parse(utf8.decode(bytes)),
    },
  ];
}
