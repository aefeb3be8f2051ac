const chars = String.fromCharCode;

/** Node's Buffer converts text in native code without creating views first. Browsers do not have it. */
interface NativeText {
  utf8Slice(this: Uint8Array, start: number, end: number): string;
  utf8Write(this: Uint8Array, text: string, offset: number, length: number): number;
}
const native = (globalThis as { Buffer?: { prototype: NativeText } }).Buffer?.prototype;
const utf8Slice = native?.utf8Slice;
const utf8Write = native?.utf8Write;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Returns the UTF-8 in `bytes` from `start` to `end` as text, or null if it is not UTF-8. */
export function readText(bytes: Uint8Array, start: number, end: number): string | null {
  // Calls of native code pay off from about 13 bytes.
  return end - start < 13 ? shortText(bytes, start, end) : longText(bytes, start, end);
}

function longText(bytes: Uint8Array, start: number, end: number): string | null {
  if (utf8Slice !== undefined) {
    const text = utf8Slice.call(bytes, start, end);
    // Node replaces invalid UTF-8 by this character, which may also be in the text itself.
    if (!text.includes("\ufffd")) return text;
  }
  try {
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return null;
  }
}

/** Reads up to 12 bytes, most often ASCII. */
function shortText(bytes: Uint8Array, at: number, end: number): string | null {
  const head = end - at;
  if (head > 8) {
    const a = bytes[at]!, b = bytes[at + 1]!, c = bytes[at + 2]!, d = bytes[at + 3]!;
    const e = bytes[at + 4]!, f = bytes[at + 5]!, g = bytes[at + 6]!, h = bytes[at + 7]!;
    if ((a | b | c | d | e | f | g | h) > 127) return longText(bytes, at, end);
    // At most 4 more bytes, which are UTF-8 by themselves.
    const tail = shortText(bytes, at + 8, end);
    return tail === null ? null : chars(a, b, c, d, e, f, g, h) + tail;
  }
  if (head === 0) return "";
  const a = bytes[at]!;
  if (head === 1) return a > 127 ? null : chars(a);
  const b = bytes[at + 1]!;
  if (head === 2) return (a | b) > 127 ? longText(bytes, at, end) : chars(a, b);
  const c = bytes[at + 2]!;
  if (head === 3) return (a | b | c) > 127 ? longText(bytes, at, end) : chars(a, b, c);
  const d = bytes[at + 3]!;
  if ((a | b | c | d) > 127) return longText(bytes, at, end);
  if (head === 4) return chars(a, b, c, d);
  const e = bytes[at + 4]!;
  if (head === 5) return e > 127 ? null : chars(a, b, c, d, e);
  const f = bytes[at + 5]!;
  if (head === 6) return (e | f) > 127 ? longText(bytes, at, end) : chars(a, b, c, d, e, f);
  const g = bytes[at + 6]!;
  if (head === 7) return (e | f | g) > 127 ? longText(bytes, at, end) : chars(a, b, c, d, e, f, g);
  const h = bytes[at + 7]!;
  return (e | f | g | h) > 127 ? longText(bytes, at, end) : chars(a, b, c, d, e, f, g, h);
}

/** Whether `text` has no lone surrogates, which UTF-8 cannot express. */
export function isWellFormed(text: string): boolean {
  const own = (text as { isWellFormed?(): boolean }).isWellFormed;
  return own !== undefined ? own.call(text) : !/\p{Cs}/u.test(text);
}

/** Writes text without lone surrogates as UTF-8, and returns the number of its bytes. `bytes` must have space for three per character. */
export function writeLongText(bytes: Uint8Array, at: number, text: string): number {
  return utf8Write !== undefined
    ? utf8Write.call(bytes, text, at, bytes.length - at)
    : encoder.encodeInto(text, bytes.subarray(at)).written;
}

/**
 * Writes a short text as UTF-8, and returns the offset of its end, or -1 if it has a lone surrogate. `bytes` must have space for three
 * bytes per character.
 */
export function writeShortText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    let c = text.charCodeAt(i);
    if (c < 0x80) {
      bytes[at++] = c;
      continue;
    }
    if (c < 0x800) {
      bytes[at++] = 0xc0 | (c >> 6);
    } else {
      if (c >= 0xd800 && c < 0xe000) {
        const low = text.charCodeAt(++i);
        // The comparison is false at the end of the text, where `low` is NaN.
        if (c >= 0xdc00 || !(low >= 0xdc00 && low < 0xe000)) return -1;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        bytes[at++] = 0xf0 | (c >> 18);
        bytes[at++] = 0x80 | ((c >> 12) & 0x3f);
      } else {
        bytes[at++] = 0xe0 | (c >> 12);
      }
      bytes[at++] = 0x80 | ((c >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (c & 0x3f);
  }
  return at;
}
