//! MQTT as a client, 3.1.1 and 5, over TCP or TLS: what the input from a broker, the output to a oneM2M CSE, and the demo speak.
//!
//! A [`Client`] belongs to one task and has none of its own. Packets to send are queued, and [`Client::next`] writes them while it
//! waits, so that nothing is half done when it is not waited for to its end.

mod packets;
#[cfg(test)]
mod tests;

use super::packet::{self, Publish, Version};
use bytes::{Buf, BytesMut};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
use std::{
    collections::{HashSet, VecDeque},
    future::poll_fn,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::TcpStream,
    time::{Instant, Interval, MissedTickBehavior, interval_at, timeout},
};
use tokio_rustls::TlsConnector;

/// Longest time for TCP, TLS and the broker's answer to CONNECT.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for what is left to be written at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How much is read at a time at most, in bytes.
const READ_BYTES: usize = 16 << 10;

/// Where the broker is, and as whom to connect.
#[derive(Clone)]
pub struct Options {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whose certificates to trust, for TLS.
    pub tls: Option<Trust>,
    /// Which MQTT to speak.
    pub version: Version,
    /// The client's id, which no other client of the broker may have.
    pub client_id: String,
    /// User and password.
    pub login: Option<(String, Vec<u8>)>,
    /// Whether the broker forgets the session of an earlier connection.
    pub clean: bool,
    /// How long the broker keeps the session after the connection, in seconds (MQTT 5).
    pub session_expiry_seconds: u32,
    /// Most messages of QoS 1 that the broker sends before they are acknowledged (MQTT 5). At least 1.
    pub receive_maximum: u16,
    /// Largest packet to accept, in bytes.
    pub packet_limit: usize,
    /// How often to ask the broker for a sign of life. At least a second.
    pub keep_alive: Duration,
}

impl Options {
    /// A new session, without TLS and password; packets of up to 1 MiB, and a sign of life every 20 s.
    pub fn new(version: Version, client_id: impl Into<String>, host: impl Into<String>, port: u16) -> Self {
        Options {
            host: host.into(),
            port,
            tls: None,
            version,
            client_id: client_id.into(),
            login: None,
            clean: true,
            session_expiry_seconds: 0,
            receive_maximum: u16::MAX,
            packet_limit: 1 << 20,
            keep_alive: Duration::from_secs(20),
        }
    }
}

/// Certificates to trust.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// The certificates of `pem`, or the system's.
    pub fn new(pem: Option<&[u8]>) -> Result<Trust, String> {
        dunnage_access::tls::prepare();
        let mut roots = RootCertStore::empty();
        match pem {
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Some(pem) => {
                for certificate in CertificateDer::pem_slice_iter(pem) {
                    let certificate = certificate.map_err(|e| format!("the certificates are no PEM: {e}"))?;
                    roots.add(certificate).map_err(|e| format!("a certificate cannot be used: {e}"))?;
                }
            }
        }
        if roots.is_empty() {
            return Err("there is no certificate to trust".into());
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Trust(Arc::new(config)))
    }
}

/// Why there is no connection any more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The network, or TLS.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The broker does not let this client in. Its reason.
    #[error("the broker refuses the connection: {0}")]
    Refused(String),
    /// The broker ended the connection. Its reason.
    #[error("the broker ends the connection: {0}")]
    Ended(String),
    /// The broker hung up, or answered with something else, before it accepted the connection.
    #[error("the broker has not accepted the connection ({0}): does it speak MQTT {1}?")]
    Foreign(String, &'static str),
    /// What the broker sends is not MQTT.
    #[error("the broker breaks the protocol: {0}")]
    Protocol(String),
    /// The broker shows no sign of life.
    #[error("the broker has been silent for too long")]
    Silent,
    /// What is to be sent cannot be said in MQTT.
    #[error("{0}")]
    Unsendable(String),
}

/// What the broker sends.
#[derive(Debug)]
pub enum Event {
    /// A message.
    Message(Publish),
    /// A subscription was answered: the broker's reason, if it refuses a filter.
    Subscribed(Result<(), String>),
    /// The broker has acknowledged the message with this identifier.
    Acknowledged(u16),
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection to a broker. It ends when this is dropped.
pub struct Client {
    stream: Box<dyn Stream>,
    version: Version,
    packet_limit: usize,
    input: BytesMut,
    /// What is read into at a time.
    piece: Box<[u8]>,
    output: BytesMut,
    /// Nothing that was written waits in the stream.
    flushed: bool,
    /// Bytes that were queued, and that were written, since the beginning.
    queued: u64,
    written: u64,
    /// Acknowledgements that are not written: the end of each in the bytes that were queued, and its identifier.
    acknowledgements: VecDeque<(u64, u16)>,
    /// Identifiers of messages that the broker has not acknowledged.
    unacknowledged: HashSet<u16>,
    last_id: u16,
    ticks: Interval,
    /// The broker owes an answer to a ping.
    pinged: bool,
}

impl Client {
    /// Connects and waits until the broker has accepted. Also answers whether the broker had kept the session.
    pub async fn connect(options: &Options) -> Result<(Client, bool), Error> {
        let connecting = async {
            let mut client = Client::open(options).await?;
            client.queue(&packets::connect(options)?);
            let present = client.accepted().await?;
            Ok((client, present))
        };
        timeout(CONNECT_TIMEOUT, connecting).await.map_err(|_| Error::Silent)?
    }

    async fn open(options: &Options) -> Result<Client, Error> {
        let stream = TcpStream::connect((&*options.host, options.port)).await?;
        // Acknowledgements are small, and the broker waits for them.
        stream.set_nodelay(true)?;
        let stream: Box<dyn Stream> = match &options.tls {
            None => Box::new(stream),
            Some(trust) => {
                let name = ServerName::try_from(options.host.clone());
                let name = name.map_err(|e| Error::Unsendable(format!("{:?}: {e}", options.host)))?;
                Box::new(TlsConnector::from(Arc::clone(&trust.0)).connect(name, stream).await?)
            }
        };
        let mut ticks = interval_at(Instant::now() + options.keep_alive, options.keep_alive);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Client {
            stream,
            version: options.version,
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
            ticks,
            pinged: false,
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
        packets::connack(self.version, first, &body).map_err(foreign)
    }

    /// Queues a subscription to `filters` with QoS 1. What is retained comes once for each new subscription of a session of MQTT 5.
    pub fn subscribe(&mut self, filters: &[String]) -> Result<(), Error> {
        let id = self.next_id();
        self.queue(&packets::subscribe(self.version, id, filters)?);
        Ok(())
    }

    /// Queues a message of QoS 1. Answers with its identifier, or nothing when all identifiers are in use.
    pub fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<Option<u16>, Error> {
        if self.unacknowledged.len() >= usize::from(u16::MAX) - 1 {
            return Ok(None);
        }
        let id = self.next_id();
        let packet = packets::publish(self.version, id, topic, payload)?;
        self.unacknowledged.insert(id);
        self.queue(&packet);
        Ok(Some(id))
    }

    /// Queues the acknowledgement of a message of QoS 1.
    pub fn acknowledge(&mut self, id: u16) {
        let [high, low] = id.to_be_bytes();
        self.queue(&[0x40, 2, high, low]);
        self.acknowledgements.push_back((self.queued, id));
    }

    /// What comes next. `read` says whether anything may: when not, this writes what is queued, keeps the connection alive, and
    /// ends only with an error. Nothing is lost when it is not waited for to its end.
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
                    let id = packets::puback(&body)?;
                    self.unacknowledged.remove(&id);
                    return Ok(Event::Acknowledged(id));
                }
                9 => return Ok(Event::Subscribed(packets::suback(self.version, &body)?)),
                13 => self.pinged = false,
                14 => return Err(Error::Ended(packets::disconnect(&body))),
                kind => {
                    return Err(Error::Protocol(format!("a packet of the type {kind} was not asked for")));
                }
            }
        }
    }

    /// Writes what is queued, tells the broker, and ends the connection. Of the acknowledgements, [`Client::unwritten`] then
    /// has those that did not go out.
    pub async fn close(&mut self) {
        self.queue(&[0xe0, 0]);
        let written = timeout(CLOSE_TIMEOUT, async {
            poll_fn(|context| match self.poll_write(context) {
                Ok(_) if self.output.is_empty() && self.flushed => Poll::Ready(Ok(())),
                Ok(_) => Poll::Pending,
                Err(why) => Poll::Ready(Err(why)),
            })
            .await?;
            Ok::<_, Error>(self.stream.shutdown().await?)
        });
        // Whoever cannot be told notices it himself.
        let _ = written.await;
    }

    /// Identifiers of acknowledgements that have not been given to the network.
    pub fn unwritten(&self) -> impl Iterator<Item = u16> {
        self.acknowledgements.iter().map(|&(_, id)| id)
    }

    /// The next packet that has arrived whole. Writes meanwhile.
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

    /// Reads, writes, or keeps the connection alive, whatever is possible first.
    async fn advance(&mut self, read: bool) -> Result<(), Error> {
        poll_fn(|context| {
            let wrote = self.poll_write(context)?;
            // Also while the broker takes nothing: it may be waiting to be read.
            let came = read && self.poll_read(context)?;
            if self.ticks.poll_tick(context).is_ready() {
                self.tick(read)?;
                // What it has queued is to be written.
                context.waker().wake_by_ref();
            }
            if wrote || came { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await
    }

    /// Writes as much as the network takes. Answers whether that was anything.
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
        // TLS keeps what the network did not take.
        self.flushed = self.flushed || Pin::new(&mut self.stream).poll_flush(context)?.is_ready();
        Ok(wrote)
    }

    /// Reads what there is. Answers whether that was anything.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<bool, Error> {
        let mut piece = ReadBuf::new(&mut self.piece);
        match Pin::new(&mut self.stream).poll_read(context, &mut piece)? {
            Poll::Pending => Ok(false),
            Poll::Ready(()) if piece.filled().is_empty() => Err(Error::Ended("it hung up".into())),
            Poll::Ready(()) => {
                self.input.extend_from_slice(piece.filled());
                Ok(true)
            }
        }
    }

    /// It is time for a sign of life.
    fn tick(&mut self, read: bool) -> Result<(), Error> {
        if self.pinged && read || !self.output.is_empty() {
            return Err(Error::Silent);
        }
        self.pinged = true;
        self.queue(&[0xc0, 0]);
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
