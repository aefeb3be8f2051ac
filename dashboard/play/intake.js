// Messages from a file or the clipboard, of which there may be more than are read.

import { bytes, count } from "../format.js";

const isMessage = (line) => {
  try {
    return !Array.isArray(JSON.parse(line));
  } catch {
    return false;
  }
};

/**
 * Whether a text begins with the names of columns. The server decides whether a text is CSV; this only decides whether it may be cut between lines.
 */
const isHeader = (line) => /^[^{}[\]=]*[,;\t]/.test(line);

/** The most lines of `text` that stay within the limits, if its lines are messages or CSV; or null if they are not. */
function lines(text, { most_messages: mostMessages, most_messages_bytes: mostBytes }) {
  const all = text.split("\n");
  const hasHeader = !isMessage(all[0]) && isHeader(all[0]);
  if (!hasHeader && !isMessage(all[0])) return null;
  const most = mostMessages + (hasHeader ? 1 : 0);
  let [taken, size] = [0, 0];
  while (taken < all.length && taken < most) {
    size += new Blob([all[taken]]).size + 1;
    if (size > mostBytes) break;
    taken++;
  }
  return all.slice(0, taken);
}

/**
 * Returns the part of `text` that is read, with a note if it is not all of it; no text if nothing can be read. `isWhole` says whether `text` is
 * complete.
 */
export function cut(text, limits, isWhole = true) {
  const fits = isWhole && new Blob([text]).size <= limits.most_messages_bytes;
  const all = fits && text.split("\n").length <= limits.most_messages;
  if (all) return { text, note: "" };
  const first = lines(isWhole ? text : text.slice(0, text.lastIndexOf("\n")), limits);
  if (fits && first?.length === text.split("\n").length) return { text, note: "" };
  if (first?.length) return { text: first.join("\n"), note: `These are the first ${count(first.length)} lines: at most ${count(limits.most_messages)} messages and ${bytes(limits.most_messages_bytes)} are read.` };
  if (fits) return { text, note: "" };
  return { text: null, note: `That is too much: at most ${bytes(limits.most_messages_bytes)} are read. Only a file with a message in each line is cut.` };
}

/** Reads only as much of a file as can be used. */
export async function file(file, limits) {
  const most = limits.most_messages_bytes + 1;
  const { text, note } = cut(await file.slice(0, most).text(), limits, file.size <= most);
  return { text, note: note && `${file.name}: ${note}` };
}
