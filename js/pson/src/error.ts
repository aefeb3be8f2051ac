/**
 * The kind of an error, as spec/pson.md defines it. The kinds are part of the contract, the texts of messages are not.
 *
 * - `truncated`: the bytes end before the message does; the target of `encodeInto` is too small
 * - `malformed`: the bytes are not PSON
 * - `type`: a value that PSON cannot express, such as a function
 * - `range`: a number that the type asked for does not hold
 * - `limit`: the message is nested too deeply or too large
 */
export type Kind = "truncated" | "malformed" | "type" | "range" | "limit";

/** A message that cannot be decoded. */
export class DecodeError extends Error {
  readonly kind: Kind;
  /** Where the fault is, in bytes from the start of the message. */
  readonly offset: number;

  constructor(kind: Kind, offset: number, reason: string) {
    super(`${kind}: ${reason} at byte ${offset}`);
    this.kind = kind;
    this.offset = offset;
  }
}
DecodeError.prototype.name = "DecodeError";

/** A value that cannot be encoded. */
export class EncodeError extends Error {
  readonly kind: Kind;
  /** The JSON pointer (RFC 6901) to the value at fault; empty for the whole message. */
  readonly pointer: string;

  constructor(kind: Kind, pointer: string, reason: string) {
    super(`${kind}: ${reason}${pointer && ` at ${pointer}`}`);
    this.kind = kind;
    this.pointer = pointer;
  }
}
EncodeError.prototype.name = "EncodeError";
