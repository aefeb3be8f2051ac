//! A connection's bytes: few of them while it is idle, bounded while a packet arrives, and written within a time.

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

/// What an idle connection has for a packet's beginning, and what it reads at a time at most, in bytes.
const IDLE: usize = 512;
const PIECE: usize = 16 << 10;
/// From how many bytes on a packet needs room among all that arrive.
const SMALL: usize = 4 << 10;
/// Longest time that a client may leave an answer unread, and that a packet may take.
const WRITE: Duration = Duration::from_secs(30);
const PACKET: Duration = Duration::from_secs(30);

/// What is read and written.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

pub struct Wire<S> {
    stream: S,
    input: BytesMut,
    /// What is to be written.
    pub output: BytesMut,
    room: Option<Reservation>,
    /// When the packet began that has not arrived whole.
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

    /// The next packet that has arrived whole, of at most `limit` bytes.
    pub fn next(&mut self, limit: usize) -> Result<Option<(u8, BytesMut)>, Refusal> {
        let packet = frame(&mut self.input, limit)?;
        if packet.is_some() || self.input.is_empty() {
            self.begun = None;
        } else if self.begun.is_none() {
            self.begun = Some(Instant::now());
        }
        Ok(packet)
    }

    /// The room that the last packet took, unless a large one is behind it.
    pub fn room(&mut self) -> Option<Reservation> {
        self.room.take_if(|_| self.input.len() <= SMALL)
    }

    /// Until when the packet has to be there of which a part is.
    pub fn deadline(&self) -> Option<Instant> {
        self.begun.map(|begun| begun + PACKET)
    }

    /// Waits for more bytes. False when there will be none. Nothing is lost when it is not waited for to its end.
    pub async fn fill(&mut self) -> io::Result<bool> {
        if self.input.is_empty() && self.input.capacity() > PIECE {
            self.input = BytesMut::with_capacity(IDLE);
        } else if self.input.capacity() - self.input.len() < IDLE / 2 {
            // Grows with what is there, never with what is announced.
            self.input.reserve(self.input.len().clamp(IDLE, PIECE));
        }
        Ok(self.stream.read_buf(&mut self.input).await? > 0)
    }

    /// Takes room for what has arrived of a large packet from `address` out of `memory`, or refuses it when there is none.
    pub fn charge(&mut self, memory: &Memory, address: IpAddr) -> Result<(), Refusal> {
        if self.input.len() <= SMALL {
            return Ok(());
        }
        let room = self.room.get_or_insert_with(|| memory.reserve());
        let more = self.input.len().saturating_sub(room.bytes());
        let charged = room.wait_for(Sender { address, device: None }).and_then(|()| room.grow(more));
        charged.map_err(busy)
    }

    /// Waits until another packet needs the room of the one that arrives.
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

    /// Writes what is to be written.
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

    /// Writes what is to be written, and ends the connection.
    pub async fn close(&mut self) {
        if self.flush().await.is_ok() {
            let _ = timeout(WRITE, self.stream.shutdown()).await;
        }
    }
}

fn busy(no_room: NoRoom) -> Refusal {
    let why = match no_room {
        NoRoom::All | NoRoom::Incomplete => "there is no room for this packet now",
        NoRoom::Address | NoRoom::Device => "large packets from this address take as much room as they may",
        NoRoom::GaveWay => "the packet stopped arriving, and another needed its room",
    };
    Refusal::new(Reason::Busy, why)
}
