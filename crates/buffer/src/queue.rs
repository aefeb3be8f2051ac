//! The way to the writer: a bounded queue, and a bound on the bytes that are held in memory.

use super::{
    changes::Change,
    memory::{Memory, Reservation},
    shares::Shares,
};
use crate::message::{NewMessage, NewQuarantined};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What the writer takes from the queue.
pub enum WriteOp {
    /// A message that is to be stored.
    Message(NewMessage, Ticket),
    /// A message for the quarantine.
    Quarantine(NewQuarantined, Ticket),
    /// A message that is stored already, as its input or a transaction found.
    Duplicate(Ticket),
    /// Something else that is to be written, and who waits for it.
    Change(Change, oneshot::Sender<bool>),
    /// A reader found the buffer damaged: which file, and why.
    Damaged(u64, String),
    /// Nothing is written; messages that may be dropped are.
    EnforceRetention,
    /// Nothing is written; the writer looks whether its files are in place.
    CheckFiles,
    /// Everything before it is to be written, then the writer ends.
    Stop,
}

impl WriteOp {
    /// A message was stored already: its request still waits for the answer.
    pub fn make_duplicate(&mut self) {
        if let WriteOp::Message(_, ticket) = std::mem::replace(self, WriteOp::Stop) {
            *self = WriteOp::Duplicate(ticket);
        }
    }
}

/// What a waiting request left with its message.
pub struct Ticket {
    /// Whether the message is durable.
    pub answer: oneshot::Sender<bool>,
    /// The message's id in the quarantine, if it was there until now.
    pub requeued: Option<i64>,
    _reservation: Reservation,
}

/// Why a message is not durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no room: try again later.
    Full,
    /// The buffer is at its limit.
    BufferFull,
    /// It could not be written.
    NotWritten,
}

/// Where inputs leave messages. Clones are the same queue.
#[derive(Clone)]
pub struct Queue {
    sender: mpsc::Sender<WriteOp>,
    memory: Memory,
    buffer_full: Arc<AtomicBool>,
}

/// The acknowledgement of a message, which arrives with its commit.
pub struct Ack(oneshot::Receiver<bool>);

impl Queue {
    /// A queue for `messages` messages, and for the bytes that `shares` say.
    pub fn new(messages: usize, shares: Shares) -> (Queue, mpsc::Receiver<WriteOp>) {
        let (sender, receiver) = mpsc::channel(messages);
        (Queue { sender, memory: Memory::new(shares), buffer_full: Arc::default() }, receiver)
    }

    /// A reservation of nothing; it grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        self.memory.reserve()
    }

    /// Gives a message to the writer. The [`Ack`] says when it is durable. `queued` is called once the writer is responsible for it.
    pub fn store(
        &self,
        message: NewMessage,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Ack, Refusal> {
        self.put(room, queued, |ticket| WriteOp::Message(message, ticket))
    }

    /// The same for a message that goes into the quarantine.
    pub fn quarantine(
        &self,
        message: NewQuarantined,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Ack, Refusal> {
        self.put(room, queued, |ticket| WriteOp::Quarantine(message, ticket))
    }

    /// The same for a message of which an input knows that it is stored already, or is about to be.
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
        place.send(op(Ticket { answer, requeued: None, _reservation: room }));
        queued();
        Ok(Ack(durable))
    }

    /// Stores a message that was `id` in the quarantine, which it leaves in the same transaction. Waits for a place in the queue. The
    /// receiver gets whether the message is durable.
    pub async fn requeue(
        &self,
        message: NewMessage,
        room: Reservation,
        id: i64,
    ) -> Result<oneshot::Receiver<bool>, Refusal> {
        let (answer, durable) = oneshot::channel();
        let ticket = Ticket { answer, requeued: Some(id), _reservation: room };
        self.sender.send(WriteOp::Message(message, ticket)).await.map_err(|_| Refusal::NotWritten)?;
        Ok(durable)
    }

    /// Makes a change durable, also when the queue is full: then it waits for its place.
    pub async fn change(&self, change: Change) -> Result<(), Refusal> {
        let (answer, durable) = oneshot::channel();
        self.sender.send(WriteOp::Change(change, answer)).await.map_err(|_| Refusal::NotWritten)?;
        match durable.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }

    /// Tells the writer that the buffer is damaged. When the queue is full, the next reader will.
    pub fn damaged(&self, file: u64, reason: String) {
        let _ = self.sender.try_send(WriteOp::Damaged(file, reason));
    }

    /// Every second, also when no message comes: lets the writer look after its files, and drop what may go when the buffer is full
    /// and where messages get old.
    pub async fn enforce_retention(self, messages_get_old: bool) {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        for second in 0_u64.. {
            seconds.tick().await;
            // When the queue is full, there is a transaction soon.
            let _ = self.sender.try_send(WriteOp::CheckFiles);
            if self.is_buffer_full() || messages_get_old && second % 60 == 0 {
                let _ = self.sender.try_send(WriteOp::EnforceRetention);
            }
        }
    }

    /// Says whether the buffer has room for messages. Returns what was said before.
    pub(super) fn set_buffer_full(&self, full: bool) -> bool {
        self.buffer_full.swap(full, Ordering::Relaxed)
    }

    /// Whether the buffer is at its limit.
    pub fn is_buffer_full(&self) -> bool {
        self.buffer_full.load(Ordering::Relaxed)
    }

    /// Tells the writer to write what waits and end.
    pub async fn stop(&self) {
        // An error means that the writer has ended already.
        let _ = self.sender.send(WriteOp::Stop).await;
    }

    /// Messages and changes that wait, and the check of the files, which comes once a second.
    pub fn depth(&self) -> usize {
        self.sender.max_capacity() - self.sender.capacity()
    }

    /// Most messages that may wait.
    pub fn capacity(&self) -> usize {
        self.sender.max_capacity()
    }

    /// How many bytes may be held.
    pub fn shares(&self) -> Shares {
        self.memory.shares()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.memory.used()
    }

    /// Whether the writer has ended.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Ack {
    /// Waits until the commit is done that holds the message.
    pub async fn commit(self) -> Result<(), Refusal> {
        match self.0.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }
}
