/** Header bytes of spec/pson.md, "A message": the upper three bits are the type, the lower five a number. */
export const enum Wire {
  Unsigned = 0x00,
  Negative = 0x20,
  Binary32 = 0x40,
  Binary64 = 0x41,
  False = 0x60,
  True = 0x61,
  Null = 0x62,
  Text = 0x80,
  Bytes = 0xa0,
  Map = 0xc0,
  Array = 0xe0,
  /** The lower five bits that announce a varint. */
  Varint = 31,
}

/** The first integers that are too large and too small for PSON: 2^64, and the one below -2^63. */
export const END = 2 ** 64;
export const LEAST = -(2 ** 63);
