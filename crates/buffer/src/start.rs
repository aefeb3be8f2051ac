//! Starts an open buffer: what its producers and consumers share, and the writer with its thread.

use crate::{BufferStats, Observer, Opened, Queue, Readers, Shares, WriteOp, Writer};
use std::{io, sync::Arc, thread::JoinHandle};
use tokio::sync::mpsc::Receiver;

/// A buffer: where messages go in, where they are read, and what it counts.
#[derive(Clone)]
pub struct Buffer {
    /// The queue to the writer.
    pub queue: Queue,
    /// The readers of the file.
    pub readers: Readers,
    /// The counts, and whether the file can be written.
    pub stats: Arc<BufferStats>,
}

impl Opened {
    /// Returns the buffer, and its writer, which has no thread yet: what is submitted waits for it. A message has at most
    /// `message_bytes` bytes.
    pub fn start(self, message_bytes: usize) -> (Buffer, IdleWriter) {
        let shares = Shares::of(self.queue_bytes, message_bytes);
        let (queue, receiver) = Queue::new(self.queue_messages, shares);
        let readers = Readers::new(&self, queue.clone());
        let stats = Arc::new(BufferStats::new(self.totals().clone()));
        let buffer = Buffer { queue, readers, stats };
        (buffer.clone(), IdleWriter { opened: self, receiver, buffer })
    }
}

impl Buffer {
    /// Closes the readers, then stops the writer once it has written what waits in the queue.
    pub async fn close(&self) {
        self.readers.close().await;
        self.queue.stop().await;
    }
}

/// A writer without a thread.
pub struct IdleWriter {
    opened: Opened,
    receiver: Receiver<WriteOp>,
    buffer: Buffer,
}

impl IdleWriter {
    /// Starts the thread of the writer, which ends after [`Buffer::close`]. Must be called in the runtime of the senders, where the
    /// writer answers them.
    ///
    /// # Errors
    ///
    /// The system cannot create a thread.
    pub fn spawn(self, observer: impl Observer + 'static) -> io::Result<JoinHandle<()>> {
        let Buffer { readers, stats, .. } = self.buffer;
        let writer = Writer::new(self.opened, self.receiver, readers, stats, observer);
        std::thread::Builder::new().name("dunnage-writer".into()).spawn(move || writer.run())
    }
}
