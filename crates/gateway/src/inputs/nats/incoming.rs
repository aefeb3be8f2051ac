//! A message of a stream on its way into the buffer.

use crate::{
    buffer::Reservation,
    clock,
    inputs::{
        content_type::encoding,
        take::{Arrived, take},
    },
    name::is_name,
    nats::{device_of, header},
    outputs::message,
    problem::Problem,
    reading::{Provenance, Reject},
    shared::{Arrival, Shared},
};
use async_nats::jetstream::Message;
use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// What stands for a device that has no id that can be used.
const NO_DEVICE: &str = "unknown";
/// What metrics call the input.
const METRIC: &str = "nats";
/// Longest `Nats-Msg-Id` that is kept as it is.
const KEY: usize = 128;
/// How long a message waits until it is tried again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// A message of a stream.
pub struct Incoming {
    provenance: Provenance,
    content_type: String,
    raw: Bytes,
    /// Why it cannot be read as what it says it is.
    bad: Option<Problem>,
}

impl Incoming {
    /// Reads what the headers of `message` say of it.
    pub fn new(shared: &Shared, input: &str, message: Message) -> Incoming {
        let text = |name: &str| message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned());
        let mut bad = None;
        let mut name = |what: &str, given: Option<String>| match given {
            Some(given) if !is_name(&given) => {
                bad.get_or_insert_with(|| Problem::bad_name(what));
                None
            }
            given => given,
        };
        let token = || message.subject.rsplit('.').next().map(device_of);
        let device = name("the device's id", text(header::DEVICE).or_else(token));
        let schema = name("schema", text(header::SCHEMA)).map(Into::into);
        let link = name("link", text(header::LINK));
        let request = text(header::REQUEST).filter(|name| is_name(name));
        let received_at = text(header::RECEIVED_AT).and_then(|text| text.parse().ok());
        let provenance = Provenance {
            device: device.unwrap_or_else(|| NO_DEVICE.into()),
            received_at: received_at.filter(|micros| *micros >= 0).unwrap_or_else(clock::now),
            schema,
            link,
            key: Some(key(input, text(async_nats::header::NATS_MESSAGE_ID.as_ref()), &message)),
            by_bytes: false,
            request: request.unwrap_or_else(|| shared.requests.name()),
        };
        let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
        let limit = shared.http.body_limit_bytes;
        if message.payload.len() > limit {
            let detail = format!("a message may have {limit} bytes");
            bad = Some(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Message too large", detail));
        }
        Incoming { provenance, content_type, raw: message.message.payload, bad }
    }

    /// Its device.
    pub fn device(&self) -> &str {
        &self.provenance.device
    }

    /// Makes it durable, as a reading or in the quarantine, however long that takes. False if the gateway stops before.
    pub async fn store(self, shared: &Arc<Shared>, stopping: &watch::Receiver<bool>) -> bool {
        let mut pause = PAUSES.0;
        loop {
            let alone = shared.queue.bytes() == 0;
            let problem = match self.attempt(shared, alone).await {
                Ok(()) => return true,
                Err(problem) => problem,
            };
            let (request, detail) = (&self.provenance.request, &problem.detail);
            if !problem.is_temporary() {
                shared.metrics.answered(problem.name());
                tracing::debug!(request, problem = problem.name(), detail, "a message was not stored");
                return true;
            }
            if *stopping.borrow() {
                return false;
            }
            if pause < PAUSES.1 && pause * 2 >= PAUSES.1 {
                tracing::warn!(request, detail, "a message of a stream waits, and all after it");
            }
            tokio::time::sleep(pause).await;
            pause = PAUSES.1.min(pause * 2);
        }
    }

    /// Tries once. Is it `alone` and has no room nevertheless, it never will have.
    async fn attempt(&self, shared: &Arc<Shared>, alone: bool) -> Result<(), Problem> {
        if let Some(problem) = &self.bad {
            return self.keep(shared, problem.clone(), shared.queue.reserve()).await;
        }
        let mut room = shared.queue.reserve();
        let fits = shared.queue.depth() < shared.queue.capacity() && room.grow(self.raw.len());
        let taken = match fits {
            true => {
                let mut arrival = Arrival::new(&shared.board);
                let encoding = encoding(&self.content_type, &HeaderMap::new());
                let (provenance, raw) = (self.provenance.clone(), self.raw.clone());
                let content_type = &self.content_type;
                take(
                    shared,
                    &mut arrival,
                    Arrived { input: METRIC, provenance, content_type, encoding, raw, room },
                )
                .await
            }
            false => Err(Problem::full()),
        };
        match taken {
            Err(problem) if problem.is_full() && alone && shared.queue.bytes() == 0 => {
                let detail = "it takes more memory than [buffer] queue_bytes allows";
                let problem =
                    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Message too large", detail);
                self.keep(shared, problem, shared.queue.reserve()).await
            }
            taken => taken,
        }
    }

    /// Puts it into the quarantine without reading it.
    async fn keep(&self, shared: &Shared, problem: Problem, room: Reservation) -> Result<(), Problem> {
        let mut arrival = Arrival::new(&shared.board);
        shared.metrics.received(METRIC, None);
        let reject = Reject {
            provenance: self.provenance.clone(),
            content_type: self.content_type.chars().take(256).collect(),
            raw: self.raw.clone(),
            kind: problem.name(),
            offset: None,
            reason: problem.detail.clone(),
        };
        match shared.queue.quarantine(reject, room, || arrival.queued()).await {
            Ok(()) => Err(problem),
            Err(_) => Err(Problem::not_written()),
        }
    }
}

/// What makes the message the same when it is delivered again: its name, and else its place in the stream.
fn key(input: &str, id: Option<String>, message: &Message) -> String {
    match id {
        Some(name) if message::is_ours(&name) => message::key_of(&name),
        Some(id) if (1..=KEY).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic()) => id,
        _ => match message.info() {
            Ok(info) => format!("{}@{}:{input}", info.stream_sequence, info.published.unix_timestamp_nanos()),
            Err(_) => input.to_owned(),
        },
    }
}
