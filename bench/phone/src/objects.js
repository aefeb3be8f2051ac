// The two objects of the paper, and what formats with a schema must know about them.

import corpus from "../../corpus/book-video.json";

/** The kinds of a field, in the words of each library. */
const TEXT = "text", INTEGER = "integer", FRACTION = "fraction", FLAG = "flag", CHOICE = "choice";

/** The values of Book's `type`, in the paper's order. */
export const BINDINGS = ["Paperback", "Hardcover", "Digital"];

const field = (kind) => (name) => ({ name, kind });

/** An object: its name in the paper's tables, its value, and its fields in the order of the paper's class. */
export const OBJECTS = [
  {
    name: "Book",
    value: corpus.book,
    fields: [
      ...["title", "author", "description", "image"].map(field(TEXT)),
      { name: "numInStock", kind: INTEGER },
      { name: "price", kind: FRACTION },
      { name: "type", kind: CHOICE },
      { name: "onSale", kind: FLAG },
    ],
  },
  {
    name: "Video",
    value: corpus.video,
    fields: [
      ...["uri", "title", "format"].map(field(TEXT)),
      ...["height", "width", "length", "views"].map(field(INTEGER)),
      { name: "enabled", kind: FLAG },
    ],
  },
];

/** Returns the value of a field that was read as text. */
export function parse(kind, text) {
  if (kind === FLAG) return text === "true";
  return kind === INTEGER || kind === FRACTION ? Number(text) : text;
}
