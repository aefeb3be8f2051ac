//! The buffer: readings wait in a bounded queue, one thread writes them, many at a time, and only a
//! committed reading is acknowledged.

mod changes;
mod damage;
mod devices;
mod duplicates;
mod file;
mod find;
mod gaps;
mod in_place;
pub mod last;
mod layouts;
mod memory;
mod opened;
pub mod quarantine;
pub mod queries;
mod queue;
mod reader;
mod record;
mod retention;
mod totals;
mod transact;
pub mod undelivered;
mod waypoints;
mod writer;

pub use changes::Change;
pub use duplicates::Duplicates;
pub use file::BufferError;
pub use layouts::load as stored_layouts;
pub use memory::{Memory, NoRoom, Reservation, Sender, Shares};
pub use opened::{Opened, open};
pub use queue::{Durable, Entry, Queue, Refusal};
pub use reader::{Readers, Use};
pub use totals::Totals;
pub use writer::{Observer, Writer};
