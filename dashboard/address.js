// The state of the page in its URL: a device and those that it is compared with, or a part of a name, a time range, a message. Such a URL can be sent
// to a colleague.

/** The ranges that end now, in milliseconds, by their name in the URL. */
export const SPANS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000, "30d": 30 * 86_400_000 };

/** The views besides the overview (""), by their name in the URL. */
export const VIEWS = ["fleet", "register", "operations"];

/** The filters of the fleet and its order, by their names in the URL and in the API. An empty filter selects devices without a name. */
const FLEET = ["find", "tags", "link", "format", "schema", "profile", "late", "quarantined", "sort", "order", "cursor"];

/** Most devices that one is compared with. */
export const WITH = 4;

const NAMES = ["view", "device", "find", "last", "from", "until", "message"];

/** Parses `search`, such as "?device=tank-1&last=24h". Ignores unknown parameters and invalid values. */
export function parse(search) {
  const given = new URLSearchParams(search);
  const [view, device, find, last, from, until, message] = NAMES.map((name) => given.get(name)?.trim() ?? "");
  const time = (text) => (Number.isNaN(Date.parse(text)) ? null : new Date(text).toISOString());
  const fleet = view === "fleet" && { fleet: Object.fromEntries(FLEET.filter((name) => given.has(name)).map((name) => [name, given.get(name)])) };
  const others = (device ? (given.get("with") ?? "") : "").split(",").map((name) => name.trim());
  const compared = others.filter((name, i) => name && name !== device && others.indexOf(name) === i).slice(0, WITH);
  return { view: VIEWS.includes(view) ? view : "", ...fleet, device, ...(compared.length > 0 && { with: compared }), find: device ? "" : find, last: last in SPANS ? last : "", from: last in SPANS ? null : time(from), until: last in SPANS ? null : time(until), message: /^[1-9]\d*$/.test(message) ? message : "" };
}

/** The opposite of `parse`. */
export function format(address) {
  const given = new URLSearchParams();
  for (const name of NAMES) if (address[name]) given.set(name, address[name]);
  if (address.with?.length) given.set("with", address.with.join(","));
  for (const [name, value] of Object.entries(address.fleet ?? {})) given.set(name, value);
  const search = given.toString().replaceAll("%2C", ",");
  return search ? `?${search}` : "";
}

/** The beginning and the end of the range at the time `now`, in milliseconds since 1970; null where it is open. */
export function range({ last, from, until }, now) {
  if (last) return { from: now - SPANS[last], until: null };
  return { from: from && Date.parse(from), until: until && Date.parse(until) };
}

export const current = () => parse(location.search);

/** Makes `address` that of the page. With `replace`, "back" does not return to the one before. */
export function go(address, replace = false) {
  const search = format(address);
  if (search === location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", location.pathname + search);
}

/** Calls `show` with the address when the user goes back or forward. */
export const follow = (show) => addEventListener("popstate", () => show(current()));
