/**
 * The kind of an error, as spec/packed.md defines it. The kinds are part of the contract, the texts of messages are not.
 *
 * - `truncated`: the bytes end before the message does
 * - `malformed`: the bytes are not a message of the layout
 * - `type`: a value of another type than the layout's, or a property that it does not have
 * - `range`: a value that the layout does not allow, or a slot without a layout
 * - `limit`: more values than a message may have
 * - `reference`: a delta, which needs the message that it refers to
 */
export type Kind = "truncated" | "malformed" | "type" | "range" | "limit" | "reference";

/** A message that cannot be decoded. */
export class DecodeError extends Error {
  readonly kind: Kind;
  /** Where the fault is, in bytes from the start of the message. */
  readonly offset: number;
  /** The JSON pointer (RFC 6901) to the value at fault; empty for the whole message. */
  readonly pointer: string;

  constructor(kind: Kind, offset: number, reason: string, pointer = "") {
    super(`${kind}: ${reason}${pointer && ` at ${pointer}`} at byte ${offset}`);
    this.kind = kind;
    this.offset = offset;
    this.pointer = pointer;
  }
}
DecodeError.prototype.name = "DecodeError";

/** A message that cannot be encoded. */
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

/** An export that is not a layout, or one that this library does not interpret. */
export class LayoutError extends Error {}
LayoutError.prototype.name = "LayoutError";
