//! Who may hold how much of the memory for messages.

use std::net::IpAddr;

/// How much of the memory may be held, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// By all messages.
    pub all: usize,
    /// By those that have not arrived whole.
    pub incomplete: usize,
    /// By those of an address (of IPv6, a /64).
    pub address: usize,
    /// By those of a device.
    pub device: usize,
    /// Largest message: whoever holds no more gives way to nobody, as long as it makes progress.
    pub message: usize,
}

impl Shares {
    /// The shares in `all`, where a message has at most `largest` bytes: whatever the memory, one message fits.
    pub fn of(all: usize, largest: usize) -> Shares {
        let part = |part: usize| part.max(largest).min(all);
        let (incomplete, address, device) = (part(all / 2), part(all / 4), part(all / 8));
        Shares { all, incomplete, address, device, message: largest.min(all) }
    }
}

/// Why there is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// All of it is in use.
    All,
    /// Incomplete messages hold as much as they may.
    Incomplete,
    /// Incomplete messages of this address do.
    Address,
    /// Incomplete messages of this device do.
    Device,
    /// The message made no progress, and another needed its room.
    GaveWay,
}

/// Who sends a message that has not arrived whole.
#[derive(Debug, Clone, Copy)]
pub struct Sender<'a> {
    /// From where.
    pub address: IpAddr,
    /// As which device, if that is known.
    pub device: Option<&'a str>,
}
