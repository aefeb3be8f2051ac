// XML through the browser's DOM: an element for each field, as the paper's Simple framework writes it.

import { parse } from "./objects.js";

const writer = new XMLSerializer();
const reader = new DOMParser();
const toBytes = new TextEncoder();
const toText = new TextDecoder();

export function xml({ name, fields }) {
  const root = name.toLowerCase();
  const encode = (value) => {
    const document = window.document.implementation.createDocument(null, root);
    for (const field of fields) {
      const element = document.createElement(field.name);
      element.textContent = value[field.name];
      document.documentElement.append(element);
    }
    return toBytes.encode(writer.serializeToString(document));
  };
  const decode = (bytes) => {
    const document = reader.parseFromString(toText.decode(bytes), "application/xml");
    const value = {};
    for (const field of fields) value[field.name] = parse(field.kind, document.getElementsByTagName(field.name)[0].textContent);
    return value;
  };
  return { encode, decode };
}
