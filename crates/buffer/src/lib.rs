//! A durable log of messages in one SQLite file.
//!
//! Producers on many threads submit messages, one writer commits them in batches, and each producer learns when its message is on disk.
//! Each consumer reads the messages after its own cursor, and advances the cursor when it has resolved them. This crate knows nothing of how
//! messages arrive, what their bytes mean, or where they go.
//!
//! # Constraints
//!
//! - **An acknowledgement is a promise.** [`Ack::commit`] returns after the commit of a transaction that SQLite has synchronized with the
//!   disk (`synchronous = FULL`), in the files that a restart will open. After each commit and once per second, the writer compares the
//!   device and inode of its files with those at their paths. If the database was deleted or replaced, no message is acknowledged until it
//!   is back. A deleted log or lock file is created again without loss.
//! - **Memory is bounded.** A message holds a [`Reservation`] from its first byte to its commit. [`Shares`] splits the bound: incomplete
//!   messages hold at most half, those of one address a quarter, those of one device an eighth.
//! - **Readers never block the writer.** They have separate connections, and a pool for each [`Use`], so that a slow page of the API does
//!   not delay an output. A query ends when its future is dropped.
//!
//! # Layout
//!
//! | table | a row for each | |
//! |---|---|---|
//! | `messages` | stored message | its ID, provenance, raw bytes, JSON, and a CRC-32 over all of it (`record.rs`) |
//! | `quarantine` | message that could not be decoded | the data for decoding it again |
//! | `devices` | device | counts and its last message; each message points to the one before, so a device's messages are a list without an index |
//! | `waypoints` | 64th message of a device | an entry point into the list of its messages |
//! | `cursors` | output | the message ID up to and including which it has resolved every message |
//! | `alarms` | device with an alarm at an output | the condition |
//! | `replays` | output | the state of its last replay, as JSON |
//! | `behind` | device that holds a cursor | its first message that the output has not resolved; the others are resolved beyond the cursor |
//! | `undelivered` | dead letter | output, message ID, time and reason |
//! | `gaps` | range of IDs | no message has these IDs: they were lost, or will not be used |
//! | `register` | registered device | what the operator knows of it, as JSON |
//! | `layouts` | slot of a schema | the fingerprint of the layout of its messages |
//! | `formats`, `totals` | format; one row | counts over the life of the buffer |
//!
//! Pages have 8 KiB. The write-ahead log is checkpointed every 16 MiB. `tables.rs` has the SQL and the migrations.
//!
//! # IDs
//!
//! Message IDs ascend by one over all devices and are never reused. The buffer ID, eight random hexadecimal digits, distinguishes the
//! messages of two buffers. The lock file has a copy of it, in case the database is damaged. The [`stable_id`] of a message, which every
//! delivery carries, is derived from both IDs or from the sender's key.
//!
//! # Duplicates
//!
//! A message with a key that its device has used within the window is a duplicate: it is acknowledged and not stored. Hashes of the keys
//! are kept in memory ([`Duplicates`]); the start reads them from the newest messages.
//!
//! # Recovery
//!
//! Each read verifies the CRC of its rows, and that every missing ID was dropped or is in `gaps`. If SQLite or a checksum reports damage,
//! or the log was truncated, the writer moves the files aside (`NAME.damaged-TIME`) and makes a new buffer from every row that can still be
//! read, page by page and without SQLite (`damage/`). IDs, cursors and counts continue; lost IDs become `gaps`. The new file is complete
//! before it replaces the old one, so that recovery can be interrupted.
//!
//! # References
//!
//! A message may have a name of 16 bits, by which later messages of its device refer to it. The message itself is the reference, so that it
//! is committed when its sender is answered. [`Readers::references`] returns the last ones of a device.
//!
//! # Retention
//!
//! A message may be dropped once every output has resolved it. The last message of each device, dead letters, and a few references
//! (`references.rs`) of each device stay. A message is
//! dropped when it is older than `keep_delivered_hours`, or when the file reaches `limit_bytes`; if nothing can be dropped, new messages
//! are refused. Each transaction examines some of the oldest messages, so that dropping keeps pace with storing.
//!
//! # Example
//!
//! `examples/embed.rs` is this example as a program.
//!
//! ```
//! use dunnage_buffer::*;
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.sqlite3");
//! let settings = BufferSettings { path, ..BufferSettings::default() };
//! let options = Options {
//!     buffer: &settings,
//!     quarantine: &QuarantineSettings::default(),
//!     formats: &["json"],
//!     outputs: vec!["archive".into()],
//! };
//! // Messages of at most 64 KiB.
//! let (buffer, writer) = open(options, &|_device| false)?.start(1 << 16);
//! let writer = writer.spawn(())?;
//!
//! let provenance = Provenance { key: Some("42".into()), ..Provenance::new("buoy", 1_767_225_600_000_000, "r1") };
//! let message = NewMessage { provenance, format: "json", raw: "7 ".into(), json: "7".into(), layout: None, reference: None };
//! buffer.queue.store(message, buffer.queue.reserve(), || ())?.commit().await?;
//! // From here on the message is on disk.
//! let messages = buffer.readers.after(0, 10).await?;
//! assert_eq!((messages[0].id, &*messages[0].json), (1, "7"));
//! assert_eq!(buffer.stats.totals().stored, 1);
//! buffer.queue.change(Change::Position { output: "archive".into(), position: Position::at(1) }).await?;
//!
//! buffer.close().await;
//! writer.join().expect("the writer ends");
//! # Ok(())
//! # }
//! ```

mod alarms;
mod changes;
mod chosen;
mod damage;
mod dead_letters;
mod devices;
mod duplicates;
mod file;
mod find;
mod fleet;
mod in_place;
mod layouts;
mod memory;
mod message;
mod messages;
mod missing_ids;
mod opened;
mod position;
mod private;
mod quarantine;
mod queue;
mod reader;
mod reads;
mod record;
mod references;
mod register;
mod replays;
mod retention;
mod settings;
mod shares;
mod start;
mod stats;
mod tables;
mod totals;
mod transact;
mod waypoints;
mod writer;

pub use changes::Change;
pub use devices::{Devices, Tally};
pub use duplicates::Duplicates;
pub use file::BufferError;
pub use fleet::{Counted, LastMessage};
pub use layouts::stored as stored_layouts;
pub use memory::{Memory, Reservation};
pub use message::{
    DeadLetter, Last, LayoutKey, Message, NewMessage, NewQuarantined, NewReference, Provenance, Quarantined,
    Sent, is_stable_id, key_of, stable_id,
};
pub use messages::{Page, Part, Times};
pub use opened::{Opened, Options, open, stored_register};
pub use position::{MAX_BEHIND, Position};
pub use quarantine::{Filter, InQuarantine, OfDevice};
pub use queue::{Ack, FailedBatches, Queue, Refusal, Ticket, WriteOp};
pub use reader::{ReadError, Readers, Use};
pub use references::Named;
pub use replays::IdRange;
pub use settings::{BufferSettings, QuarantineSettings, WhenFull};
pub use shares::{NoRoom, Sender, Shares};
pub use start::{Buffer, IdleWriter};
pub use stats::BufferStats;
pub use totals::{FormatTotals, Totals};
pub use writer::Observer;

use writer::Writer;

/// The names that the format of a message may have. Recovery uses them to recognize rows without a checksum.
pub type Formats = &'static [&'static str];
