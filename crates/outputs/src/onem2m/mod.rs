//! The output `[output.onem2m]`: creates contentInstances in a oneM2M CSE, over HTTP (TS-0009) or MQTT (TS-0010).
//!
//! Each device has a container below the AE of the gateway. The AE and containers are created when a message needs them, so nothing has to
//! be prepared, and a CSE that has lost its data is filled again. The name of an instance is the stable ID of its message: if a message is
//! sent again after an unknown outcome, the CSE reports a conflict and does not store it twice.

mod http;
mod mqtt;
mod request;
mod resources;
mod settings;

pub use settings::{Content, EXAMPLE, Settings};

use super::{Class, Failed, FailureKind, Message, Output, Partitions, Shape};
use dunnage_clients::secret::SecretFile;
use http::Http;
use mqtt::Mqtt;
use request::{Answer, Meaning, Request};
use resources::{Resource, Resources};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How often a request for a resource that a message needs is sent, and the longest delay after the first attempt.
const TRIES: u32 = 4;
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// The output.
pub struct OneM2m {
    resources: Resources,
    binding: Binding,
    /// The start time. It distinguishes request identifiers from those of other gateways and earlier starts.
    started: i64,
    requests: AtomicU64,
    duplicates: AtomicU64,
    timeout: Duration,
}

impl OneM2m {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<OneM2m, String> {
        settings.check()?;
        Ok(OneM2m {
            resources: Resources::new(settings),
            binding: Binding::new(settings)?,
            started: dunnage_base::clock::now(),
            requests: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            timeout: Duration::from_secs(settings.timeout_seconds),
        })
    }

    async fn put(&self, message: &Message) -> Result<(), Failed> {
        let container = self.resources.container(message);
        let instance = self.resources.instance(&container, message).map_err(Failed::refused)?;
        let mut answer = self.create(&instance, &message.request).await?;
        if answer.meaning() == Meaning::Missing {
            self.make(&container, &message.request).await?;
            answer = self.insist(&instance, &message.request).await?;
        }
        if answer.meaning() == Meaning::Unacceptable {
            // A CSE that is starting may reject anything: ACME does, until it has read its attribute definitions. So the message is
            // rejected only if the CSE can retrieve the container and then rejects the instance again.
            self.find(&container, &message.request).await?;
            answer = self.create(&instance, &message.request).await?;
        }
        match answer.meaning() {
            Meaning::Done => Ok(()),
            // Some CSEs report a conflict for an instance that collides in something other than its name, and drop it. So check that the
            // instance exists.
            Meaning::Exists => {
                self.find(&instance.path(), &message.request).await?;
                self.duplicates.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Meaning::Unacceptable => Err(Failed::refused(answer.reason("creating", &instance.path()))),
            Meaning::Missing | Meaning::Unable => Err(answer.retry("creating", &instance.path())),
        }
    }

    /// Returns an error if the resource `path` cannot be retrieved.
    async fn find(&self, path: &str, request: &str) -> Result<(), Failed> {
        let answer = self.binding.send(&Request::retrieve(path, self.identifier(request))).await?;
        match answer.meaning() {
            Meaning::Done => Ok(()),
            _ => Err(answer.retry("retrieving", path)),
        }
    }

    /// Creates the container `container` and what is missing above it.
    async fn make(&self, container: &str, request: &str) -> Result<(), Failed> {
        let above = self.resources.above(container);
        let mut made = above.len();
        // Go up until a resource can be created; usually that is the first.
        loop {
            made -= 1;
            let answer = self.insist(&above[made], request).await?;
            if made > 0 && answer.meaning() == Meaning::Missing {
                continue;
            }
            there(&answer, &above[made])?;
            break;
        }
        for resource in &above[made + 1..] {
            there(&self.insist(resource, request).await?, resource)?;
        }
        tracing::info!(container, "a container was created");
        Ok(())
    }

    /// Creates a resource, with a few attempts.
    ///
    /// A message whose containers are missing needs several successful requests in a row. Without these attempts, a CSE that fails some of
    /// its requests would hardly ever get the first message, and the breaker would consider it down. It is not down, because it has
    /// answered the first request of this call.
    async fn insist(&self, resource: &Resource, request: &str) -> Result<Answer, Failed> {
        let mut tries = 1;
        loop {
            let answer = self.create(resource, request).await;
            let failed = match &answer {
                Ok(answer) if answer.meaning() == Meaning::Unable => {
                    Some(answer.retry("creating", &resource.path()))
                }
                Ok(_) => None,
                Err(failed) => Some(failed.clone()),
            };
            let again = failed.is_some_and(|failed| passes(&failed));
            if !again || tries == TRIES {
                return answer;
            }
            tokio::time::sleep(RETRY_DELAY.mul_f64(fastrand::f64()) * tries).await;
            tries += 1;
        }
    }

    async fn create(&self, resource: &Resource, request: &str) -> Result<Answer, Failed> {
        self.binding.send(&Request::create(resource, self.identifier(request))).await
    }

    /// Returns a request identifier: the request ID of the message, and a part that is unique to each attempt.
    fn identifier(&self, request: &str) -> String {
        format!("{request}.{:x}.{:x}", self.started, self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

/// The transport of requests and responses.
enum Binding {
    Http(Http),
    Mqtt(Mqtt),
}

impl Binding {
    fn new(settings: &Settings) -> Result<Binding, String> {
        match settings.address()?.scheme() {
            "mqtt" => Mqtt::new(settings).map(Binding::Mqtt),
            _ => Http::new(settings).map(Binding::Http),
        }
    }

    async fn send(&self, request: &Request<'_>) -> Result<Answer, Failed> {
        match self {
            Binding::Http(http) => http.send(request).await,
            Binding::Mqtt(mqtt) => mqtt.send(request).await,
        }
    }
}

/// Returns whether a failure may pass by itself, and the CSE did not ask for a delay.
fn passes(failed: &Failed) -> bool {
    let passing = matches!(failed.class, Class::Connection | Class::Timeout | Class::Failing | Class::Busy);
    passing && failed.kind == FailureKind::Retry(None)
}

/// Checks that `resource` exists after `answer`. If it does not, the message is retried, because that is not its fault.
fn there(answer: &Answer, resource: &Resource) -> Result<(), Failed> {
    match answer.meaning() {
        Meaning::Done | Meaning::Exists => Ok(()),
        _ => Err(answer.retry("creating", &resource.path())),
    }
}

#[async_trait::async_trait]
impl Output for OneM2m {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    /// Returns enough time for all requests that a message can need, including those for missing containers.
    fn deadline(&self) -> Duration {
        self.timeout.saturating_mul(10)
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        match &self.binding {
            Binding::Http(_) => Vec::new(),
            Binding::Mqtt(mqtt) => mqtt.secrets(),
        }
    }

    fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        for (delivered, message) in messages.iter().enumerate() {
            self.put(message).await.map_err(|failed| failed.after(delivered))?;
        }
        Ok(())
    }
}
