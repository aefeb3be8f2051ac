// The state of the page in the fragment of its URL: JSON, compressed, as base64url. A browser never sends a fragment to a server.

/** Most characters of a fragment. Programs that pass links on cut longer ones. */
export const LONGEST = 16_000;
/** Most bytes of the state: a short fragment could hold very much. */
const MOST_BYTES = 1 << 20;

const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream).getReader();

async function all(reader, most) {
  const parts = [];
  let length = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("the link holds too much");
    }
    parts.push(next.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The fragment for `state`, without "#". It may be longer than `LONGEST`. */
export async function write(state) {
  const json = new TextEncoder().encode(JSON.stringify(state));
  const bytes = await all(through(json, new CompressionStream("deflate-raw")), Infinity);
  let text = "";
  for (let from = 0; from < bytes.length; from += 0x8000) text += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const texts = (list) => (Array.isArray(list) ? list.filter((item) => typeof item === "string") : null);
const number = (value) => (Number.isFinite(value) ? value : null);
const text = (value) => (typeof value === "string" ? value : null);

/** The opposite of `write`; null for an empty fragment. Throws if the fragment is not one of this page. */
export async function read(fragment) {
  if (!fragment) return null;
  const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const json = new TextDecoder("utf-8", { fatal: true }).decode(await all(through(bytes, new DecompressionStream("deflate-raw")), MOST_BYTES));
  const given = JSON.parse(json);
  return {
    messages: text(given.messages) ?? "",
    schema: text(given.schema),
    links: texts(given.links),
    devices: number(given.devices),
    perDay: number(given.perDay),
    link: text(given.link),
    format: text(given.format),
    file: text(given.file),
  };
}
