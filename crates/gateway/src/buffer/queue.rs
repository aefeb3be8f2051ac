//! The way to the writer: a bounded queue, and a bound on the bytes that the gateway holds.

use super::{
    changes::Change,
    memory::{Memory, Reservation, Shares},
};
use crate::reading::{Reading, Reject};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What the writer takes from the queue.
pub enum Entry {
    Message(Reading, Ticket),
    Reject(Reject, Ticket),
    /// A message that is stored already, as its input or a transaction found.
    Duplicate(Ticket),
    /// Something else that is to be written, and who waits for it.
    Change(Change, oneshot::Sender<bool>),
    /// A reader found the buffer damaged: which file, and why.
    Damaged(u64, String),
    /// Nothing: a moment to drop what may go.
    Tidy,
    /// Nothing: a moment to look whether messages can be written.
    Check,
    /// Everything before it is to be written, then the writer ends.
    Stop,
}

impl Entry {
    /// A message was stored already: its request still waits for the answer.
    pub fn make_duplicate(&mut self) {
        if let Entry::Message(_, ticket) = std::mem::replace(self, Entry::Stop) {
            *self = Entry::Duplicate(ticket);
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
    sender: mpsc::Sender<Entry>,
    memory: Memory,
    buffer_full: Arc<AtomicBool>,
}

/// A message that waits for its commit.
pub struct Durable(oneshot::Receiver<bool>);

impl Queue {
    /// A queue for `messages` messages, and for the bytes that `shares` say.
    pub fn new(messages: usize, shares: Shares) -> (Queue, mpsc::Receiver<Entry>) {
        let (sender, receiver) = mpsc::channel(messages);
        (Queue { sender, memory: Memory::new(shares), buffer_full: Arc::default() }, receiver)
    }

    /// A reservation of nothing; it grows as bytes arrive.
    pub fn reserve(&self) -> Reservation {
        self.memory.reserve()
    }

    /// Gives a reading to the writer; it is durable once the answer says so. `queued` is called once the writer answers for it.
    pub fn store(
        &self,
        reading: Reading,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Durable, Refusal> {
        self.put(room, queued, |ticket| Entry::Message(reading, ticket))
    }

    /// The same for a message that was rejected.
    pub fn quarantine(
        &self,
        reject: Reject,
        room: Reservation,
        queued: impl FnOnce(),
    ) -> Result<Durable, Refusal> {
        self.put(room, queued, |ticket| Entry::Reject(reject, ticket))
    }

    /// The same for a message of which an input knows that it is stored already, or is about to be.
    pub fn duplicate(&self, queued: impl FnOnce()) -> Result<Durable, Refusal> {
        self.put(self.reserve(), queued, Entry::Duplicate)
    }

    fn put(
        &self,
        room: Reservation,
        queued: impl FnOnce(),
        entry: impl FnOnce(Ticket) -> Entry,
    ) -> Result<Durable, Refusal> {
        if self.is_buffer_full() {
            return Err(Refusal::BufferFull);
        }
        let place = self.sender.try_reserve().map_err(|e| match e {
            mpsc::error::TrySendError::Full(()) => Refusal::Full,
            mpsc::error::TrySendError::Closed(()) => Refusal::NotWritten,
        })?;
        let (answer, durable) = oneshot::channel();
        place.send(entry(Ticket { answer, requeued: None, _reservation: room }));
        queued();
        Ok(Durable(durable))
    }

    /// Makes a reading durable that was the message `id` of the quarantine, which it leaves in the same transaction. Waits
    /// for its place in the queue; what it answers tells whether it is durable.
    pub async fn requeue(
        &self,
        reading: Reading,
        room: Reservation,
        id: i64,
    ) -> Result<oneshot::Receiver<bool>, Refusal> {
        let (answer, durable) = oneshot::channel();
        let ticket = Ticket { answer, requeued: Some(id), _reservation: room };
        self.sender.send(Entry::Message(reading, ticket)).await.map_err(|_| Refusal::NotWritten)?;
        Ok(durable)
    }

    /// Makes a change durable, also when the queue is full: then it waits for its place.
    pub async fn change(&self, change: Change) -> Result<(), Refusal> {
        let (answer, durable) = oneshot::channel();
        self.sender.send(Entry::Change(change, answer)).await.map_err(|_| Refusal::NotWritten)?;
        match durable.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }

    /// Tells the writer that the buffer is damaged. When the queue is full, the next reader will.
    pub fn damaged(&self, file: u64, reason: String) {
        let _ = self.sender.try_send(Entry::Damaged(file, reason));
    }

    /// Every second, also when no message comes: lets the writer look after its files, and drop what may go when the buffer is full
    /// and where messages get old.
    pub async fn tidy(self, messages_get_old: bool) {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        for second in 0_u64.. {
            seconds.tick().await;
            // When the queue is full, there is a transaction soon.
            let _ = self.sender.try_send(Entry::Check);
            if self.is_buffer_full() || messages_get_old && second % 60 == 0 {
                let _ = self.sender.try_send(Entry::Tidy);
            }
        }
    }

    /// Says whether the buffer has room for messages. Answers what was said before.
    pub fn set_buffer_full(&self, full: bool) -> bool {
        self.buffer_full.swap(full, Ordering::Relaxed)
    }

    /// Whether the buffer is at its limit.
    pub fn is_buffer_full(&self) -> bool {
        self.buffer_full.load(Ordering::Relaxed)
    }

    /// Tells the writer to write what waits and end.
    pub async fn stop(&self) {
        // An error means that the writer has ended already.
        let _ = self.sender.send(Entry::Stop).await;
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

impl Durable {
    /// Waits until the commit is done that holds the message.
    pub async fn commit(self) -> Result<(), Refusal> {
        match self.0.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Refusal::NotWritten),
        }
    }
}
