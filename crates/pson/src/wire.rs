//! Header bytes (`spec/pson.md`, "A message").

/// The upper three bits: the wire type.
pub(crate) const TYPE_BITS: u8 = 0xe0;
/// The lower five bits: the payload.
pub(crate) const PAYLOAD_BITS: u8 = 0x1f;

pub(crate) const UNSIGNED: u8 = 0x00;
pub(crate) const NEGATIVE: u8 = 0x20;
pub(crate) const FLOAT: u8 = 0x40;
pub(crate) const DISCRETE: u8 = 0x60;
pub(crate) const TEXT: u8 = 0x80;
pub(crate) const BYTES: u8 = 0xa0;
pub(crate) const MAP: u8 = 0xc0;
pub(crate) const ARRAY: u8 = 0xe0;

/// The payload that announces a varint.
pub(crate) const VARINT: u8 = 31;
/// The largest N that is stored in the payload itself.
pub(crate) const INLINE: u64 = 30;

pub(crate) const BINARY32: u8 = FLOAT;
pub(crate) const BINARY64: u8 = FLOAT | 1;
pub(crate) const FALSE: u8 = DISCRETE;
pub(crate) const TRUE: u8 = DISCRETE | 1;
pub(crate) const NULL: u8 = DISCRETE | 2;

/// The only NaN in canonical form.
pub(crate) const NAN: [u8; 5] = [BINARY32, 0x00, 0x00, 0xc0, 0x7f];
