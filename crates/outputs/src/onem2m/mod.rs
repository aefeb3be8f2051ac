//! The output `[output.onem2m]`: creates contentInstances in a oneM2M CSE, over HTTP (TS-0009) or MQTT (TS-0010).
//!
//! Each device has a container below the AE of the gateway. The AE and containers are created when a message needs them, so nothing has to
//! be prepared, and a CSE that has lost its data is filled again. The name of an instance is the stable ID of its message: if a message is
//! sent again after an unknown outcome, the CSE reports a conflict and does not store it twice. After a conflict, the instance is
//! retrieved, because a CSE may have the name without the content.

mod http;
mod mqtt;
mod refusals;
mod request;
mod resources;
mod settings;

pub use settings::{Content, EXAMPLE, Settings};

use super::{Class, Failed, FailureKind, Message, Output, Partitions, Shape};
use dunnage_clients::secret::SecretFile;
use http::Http;
use mqtt::Mqtt;
use refusals::Refusals;
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
/// How many names an instance may have, and how long the CSE may take to add the content to a name.
const NAMES: usize = 3;
const HALF: Duration = Duration::from_secs(1);

/// The output.
pub struct OneM2m {
    resources: Resources,
    binding: Binding,
    /// The start time. It distinguishes request identifiers from those of other gateways and earlier starts.
    started: i64,
    requests: AtomicU64,
    duplicates: AtomicU64,
    refusals: Refusals,
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
            refusals: Refusals::default(),
            timeout: Duration::from_secs(settings.timeout_seconds),
        })
    }

    async fn put(&self, message: &Message) -> Result<(), Failed> {
        let container = self.resources.container(message);
        let mut waited = false;
        for copy in 0..NAMES {
            let instance = self.resources.instance(&container, message, copy).map_err(Failed::refused)?;
            let answer = self.put_instance(&container, &instance, &message.request).await?;
            match answer.meaning() {
                Meaning::Done => {
                    self.refusals.created(&message.stable_id);
                    return Ok(());
                }
                Meaning::Exists => {}
                Meaning::Unacceptable => {
                    let reason = answer.reason("creating", &instance.path());
                    return Err(Failed::refused(reason + self.resources.advice(&answer.detail)));
                }
                Meaning::Unable if answer.is_internal_error() => {
                    // Mobius has the same answer for values that its tables cannot hold as for a database that is down.
                    let reason = answer.reason("creating", &instance.path());
                    return Err(match self.refusals.refused(&message.stable_id) {
                        true => Failed::refused(reason + ", each time, while it created other instances"),
                        false => answer.retry("creating", &instance.path()),
                    });
                }
                Meaning::Missing | Meaning::Unable => return Err(answer.retry("creating", &instance.path())),
            }
            // Some CSEs report a conflict for an instance that collides in something other than its name, and drop it. So check that the
            // instance exists. Mobius may have the name only: it stores that first, and then the content, which can fail.
            let mut found = self.find(&instance.path(), &message.request).await?;
            if !found.has_size && !std::mem::replace(&mut waited, true) {
                tokio::time::sleep(HALF).await;
                found = self.find(&instance.path(), &message.request).await?;
            }
            if found.has_size {
                self.duplicates.fetch_add(1, Ordering::Relaxed);
                self.refusals.created(&message.stable_id);
                return Ok(());
            }
            tracing::warn!(
                instance = instance.path(),
                request = message.request,
                "the CSE has an instance without its content (no cs); the message gets another name"
            );
        }
        let path = format!("{container}/{}", message.stable_id);
        Err(Failed::refused(format!(
            "creating {path}: the CSE stores the name and not the content (no cs), also under {} other names",
            NAMES - 1
        )))
    }

    /// Creates an instance, and its container if that is missing.
    async fn put_instance(
        &self,
        container: &str,
        instance: &Resource,
        request: &str,
    ) -> Result<Answer, Failed> {
        let mut answer = self.create(instance, request).await?;
        if answer.meaning() == Meaning::Missing {
            self.make(container, request).await?;
            answer = self.insist(instance, request).await?;
        }
        if answer.meaning() == Meaning::Unacceptable {
            // A CSE that is starting may reject anything: ACME does, until it has read its attribute definitions. So the message is
            // rejected only if the CSE can retrieve the container and then rejects the instance again. tinyIoT looks at the instance before
            // it looks for the container.
            let found = self.retrieve(container, request).await?;
            match found.meaning() {
                Meaning::Done => {}
                Meaning::Missing => self.make(container, request).await?,
                _ => return Err(found.retry("retrieving", container)),
            }
            answer = self.create(instance, request).await?;
        }
        Ok(answer)
    }

    /// Returns the resource `path`, or an error if it cannot be retrieved.
    async fn find(&self, path: &str, request: &str) -> Result<Answer, Failed> {
        let answer = self.retrieve(path, request).await?;
        match answer.meaning() {
            Meaning::Done => Ok(answer),
            _ => Err(answer.retry("retrieving", path)),
        }
    }

    async fn retrieve(&self, path: &str, request: &str) -> Result<Answer, Failed> {
        self.binding.send(&Request::retrieve(path, self.identifier(request))).await
    }

    /// Creates the container `container` and the missing containers above it.
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

/// Returns whether a retry may succeed, and the CSE did not ask for a delay.
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
        self.timeout.saturating_mul(20)
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
