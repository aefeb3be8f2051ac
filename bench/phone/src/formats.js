// The formats: each is made for one object, and writes and reads it in the form that the documentation of its library recommends.
//
// `textual` formats can be kept in files, as in the paper. `make(object)` returns `encode(value)`, which returns bytes, and `decode(bytes)`.

import * as messagepack from "@msgpack/msgpack";
import * as cborg from "cborg";
import protobuf from "protobufjs";
import { loadLayout } from "../../../js/packed/dist/esm/index.js";
import * as pson from "../../../js/pson/dist/esm/index.js";
import book from "../../jvm/src/main/resources/mobile/book.layout.json";
import video from "../../jvm/src/main/resources/mobile/video.layout.json";
import { BINDINGS } from "./objects.js";
import { thrift } from "./thrift.js";
import { xml } from "./xml.js";

const toBytes = new TextEncoder();
const toText = new TextDecoder();

function json() {
  return {
    encode: (value) => toBytes.encode(JSON.stringify(value)),
    decode: (bytes) => JSON.parse(toText.decode(bytes)),
  };
}

const PROTOBUF_TYPES = { text: "string", integer: "int32", fraction: "double", flag: "bool", choice: "Binding" };

function protobufjs({ name, fields }) {
  const described = fields.map((field, i) => [field.name, { type: PROTOBUF_TYPES[field.kind], id: i + 1, rule: "required" }]);
  const values = Object.fromEntries(BINDINGS.map((binding, i) => [binding, i]));
  const root = protobuf.Root.fromJSON({ nested: { Binding: { values }, [name]: { fields: Object.fromEntries(described) } } });
  const type = root.lookupType(name);
  return {
    encode: (value) => type.encode(type.fromObject(value)).finish(),
    decode: (bytes) => type.toObject(type.decode(bytes), { enums: String }),
  };
}

function msgpack() {
  const encoder = new messagepack.Encoder();
  const decoder = new messagepack.Decoder();
  return { encode: (value) => encoder.encode(value), decode: (bytes) => decoder.decode(bytes) };
}

function packed({ name }) {
  const layout = loadLayout(name === "Book" ? book : video);
  return { encode: (value) => layout.encode(value), decode: (bytes) => layout.decode(bytes) };
}

/** The formats in the order of their buttons: the paper's four, then others, then ours. `VERSIONS` comes from the build. */
export const FORMATS = [
  { id: "xml", name: "XML", library: "DOM", version: "the browser's", textual: true, make: xml },
  { id: "json", name: "JSON", library: "JSON", version: "the browser's", textual: true, make: json },
  { id: "protobuf", name: "Protobuf", library: "protobufjs", version: VERSIONS.protobufjs, make: protobufjs },
  { id: "thrift-binary", name: "Thrift", library: "thrift", version: VERSIONS.thrift, make: thrift },
  { id: "msgpack", name: "MessagePack", library: "@msgpack/msgpack", version: VERSIONS["@msgpack/msgpack"], make: msgpack },
  { id: "cbor", name: "CBOR", library: "cborg", version: VERSIONS.cborg, make: () => ({ encode: cborg.encode, decode: cborg.decode }) },
  { id: "pson", name: "PSON", library: "dunnage", version: VERSIONS.dunnage, make: () => ({ encode: pson.encode, decode: pson.decode }) },
  { id: "packed", name: "packed", library: "dunnage", version: VERSIONS.dunnage, make: packed },
];
