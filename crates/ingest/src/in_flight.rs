//! The count of messages between their arrival and the queue.

use dunnage_buffer::BufferStats;

/// A message between its arrival and the queue. Dropping this counts the message as refused unless it was queued, so that one whose client
/// disconnects is counted too.
pub struct InFlight<'a>(Option<&'a BufferStats>);

impl<'a> InFlight<'a> {
    /// Counts a message as received.
    pub(crate) fn new(stats: &'a BufferStats) -> Self {
        stats.receive();
        InFlight(Some(stats))
    }

    /// Hands the responsibility for the message to the writer.
    pub fn queued(&mut self) {
        self.0 = None;
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(stats) = self.0 {
            stats.refuse(1);
        }
    }
}
