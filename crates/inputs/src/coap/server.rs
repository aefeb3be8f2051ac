//! The CoAP server: handles datagrams in the order of their arrival, and answers each message when it is on disk.
//!
//! One task reads the socket, keeps the state of all exchanges, and holds all pending messages. Therefore a message is decoded and
//! offered to the writer before the next one; only large messages, which are decoded elsewhere, can be overtaken.

use super::{
    block::Block,
    content_format,
    datagram::{self, Datagram, empty},
    endpoint::Endpoint,
    exchanges::{Exchange, Exchanges, State, origin},
    identify::identify,
    link::{Link, Opened},
    reply::Reply,
    request::{self, Post, Refused},
    separate::Separate,
    transfers::{Part, Step, Transfers},
};
use crate::Environment;
use bytes::Bytes;
use coap_lite::{MessageType, Packet, ResponseType};
use dunnage_base::clock;
use dunnage_buffer::{Provenance, Reservation};
use dunnage_ingest::{Code, Meter, RawMessage, Rejected};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

/// The input's name in metrics, without DTLS and with it.
const PLAIN: &str = "coap";
const SECURED: &str = "coaps";
/// Size of the receive buffer in bytes. No datagram is longer.
const DATAGRAM: usize = 64 << 10;
/// How many datagrams are read in a row before other tasks get their turn.
const IN_A_ROW: usize = 32;
/// After this time without an answer, the sender gets an empty acknowledgement, and the answer follows separately. Without it, the sender
/// would repeat the message after 2 s (`ACK_TIMEOUT`).
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval of checks for timers that are due.
const TICK: Duration = Duration::from_millis(100);
/// The maximum number of pending messages.
const MAX_PENDING: usize = 16384;

/// The running input.
pub struct Server {
    name: String,
    metric: &'static str,
    meter: Arc<Meter>,
    link: Link,
    /// Where messages have their device ID, as a JSON pointer, if their path has none.
    device_at: Option<String>,
    env: Arc<Environment>,
    exchanges: Exchanges,
    transfers: Transfers,
    separate: Separate,
    /// Confirmable messages, each with the time at which it needs an acknowledgement. Some have been answered since.
    unanswered: VecDeque<(Instant, Exchange)>,
    taking: FuturesUnordered<BoxFuture<'static, Taken>>,
    next_id: u16,
}

/// A request that waits for its answer.
struct Asked {
    exchange: Exchange,
    confirmable: bool,
    token: Vec<u8>,
    /// The size of its datagram in bytes.
    length: usize,
    block: Option<Block>,
}

/// A message that has been handled.
struct Taken {
    asked: Asked,
    result: Result<(), Rejected>,
}

impl Server {
    /// Creates the server `name` over `link`. With `device_at`, a JSON pointer, a path needs no device.
    pub fn new(name: String, link: Link, device_at: Option<String>, env: Arc<Environment>) -> Server {
        let limit = env.ingest.message_limit_bytes();
        Server {
            meter: env.ingest.metrics.inputs.of(&name),
            name,
            metric: if link.sessions().is_some() { SECURED } else { PLAIN },
            link,
            device_at,
            env,
            exchanges: Exchanges::default(),
            transfers: Transfers::new(limit),
            separate: Separate::default(),
            unanswered: VecDeque::new(),
            taking: FuturesUnordered::new(),
            next_id: fastrand::u16(..),
        }
    }

    /// Receives messages until the gateway stops, and then answers the pending ones.
    pub async fn run(mut self) {
        let stopping = self.env.stopping.clone();
        // With DTLS, a client that repeats a request after a restart has a new session, which is another endpoint.
        if self.link.sessions().is_none() {
            self.exchanges.load(&self.name, &self.env.ingest.buffer.readers, clock::now()).await;
        }
        let sessions = self.link.sessions().map(|_| self.env.metrics.input_connections(&self.name));
        let mut buffer = vec![0; DATAGRAM];
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                received = self.link.receive(&mut buffer) => match received {
                    Ok((length, from)) => self.received(&mut buffer, length, from).await,
                    Err(e) => {
                        self.meter.failed(&format!("cannot receive a datagram: {e}"));
                        tracing::warn!(input = self.name, error = %e, "cannot receive a datagram");
                        tokio::time::sleep(TICK).await;
                    }
                },
                Some(taken) = self.taking.next() => self.finish(taken).await,
                _ = ticks.tick() => {
                    self.look_what_is_due().await;
                    if let (Some(gauge), Some(count)) = (&sessions, self.link.sessions()) {
                        gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
                    }
                }
                () = stopping.cancelled() => break,
            }
        }
        while let Some(taken) = self.taking.next().await {
            self.finish(taken).await;
        }
        self.link.close().await;
    }

    /// Handles the datagram in `buffer`, and those that have arrived since.
    async fn received(&mut self, buffer: &mut [u8], length: usize, from: SocketAddr) {
        self.open(&buffer[..length], from).await;
        for _ in 1..IN_A_ROW {
            let Ok((length, from)) = self.link.try_receive(buffer) else { break };
            self.open(&buffer[..length], from).await;
        }
    }

    async fn open(&mut self, bytes: &[u8], from: SocketAddr) {
        match self.link.open(bytes, from).await {
            Opened::Plain => self.datagram(bytes, from.into()).await,
            Opened::Messages(messages) => {
                for (from, message) in messages {
                    self.datagram(&message, from).await;
                }
            }
            Opened::Nothing(outcome) => self.env.metrics.datagram(self.metric, outcome),
        }
    }

    async fn datagram(&mut self, bytes: &[u8], from: Endpoint) {
        let outcome = match datagram::read(bytes) {
            Datagram::Request(packet) => self.request(packet, from, bytes.len()).await,
            Datagram::Settled(id) => {
                self.separate.settle(from, id);
                "settled"
            }
            Datagram::Reject(id) => {
                self.send(&empty(MessageType::Reset, id), from).await;
                "rejected"
            }
            Datagram::Ignored => "ignored",
        };
        self.env.metrics.datagram(self.metric, outcome);
    }

    async fn request(&mut self, packet: Packet, from: Endpoint, length: usize) -> &'static str {
        let mut asked = Asked {
            exchange: Exchange { endpoint: from, id: packet.header.message_id },
            confirmable: packet.header.get_type() == MessageType::Confirmable,
            token: packet.get_token().to_vec(),
            length,
            block: None,
        };
        if self.came_already(&asked).await {
            return "repeated";
        }
        let rejected = match request::read(&packet, self.device_at.is_some()) {
            Ok(mut post) => {
                asked.block = post.block;
                match self.begin(&asked, &post, &packet) {
                    Ok(Some((raw, room))) => {
                        let (ingest, pointer) = (&self.env.ingest, self.device_at.as_deref());
                        match identify((&self.link, ingest), pointer, from, &mut post, &raw) {
                            Ok(device) => return self.start(asked, device, post, raw, room),
                            Err(rejected) => rejected,
                        }
                    }
                    Ok(None) => {
                        self.answer(&asked, Reply::new(ResponseType::Continue)).await;
                        return "request";
                    }
                    Err(rejected) => rejected,
                }
            }
            Err(Refused::Message(rejected)) => rejected,
            Err(Refused::Reply(reply)) => {
                self.answer(&asked, reply).await;
                return "request";
            }
            Err(Refused::Reset) => {
                self.send(&empty(MessageType::Reset, asked.exchange.id), from).await;
                return "rejected";
            }
        };
        // The message counts as received and refused.
        drop(self.env.ingest.receive());
        self.refuse(&asked, &rejected).await;
        "request"
    }

    /// Returns whether the request is a duplicate. Repeats the answer to a confirmable one.
    async fn came_already(&mut self, asked: &Asked) -> bool {
        let Some(state) = self.exchanges.find(&asked.exchange) else { return false };
        if !asked.confirmable {
            return true;
        }
        let datagram = match state {
            // The answer, or soon its acknowledgement, is on the way: the network has duplicated the datagram.
            State::Taken { acknowledged: false } => return true,
            State::Taken { acknowledged: true } | State::Separate => {
                empty(MessageType::Acknowledgement, asked.exchange.id)
            }
            State::Changed => {
                let (id, kind) = (asked.exchange.id, MessageType::Acknowledgement);
                Reply::new(ResponseType::Changed).datagram(kind, id, &asked.token, asked.length)
            }
            State::Answered(datagram) => datagram.to_vec(),
        };
        self.send(&datagram, asked.exchange.endpoint).await;
        true
    }

    /// Returns the bytes of a message that `packet` contains or completes, or `None` if more blocks are needed.
    fn begin(
        &mut self,
        asked: &Asked,
        post: &Post,
        packet: &Packet,
    ) -> Result<Option<(Bytes, Reservation)>, Rejected> {
        let now = Instant::now();
        let endpoint = asked.exchange.endpoint;
        let peer = self.link.peer(endpoint.address, post);
        let device = post.device.as_deref();
        self.link.may_send(&self.env.ingest.access, (endpoint, &peer), post.token.as_deref(), device)?;
        // A refusal from here on may be temporary. The exchange is remembered so that a duplicate of the datagram is not accepted after
        // the sender was told otherwise.
        self.exchanges.begin(asked.exchange, now);
        if let Some(device) = device
            && post.block.is_none_or(|block| block.number == 0)
        {
            self.env.ingest.limits.admit(&peer, device)?;
        }
        match post.block {
            Some(block) if block.more || block.number > 0 => {
                let part = Part {
                    endpoint: asked.exchange.endpoint,
                    identity: request::identity(packet),
                    // No device ID contains a control character.
                    device: device.unwrap_or("\0"),
                    block,
                    size: post.size,
                    bytes: &packet.payload,
                };
                match self.transfers.take(&part, &self.env.ingest.buffer.queue, now)? {
                    Step::Continue => Ok(None),
                    Step::Whole(raw, room) => Ok(Some((raw, room))),
                }
            }
            _ => {
                let mut room = self.env.ingest.reserve();
                let limit = self.env.ingest.message_limit_bytes();
                if packet.payload.len() > limit {
                    return Err(Rejected::too_large(limit));
                }
                if self.taking.len() >= MAX_PENDING {
                    return Err(Rejected::queue_full());
                }
                room.grow(packet.payload.len())?;
                Ok(Some((Bytes::copy_from_slice(&packet.payload), room)))
            }
        }
    }

    /// Begins to store a message of `device`.
    fn start(
        &mut self,
        asked: Asked,
        device: String,
        post: Post,
        raw: Bytes,
        room: Reservation,
    ) -> &'static str {
        if asked.confirmable {
            self.unanswered.push_back((Instant::now() + PATIENCE, asked.exchange));
        }
        let provenance = Provenance {
            schema: post.schema.map(Into::into),
            link: post.link,
            key: post.key,
            is_answered: true,
            origin: Some(
                origin(&self.name, &asked.exchange, self.link.identity(asked.exchange.endpoint)).into(),
            ),
            ..Provenance::new(device, clock::now(), self.env.ingest.request_ids.next())
        };
        let (env, content_type, input) = (Arc::clone(&self.env), post.content_type, self.metric);
        let meter = Arc::clone(&self.meter);
        let number = post.content_format;
        self.taking.push(Box::pin(async move {
            let mut in_flight = env.ingest.receive();
            let bad = content_format::unknown(number);
            let content_type = content_type.into();
            let message = RawMessage { input, meter, provenance, content_type, bad, raw };
            let stored = env.ingest.store(&mut in_flight, message, room).await;
            let result = stored.map_err(content_format::with_numbers);
            Taken { asked, result }
        }));
        "request"
    }

    async fn finish(&mut self, Taken { asked, result }: Taken) {
        match result {
            Ok(()) => self.answer(&asked, Reply::new(ResponseType::Changed)).await,
            Err(rejected) => self.refuse(&asked, &rejected).await,
        }
    }

    async fn refuse(&mut self, asked: &Asked, rejected: &Rejected) {
        self.env.ingest.metrics.rejected(rejected.code);
        self.meter.rejected(&rejected.detail);
        let (detail, endpoint) = (&rejected.detail, asked.exchange.endpoint.address);
        tracing::debug!(input = self.name, %endpoint, problem = rejected.code.as_str(), detail, "a message was not stored");
        self.answer(asked, Reply::from(rejected)).await;
    }

    /// Sends the answer in the acknowledgement, or separately if the request is not confirmable or has been acknowledged.
    async fn answer(&mut self, asked: &Asked, mut reply: Reply) {
        let Asked { exchange, confirmable, ref token, length, block } = *asked;
        reply.block = block;
        let is_acknowledged =
            matches!(self.exchanges.find(&exchange), Some(State::Taken { acknowledged: true }));
        if confirmable && !is_acknowledged {
            let datagram = reply.datagram(MessageType::Acknowledgement, exchange.id, token, length);
            self.exchanges.answered(&exchange, &reply, &datagram);
            self.send(&datagram, exchange.endpoint).await;
            return;
        }
        let kind = match confirmable {
            true => MessageType::Confirmable,
            false => MessageType::NonConfirmable,
        };
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let datagram = reply.datagram(kind, id, token, length);
        self.exchanges.separate(&exchange);
        self.send(&datagram, exchange.endpoint).await;
        if confirmable {
            self.separate.sent(exchange.endpoint, id, datagram, Instant::now());
        }
    }

    /// Acknowledges requests that take long, retransmits answers that are not acknowledged, and removes expired state.
    async fn look_what_is_due(&mut self) {
        let now = Instant::now();
        while let Some((_, exchange)) = self.unanswered.pop_front_if(|(due, _)| *due <= now) {
            if let Some(State::Taken { acknowledged }) = self.exchanges.find(&exchange)
                && !*acknowledged
            {
                *acknowledged = true;
                self.send(&empty(MessageType::Acknowledgement, exchange.id), exchange.endpoint).await;
            }
        }
        self.link.look_what_is_due().await;
        while let Some((endpoint, datagram)) = self.separate.due(now) {
            self.send(&datagram, endpoint).await;
        }
        for _ in 0..self.transfers.remove_expired(now) {
            // The remaining blocks did not arrive. The message counts like an HTTP body that breaks off.
            drop(self.env.ingest.receive());
            self.env.ingest.metrics.rejected(Code::Incomplete);
            self.meter.rejected("the remaining blocks of a message did not arrive");
        }
        let forgotten = self.exchanges.remove_expired(now);
        self.env.metrics.forgotten_exchanges.inc_by(forgotten);
    }

    async fn send(&mut self, message: &[u8], to: Endpoint) {
        self.link.send(message, to).await;
    }
}
