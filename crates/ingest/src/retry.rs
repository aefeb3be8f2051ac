//! Stores messages of inputs that do not reject a message when the buffer is full: the message waits for room and for the disk.

use crate::{
    Ingest,
    rejected::{Code, Rejected},
    submit::{Pending, RawMessage},
};
use dunnage_buffer::Reservation;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The first and the longest delay before another attempt.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(5);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(1);

impl Ingest {
    /// Stores `message`, or quarantines it, and retries until it is on disk. A temporary error means that the gateway stopped first; any
    /// other error says why the message is in the quarantine.
    pub async fn store_retrying(
        &self,
        message: RawMessage<'static>,
        stopping: &CancellationToken,
    ) -> Result<(), Rejected> {
        let failed_batches = self.buffer.queue.failed_batches().count();
        self.submit_retrying(message, failed_batches, stopping).await?.commit(self, stopping).await
    }

    /// Submits `message` to the writer, and retries until that succeeds. Messages with the same `failed_batches` are written in the order in
    /// which they are submitted, if their commits are awaited in that order. An error means that the gateway stopped first.
    pub async fn submit_retrying(
        &self,
        message: RawMessage<'static>,
        failed_batches: u64,
        stopping: &CancellationToken,
    ) -> Result<Submitted, Rejected> {
        let mut backoff = Backoff { pause: MIN_RETRY_DELAY };
        let room = || self.buffer.queue.reserve_in_order(failed_batches);
        let pending = submit(self, &message, room, &mut backoff, stopping).await?;
        Ok(Submitted { message, pending, backoff, earlier: Vec::new() })
    }

    /// Submits the messages `earlier` and then `last`, which are acknowledged together, as [`Ingest::submit_retrying`] does. After an error,
    /// some of them may be written.
    pub async fn submit_all_retrying(
        &self,
        earlier: Vec<RawMessage<'static>>,
        last: RawMessage<'static>,
        failed_batches: u64,
        stopping: &CancellationToken,
    ) -> Result<Submitted, Rejected> {
        let mut submitted = Vec::with_capacity(earlier.len());
        for message in earlier {
            submitted.push(self.submit_retrying(message, failed_batches, stopping).await?);
        }
        let last = self.submit_retrying(last, failed_batches, stopping).await?;
        Ok(Submitted { earlier: submitted, ..last })
    }
}

/// A message that has been submitted to the writer, and is submitted again if that fails.
pub struct Submitted {
    message: RawMessage<'static>,
    pending: Pending,
    backoff: Backoff,
    /// Those that were submitted before it and are acknowledged together with it.
    earlier: Vec<Submitted>,
}

impl Submitted {
    /// Waits for the commit. If it fails, submits the message again, until it is on disk. The messages before it must be on disk. The errors
    /// are those of [`Ingest::store_retrying`]; of several messages in the quarantine, the first one says why.
    pub async fn commit(mut self, ingest: &Ingest, stopping: &CancellationToken) -> Result<(), Rejected> {
        let mut kept = Ok(());
        for earlier in std::mem::take(&mut self.earlier) {
            kept = later(kept, earlier.commit_one(ingest, stopping).await)?;
        }
        later(kept, self.commit_one(ingest, stopping).await)?
    }

    async fn commit_one(self, ingest: &Ingest, stopping: &CancellationToken) -> Result<(), Rejected> {
        let Submitted { message, mut pending, mut backoff, .. } = self;
        // Often only a message before it could not be written, and is on disk by now.
        let mut waits = false;
        loop {
            match pending.commit().await {
                Err(rejected) if rejected.is_temporary() => {
                    if std::mem::replace(&mut waits, true) {
                        backoff.wait(&message, rejected, stopping).await?;
                    }
                }
                stored => {
                    return stored.inspect_err(|rejected| {
                        ingest.reject(&message.meter, &message.provenance.request, rejected);
                    });
                }
            }
            // All messages before it are on disk.
            pending = submit(ingest, &message, || ingest.reserve(), &mut backoff, stopping).await?;
        }
    }
}

/// Returns the first reason why a message is in the quarantine, or else the temporary error that prevents the acknowledgement.
fn later(kept: Result<(), Rejected>, next: Result<(), Rejected>) -> Result<Result<(), Rejected>, Rejected> {
    match next {
        Err(rejected) if rejected.is_temporary() => Err(rejected),
        next => Ok(kept.and(next)),
    }
}

/// Submits the message until that succeeds, or until the gateway stops.
async fn submit(
    ingest: &Ingest,
    message: &RawMessage<'static>,
    room: impl Fn() -> Reservation,
    backoff: &mut Backoff,
    stopping: &CancellationToken,
) -> Result<Pending, Rejected> {
    loop {
        match attempt(ingest, message.clone(), &room).await {
            Ok(pending) => return Ok(pending),
            Err(rejected) => backoff.wait(message, rejected, stopping).await?,
        }
    }
}

/// Submits the message if there is room. A message that does not fit into empty memory never will, and is quarantined undecoded.
async fn attempt(
    ingest: &Ingest,
    mut message: RawMessage<'static>,
    reserve: impl Fn() -> Reservation,
) -> Result<Pending, Rejected> {
    let queue = &ingest.buffer.queue;
    let was_empty = queue.bytes() == 0;
    let mut room = reserve();
    // An origin may contain what a network server decoded.
    let bytes = message.raw.len() + message.provenance.origin.as_ref().map_or(0, |origin| origin.len());
    let fits = queue.free() > 0 && room.grow(bytes).is_ok();
    let submitted = match fits {
        true => ingest.submit(&mut ingest.receive(), message.clone(), room).await,
        false => Err(Rejected::queue_full()),
    };
    match submitted {
        Err(Rejected { code: Code::QueueFull, .. }) if was_empty && queue.bytes() == 0 => {
            if message.bad.is_none() {
                let detail = "the message takes more memory than [buffer] queue_bytes allows";
                message.bad = Some(Rejected::new(Code::TooLarge, detail));
            }
            ingest.submit(&mut ingest.receive(), message, reserve()).await
        }
        submitted => submitted,
    }
}

/// The pauses between attempts to store a message.
struct Backoff {
    pause: Duration,
}

impl Backoff {
    /// Waits, each time twice as long up to a second. Returns `rejected` if the gateway is stopping.
    async fn wait(
        &mut self,
        message: &RawMessage<'_>,
        rejected: Rejected,
        stopping: &CancellationToken,
    ) -> Result<(), Rejected> {
        if stopping.is_cancelled() {
            return Err(rejected);
        }
        if self.pause < MAX_RETRY_DELAY && self.pause * 2 >= MAX_RETRY_DELAY {
            let (input, request, detail) = (message.input, &message.provenance.request, &rejected.detail);
            message.meter.failed(detail);
            tracing::warn!(input, request, detail, "cannot store a message; it and all later ones wait");
        }
        tokio::time::sleep(self.pause).await;
        self.pause = MAX_RETRY_DELAY.min(self.pause * 2);
        Ok(())
    }
}
