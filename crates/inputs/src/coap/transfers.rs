//! Block-wise transfers (RFC 7959): assembles messages from blocks in order, with limits on number, memory and time.

use super::{block::Block, endpoint::Endpoint};
use bytes::Bytes;
use dunnage_base::network;
use dunnage_buffer::{Queue, Reservation, Sender};
use dunnage_ingest::{Code, Rejected};
use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

/// The maximum number of transfers, of all endpoints and of one.
const MAX_TRANSFERS: usize = 1024;
const MAX_PER_ENDPOINT: usize = 4;
/// When the maximum is reached, an address (of IPv6, a /64) with more transfers than this gives way to others, even if it is not silent.
const SHARE_OF_ADDRESS: usize = MAX_TRANSFERS / 4;
/// When the maximum is reached, a transfer that has been silent for this long gives way to another.
const GRACE: Duration = Duration::from_secs(2);
/// How long the next block may take: `MAX_TRANSMIT_WAIT`, after which the sender stops retrying (RFC 7252, 4.8.2).
const PATIENCE: Duration = Duration::from_secs(93);
/// How long the whole message may take.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The transfers in progress.
pub struct Transfers {
    endpoints: HashMap<Endpoint, Vec<Transfer>>,
    count: usize,
    /// How many gave way since the last [`Transfers::remove_expired`].
    given_up: usize,
    /// The maximum size of a message in bytes.
    limit: usize,
}

struct Transfer {
    /// Identifies it among the transfers of its endpoint.
    identity: Vec<u8>,
    bytes: Vec<u8>,
    room: Reservation,
    begun: Instant,
    last: Instant,
}

/// A block that has arrived.
pub struct Part<'a> {
    /// The sender.
    pub endpoint: Endpoint,
    /// Identifies its transfer among those of the endpoint.
    pub identity: Vec<u8>,
    /// The device's ID.
    pub device: &'a str,
    /// Its position.
    pub block: Block,
    /// The size of the message in bytes, as the sender announces it.
    pub size: Option<usize>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The result of a block.
pub enum Step {
    /// More blocks are needed.
    Continue,
    /// It was the last block. These are the bytes of the message, and the memory reserved for them.
    Whole(Bytes, Reservation),
}

impl Transfers {
    /// Creates an empty set. Messages have at most `limit` bytes.
    pub fn new(limit: usize) -> Transfers {
        Transfers { endpoints: HashMap::new(), count: 0, given_up: 0, limit }
    }

    /// Adds a block to its transfer. An error ends the transfer, except 4.08, which another block can repair.
    pub fn take(&mut self, part: &Part<'_>, queue: &Queue, now: Instant) -> Result<Step, Rejected> {
        let offset = part.block.offset();
        let most = self.limit.saturating_sub(offset);
        if part.bytes.len() > most || part.size.is_some_and(|size| size > self.limit) {
            self.remove(part);
            return Err(Rejected::too_large(self.limit));
        }
        if part.block.more && part.bytes.len() != part.block.size() {
            self.remove(part);
            let why = format!("block {} must have {} bytes", part.block.number, part.block.size());
            return Err(Rejected::new(Code::Block, why));
        }
        if offset == 0 {
            self.remove(part);
            self.begin(part, queue, now)?;
        }
        let Some(transfer) = self.find(part) else {
            return Err(incomplete("the transfer is not known; begin with block 0"));
        };
        if transfer.bytes.len() != offset {
            let end = transfer.bytes.len();
            let have = transfer.bytes.get(offset..end.min(offset + part.bytes.len()));
            // The block was repeated under another message ID, because its sender did not get the answer.
            if part.block.more && have == Some(part.bytes) {
                return Ok(Step::Continue);
            }
            return Err(incomplete(format!("the next block must begin at byte {end}")));
        }
        if let Err(no_room) = transfer.room.grow(part.bytes.len()) {
            self.remove(part);
            return Err(no_room.into());
        }
        transfer.bytes.extend_from_slice(part.bytes);
        transfer.last = now;
        if part.block.more {
            return Ok(Step::Continue);
        }
        match self.remove(part) {
            Some(mut whole) => {
                whole.room.whole()?;
                Ok(Step::Whole(whole.bytes.into(), whole.room))
            }
            None => Ok(Step::Continue),
        }
    }

    fn begin(&mut self, part: &Part<'_>, queue: &Queue, now: Instant) -> Result<(), Rejected> {
        if self.count >= MAX_TRANSFERS {
            self.make_way(network_of(&part.endpoint), now);
        }
        let of_endpoint = self.endpoints.get(&part.endpoint).map_or(0, Vec::len);
        if self.count >= MAX_TRANSFERS || of_endpoint >= MAX_PER_ENDPOINT {
            return Err(Rejected::queue_full());
        }
        let mut room = queue.reserve();
        let address = part.endpoint.address.ip();
        room.wait_for(Sender { address, device: Some(part.device) })?;
        self.endpoints.entry(part.endpoint).or_default().push(Transfer {
            identity: part.identity.clone(),
            bytes: Vec::new(),
            room,
            begun: now,
            last: now,
        });
        self.count += 1;
        Ok(())
    }

    /// Discards the transfer that has been silent for longest, in favour of a new one from `network`. Chooses among those of the network
    /// with the most transfers, if these are more than its share and than those of `network`. Otherwise chooses among all, if the silence
    /// is long enough.
    fn make_way(&mut self, network: IpAddr, now: Instant) {
        let networks = self.networks();
        let own = networks.get(&network).copied().unwrap_or_default();
        let largest = networks.into_iter().max_by_key(|(_, count)| *count);
        let crowded = largest.filter(|(_, count)| *count > SHARE_OF_ADDRESS.max(own));
        let all = self.endpoints.iter().flat_map(|(endpoint, transfers)| {
            transfers.iter().enumerate().map(|(at, transfer)| (transfer.last, *endpoint, at))
        });
        let of_crowded = |endpoint: &Endpoint| crowded.is_none_or(|(other, _)| other == network_of(endpoint));
        let oldest = all.filter(|(_, endpoint, _)| of_crowded(endpoint)).min_by_key(|(last, ..)| *last);
        let Some((last, endpoint, at)) = oldest else { return };
        if crowded.is_none() && now.saturating_duration_since(last) < GRACE {
            return;
        }
        if let Some(transfers) = self.endpoints.get_mut(&endpoint) {
            transfers.swap_remove(at);
            self.count -= 1;
            self.given_up += 1;
            if transfers.is_empty() {
                self.endpoints.remove(&endpoint);
            }
        }
    }

    /// Returns the number of transfers of each network.
    fn networks(&self) -> HashMap<IpAddr, usize> {
        let mut networks = HashMap::new();
        for (endpoint, transfers) in &self.endpoints {
            *networks.entry(network_of(endpoint)).or_default() += transfers.len();
        }
        networks
    }

    fn find(&mut self, part: &Part<'_>) -> Option<&mut Transfer> {
        let mut transfers = self.endpoints.get_mut(&part.endpoint)?.iter_mut();
        transfers.find(|transfer| transfer.identity == part.identity)
    }

    fn remove(&mut self, part: &Part<'_>) -> Option<Transfer> {
        let transfers = self.endpoints.get_mut(&part.endpoint)?;
        let at = transfers.iter().position(|transfer| transfer.identity == part.identity)?;
        let transfer = transfers.swap_remove(at);
        if transfers.is_empty() {
            self.endpoints.remove(&part.endpoint);
        }
        self.count -= 1;
        Some(transfer)
    }

    /// Discards the transfers that take too long, or whose memory another needed. Returns their number, and that of those that gave way.
    pub fn remove_expired(&mut self, now: Instant) -> usize {
        let before = self.count;
        self.endpoints.retain(|_, transfers| {
            transfers.retain(|transfer| {
                now.saturating_duration_since(transfer.last) < PATIENCE
                    && now.saturating_duration_since(transfer.begun) < LONGEST
                    && !transfer.room.has_given_way()
            });
            !transfers.is_empty()
        });
        self.count = self.endpoints.values().map(Vec::len).sum();
        before - self.count + std::mem::take(&mut self.given_up)
    }
}

fn network_of(endpoint: &Endpoint) -> IpAddr {
    network(endpoint.address.ip())
}

/// Returns a 4.08: blocks before this one are missing.
fn incomplete(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Incomplete, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_buffer::Shares;

    const LIMIT: usize = 100;

    fn endpoint(port: u16) -> Endpoint {
        std::net::SocketAddr::from(([127, 0, 0, 1], port)).into()
    }

    struct Sender {
        transfers: Transfers,
        queue: Queue,
        now: Instant,
    }

    impl Sender {
        fn new() -> Sender {
            Sender {
                transfers: Transfers::new(LIMIT),
                queue: Queue::new(8, Shares::of(90, LIMIT)).0,
                now: Instant::now(),
            }
        }

        /// Sends a block of 16 bytes. Returns `None` if more are needed, the message, or the name of a problem.
        fn send(
            &mut self,
            port: u16,
            number: u32,
            more: bool,
            bytes: &[u8],
        ) -> Result<Option<Bytes>, &'static str> {
            let block = Block { number, more, exponent: 0 };
            let part =
                Part { endpoint: endpoint(port), identity: vec![1], device: "d", block, size: None, bytes };
            match self.transfers.take(&part, &self.queue, self.now) {
                Ok(Step::Continue) => Ok(None),
                Ok(Step::Whole(bytes, _)) => Ok(Some(bytes)),
                Err(rejected) => Err(rejected.code.as_str()),
            }
        }
    }

    #[test]
    fn blocks_become_a_message_and_leave_nothing() {
        let mut sender = Sender::new();
        assert_eq!(sender.send(1, 0, true, &[1; 16]), Ok(None));
        assert_eq!(sender.send(2, 0, true, &[9; 16]), Ok(None));
        assert_eq!(sender.send(1, 1, true, &[2; 16]), Ok(None));
        // A repetition under another message ID.
        assert_eq!(sender.send(1, 1, true, &[2; 16]), Ok(None));
        // A different block in the same place, and one that comes too early.
        assert_eq!(sender.send(1, 1, true, &[3; 16]), Err("incomplete"));
        assert_eq!(sender.send(1, 3, false, &[3; 1]), Err("incomplete"));
        let whole = sender.send(1, 2, false, &[3; 3]).unwrap().unwrap();
        assert_eq!(whole, [[1; 16].as_slice(), &[2; 16], &[3; 3]].concat());
        assert_eq!(sender.send(1, 2, false, &[3; 3]), Err("incomplete"));
        assert_eq!(sender.transfers.count, 1);
        assert_eq!(sender.send(2, 0, true, &[8; 16]), Ok(None));
        assert_eq!(sender.send(2, 1, false, b"").unwrap().unwrap(), [8; 16].as_slice());
        assert_eq!((sender.transfers.count, sender.queue.bytes()), (0, 0));
    }

    #[test]
    fn size_memory_and_number_are_bounded() {
        let mut sender = Sender::new();
        assert_eq!(sender.send(1, 0, true, &[1; 15]), Err("block"));
        assert_eq!(sender.send(1, 6, false, &[1; 5]), Err("too-large"));
        for number in 0..5 {
            assert_eq!(sender.send(1, number, true, &[1; 16]), Ok(None));
        }
        // The memory for messages has 90 bytes.
        assert_eq!(sender.send(1, 5, false, &[1; 16]), Err("queue-full"));
        assert_eq!((sender.transfers.count, sender.queue.bytes()), (0, 0));

        let queue = Queue::new(8, Shares::of(1 << 20, LIMIT)).0;
        let now = Instant::now();
        let mut begin = |port: u16, transfer: usize| {
            let block = Block { number: 0, more: true, exponent: 0 };
            let identity = transfer.to_be_bytes().to_vec();
            let part =
                Part { endpoint: endpoint(port), identity, device: "d", block, size: None, bytes: &[0; 16] };
            sender.transfers.take(&part, &queue, now).is_ok()
        };
        assert_eq!((0..6).filter(|n| begin(1, *n)).count(), MAX_PER_ENDPOINT);
        assert_eq!((2..5000).filter(|port| begin(*port, 0)).count(), MAX_TRANSFERS - MAX_PER_ENDPOINT);
        // The transfer that has been silent for longest gives way.
        let mut later = |port: u16, at: Duration| {
            let block = Block { number: 0, more: true, exponent: 0 };
            let part = Part {
                endpoint: endpoint(port),
                identity: vec![1],
                device: "d",
                block,
                size: None,
                bytes: &[0; 16],
            };
            sender.transfers.take(&part, &queue, now + at).is_ok()
        };
        assert!(!later(6000, GRACE / 2) && later(6000, GRACE) && later(6001, GRACE));
        assert_eq!(sender.transfers.count, MAX_TRANSFERS);
        assert_eq!(sender.transfers.remove_expired(now + GRACE + PATIENCE), MAX_TRANSFERS + 2);
        assert_eq!((sender.transfers.count, queue.bytes()), (0, 0));
    }

    #[test]
    fn an_address_with_most_of_the_transfers_gives_way_though_it_never_falls_silent() {
        let mut transfers = Transfers::new(LIMIT);
        let queue = Queue::new(8, Shares::of(1 << 20, LIMIT)).0;
        let now = Instant::now();
        let mut begin = |address: &str, port: u16| {
            let endpoint = std::net::SocketAddr::new(address.parse().unwrap(), port).into();
            let block = Block { number: 0, more: true, exponent: 0 };
            let part = Part { endpoint, identity: vec![1], device: "d", block, size: None, bytes: &[0; 16] };
            transfers.take(&part, &queue, now).is_ok()
        };
        assert!((0..200).all(|port| begin("192.0.2.1", port)));
        assert_eq!((200..5000).filter(|port| begin("2001:db8::1", *port)).count(), MAX_TRANSFERS - 200);
        // Other addresses get room until they have as many transfers, and the first one cannot take it back.
        assert!((0..100).all(|port| begin("198.51.100.1", port)));
        assert!(!begin("2001:db8::2", 5000));
        assert_eq!((0..2000).filter(|port| begin("203.0.113.1", *port)).count(), (MAX_TRANSFERS - 300) / 2);
        assert_eq!(transfers.count, MAX_TRANSFERS);
        assert_eq!(transfers.remove_expired(now), 100 + (MAX_TRANSFERS - 300) / 2);
    }

    #[test]
    fn a_message_that_says_it_is_too_large_is_not_begun() {
        let mut sender = Sender::new();
        let block = Block { number: 0, more: true, exponent: 0 };
        let part = Part {
            endpoint: endpoint(1),
            identity: vec![],
            device: "d",
            block,
            size: Some(101),
            bytes: &[0; 16],
        };
        let refused = sender.transfers.take(&part, &sender.queue, sender.now);
        assert_eq!(refused.err().map(|rejected| rejected.code), Some(Code::TooLarge));
        assert_eq!(sender.transfers.count, 0);
    }
}
