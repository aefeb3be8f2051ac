// From bytes to the message, by Content-Type.

import cbor from "cbor";
import { decode as msgpack } from "@msgpack/msgpack";
import protobuf from "protobufjs";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";

const proto = fileURLToPath(new URL("../../../crates/gateway/tests/container.proto", import.meta.url));
const Container = protobuf.loadSync(proto).lookupType("Container");

export const decoders = {
  "application/json": (body) => JSON.parse(body),
  "application/cbor": (body) => cbor.decode(body),
  "application/msgpack": (body) => msgpack(body),
  "application/x-protobuf": (body) => joined(Container.decode(body)),
  "application/vnd.dunnage.struct+zlib": (body) => joined(struct(inflateSync(body))),
};

/// The 22 fields as Python's struct writes them, `>HHHBHBBffffffHBfffffBf`, followed by the texts.
function struct(bytes) {
  let at = 0;
  const u8 = () => bytes.readUInt8(at++);
  const u16 = () => bytes.readUInt16BE((at += 2) - 2);
  const float = () => bytes.readFloatBE((at += 4) - 4);
  const length = { msisdn: u16(), iso6346: u16(), time: u16() };
  const rssi = u8();
  length.cgi = u16();
  const [bleM, batSoc] = [u8(), u8()];
  const [accX, accY, accZ, temperature, humidity, pressure] = Array.from({ length: 6 }, float);
  length.door = u16();
  const gnss = u8();
  const [latitude, longitude, altitude, speed, heading] = Array.from({ length: 5 }, float);
  const [nsat, hdop] = [u8(), float()];
  const texts = {};
  for (const name of ["msisdn", "iso6346", "time", "cgi", "door"]) {
    texts[name] = bytes.toString("utf8", at, (at += length[name]));
  }
  if (at !== bytes.length) throw new RangeError("the message has another length");
  return {
    ...texts, rssi, bleM, batSoc, accX, accY, accZ, temperature, humidity, pressure, gnss,
    latitude, longitude, altitude, speed, heading, nsat, hdop,
  };
}

/// The message as its oneM2M platform expects it: 20 texts, numbers with the decimals of their sensors.
function joined(m) {
  return {
    msisdn: m.msisdn, iso6346: m.iso6346, time: m.time, rssi: `${m.rssi}`, cgi: m.cgi, "ble-m": `${m.bleM}`,
    "bat-soc": `${m.batSoc}`, acc: `${m.accX.toFixed(4)} ${m.accY.toFixed(4)} ${m.accZ.toFixed(4)}`,
    temperature: m.temperature.toFixed(2), humidity: m.humidity.toFixed(2), pressure: m.pressure.toFixed(4),
    door: m.door, gnss: `${m.gnss}`, latitude: m.latitude.toFixed(4), longitude: m.longitude.toFixed(4),
    altitude: m.altitude.toFixed(2), speed: m.speed.toFixed(1), heading: m.heading.toFixed(2),
    nsat: `${m.nsat}`.padStart(2, "0"), hdop: m.hdop.toFixed(1),
  };
}

const FIELDS = [
  "msisdn", "iso6346", "time", "rssi", "cgi", "ble-m", "bat-soc", "acc", "temperature", "humidity",
  "pressure", "door", "gnss", "latitude", "longitude", "altitude", "speed", "heading", "nsat", "hdop",
];

/// Throws unless the message has the fields of the schema, each a text.
export function check(message) {
  for (const field of FIELDS) {
    if (typeof message[field] !== "string") throw new TypeError(`${field} is not a text`);
  }
}
