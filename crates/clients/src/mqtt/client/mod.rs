//! An MQTT client, 3.1.1 and 5, over TCP or TLS. The broker input, the MQTT, oneM2M and downlink outputs and the demo use it.
//!
//! A [`Client`] belongs to one task and spawns none. Packets to send are queued, and [`Client::next`] writes them while it waits. It is
//! cancellation safe: dropping its future loses nothing.

mod event;
mod options;
mod packets;
#[cfg(test)]
mod tests;

pub use event::{Acknowledgement, Error, Event};
pub use options::{Limits, Options, Publication, Trust};

use super::packet::{self, Version};
use bytes::{Buf, Bytes, BytesMut};
use rustls_pki_types::ServerName;
use std::{
    collections::{HashSet, VecDeque},
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::TcpStream,
    time::{Instant, Interval, MissedTickBehavior, interval_at, timeout},
};
use tokio_rustls::TlsConnector;

/// Longest time to connect, for the TLS handshake and for the broker's CONNACK.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for writing queued packets when the connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes to read at a time.
const READ_BYTES: usize = 16 << 10;

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection to a broker. Dropping it closes the connection.
pub struct Client {
    stream: Box<dyn Stream>,
    version: Version,
    limits: Limits,
    packet_limit: usize,
    input: BytesMut,
    /// The buffer of one read.
    piece: Box<[u8]>,
    output: BytesMut,
    /// Whether the stream has flushed everything that was written.
    flushed: bool,
    /// Bytes queued and bytes written since the connection was opened.
    queued: u64,
    written: u64,
    /// Acknowledgements that are not written yet: the end of each, counted in queued bytes, and its identifier.
    acknowledgements: VecDeque<(u64, u16)>,
    /// Identifiers of messages that the broker has not acknowledged.
    unacknowledged: HashSet<u16>,
    last_id: u16,
    ticks: Interval,
    /// The pings that the broker has not answered, from the first to the last: whether the caller wanted them.
    pings: VecDeque<bool>,
    will: Option<Publication>,
    /// Whether anything was read since the last ping was due, and the bytes that were written until then.
    heard: bool,
    written_before: u64,
}

impl Client {
    /// Connects and waits for the broker to accept. Also returns whether the broker had kept the session.
    pub async fn connect(options: &Options) -> Result<(Client, bool), Error> {
        let connecting = async {
            let mut client = Client::open(options).await?;
            client.queue(&packets::connect(options)?);
            let present = client.accepted().await?;
            if let Some(period) = client.limits.keep_alive.filter(|period| *period < options.keep_alive) {
                client.ticks = ticks(period);
            }
            Ok((client, present))
        };
        timeout(CONNECT_TIMEOUT, connecting).await.map_err(|_| Error::Silent)?
    }

    async fn open(options: &Options) -> Result<Client, Error> {
        let stream = TcpStream::connect((&*options.host, options.port)).await?;
        // Nagle's algorithm would delay small acknowledgements, for which the broker waits.
        stream.set_nodelay(true)?;
        let stream: Box<dyn Stream> = match &options.tls {
            None => Box::new(stream),
            Some(trust) => {
                let name = ServerName::try_from(options.host.clone());
                let name = name.map_err(|e| Error::Unsendable(format!("{:?}: {e}", options.host)))?;
                Box::new(TlsConnector::from(trust.config()).connect(name, stream).await?)
            }
        };
        Ok(Client {
            stream,
            version: options.version,
            limits: Limits::default(),
            packet_limit: options.packet_limit,
            input: BytesMut::new(),
            piece: vec![0; READ_BYTES].into(),
            output: BytesMut::new(),
            flushed: true,
            queued: 0,
            written: 0,
            acknowledgements: VecDeque::new(),
            unacknowledged: HashSet::new(),
            last_id: 0,
            ticks: ticks(options.keep_alive),
            pings: VecDeque::new(),
            will: options.will.clone(),
            heard: false,
            written_before: 0,
        })
    }

    async fn accepted(&mut self) -> Result<bool, Error> {
        let spoken = match self.version {
            Version::V3 => "3.1.1",
            Version::V5 => "5",
        };
        let foreign = |why: Error| match why {
            Error::Io(_) | Error::Protocol(_) => Error::Foreign(why.to_string(), spoken),
            other => other,
        };
        let (first, body) = self.packet(true).await.map_err(foreign)?;
        let (present, limits) = packets::connack(self.version, first, &body).map_err(foreign)?;
        self.limits = limits;
        Ok(present)
    }

    /// Returns what the broker accepts.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Queues a subscription to `filters` with QoS 1. With MQTT 5, the broker sends retained messages only if the session does not have the
    /// subscription yet.
    pub fn subscribe(&mut self, filters: &[String]) -> Result<(), Error> {
        let id = self.next_id();
        self.queue(&packets::subscribe(self.version, id, filters)?);
        Ok(())
    }

    /// Queues a message of QoS 1, as [`Client::send`] does, without properties.
    pub fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<Option<u16>, Error> {
        let payload = Bytes::copy_from_slice(payload);
        self.send(&Publication { topic: topic.to_owned(), payload, ..Publication::default() })
    }

    /// Queues a message of QoS 1. Returns its packet identifier, or `None` if all identifiers are in use. The caller keeps to the broker's
    /// receive maximum.
    pub fn send(&mut self, publication: &Publication) -> Result<Option<u16>, Error> {
        // One identifier stays free, so that `next_id` always finds one for a subscription.
        if self.unacknowledged.len() >= usize::from(u16::MAX) - 1 {
            return Ok(None);
        }
        let id = self.next_id();
        self.queue_publish(Some(id), publication)?;
        self.unacknowledged.insert(id);
        Ok(Some(id))
    }

    /// Queues a message of QoS 0, which the broker does not acknowledge.
    pub fn send_unacknowledged(&mut self, publication: &Publication) -> Result<(), Error> {
        self.queue_publish(None, publication)
    }

    fn queue_publish(&mut self, id: Option<u16>, publication: &Publication) -> Result<(), Error> {
        let packet = packets::publish(self.version, id, publication)?;
        if packet.len() > self.limits.packet_bytes {
            let (bytes, limit) = (packet.len(), self.limits.packet_bytes);
            return Err(Error::Unsendable(format!(
                "a message makes a packet of {bytes} bytes, and the broker accepts {limit} at most"
            )));
        }
        self.queue(&packet);
        Ok(())
    }

    /// Queues a ping, whose answer is [`Event::Answered`].
    pub fn ping(&mut self) {
        self.queue_ping(true);
    }

    fn queue_ping(&mut self, is_wanted: bool) {
        self.pings.push_back(is_wanted);
        self.queue(&[0xc0, 0]);
    }

    /// Queues the acknowledgement of a message of QoS 1.
    pub fn acknowledge(&mut self, id: u16) {
        let [high, low] = id.to_be_bytes();
        self.queue(&[0x40, 2, high, low]);
        self.acknowledgements.push_back((self.queued, id));
    }

    /// Returns the next event. With `read` false it reads nothing: it writes what is queued, keeps the connection alive, and ends only with
    /// an error. It is cancellation safe.
    pub async fn next(&mut self, read: bool) -> Result<Event, Error> {
        loop {
            let (first, body) = self.packet(read).await?;
            match first >> 4 {
                3 => match packet::read(self.version, first, &body) {
                    Ok(packet::Packet::Publish(publish)) => return Ok(Event::Message(publish)),
                    Ok(_) => {}
                    Err(refusal) => return Err(Error::Protocol(refusal.why)),
                },
                4 => {
                    let (id, acknowledgement) = packets::puback(self.version, &body)?;
                    self.unacknowledged.remove(&id);
                    return Ok(Event::Acknowledged(id, acknowledgement));
                }
                9 => return Ok(Event::Subscribed(packets::suback(self.version, &body)?)),
                13 if self.pings.pop_front() == Some(true) => return Ok(Event::Answered),
                13 => {}
                14 => return Err(Error::Ended(packets::disconnect(&body))),
                kind => {
                    return Err(Error::Protocol(format!("unexpected packet of type {kind}")));
                }
            }
        }
    }

    /// Writes what is queued, the will and a DISCONNECT, and closes the connection. Afterwards, [`Client::unwritten`] has the acknowledgements that
    /// were not sent.
    pub async fn close(&mut self) {
        let will = self.will.take();
        if let Some(will) = &will {
            // The broker may drop the will at a DISCONNECT. If it cannot be sent, the broker has refused it in the CONNECT.
            let _ = self.send(will);
        }
        self.queue(packets::leave(self.version, will.is_some()));
        let written = timeout(CLOSE_TIMEOUT, async {
            poll_fn(|context| match self.poll_write(context) {
                Ok(_) if self.output.is_empty() && self.flushed => Poll::Ready(Ok(())),
                Ok(_) => Poll::Pending,
                Err(why) => Poll::Ready(Err(why)),
            })
            .await?;
            Ok::<_, Error>(self.stream.shutdown().await?)
        });
        // If the DISCONNECT cannot be sent, the broker notices the closed connection.
        let _ = written.await;
    }

    /// Returns the identifiers of acknowledgements that were not handed to the network.
    pub fn unwritten(&self) -> impl Iterator<Item = u16> {
        self.acknowledgements.iter().map(|&(_, id)| id)
    }

    /// Returns the next complete packet, if `read` is set. Writes meanwhile.
    async fn packet(&mut self, read: bool) -> Result<(u8, BytesMut), Error> {
        loop {
            if read {
                let packet = packet::frame(&mut self.input, self.packet_limit);
                if let Some(packet) = packet.map_err(|refusal| Error::Protocol(refusal.why))? {
                    return Ok(packet);
                }
            }
            self.advance(read).await?;
        }
    }

    /// Waits until it has written or read something. Sends pings meanwhile.
    async fn advance(&mut self, read: bool) -> Result<(), Error> {
        poll_fn(|context| {
            let wrote = self.poll_write(context)?;
            // Read even while the broker accepts no bytes: it may be waiting for this side to read.
            let came = read && self.poll_read(context)?;
            if self.ticks.poll_tick(context).is_ready() {
                self.tick(read)?;
                // Poll again to write the ping.
                context.waker().wake_by_ref();
            }
            if wrote || came { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await
    }

    /// Writes as much as the network accepts. Returns whether that was anything.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<bool, Error> {
        let mut wrote = false;
        while !self.output.is_empty() {
            match Pin::new(&mut self.stream).poll_write(context, &self.output)? {
                Poll::Pending => return Ok(wrote),
                Poll::Ready(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Poll::Ready(count) => {
                    self.output.advance(count);
                    self.written += count as u64;
                    (wrote, self.flushed) = (true, false);
                }
            }
            while self.acknowledgements.pop_front_if(|(end, _)| *end <= self.written).is_some() {}
        }
        // TLS buffers what the network did not accept.
        self.flushed = self.flushed || Pin::new(&mut self.stream).poll_flush(context)?.is_ready();
        Ok(wrote)
    }

    /// Reads the bytes that have arrived. Returns whether there were any.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<bool, Error> {
        let mut piece = ReadBuf::new(&mut self.piece);
        match Pin::new(&mut self.stream).poll_read(context, &mut piece)? {
            Poll::Pending => Ok(false),
            Poll::Ready(()) if piece.filled().is_empty() => Err(Error::Ended("it closed the socket".into())),
            Poll::Ready(()) => {
                self.input.extend_from_slice(piece.filled());
                self.heard = true;
                Ok(true)
            }
        }
    }

    /// Queues a ping, unless output is still being written. Fails if nothing of it was written since the last ping was due, or if nothing
    /// was read after the last ping. A slow connection is not a silent broker.
    fn tick(&mut self, read: bool) -> Result<(), Error> {
        let heard = std::mem::take(&mut self.heard);
        let wrote = self.written > std::mem::replace(&mut self.written_before, self.written);
        if !self.output.is_empty() {
            return if wrote { Ok(()) } else { Err(Error::Silent) };
        }
        // Without reading, an answer to the last ping cannot be noticed.
        if !self.pings.is_empty() && read && !heard {
            return Err(Error::Silent);
        }
        self.queue_ping(false);
        Ok(())
    }

    fn queue(&mut self, packet: &[u8]) {
        self.output.extend_from_slice(packet);
        self.queued += packet.len() as u64;
    }

    fn next_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if !self.unacknowledged.contains(&self.last_id) {
                return self.last_id;
            }
        }
    }
}

/// Returns the times of pings.
fn ticks(period: Duration) -> Interval {
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
