export { decode, type Bytes, Decoder, decodeMulti } from "./decode.js";
export { encode, Encoder, encodeInto } from "./encode.js";
export { DecodeError, EncodeError, type Kind } from "./error.js";
export { type Limits, MAX_NESTING, MAX_SIZE } from "./limits.js";
export type { DecodeOptions, EncodeOptions } from "./options.js";
