import { Wire } from "./wire.js";

/** Finds where messages end in a stream of bytes. It looks at headers alone, and at each byte at most once. */
export class Frames {
  /** The number of bytes of the current message so far. */
  size = 0;
  /** The items that are still to come: of the message itself, and of each map and array around the next one. */
  private left: number[] = [];
  /** The bytes of content that are still to come. */
  private content = 0;
  /** The type whose varint is being read, or -1; the varint so far, and the value of its next bit. */
  private type = -1;
  private n = 0;
  private scale = 1;

  constructor(
    private readonly maxNesting: number,
    private readonly maxSize: number,
  ) {}

  /**
   * Examines `bytes` from `from` on. Returns the offset after the message, or -1 if the message continues after `bytes`. An invalid message, or one
   * that announces more bytes than the limit, ends where the fault is detected.
   */
  end(bytes: Uint8Array, from: number): number {
    if (this.size === 0) this.left = [1];
    let at = from;
    while (at < bytes.length) {
      if (this.content > 0) {
        const step = Math.min(this.content, bytes.length - at);
        at += step;
        this.content -= step;
      } else {
        const byte = bytes[at++]!;
        const good = this.type < 0 ? this.header(byte) : this.varint(byte);
        if (!good || this.size + at - from + this.content > this.maxSize) return this.finished(at);
      }
      if (this.content === 0 && this.type < 0 && this.complete()) return this.finished(at);
    }
    this.size += at - from;
    return -1;
  }

  private finished(at: number): number {
    this.size = this.content = 0;
    this.type = -1;
    return at;
  }

  /** Leaves the maps and arrays that have all their items. Returns whether the message is complete. */
  private complete(): boolean {
    const { left } = this;
    while (left.length > 0 && left[left.length - 1] === 0) left.pop();
    return left.length === 0;
  }

  private header(byte: number): boolean {
    const type = byte & 0xe0;
    const n = byte & 31;
    this.left[this.left.length - 1]!--;
    switch (type) {
      case Wire.Binary32:
        this.content = n === 0 ? 4 : 8;
        return n < 2;
      case Wire.False:
        return byte <= Wire.Null;
      case Wire.Map:
      case Wire.Array:
        if (this.left.length > this.maxNesting) return false;
    }
    if (n < Wire.Varint) {
      this.announced(type, n);
    } else {
      this.type = type;
      this.n = 0;
      this.scale = 1;
    }
    return true;
  }

  private varint(byte: number): boolean {
    if (this.scale === 2 ** 63 && byte > 1) return false;
    this.n += (byte & 0x7f) * this.scale;
    this.scale *= 128;
    if (byte < 0x80) {
      this.announced(this.type, this.n);
      this.type = -1;
    }
    return true;
  }

  private announced(type: number, n: number): void {
    if (type === Wire.Text || type === Wire.Bytes) this.content = n;
    else if (type === Wire.Map) this.left.push(2 * n);
    else if (type === Wire.Array) this.left.push(n);
  }
}
