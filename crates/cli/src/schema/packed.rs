//! The slot, fingerprint and sizes of a schema's packed messages.

use dunnage_packed::Layout;
use serde::Serialize;

/// Number of fingerprint digits that are shown.
const DIGITS: usize = 16;

/// A summary of a schema's packed messages.
#[derive(Debug, Serialize)]
pub struct Packed {
    /// The slot: the number of the layout on the wire.
    pub slot: u8,
    /// Where the slot comes from, if it is not in the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_from: Option<&'static str>,
    /// The SHA-256 of the layout, in hex.
    pub fingerprint: String,
    /// Whether messages are plain bits. Modelled messages have no maximum size.
    pub plain: bool,
    /// Size of the smallest plain message in bytes, the slot byte included, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_bytes: Option<u64>,
    /// Size of the largest plain message in bytes, the slot byte included, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// The size in bytes that the largest message of plain bits may have.
    #[serde(skip)]
    limit: u64,
}

impl Packed {
    pub fn of(layout: &Layout) -> Packed {
        let max_bytes = layout.max_bytes();
        Packed {
            slot: layout.slot(),
            slot_from: (!layout.has_slot_byte()).then_some("port"),
            fingerprint: layout.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect(),
            plain: layout.is_plain(),
            min_bytes: max_bytes.map(|_| layout.min_bytes()),
            max_bytes,
            limit: layout.plain_limit(),
        }
    }

    /// The first digits of the fingerprint.
    pub fn short(&self) -> &str {
        &self.fingerprint[..DIGITS]
    }

    /// For example `packed: slot 1, fingerprint 0123456789abcdef, 48 bytes`.
    pub fn line(&self) -> String {
        let from = self.slot_from.map(|from| format!(" from the {from}")).unwrap_or_default();
        format!("packed: slot {}{from}, fingerprint {}, {}", self.slot, self.short(), self.bytes())
    }

    /// The smallest and the largest size as text.
    pub fn bytes(&self) -> String {
        match (self.min_bytes, self.max_bytes) {
            (Some(1), Some(1)) => "1 byte".to_owned(),
            (Some(min), Some(max)) if min == max => format!("{max} bytes"),
            (Some(min), Some(max)) => format!("{min} to {max} bytes"),
            _ => format!("no maximum size within {} bytes", self.limit),
        }
    }
}
