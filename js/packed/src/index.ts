export { DecodeError, EncodeError, type Kind, LayoutError } from "./error.js";
export { type DecodeOptions, Layout, loadLayout } from "./layout.js";
export type { Fit } from "./fit.js";
export { Layouts } from "./layouts.js";
export { isDelta } from "./message.js";
export { Reference } from "./reference.js";
export type { Value } from "./values.js";
export type { BigInts } from "./walk.js";
