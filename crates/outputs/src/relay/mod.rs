//! The output `[output.relay]`: a gateway at the edge sends the readings of many devices in few bytes to a gateway elsewhere, over the first of
//! its links that works (`spec/relay.md`).
//!
//! It has no state. A reading has a number that follows from its ID in the buffer, so it has the same one however often and over
//! whichever link it is sent, and the other gateway stores it once.

mod exec;
mod http;
mod link;
mod reading;
mod settings;
mod unsent;

pub use settings::{EXAMPLE, ExecSettings, HttpSettings, LinkSettings, Settings};

use crate::{Catalog, Failed, Message, Output, Partitions, Shape};
use dunnage_clients::secret::SecretFile;
use dunnage_relay::{Numbers, Writer};
use link::Link;
use reading::Readings;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use unsent::Unsent;

/// The output.
pub struct Relay {
    numbers: Numbers,
    readings: usize,
    wait: Duration,
    times: bool,
    links: Vec<Link>,
    catalog: Mutex<Option<Arc<dyn Catalog>>>,
}

/// Messages as a batch for a link.
struct Batch {
    bytes: Vec<u8>,
    /// How many of the messages it has, from the first one on. 0: the first one is too large for the link.
    count: usize,
}

impl Relay {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Relay, String> {
        settings.check()?;
        let numbers = settings.numbers.as_ref().map_or(Ok(Numbers::default()), |path| {
            let text = std::fs::read_to_string(path).map_err(|e| e.to_string());
            text.and_then(|text| Numbers::parse(&text))
                .map_err(|message| format!("numbers: {}: {message}", path.display()))
        })?;
        let open = |(index, settings)| Link::new(settings).map_err(|e| format!("link[{index}].{e}"));
        Ok(Relay {
            numbers,
            readings: settings.readings,
            wait: Duration::from_secs(settings.wait_seconds),
            times: settings.times,
            links: settings.link.iter().enumerate().map(open).collect::<Result<_, _>>()?,
            catalog: Mutex::default(),
        })
    }

    /// Sends the first of `messages` over the first link that works, as many as it takes at once. Returns how many.
    async fn send(&self, messages: &[Message]) -> Result<usize, Failed> {
        let mut failed = None;
        let mut reasons = Vec::new();
        for link in &self.links {
            let mut batch = self.batch(messages, link);
            while batch.count > 0 {
                let error = match link.send(batch.bytes).await {
                    Ok(()) => return Ok(batch.count),
                    Err(Unsent::TooLarge(_)) if batch.count > 1 => {
                        batch = self.batch(&messages[..batch.count / 2], link);
                        continue;
                    }
                    Err(Unsent::TooLarge(error) | Unsent::Failed(error)) => error,
                };
                reasons.push(format!("{}: {}", link.name(), error.reason));
                failed = Some(error);
                break;
            }
        }
        Err(match failed {
            Some(failed) => Failed { reason: reasons.join("; "), ..failed },
            None => {
                let largest = self.links.iter().map(Link::limit).max().unwrap_or_default();
                Failed::refused(format!(
                    "the reading does not fit into a batch of any link, of at most {largest} bytes"
                ))
            }
        })
    }

    /// Makes the largest batch for `link` that begins with the first of `messages`.
    fn batch(&self, messages: &[Message], link: &Link) -> Batch {
        let catalog = self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut readings = Readings {
            numbers: &self.numbers,
            catalog: catalog.as_deref(),
            times: self.times,
            before: HashMap::new(),
        };
        // Ages count from the newest message, so that one time serves the batch.
        let newest = messages.iter().map(reading::received_at).max().unwrap_or_default();
        let mut batch = Writer::new(link.limit(), newest);
        for message in messages {
            let mut is_in = readings.add(&mut batch, message);
            if !is_in && link.fits() && batch.count() == 0 {
                is_in = readings.add_part(&mut batch, message);
            }
            if !is_in {
                break;
            }
        }
        Batch { count: batch.count(), bytes: batch.finish() }
    }
}

#[async_trait::async_trait]
impl Output for Relay {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::One, batch: self.readings, linger: self.wait }
    }

    fn learn(&self, catalog: Arc<dyn Catalog>) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Some(catalog);
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let mut sent = 0;
        while sent < messages.len() {
            sent += self.send(&messages[sent..]).await.map_err(|failed| failed.after(sent))?;
        }
        Ok(())
    }

    fn deadline(&self) -> Duration {
        // Each reading may need a batch of its own.
        let once: Duration = self.links.iter().map(Link::timeout).sum();
        once * self.readings as u32 + Duration::from_secs(5)
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.links.iter().filter_map(Link::secret).collect()
    }
}
