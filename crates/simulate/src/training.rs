//! Trains statistics on the messages of devices, as a lossy link would let them refer to each other.

use crate::Network;
use crate::network::Chance;
use dunnage_packed::{Error, Example, Training, Value};
use std::collections::VecDeque;

/// With fewer messages than this, tables follow chance.
pub const ENOUGH: usize = 1000;

/// Adds the messages of one device to a training: each alone, and with the one that the receiver is known to have by then.
pub fn train(
    training: &mut Training<'_>,
    messages: impl IntoIterator<Item = Value>,
    network: Network,
    (seed, device): (u64, u64),
) -> Result<(), Error> {
    let mut chance = Chance::new(network, seed, device);
    let mut acknowledged: Option<Example> = None;
    let mut under_way: VecDeque<Option<Example>> = VecDeque::new();
    for message in messages {
        let example = training.example(&message)?;
        training.add(&example);
        if let Some(reference) = &acknowledged {
            training.add_change(&example, reference);
        }
        under_way.push_back(Some(example).filter(|_| chance.next().is_acknowledged));
        if under_way.len() > network.ack_delay {
            acknowledged = under_way.pop_front().flatten().or(acknowledged);
        }
    }
    Ok(())
}
