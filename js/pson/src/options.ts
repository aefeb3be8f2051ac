import { choice, type Limits, nesting, size } from "./limits.js";

/** How messages are decoded. */
export interface DecodeOptions extends Limits {
  /** Rejects messages that are not in canonical form, as `malformed`. The default is false. */
  strict?: boolean | undefined;
  /**
   * When integers are bigints.
   *
   * - `"auto"`, the default: those outside the safe range, -(2^53 - 1) to 2^53 - 1
   * - `"always"`: all of them, so the type does not depend on the value. Numbers with a fraction are still numbers
   * - `"never"`: no bigints. An integer that no number holds exactly is a `range` error
   */
  bigint?: "auto" | "always" | "never" | undefined;
  /**
   * The type to which maps are decoded.
   *
   * - `"object"`, the default: plain objects. JavaScript moves keys that look like array indices to the front
   * - `"map"`: `Map`s, which keep the order of all keys
   */
  maps?: "object" | "map" | undefined;
  /**
   * The array to which byte strings are decoded.
   *
   * - `"copy"`, the default: a `Uint8Array` of their own
   * - `"view"`: a `Uint8Array` over the memory of the message, without a copy
   */
  bytes?: "copy" | "view" | undefined;
}

/** How values are encoded. */
export interface EncodeOptions extends Limits {
  /**
   * How numbers that are not integers are written.
   *
   * - `"lossless"`, the default: as binary32 where that is exact, otherwise as binary64
   * - `"single"`: rounded to the nearest binary32, unless that makes a finite number infinite
   */
  floats?: "lossless" | "single" | undefined;
}

/** `DecodeOptions` with all defaults, checked. */
export function decoding(options: DecodeOptions) {
  return {
    maxNesting: nesting(options),
    maxSize: size(options),
    strict: options.strict === true,
    bigint: choice("bigint", options.bigint, ["auto", "always", "never"]),
    asMap: choice("maps", options.maps, ["object", "map"]) === "map",
    view: choice("bytes", options.bytes, ["copy", "view"]) === "view",
  };
}

/** `EncodeOptions` with all defaults, checked. */
export function encoding(options: EncodeOptions) {
  return {
    maxNesting: nesting(options),
    maxSize: size(options),
    single: choice("floats", options.floats, ["lossless", "single"]) === "single",
  };
}
