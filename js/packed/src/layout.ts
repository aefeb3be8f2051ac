import { BitReader, BitWriter } from "./bits.js";
import { CRC_16, CRC_8, crc } from "./check.js";
import { CodedReader, CodedWriter, type Knowledge } from "./coded.js";
import { DecodeError, EncodeError, LayoutError } from "./error.js";
import { type Fit, fit, leftOut } from "./fit.js";
import { DELTA, PRIOR, isDelta, view } from "./message.js";
import type { Node } from "./node.js";
import type { Past } from "./past.js";
import { Recorder, Reference, TAG } from "./reference.js";
import { DEVICE } from "./scalars.js";
import { sha256 } from "./sha256.js";
import { readStatistics } from "./statistics.js";
import { Tree, dropped } from "./tree.js";
import { type Value, isObject } from "./values.js";
import { type BigInts, Fault, Walk } from "./walk.js";
import type { Source } from "./wire.js";

/** The largest plain message, in bytes, without a series and with one. Layouts with larger ones are modelled. */
const MAX_PLAIN_BYTES = 1024;
const MAX_SERIES_BYTES = 4096;
/** The largest message of all, in bytes. */
const MAX_BYTES = 1 << 20;
/** The deepest nesting of an export. */
const MAX_DEPTH = 512;
/** The first byte and the name, which come before the body of a delta. */
const DELTA_HEADER = 3;
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
  /** The ranks of the properties that a writer may leave out. */
  private readonly ranks: readonly number[];
  private readonly knowledge: Knowledge | null;
  private readonly checkBytes: number;
  /** The register of the check before the first byte of a message. */
  private readonly seed: number;
  /** The register of the name before the first plain byte. */
  private readonly nameSeed: number;
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
    const ranks = dropped((exported["dropped"] ?? []) as Value);
    const tree = new Tree(canonical["layout"] as Value, new Set(rounded as number[]), ranks);
    this.root = tree.root;
    this.ranks = [...ranks.values()];
    this.hasSlotByte = canonical["slot"] !== "port";
    this.checkBytes = (canonical["check"] as number | undefined) ?? 0;
    this.maxBytes = (this.hasSlotByte ? 1 : 0) + Math.ceil(tree.root.most / 8) + this.checkBytes;
    const limit = tree.hasSeries ? MAX_SERIES_BYTES : MAX_PLAIN_BYTES;
    if (this.maxBytes > limit) throw new LayoutError(`a modelled layout, which this library does not read: its largest message has more than ${limit.toLocaleString("en-US")} bytes`);
    this.nameSeed = crc(digest, 4, CRC_16);
    const start = this.checkBytes === 1 ? crc(digest, 4, CRC_8, 1) : this.nameSeed;
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
    return encoding(() => this.shortest(message));
  }

  /**
   * Encodes as much of a message as `limit` bytes hold: all of it, or else fewer readings of its series (`x-dunnage-series`), the first ones. Only if
   * not even one reading fits, properties with `x-dunnage-drop` are left out, those of the highest rank first.
   */
  encodeFit(message: unknown, limit: number): Fit {
    return encoding(() => fit(this.root, message, limit, this.ranks, (part) => this.shortest(part)));
  }

  /** Returns the paths of the properties with `x-dunnage-drop` that a message, or one of its readings, does not have. */
  leftOut(message: unknown): string[] {
    return leftOut(this.root, message);
  }

  /** Decodes a message. `T` is the type of the schema's messages, as the caller knows it; nothing checks it. */
  decode<T = Value>(bytes: Uint8Array | ArrayBuffer, options: DecodeOptions = {}): T {
    return decoding(() => this.value(view(bytes), options) as T);
  }

  /** Returns a message as the reference of deltas. The layout must have statistics. */
  reference(message: unknown): Reference {
    return encoding(() => {
      const recorder = new Recorder(this.trained().leaves);
      this.root.write(message, recorder, new Walk());
      const plain = this.plain(message, 0);
      return new Reference(this.nameOf(plain), plain, this.fingerprint, recorder.past);
    });
  }

  /** Restores a reference from its `plain` bytes. */
  referenceFrom(plain: Uint8Array | ArrayBuffer, options: DecodeOptions = {}): Reference {
    const message = decoding(() => {
      this.trained();
      const bytes = view(plain);
      this.checkStart(bytes);
      return this.read(bytes, bytes.length, { ...options, bigint: "auto" });
    });
    return this.reference(message);
  }

  /** Encodes a message as a delta, for a receiver that has `reference`. It may be longer than what `encode` returns. */
  encodeDelta(message: unknown, reference: Reference): Uint8Array {
    return encoding(() => {
      const knowledge = this.trained();
      this.checkReference(reference);
      const name = this.nameOf(this.plain(message, 0));
      const head = [(DELTA << 6) | (reference.name & TAG), name >> 8, name & 0xff];
      return this.coded(message, knowledge, head, reference.past, 0);
    });
  }

  /**
   * Decodes a delta against `reference`. The error is of the kind `reference` if the delta refers to another message, or is damaged. A sender
   * that learns of this error must not use its reference again.
   */
  decodeDelta<T = Value>(bytes: Uint8Array | ArrayBuffer, reference: Reference, options: DecodeOptions = {}): T {
    return decoding(() => this.delta(view(bytes), reference, options) as T);
  }

  private delta(message: Uint8Array, reference: Reference, options: DecodeOptions): Value {
    if (message.length > 0 && !isDelta(message)) throw new Fault("malformed", "not a delta");
    if (message.length < DELTA_HEADER) throw new Fault("truncated", "a delta has a name of two bytes", message.length);
    const knowledge = this.trained();
    this.checkReference(reference);
    if (!reference.isTagged(message[0]!)) throw new Fault("reference", "the delta refers to another message");
    const source = new CodedReader(knowledge, message, DELTA_HEADER, message.length, reference.past);
    let plain: Uint8Array;
    let value: Value;
    try {
      value = this.body(source, { ...options, bigint: "auto" });
      plain = this.plain(value, 0);
    } catch (fault) {
      throw fault instanceof Fault ? new Fault("reference", `no delta to this message: ${fault.reason}`) : fault;
    }
    if (this.nameOf(plain) !== ((message[1]! << 8) | message[2]!)) throw new Fault("reference", "no delta to this message: its name is another one");
    return (options.bigint ?? "auto") === "auto" ? value : this.read(plain, plain.length, options);
  }

  private trained(): Knowledge {
    if (this.knowledge === null) throw new Fault("malformed", "the schema has no x-dunnage-statistics, which deltas need");
    return this.knowledge;
  }

  private checkReference(reference: Reference): void {
    if (!(reference instanceof Reference)) throw new TypeError("not a reference: use `layout.reference` or `layout.referenceFrom`");
    if (reference.fingerprint !== this.fingerprint) throw new Fault("reference", "the reference is a message of another layout");
  }

  private nameOf(plain: Uint8Array): number {
    return crc(plain, plain.length, this.nameSeed);
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

  /** Returns a message in the shortest form that needs no reference. */
  private shortest(message: unknown): Uint8Array {
    const plain = this.plain(message, this.checkBytes);
    const coded = this.knowledge === null ? plain : this.coded(message, this.knowledge, [(PRIOR << 6) | this.slot], null, this.checkBytes);
    const bytes = coded.length <= plain.length ? coded : plain;
    const end = bytes.length - this.checkBytes;
    this.checkOf(bytes, end).forEach((byte, at) => (bytes[end + at] = byte));
    return bytes;
  }

  /** Returns a plain message with room for `more` bytes after it. */
  private plain(message: unknown, more: number): Uint8Array {
    this.writer.begin(this.hasSlotByte ? [this.slot] : []);
    this.root.write(message, this.writer, new Walk());
    return this.writer.finish(more);
  }

  private coded(message: unknown, knowledge: Knowledge, head: readonly number[], reference: Past | null, more: number): Uint8Array {
    const writer = new CodedWriter(knowledge, head, reference);
    this.root.write(message, writer, new Walk());
    return writer.finish(more);
  }

  private read(message: Uint8Array, end: number, options: DecodeOptions): Value {
    const isPrior = this.knowledge !== null && message[0]! >> 6 === PRIOR;
    return this.body(isPrior ? new CodedReader(this.knowledge!, message, 1, end, null) : new BitReader(message, this.hasSlotByte ? 1 : 0, end), options);
  }

  private body(source: Source & { finish(): void }, options: DecodeOptions): Value {
    const known = new Map(Object.entries(options.known ?? {}));
    if (options.device !== undefined) known.set(DEVICE, options.device);
    const bigint = options.bigint ?? "auto";
    if (bigint !== "auto" && bigint !== "always" && bigint !== "never") throw new RangeError(`bigint must be "auto", "always" or "never", not ${String(bigint)}`);
    const value = this.root.read(source, new Walk(known, bigint));
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
    if (mode === DELTA) throw new Fault("reference", "a delta, which needs the message that it refers to: `decodeDelta` decodes it");
    if (slot === 0) throw new Fault("malformed", "slot 0 has no layout");
    if (slot !== this.slot) throw new Fault("range", `slot ${slot}; the layout's is ${this.slot}`);
  }

  /** Returns the check of the first `end` bytes of a message. */
  private checkOf(bytes: Uint8Array, end: number): number[] {
    const register = this.checkBytes === 0 ? 0 : this.checked(bytes, end, this.seed);
    return [register >> 8, register & 0xff].slice(0, this.checkBytes);
  }

  private checked(bytes: Uint8Array, end: number, register: number): number {
    return crc(bytes, end, register, this.checkBytes === 1 ? 1 : 2);
  }
}

/** Returns what `work` does, with its fault as an error of encoding. */
function encoding<T>(work: () => T): T {
  try {
    return work();
  } catch (fault) {
    throw fault instanceof Fault ? new EncodeError(fault.kind, fault.pointer, fault.reason) : fault;
  }
}

/** Returns what `work` does, with its fault as an error of decoding. */
function decoding<T>(work: () => T): T {
  try {
    return work();
  } catch (fault) {
    throw fault instanceof Fault ? new DecodeError(fault.kind, fault.offset, fault.reason, fault.pointer) : fault;
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
