//! The output `[output.downlink]`: acknowledges packed messages to their devices, over the downlinks of the provider that they came
//! through: requests of its API, or messages to its broker.
//!
//! An acknowledgement is the name of a message (`spec/packed.md`, "Deltas"), 2 bytes. A message is in the buffer before any output reads
//! it, so the name confirms that the gateway keeps it. Downlinks are expensive: one in every n messages of a device gets one, the newest of
//! those that wait; the others are skipped.

mod api;
mod broker;
mod schedule;
mod settings;

pub use settings::{EXAMPLE, Provider, Settings};

use crate::{Class, Failed, Message, Output, Partitions, Shape, http};
use api::Api;
use broker::Broker;
use dunnage_access::tls;
use dunnage_base::clock;
use dunnage_clients::secret::SecretFile;
use reqwest::{Client, RequestBuilder, redirect::Policy};
use schedule::{Named, Schedule};
use serde::Deserialize;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Largest number of messages that one downlink resolves: those of a device that wait.
const BATCH: usize = 32;

/// The output.
pub struct Downlink {
    way: Way,
    provider: Provider,
    input: Option<String>,
    schedule: Schedule,
    timeout: Duration,
}

/// How downlinks reach the provider.
enum Way {
    /// By requests of its API.
    Api(Client, Api),
    /// Over its broker.
    Broker(Box<Broker>),
}

/// The parts of a message's origin that inputs store (`spec/ingest.md`, "What is stored").
#[derive(Deserialize)]
struct Origin {
    input: String,
    provider: String,
    device_name: Option<String>,
    provider_device: Option<String>,
    external_id: Option<String>,
    topic: Option<String>,
}

/// The message to acknowledge.
struct Newest {
    /// Its place among the messages of the call.
    index: usize,
    name: u16,
    /// The provider's ID of the device; `None` if it is not known.
    device: Option<String>,
    /// The topic that carried the message, if one did.
    topic: Option<String>,
}

impl Downlink {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Downlink, String> {
        tls::prepare();
        settings.check()?;
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let way = match settings.is_over_broker() {
            true => Way::Broker(Box::new(Broker::new(settings)?)),
            false => {
                let client = Client::builder().http1_only().timeout(timeout).redirect(Policy::none());
                Way::Api(client.build().map_err(|e| e.to_string())?, Api::new(settings)?)
            }
        };
        let [interval, max_age] =
            [settings.interval_seconds, settings.max_age_seconds].map(Duration::from_secs);
        Ok(Downlink {
            way,
            provider: settings.provider,
            input: settings.input.clone(),
            schedule: Schedule::new(settings.every, interval, max_age).limited(settings.per_minute),
            timeout,
        })
    }

    /// Returns where a message came from, if it is one that this output acknowledges.
    fn origin(&self, message: &Message) -> Option<Origin> {
        message.name?;
        let origin: Origin = serde_json::from_str(message.origin.as_deref()?).ok()?;
        let is_mine = origin.provider == self.provider.name()
            && self.input.as_ref().is_none_or(|input| *input == origin.input);
        is_mine.then_some(origin)
    }

    /// Returns the newest of the messages that have a name, and what the schedule needs to know of all of them.
    fn newest<'m>(&self, messages: &'m [Message]) -> Option<(Newest, Named<'m>)> {
        let mine = |(index, message)| self.origin(message).map(|origin| (index, message, origin));
        let named: Vec<(usize, &Message, Origin)> = messages.iter().enumerate().filter_map(mine).collect();
        let count = u32::try_from(named.len()).unwrap_or(u32::MAX);
        let (index, message, origin) = named.into_iter().next_back()?;
        let device = match self.provider {
            Provider::TheThingsStack => origin.device_name,
            _ => {
                Some(origin.provider_device.or(origin.external_id).unwrap_or_else(|| message.device.clone()))
            }
        };
        let age = clock::now().saturating_sub(message.received_at).try_into().unwrap_or_default();
        let named = Named { device: &message.device, count, age: Duration::from_micros(age) };
        Some((Newest { index, name: message.name?, device, topic: origin.topic }, named))
    }

    async fn send(&self, newest: &Newest) -> Result<(), Failed> {
        let Some(device) = &newest.device else {
            return Err(Failed::refused("the origin of the message has no device_name"));
        };
        match &self.way {
            Way::Broker(broker) => broker.send(device, newest.topic.as_deref(), newest.name).await,
            Way::Api(client, api) => {
                for request in api.requests(client, device, newest.name)? {
                    call(api, request).await?;
                }
                Ok(())
            }
        }
    }
}

/// Sends a request of the API.
async fn call(api: &Api, request: RequestBuilder) -> Result<(), Failed> {
    let answer = request.send().await.map_err(|e| {
        let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
        Failed::retry(http::reason(&e.without_url())).because(class)
    })?;
    let (status, wait) = (answer.status(), http::retry_after(answer.headers()));
    let result = api.result(status, &http::read(answer).await);
    result.map_err(|failed| match wait {
        Some(_) if failed.kind != crate::FailureKind::Refused => failed.not_before(wait),
        _ => failed,
    })
}

#[async_trait::async_trait]
impl Output for Downlink {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: BATCH, linger: Duration::ZERO }
    }

    fn skip(&self, messages: &[Message]) -> bool {
        let Some((_, named)) = self.newest(messages) else { return true };
        let skips = !self.schedule.is_due(named, Instant::now());
        if skips {
            self.schedule.skipped(named);
        }
        skips
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let Some((newest, named)) = self.newest(messages) else { return Ok(()) };
        // Messages may have become too old since `skip`, and retried dead letters were not passed to it.
        if !self.schedule.is_due(named, Instant::now()) {
            return Ok(());
        }
        // Requests that fail count, too. Another call may have taken the last one.
        if !self.schedule.take(Instant::now()) {
            self.schedule.skipped(named);
            return Ok(());
        }
        match self.send(&newest).await {
            Ok(()) => {
                self.schedule.sent(named.device, Instant::now());
                Ok(())
            }
            // The newest name acknowledges those before it, too, so only its message becomes a dead letter.
            Err(failed) if failed.kind == crate::FailureKind::Refused => Err(failed.after(newest.index)),
            Err(failed) => Err(failed),
        }
    }

    fn deadline(&self) -> Duration {
        // Two requests: one to drop waiting downlinks, one for the new one.
        2 * self.timeout + Duration::from_secs(5)
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        match &self.way {
            Way::Api(_, api) => vec![Arc::clone(api.secret())],
            Way::Broker(broker) => broker.secrets(),
        }
    }
}
