/** The modes, in the two highest bits of the first byte. */
export const PRIOR = 1;
export const DELTA = 2;

/** Returns the bytes of a message without copying them. */
export function view(bytes: ArrayBufferView | ArrayBufferLike): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (/ (Shared)?ArrayBuffer]$/.test(Object.prototype.toString.call(bytes))) return new Uint8Array(bytes);
  throw new TypeError("a message must be a Uint8Array, another view or an ArrayBuffer; text in Base64 or hex must be decoded first");
}

/** Whether the first byte is that of a delta. Messages without a slot byte may begin so, too. */
export function isDelta(bytes: Uint8Array | ArrayBuffer): boolean {
  const [first] = view(bytes);
  return first !== undefined && first >> 6 === DELTA;
}
