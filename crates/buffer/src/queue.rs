//! The queue to the writer, bounded in messages and in bytes.

use super::{
    changes::Change,
    memory::{Memory, Reservation},
    shares::Shares,
};
use crate::message::{NewMessage, NewQuarantined};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An item of the writer's queue.
pub enum WriteOp {
    /// A message to store.
    Message(NewMessage, Ticket),
    /// A message for the quarantine.
    Quarantine(NewQuarantined, Ticket),
    /// A message that is stored already, as found by its input or by the transaction.
    Duplicate(Ticket),
    /// A write other than a message. The sender receives whether it is durable.
    Change(Change, oneshot::Sender<bool>),
    /// A reader found the file with this count of reopenings damaged, for this reason.
    Damaged(u64, String),
    /// Writes nothing; lets retention drop messages.
    EnforceRetention,
    /// Writes nothing; checks that the files are in place.
    CheckFiles,
    /// Ends the writer after everything before it in the queue was written.
    Stop,
}

impl WriteOp {
    /// Turns a message that is not to be stored into a duplicate. Its request still waits for the answer.
    pub fn make_duplicate(&mut self) {
        if let WriteOp::Message(_, ticket) = std::mem::replace(self, WriteOp::Stop) {
            *self = WriteOp::Duplicate(ticket);
        }
    }
}

/// The part of a queued message that belongs to the waiting request.
pub struct Ticket {
    /// Receives whether the message is durable.
    pub answer: oneshot::Sender<bool>,
    /// The ID in the quarantine of a message that is decoded again.
    pub requeued: Option<i64>,
    reservation: Reservation,
}

impl Ticket {
    /// Returns whether the message would be written before an earlier one of its sender.
    pub(super) fn is_out_of_order(&self, failed_batches: u64) -> bool {
        self.reservation.failed_batches.is_some_and(|count| count < failed_batches)
    }
}

/// Why a message is not durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The queue is full. The sender can try again later.
    #[error("too many messages wait to be written; send it again later")]
    Full,
    /// The buffer is at its size limit.
    #[error("the buffer is at its limit; send it again when outputs have delivered messages")]
    BufferFull,
    /// The message could not be written.
    #[error("the message could not be written and is not stored; send it again later")]
    NotWritten,
}

/// The producers' end of the queue. Clones share the queue.
#[derive(Clone)]
pub struct Queue {
    sender: mpsc::Sender<WriteOp>,
    memory: Memory,
    buffer_full: Arc<AtomicBool>,
    /// How many checks are in the queue.
    checks: Arc<AtomicUsize>,
    failed_batches: FailedBatches,
}

/// Counts the batches that could not be written.
#[derive(Clone, Default)]
pub struct FailedBatches(Arc<AtomicU64>);

impl FailedBatches {
    /// Returns the count.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The pending acknowledgement of a message. It resolves when the message is committed.
pub struct Ack(oneshot::Receiver<bool>);

impl Queue {
    /// Creates a queue for `messages` messages, with memory limits from `shares`.
    pub fn new(messages: usize, shares: Shares) -> (Queue, mpsc::Receiver<WriteOp>) {
        let (sender, receiver) = mpsc::channel(messages);
        (
            Queue {
                sender,
                memory: Memory::new(shares),
                buffer_full: Arc::default(),
                checks: Arc::default(),
                failed_batches: FailedBatches::default(),
            },
            receiver,
        )
    }

    /// Returns an empty reservation. It grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        self.memory.reserve()
    }

    /// Returns an empty reservation for a message whose order matters. The writer refuses the message if more than `failed_batches` batches
    /// have failed before it writes the message. A sender with several messages in the queue takes the count before the first of them: if a
    /// batch with one of them fails, the later ones are refused as well, so none of them is written before it.
    pub fn reserve_in_order(&self, failed_batches: u64) -> Reservation {
        let mut reservation = self.reserve();
        reservation.failed_batches = Some(failed_batches);
        reservation
    }

    /// Returns the count of batches that could not be written.
    pub fn failed_batches(&self) -> &FailedBatches {
        &self.failed_batches
    }

    /// Records that a batch could not be written.
    pub(super) fn note_failed_batch(&self) {
        self.failed_batches.0.fetch_add(1, Ordering::Release);
    }

    /// Queues a message. The [`Ack`] tells when it is durable. `queued` is called once the writer is responsible for the message.
    pub fn store(
        &self,
        message: NewMessage,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Ack, Refusal> {
        self.put(room, queued, |ticket| WriteOp::Message(message, ticket))
    }

    /// Queues a message for the quarantine; otherwise like [`Queue::store`].
    pub fn quarantine(
        &self,
        message: NewQuarantined,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Ack, Refusal> {
        self.put(room, queued, |ticket| WriteOp::Quarantine(message, ticket))
    }

    /// Queues a duplicate: a message that an input knows to be stored or queued already.
    pub fn duplicate(&self, queued: impl FnOnce()) -> Result<Ack, Refusal> {
        self.put(self.reserve(), queued, WriteOp::Duplicate)
    }

    fn put(
        &self,
        room: Reservation,
        queued: impl FnOnce(),
        op: impl FnOnce(Ticket) -> WriteOp,
    ) -> Result<Ack, Refusal> {
        if self.is_buffer_full() {
            return Err(Refusal::BufferFull);
        }
        let place = self.sender.try_reserve().map_err(|e| match e {
            mpsc::error::TrySendError::Full(()) => Refusal::Full,
            mpsc::error::TrySendError::Closed(()) => Refusal::NotWritten,
        })?;
        let (answer, durable) = oneshot::channel();
        place.send(op(Ticket { answer, requeued: None, reservation: room }));
        queued();
        Ok(Ack(durable))
    }

    /// Queues a message that has the ID `id` in the quarantine, and leaves it in the same transaction. Waits for a place in the queue. The
    /// receiver gets whether the message is durable.
    pub async fn requeue(
        &self,
        message: NewMessage,
        room: Reservation,
        id: i64,
    ) -> Result<oneshot::Receiver<bool>, Refusal> {
        let (answer, durable) = oneshot::channel();
        let ticket = Ticket { answer, requeued: Some(id), reservation: room };
        self.sender.send(WriteOp::Message(message, ticket)).await.map_err(|_| Refusal::NotWritten)?;
        Ok(durable)
    }

    /// Makes a change durable. Waits for a place if the queue is full.
    pub async fn change(&self, change: Change) -> Result<(), Refusal> {
        let (answer, durable) = oneshot::channel();
        self.sender.send(WriteOp::Change(change, answer)).await.map_err(|_| Refusal::NotWritten)?;
        match durable.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }

    /// Reports damage to the writer. If the queue is full, the report is dropped; the next reader will repeat it.
    pub fn damaged(&self, file: u64, reason: String) {
        let _ = self.sender.try_send(WriteOp::Damaged(file, reason));
    }

    /// Makes the writer check its files every second, even if no message arrives. Makes it enforce retention every second while the buffer
    /// is full, and every minute if `messages_get_old`.
    pub async fn enforce_retention(self, messages_get_old: bool) {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        for second in 0_u64.. {
            seconds.tick().await;
            // If the queue is full, a transaction is due anyway.
            self.check(WriteOp::CheckFiles);
            if self.is_buffer_full() || messages_get_old && second % 60 == 0 {
                self.check(WriteOp::EnforceRetention);
            }
        }
    }

    fn check(&self, op: WriteOp) {
        self.checks.fetch_add(1, Ordering::Relaxed);
        if self.sender.try_send(op).is_err() {
            self.checks.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Records that the writer has taken `batch` from the queue.
    pub(super) fn taken(&self, batch: &[WriteOp]) {
        let checks = batch.iter().filter(|op| matches!(op, WriteOp::CheckFiles | WriteOp::EnforceRetention));
        self.checks.fetch_sub(checks.count(), Ordering::Relaxed);
    }

    /// Sets whether the buffer is at its size limit. Returns the previous value.
    pub(super) fn set_buffer_full(&self, full: bool) -> bool {
        self.buffer_full.swap(full, Ordering::Relaxed)
    }

    /// Returns whether the buffer is at its size limit.
    pub fn is_buffer_full(&self) -> bool {
        self.buffer_full.load(Ordering::Relaxed)
    }

    /// Makes the writer write what is queued, then end.
    pub async fn stop(&self) {
        // An error means that the writer has ended already.
        let _ = self.sender.send(WriteOp::Stop).await;
    }

    /// Returns how many messages and changes wait. The gateway's own checks are left out.
    pub fn depth(&self) -> usize {
        (self.sender.max_capacity() - self.free()).saturating_sub(self.checks.load(Ordering::Relaxed))
    }

    /// Returns how many more items have a place.
    pub fn free(&self) -> usize {
        self.sender.capacity()
    }

    /// Returns how many items may wait.
    pub fn capacity(&self) -> usize {
        self.sender.max_capacity()
    }

    /// Returns the limits on memory.
    pub fn shares(&self) -> Shares {
        self.memory.shares()
    }

    /// Returns how many bytes are reserved.
    pub fn bytes(&self) -> usize {
        self.memory.used()
    }

    /// Returns whether the writer has ended.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Ack {
    /// Waits until the message is committed.
    pub async fn commit(self) -> Result<(), Refusal> {
        match self.0.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn checks_take_a_place_and_do_not_count_as_waiting() {
        let (queue, mut writer) = Queue::new(3, Shares::of(1 << 20, 1 << 16));
        (0..2).for_each(|_| queue.check(WriteOp::CheckFiles));
        let _ack = queue.duplicate(|| ()).unwrap();
        queue.check(WriteOp::EnforceRetention);
        assert_eq!((queue.depth(), queue.free()), (1, 0));
        let mut batch = Vec::new();
        writer.recv_many(&mut batch, 2).await;
        queue.taken(&batch);
        assert_eq!((queue.depth(), queue.free()), (1, 2));
    }

    #[tokio::test]
    async fn a_message_behind_a_failed_batch_is_refused() {
        let (queue, _writer) = Queue::new(3, Shares::of(1 << 20, 1 << 16));
        let rooms = [queue.reserve(), queue.reserve_in_order(0), queue.reserve_in_order(1)];
        queue.note_failed_batch();
        let ticket = |reservation| Ticket { answer: oneshot::channel().0, requeued: None, reservation };
        let failed = queue.failed_batches().count();
        assert_eq!(rooms.map(|room| ticket(room).is_out_of_order(failed)), [false, true, false]);
    }
}
