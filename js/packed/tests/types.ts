// Compiled by package.test.js: how TypeScript users call the library.

import { DecodeError, EncodeError, isDelta, type Kind, Layout, LayoutError, Layouts, loadLayout, Reference, type Value } from "@dunnage/packed";

const layout: Layout = loadLayout("{}");
const bytes: Uint8Array = layout.encode({ a: 1, b: [2n, null, "c"] });
const value: Value = layout.decode(bytes, { device: "buoy-7", known: { msisdn: "39" }, bigint: "always" });
const again: Value = new Layouts([layout]).decode(bytes, { port: 7 });
interface Weather {
  station: string;
  temperature: number | null;
}
const weather = layout.decode<Weather>(bytes, { device: "buoy-7" });
const temperature: number = weather.temperature ?? new Layouts([layout]).decode<Weather>(bytes).temperature ?? 0;
// @ts-expect-error The message has no such property.
weather.pressure;
// @ts-expect-error Without a type, a message is a value of any type.
layout.decode(bytes).temperature;
const reference: Reference = isDelta(bytes) ? layout.referenceFrom(bytes, { device: "buoy-7" }) : layout.reference(weather);
const delta: Uint8Array = layout.encodeDelta(weather, reference);
const changed = layout.decodeDelta<Weather>(delta, reference, { bigint: "never" });
const name: number = reference.isTagged(delta[0] ?? 0) ? reference.name : changed.station.length;
// @ts-expect-error A reference is not bytes.
layout.encodeDelta(weather, reference.plain);
const slot: number = layout.slot;
const kinds: Kind[] = ["reference", "limit"];
// @ts-expect-error There is no such choice.
layout.decode(bytes, { bigint: "sometimes" });
// @ts-expect-error A message is bytes.
layout.decode("00");
const pointers: string[] = [new DecodeError("type", 3, "", "/a").pointer, new EncodeError("range", "/a", "").pointer];
for (const error of [new DecodeError("type", 3, ""), new EncodeError("range", "/a", ""), new LayoutError("")]) console.log(error.message, value, again, temperature, slot, kinds, pointers, name);
