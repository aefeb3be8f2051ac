// Creates elements without markup, so that the content of a message is only ever text.

const SVG = "http://www.w3.org/2000/svg";

/** @returns {any} an element whose kind is known where it is made */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** @returns {any} the element with this ID, whose kind is known from the markup */
export const byId = (id) => document.getElementById(id);

/** An HTML element. Strings among `children` become text nodes. */
export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

/** An SVG element. */
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** The parts of a text, with code between backticks. */
export const prose = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));

/** Sets the text if it differs, so that unchanged parts of the page are not touched. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute if it differs. */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes `nodes` the children of `parent`, and moves as few of them as possible. */
export function setChildren(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
}

/** The symbol of a kind of link. The shapes differ, not only the colours. */
export function linkSymbol(kind) {
  return svg("svg", { class: `sign ${kind}`, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, svg("path", { d: SHAPES[kind] }));
}

/** Outlines around 0,0: a disc, a diamond, a ring. */
export const SHAPES = {
  terrestrial: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  satellite: "M0-5.4 5.4 0 0 5.4-5.4 0z",
  unknown: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
};
