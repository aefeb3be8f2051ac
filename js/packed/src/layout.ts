import { BitReader, BitWriter } from "./bits.js";
import { CodedReader, CodedWriter, type Knowledge } from "./coded.js";
import { DecodeError, EncodeError, LayoutError } from "./error.js";
import type { Node } from "./node.js";
import { DEVICE } from "./scalars.js";
import { sha256 } from "./sha256.js";
import { readStatistics } from "./statistics.js";
import { Tree } from "./tree.js";
import { type Value, isObject } from "./values.js";
import { type BigInts, Fault, Walk } from "./walk.js";

/** The largest plain message, in bytes, without a series and with one. Layouts with larger ones are modelled. */
const MAX_PLAIN_BYTES = 1024;
const MAX_SERIES_BYTES = 4096;
/** The largest message of all, in bytes. */
const MAX_BYTES = 1 << 20;
/** The deepest nesting of an export. */
const MAX_DEPTH = 512;
/** The modes, in the two highest bits of the slot byte. */
const PRIOR = 1;
const DELTA = 2;
const NOT_EXPORTED = "not an exported layout: run `dunnage schema layout SCHEMA --json`";

/** The known texts of the device that sent a message, and the type of its integers. */
export interface DecodeOptions {
  /** The ID of the device, for a text that is not in the message (`"x-dunnage-known": "device"`). */
  device?: string | undefined;
  /** Its other texts that are not in the message, by their names. */
  known?: Readonly<Record<string, string>> | undefined;
  /**
   * When integers are bigints.
   *
   * - `"auto"`, the default: those outside the safe range, -(2^53 - 1) to 2^53 - 1
   * - `"always"`: all values of the type `integer`, so the type does not depend on the value
   * - `"never"`: no bigints. An integer that no number holds exactly is a `range` error
   */
  bigint?: BigInts | undefined;
}

/** Returns the bytes of a message without copying them. */
export function view(bytes: ArrayBufferView | ArrayBufferLike): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (/ (Shared)?ArrayBuffer]$/.test(Object.prototype.toString.call(bytes))) return new Uint8Array(bytes);
  throw new TypeError("a message must be a Uint8Array, another view or an ArrayBuffer; text in Base64 or hex must be decoded first");
}

/** The layout of a schema, which `dunnage schema layout SCHEMA --json` exports: encodes and decodes its messages. */
export class Layout {
  /** 1 to 63: the lowest bits of the first byte, or the port of the link. */
  readonly slot: number;
  /** The SHA-256 of the layout in hexadecimal digits. */
  readonly fingerprint: string;
  /** Whether messages begin with a slot byte. Otherwise the slot is the port of the link. */
  readonly hasSlotByte: boolean;
  /** The size of the largest message, in bytes. */
  readonly maxBytes: number;
  private readonly root: Node;
  private readonly knowledge: Knowledge | null;
  private readonly checkBytes: number;
  /** The register of the check before the first byte of a message. */
  private readonly seed: number;
  private readonly writer = new BitWriter();

  /** Use `loadLayout`. */
  constructor(exported: { [key: string]: Value }) {
    if (isDeep(exported)) throw new LayoutError("not an exported layout: it is nested too deeply");
    const packed = exported["packed"];
    const canonical = exported["layout"];
    const rounded = exported["rounded"] ?? [];
    if (!isObject(packed) || !isObject(canonical) || canonical["packed"] !== 1 || !Array.isArray(rounded)) {
      throw new LayoutError(NOT_EXPORTED);
    }
    checkMembers(canonical as { [key: string]: Value });
    this.slot = packed["slot"] as number;
    this.fingerprint = packed["fingerprint"] as string;
    if (!Number.isInteger(this.slot) || this.slot < 1 || this.slot > 63) throw new LayoutError("the slot is not from 1 to 63");
    const digest = sha256(JSON.stringify(canonical));
    if (hex(digest) !== this.fingerprint) throw new LayoutError("the layout was changed after it was exported: the fingerprint is another one");
    const tree = new Tree(canonical["layout"] as Value, new Set(rounded as number[]));
    this.root = tree.root;
    this.hasSlotByte = canonical["slot"] !== "port";
    this.checkBytes = (canonical["check"] as number | undefined) ?? 0;
    this.maxBytes = (this.hasSlotByte ? 1 : 0) + Math.ceil(tree.root.most / 8) + this.checkBytes;
    const limit = tree.hasSeries ? MAX_SERIES_BYTES : MAX_PLAIN_BYTES;
    if (this.maxBytes > limit) throw new LayoutError(`a modelled layout, which this library does not read: its largest message has more than ${limit.toLocaleString("en-US")} bytes`);
    const start = this.checked(digest.subarray(0, 4), 4, this.checkBytes === 1 ? 0xff00 : 0xffff);
    this.seed = this.hasSlotByte ? start : this.checked(Uint8Array.of(this.slot), 1, start);
    const { statistics, ...untrained } = canonical as { [key: string]: Value };
    this.knowledge = null;
    if (statistics !== undefined) {
      this.knowledge = { leaves: tree.leaves, statistics: readStatistics(unbase64(statistics), tree.leaves, sha256(JSON.stringify(untrained))) };
    }
  }

  /**
   * Encodes a message in the shortest form that needs no other message. Numbers with `x-dunnage-round` are rounded.
   *
   * Keywords that only restrict are not a part of the layout: check the message with a validator first if it may break them.
   */
  encode(message: unknown): Uint8Array {
    try {
      const plain = this.plain(message);
      const coded = this.knowledge === null ? plain : this.prior(message, this.knowledge);
      const bytes = coded.length <= plain.length ? coded : plain;
      const end = bytes.length - this.checkBytes;
      this.checkOf(bytes, end).forEach((byte, at) => (bytes[end + at] = byte));
      return bytes;
    } catch (fault) {
      throw fault instanceof Fault ? new EncodeError(fault.kind, fault.pointer, fault.reason) : fault;
    }
  }

  /** Decodes a message. `T` is the type of the schema's messages, as the caller knows it; nothing checks it. */
  decode<T = Value>(bytes: Uint8Array | ArrayBuffer, options: DecodeOptions = {}): T {
    try {
      return this.value(view(bytes), options) as T;
    } catch (fault) {
      throw fault instanceof Fault ? new DecodeError(fault.kind, fault.offset, fault.reason, fault.pointer) : fault;
    }
  }

  private value(message: Uint8Array, options: DecodeOptions): Value {
    this.checkStart(message);
    if (this.checkBytes === 0) return this.read(message, message.length, options);
    const end = message.length - this.checkBytes;
    if (end < 1) throw new Fault("truncated", "the message ends before its check", message.length);
    let value: Value = null;
    let error: unknown;
    try {
      value = this.read(message, end, options);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      // The check of a truncated message does not match either, so truncation is reported first.
      if (thrown.kind === "truncated") throw new Fault("truncated", "the message ends before its layout and check do", message.length);
      error = thrown;
    }
    if (this.checkOf(message, end).some((byte, at) => byte !== message[end + at])) {
      throw new Fault("malformed", "the check does not match: the message is damaged, or of another schema", end);
    }
    if (error !== undefined) throw error;
    return value;
  }

  private plain(message: unknown): Uint8Array {
    this.writer.begin(this.hasSlotByte ? [this.slot] : []);
    this.root.write(message, this.writer, new Walk());
    return this.writer.finish(this.checkBytes);
  }

  private prior(message: unknown, knowledge: Knowledge): Uint8Array {
    const writer = new CodedWriter(knowledge, [(PRIOR << 6) | this.slot]);
    this.root.write(message, writer, new Walk());
    return writer.finish(this.checkBytes);
  }

  private read(message: Uint8Array, end: number, options: DecodeOptions): Value {
    const known = new Map(Object.entries(options.known ?? {}));
    if (options.device !== undefined) known.set(DEVICE, options.device);
    const bigint = options.bigint ?? "auto";
    if (bigint !== "auto" && bigint !== "always" && bigint !== "never") throw new RangeError(`bigint must be "auto", "always" or "never", not ${String(bigint)}`);
    const walk = new Walk(known, bigint);
    const isPrior = this.knowledge !== null && message[0]! >> 6 === PRIOR;
    const source = isPrior ? new CodedReader(this.knowledge!, message, 1, end) : new BitReader(message, this.hasSlotByte ? 1 : 0, end);
    const value = this.root.read(source, walk);
    source.finish();
    return value;
  }

  /** Checks the size of a message and its slot byte. */
  private checkStart(message: Uint8Array): void {
    if (message.length > MAX_BYTES) throw new Fault("limit", `a message of ${message.length} bytes`, MAX_BYTES);
    if (!this.hasSlotByte) return;
    if (message.length === 0) throw new Fault("truncated", "no bytes, not even the slot byte");
    const [mode, slot] = [message[0]! >> 6, message[0]! & 0x3f];
    if (mode > DELTA) throw new Fault("malformed", "mode 3 is reserved");
    if (mode > 0 && this.knowledge === null) throw new Fault("malformed", `mode ${mode}, but the schema has no x-dunnage-statistics`);
    if (mode === DELTA) throw new Fault("reference", "a delta, which needs the message that it refers to: Dunnage's gateway decodes it");
    if (slot === 0) throw new Fault("malformed", "slot 0 has no layout");
    if (slot !== this.slot) throw new Fault("range", `slot ${slot}; the layout's is ${this.slot}`);
  }

  /** Returns the check of the first `end` bytes of a message. */
  private checkOf(bytes: Uint8Array, end: number): number[] {
    const register = this.checkBytes === 0 ? 0 : this.checked(bytes, end, this.seed);
    return [register >> 8, register & 0xff].slice(0, this.checkBytes);
  }

  /** Enters bytes into the register of a CRC-16, or of a CRC-8 in its upper half. */
  private checked(bytes: Uint8Array, end: number, seed: number): number {
    const polynomial = this.checkBytes === 1 ? 0x0700 : 0x1021;
    let register = seed;
    for (let at = 0; at < end; at++) {
      register ^= bytes[at]! << 8;
      for (let bit = 0; bit < 8; bit++) register = ((register << 1) ^ (register & 0x8000 ? polynomial : 0)) & 0xffff;
    }
    return register;
  }
}

/** Checks the members around the tree, so that nothing that this library does not know changes the messages. */
function checkMembers(canonical: { [key: string]: Value }): void {
  const { slot, check, statistics, definitions } = canonical;
  const unknown = Object.keys(canonical).find((key) => !["packed", "slot", "check", "statistics", "layout", "definitions"].includes(key));
  if (unknown !== undefined) throw new LayoutError(`a layout with the unknown member ${JSON.stringify(unknown)}`);
  if (definitions !== undefined) throw new LayoutError("a modelled layout, which this library does not read: it refers to itself");
  if (slot !== undefined && slot !== "port") throw new LayoutError("a slot from something else than the port");
  if (check !== undefined && check !== 1 && check !== 2) throw new LayoutError("a check of other than 1 or 2 bytes");
  if (slot !== undefined && statistics !== undefined) throw new LayoutError("messages with statistics need their first byte");
}

function unbase64(text: Value): Uint8Array {
  try {
    return Uint8Array.from(atob(text as string), (char) => char.charCodeAt(0));
  } catch {
    throw new LayoutError("statistics that are not Base64");
  }
}

/** Whether JSON is nested so deeply that functions which call themselves might not end. */
function isDeep(json: unknown): boolean {
  let level: unknown[] = [json];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Loads what `dunnage schema layout SCHEMA --json` printed, as text or parsed. Throws a `LayoutError`. */
export function loadLayout(exported: string | object): Layout {
  let json: unknown = exported;
  if (typeof exported === "string") {
    try {
      json = JSON.parse(exported);
    } catch (error) {
      throw new LayoutError(`not an exported layout: ${(error as Error).message}`);
    }
  }
  if (!isObject(json)) throw new LayoutError(NOT_EXPORTED);
  return new Layout(json as { [key: string]: Value });
}
