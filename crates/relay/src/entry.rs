//! An entry of a batch, and the bits of its first byte.

/// A reading in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'b> {
    /// Its number among the readings of the relay, below [`crate::SEQUENCES`].
    pub sequence: u32,
    /// When the relay received it, in seconds since 1970, if the batch has times.
    pub received_at: Option<u32>,
    /// Its device.
    pub sender: Sender<'b>,
    /// The message of the device.
    pub content: Content<'b>,
}

/// The device of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender<'b> {
    /// Its number, from 1 on.
    Number(u32),
    /// Its ID.
    Device(&'b str),
}

/// The bytes of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'b> {
    /// A packed message in the layout of the device's slot, without the slot byte. Only a device with a number has it, and a delta.
    Packed {
        /// The mode, 0 or 1.
        mode: u8,
        /// The rest of the message.
        body: &'b [u8],
    },
    /// A delta against the packed reading of the same device before it in the batch, without its tag byte: its name and its body.
    Delta(&'b [u8]),
    /// A message in any format.
    Other {
        /// The number of the format (`spec/ingest.md`, "UDP").
        format: u8,
        /// The message.
        bytes: &'b [u8],
    },
}

/// The bit of the head of the last entry, which has no length.
pub(crate) const LAST: u8 = 0x80;
/// The place of the kind in the head.
pub(crate) const KIND_SHIFT: u8 = 5;
/// The bits of the number in the head.
pub(crate) const NUMBER: u8 = 0x1f;
/// The kind of a delta; with the number 0, of a message in any format whose device has no number. Below it, the kind is the mode of a packed message.
pub(crate) const DELTA: u8 = 2;
/// The kind of control entries.
pub(crate) const CONTROL: u8 = 3;
/// The number in the head if the device's number follows.
pub(crate) const LONG: u8 = 31;
/// Control entries: below it, the next sequence number is this one and one more further on.
pub(crate) const SKIP: u8 = 24;
/// The control entry with the time.
pub(crate) const TIME: u8 = 25;
/// Not a control entry, but a message in any format of a device whose number follows.
pub(crate) const ANY: u8 = 26;
/// The bytes of a number: at most 5.
pub(crate) const MAX_VARINT: usize = 5;
