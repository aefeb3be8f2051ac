// Formats numbers, times, positions and links.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** 3943 -> "3,943" */
export const count = (n) => whole.format(n);

/** In full below 100,000, then "1.2M". */
export const total = (n) => (n < 100_000 ? whole : compact).format(n);

/** A count with its noun: 1 -> "1 message", 3943 -> "3,943 messages". */
export const counted = (n, one, several = `${one}s`) => `${count(n)} ${n === 1 ? one : several}`;

/** Bytes: "138 B", "1.2 kB" (1000 bytes), "8.6 GB". */
export function bytes(n) {
  if (n < 10_000) return `${whole.format(n)} B`;
  if (n < 1e6) return `${short.format(n / 1e3)} kB`;
  return n < 1e9 ? `${short.format(n / 1e6)} MB` : `${short.format(n / 1e9)} GB`;
}

/** A share as a percentage, "26 %"; never rounded up to 100 or down to 0: "below 1 %". */
export function percent(share, digits = 0) {
  const step = 10 ** -digits;
  let value = share * 100;
  if (share > 0 && value < step) return `below ${step} %`;
  if (share < 1) value = Math.min(value, 100 - step);
  return `${value.toFixed(digits)} %`;
}

/** A success rate: 1 -> "100 %", 0.9998 -> "99.98 %". */
export const rate = (share) => (share === 1 || share === 0 ? percent(share) : percent(share, 2));

/** "2026-01-31T08:00:00.123Z" -> "08:00:00" */
export const clockTime = (time) => time.slice(11, 19);

/** "2026-01-31T08:00:00.123Z" -> "2026-01-31 08:00:00.123 UTC" */
export const fullTime = (time) => time.replace("T", " ").replace("Z", " UTC");

/** "2026-01-31T08:00:00.123Z" -> "2026-01-31 08:00:00 UTC" */
export const secondTime = (time) => `${fullTime(time).slice(0, 19)} UTC`;

/** A time span in milliseconds: "now" (below 2 s), "12 s", "5 min", "3 h", "2 d". */
export function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 2) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${count(Math.floor(seconds / 86400))} d`;
}

/** A length of time in seconds: "40 ms", "1.5 s", then as `age`. */
export function span(seconds) {
  if (seconds < 1) return `${whole.format(seconds * 1000)} ms`;
  return seconds < 10 ? `${short.format(seconds)} s` : age(seconds * 1000);
}

/** When a device is expected to send, and by how much it is late: "every 15 min, 3 h late"; nothing if no interval is known. */
export function lateness({ expected_every, expected_from, late }) {
  if (expected_every === null) return "";
  const every = expected_from === "profile" ? `within ${span(expected_every)}` : `every ${span(expected_every)}`;
  return late === null ? every : `${every}, ${span(late)} late`;
}

/** Degrees with their hemisphere: 31.8682 -> "31.868° N". */
export function degrees(value, positive, negative, digits = 3) {
  const side = value < 0 ? negative : positive;
  return `${Math.abs(value).toFixed(digits)}° ${side}`;
}

/** The digits of a number; of one that is a binary32, the shortest decimal that is the same binary32. */
export function decimal(number) {
  for (let digits = 1; digits < 10 && Math.fround(number) === number; digits++) {
    const shorter = Number(number.toPrecision(digits));
    if (Math.fround(shorter) === number) return String(shorter);
  }
  return String(number);
}

export const place = ({ latitude, longitude }) => `${degrees(latitude, "N", "S")}, ${degrees(longitude, "E", "W")}`;

const SATELLITE = /satellite|^ntn|^(astrocast|iridium|orbcomm|kineis|argos|inmarsat|globalstar|thuraya|swarm|lacuna)/i;

/** The kind of a link: "terrestrial", "satellite", or "unknown" if the message does not name its link. */
export function linkKind(link) {
  if (!link) return "unknown";
  return SATELLITE.test(link) ? "satellite" : "terrestrial";
}
