//! The faults of a link.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How a link treats messages and their acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// The share of messages that are lost, 0 to 1.
    pub loss: f64,
    /// The share of acknowledgements that are lost, 0 to 1. With 1, the link has one direction.
    pub ack_loss: f64,
    /// The receiver acknowledges one of this many messages.
    pub ack_every: u32,
    /// How many further messages are sent before an acknowledgement arrives; 0 if it comes before the next one.
    pub ack_delay: usize,
}

/// The fate of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    pub arrives: bool,
    /// Whether the acknowledgement arrives, if the message does and is decoded.
    pub is_acknowledged: bool,
}

/// The chance of one device's messages.
#[derive(Debug, Clone)]
pub(crate) struct Chance {
    network: Network,
    rng: ChaCha8Rng,
    received: u32,
}

impl Chance {
    pub fn new(network: Network, seed: u64, device: u64) -> Chance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(device);
        Chance { network, rng, received: 0 }
    }

    /// Draws the fate of the next message.
    pub fn next(&mut self) -> Fate {
        let arrives = !self.rng.random_bool(self.network.loss);
        let heard = !self.rng.random_bool(self.network.ack_loss);
        self.received += u32::from(arrives);
        let turn = self.received.is_multiple_of(self.network.ack_every.max(1));
        Fate { arrives, is_acknowledged: arrives && heard && turn }
    }
}
