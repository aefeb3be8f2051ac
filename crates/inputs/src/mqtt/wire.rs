//! The bytes of a connection: little memory while it is idle, limited memory while a packet arrives, and time limits for reading and
//! writing a packet.

use bytes::BytesMut;
use dunnage_buffer::{Memory, NoRoom, Reservation, Sender};
use dunnage_clients::mqtt::{
    packet::frame,
    reason::{Reason, Refusal},
};
use std::{io, net::IpAddr, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::{Instant, timeout},
};

/// The buffer of an idle connection, and the most that is read at a time, in bytes.
const IDLE: usize = 512;
const PIECE: usize = 16 << 10;
/// Packets with more bytes than this reserve memory while they arrive.
const SMALL: usize = 4 << 10;
/// Time limits for a client to read an answer, and to send a packet.
const WRITE: Duration = Duration::from_secs(30);
const PACKET: Duration = Duration::from_secs(30);

/// A byte stream with or without TLS.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

pub struct Wire<S> {
    stream: S,
    input: BytesMut,
    /// The bytes to be written.
    pub output: BytesMut,
    room: Option<Reservation>,
    /// When the incomplete packet began to arrive.
    begun: Option<Instant>,
}

impl<S: Stream> Wire<S> {
    pub fn new(stream: S) -> Self {
        Wire {
            stream,
            input: BytesMut::with_capacity(IDLE),
            output: BytesMut::new(),
            room: None,
            begun: None,
        }
    }

    /// Returns the next complete packet. Fails if it is larger than `limit` bytes.
    pub fn next(&mut self, limit: usize) -> Result<Option<(u8, BytesMut)>, Refusal> {
        let packet = frame(&mut self.input, limit)?;
        if packet.is_some() || self.input.is_empty() {
            self.begun = None;
        } else if self.begun.is_none() {
            self.begun = Some(Instant::now());
        }
        Ok(packet)
    }

    /// Returns the memory that the last packet held, unless a large packet follows it.
    pub fn room(&mut self) -> Option<Reservation> {
        self.room.take_if(|_| self.input.len() <= SMALL)
    }

    /// Returns the time at which the incomplete packet has to be complete.
    pub fn deadline(&self) -> Option<Instant> {
        self.begun.map(|begun| begun + PACKET)
    }

    /// Waits for more bytes. Returns false at the end of the stream. This function is cancel safe.
    pub async fn fill(&mut self) -> io::Result<bool> {
        if self.input.is_empty() && self.input.capacity() > PIECE {
            self.input = BytesMut::with_capacity(IDLE);
        } else if self.input.capacity() - self.input.len() < IDLE / 2 {
            // The buffer grows with the bytes that have arrived, never with the announced length.
            self.input.reserve(self.input.len().clamp(IDLE, PIECE));
        }
        Ok(self.stream.read_buf(&mut self.input).await? > 0)
    }

    /// Reserves `memory` for the bytes of a large packet from `address` that have arrived. Fails if the memory is exhausted.
    pub fn charge(&mut self, memory: &Memory, address: IpAddr) -> Result<(), Refusal> {
        if self.input.len() <= SMALL {
            return Ok(());
        }
        let room = self.room.get_or_insert_with(|| memory.reserve());
        let more = self.input.len().saturating_sub(room.bytes());
        let charged = room.wait_for(Sender { address, device: None }).and_then(|()| room.grow(more));
        charged.map_err(busy)
    }

    /// Waits until another packet needs the memory of the one that is arriving.
    pub fn give_way(&self) -> impl Future<Output = Refusal> + Send + use<S> {
        let room = self.room.as_ref().map(Reservation::give_way);
        async move {
            match room {
                Some(given_way) => given_way.await,
                None => std::future::pending().await,
            }
            busy(NoRoom::GaveWay)
        }
    }

    /// Writes the pending output.
    pub async fn flush(&mut self) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        let written = timeout(WRITE, async {
            self.stream.write_all(&self.output).await?;
            self.stream.flush().await
        });
        written.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        match self.output.capacity() > SMALL {
            true => self.output = BytesMut::new(),
            false => self.output.clear(),
        }
        Ok(())
    }

    /// Writes the pending output and closes the connection.
    pub async fn close(&mut self) {
        if self.flush().await.is_ok() {
            let _ = timeout(WRITE, self.stream.shutdown()).await;
        }
    }
}

fn busy(no_room: NoRoom) -> Refusal {
    let why = match no_room {
        NoRoom::All | NoRoom::Incomplete => "the memory for packets is full; try again later",
        NoRoom::Address | NoRoom::Device => "large packets from this address use all their memory",
        NoRoom::GaveWay => "the packet stopped arriving, and another needed its memory",
    };
    Refusal::new(Reason::Busy, why)
}
