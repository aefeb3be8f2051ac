/** The register of a CRC-16 before the first byte: spec/packed.md, "The check". That of a CRC-8 is in the upper half. */
export const CRC_16 = 0xffff;
export const CRC_8 = 0xff00;

/** Returns the register after the first `end` bytes. */
export function crc(bytes: Uint8Array, end: number, register: number, size: 1 | 2 = 2): number {
  const polynomial = size === 1 ? 0x0700 : 0x1021;
  for (let at = 0; at < end; at++) {
    register ^= bytes[at]! << 8;
    for (let bit = 0; bit < 8; bit++) register = ((register << 1) ^ (register & 0x8000 ? polynomial : 0)) & 0xffff;
  }
  return register;
}
