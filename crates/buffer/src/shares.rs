//! The limits on memory for messages: in total, and for those that have not arrived completely.

use std::net::IpAddr;

/// Limits on memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// For all messages.
    pub all: usize,
    /// For all incomplete messages.
    pub incomplete: usize,
    /// For incomplete messages of one address (a /64 of IPv6).
    pub address: usize,
    /// For incomplete messages of one device.
    pub device: usize,
    /// The size of the largest message. A sender that holds at most this much is not evicted in favor of another while it makes progress.
    pub message: usize,
}

impl Shares {
    /// Divides `all` bytes, where a message has at most `largest` bytes. Each share has room for one message, unless `all` is smaller than
    /// that.
    pub fn of(all: usize, largest: usize) -> Shares {
        let part = |part: usize| part.max(largest).min(all);
        let (incomplete, address, device) = (part(all / 2), part(all / 4), part(all / 8));
        Shares { all, incomplete, address, device, message: largest.min(all) }
    }
}

/// Why a reservation cannot grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// All memory is in use.
    #[error("all memory for messages is in use")]
    All,
    /// Incomplete messages have used up their share.
    #[error("incomplete messages hold as much memory as they may")]
    Incomplete,
    /// Incomplete messages of this address have used up their share.
    #[error("incomplete messages from this address hold as much memory as they may")]
    Address,
    /// Incomplete messages of this device have used up their share.
    #[error("incomplete messages of this device hold as much memory as they may")]
    Device,
    /// The message was evicted, because another needed its memory.
    #[error("the message stopped arriving, and its memory was needed for another")]
    GaveWay,
}

/// The sender of an incomplete message.
#[derive(Debug, Clone, Copy)]
pub struct Sender<'a> {
    /// Its address.
    pub address: IpAddr,
    /// Its device, if it is known.
    pub device: Option<&'a str>,
}
