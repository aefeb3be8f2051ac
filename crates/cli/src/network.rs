//! The options of a lossy link, for `schema train` and `simulate`.

use clap::Args;
use dunnage_simulate::Network;

/// The most messages that an acknowledgement may take to arrive.
const MAX_DELAY: u64 = 64;

/// How the link treats messages and acknowledgements.
#[derive(Debug, Clone, Args)]
pub struct NetworkOptions {
    /// Share of messages that are lost, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.3", value_parser = share)]
    loss: f64,
    /// Share of acknowledgements that are lost, 0 to 1; with 1, the link has one direction
    #[arg(long, value_name = "SHARE", default_value = "0.3", value_parser = share)]
    ack_loss: f64,
    /// Further messages that are sent before an acknowledgement arrives
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u64).range(..=MAX_DELAY))]
    ack_delay: u64,
    /// The receiver acknowledges one of N messages
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    ack_every: u32,
}

impl NetworkOptions {
    /// Returns the link.
    pub fn network(&self) -> Network {
        let NetworkOptions { loss, ack_loss, ack_delay, ack_every } = *self;
        Network { loss, ack_loss, ack_every, ack_delay: usize::try_from(ack_delay).unwrap_or(usize::MAX) }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "a share is a number from 0 to 1, such as 0.3".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(format!("{share} is not from 0 to 1")) }
}
