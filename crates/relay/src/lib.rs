//! Batches of a relay: readings of many devices in one message of a link (`spec/relay.md`).
//!
//! A relay is a gateway at the edge. [`Writer`] makes its batches, and [`read`] takes them apart in the gateway that receives them. Both
//! have the same [`Numbers`], a short number for each device.
//!
//! # Example
//!
//! ```
//! use dunnage_relay::{Content, Entry, Sender, Writer, read};
//!
//! let climate = |sequence, body| Entry {
//!     sequence,
//!     received_at: None,
//!     sender: Sender::Number(1),
//!     content: Content::Packed { mode: 0, body },
//! };
//! let mut batch = Writer::new(30, 0);
//! assert!(batch.add(&climate(77, &[0xa0, 0x41])) && batch.add(&climate(78, &[0xa1, 0x40])));
//! let bytes = batch.finish();
//! // The first sequence number, then an entry with its length, then the last one.
//! assert_eq!(bytes, [0, 0, 77, 0x01, 2, 0xa0, 0x41, 0x81, 0xa1, 0x40]);
//! assert_eq!(read(&bytes)?[1], climate(78, &[0xa1, 0x40]));
//! # Ok::<(), dunnage_relay::Fault>(())
//! ```

mod entry;
mod numbers;
mod read;
mod write;

pub use entry::{Content, Entry, Sender};
pub use numbers::{Numbered, Numbers};
pub use read::{Fault, FaultKind, read};
pub use write::Writer;

/// The media type of a batch.
pub const MEDIA_TYPE: &str = "application/vnd.dunnage.relay";
/// Largest number of readings in a batch.
pub const MAX_READINGS: usize = 1024;
/// Largest number of deltas that follow a packed reading of a device in a batch.
pub const MAX_DELTAS: usize = 31;
/// Sequence numbers are below this, and begin again at 0.
pub const SEQUENCES: u32 = 1 << 24;
