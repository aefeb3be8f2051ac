//! `[output.onem2m]`: contentInstances in a oneM2M CSE, over HTTP (TS-0009) or MQTT (TS-0010).
//!
//! Each device has a container below our AE. What is missing there is made when a message needs it, so that nothing has to
//! be prepared, and a CSE that came back empty is filled again. A message becomes an instance that is called by the message's
//! name: when it is sent again after an unknown outcome, the CSE answers that there is one, and it is not there twice.

mod http;
mod mqtt;
mod request;
mod resources;
mod settings;

pub use settings::{Content, EXAMPLE, Settings};

use super::{Class, Failed, FailureKind, Lanes, Message, Output, Shape};
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

/// Most tries of a request that makes what a message needs, and the longest wait behind the first of them.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(200);

/// A CSE, and our place in it.
pub struct OneM2m {
    resources: Resources,
    binding: Binding,
    /// Makes request identifiers differ from those of other gateways and of earlier starts.
    started: i64,
    requests: AtomicU64,
    duplicates: AtomicU64,
    timeout: Duration,
}

impl OneM2m {
    /// The CSE that `settings` name. An error says what is wrong with them.
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
            // A CSE that is starting may refuse anything: ACME does, until it has read which attributes there are. So it
            // has to be well enough to show the container, and to refuse once more.
            self.find(&container, &message.request).await?;
            answer = self.create(&instance, &message.request).await?;
        }
        match answer.meaning() {
            Meaning::Done => Ok(()),
            // Some CSEs say so of an instance that collides with others in something else than its name, and drop it.
            Meaning::Exists => {
                self.find(&instance.path(), &message.request).await?;
                self.duplicates.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Meaning::Unacceptable => Err(Failed::refused(answer.reason("creating", &instance.path()))),
            Meaning::Missing | Meaning::Unable => Err(answer.retry("creating", &instance.path())),
        }
    }

    /// Fails if the resource `path` cannot be retrieved.
    async fn find(&self, path: &str, request: &str) -> Result<(), Failed> {
        let answer = self.binding.send(&Request::retrieve(path, self.identifier(request))).await?;
        match answer.meaning() {
            Meaning::Done => Ok(()),
            _ => Err(answer.retry("looking for", path)),
        }
    }

    /// Makes the container `container` and what is missing above it.
    async fn make(&self, container: &str, request: &str) -> Result<(), Failed> {
        let above = self.resources.above(container);
        let mut made = above.len();
        // Outwards, until something can be made; most often that is the first.
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
        tracing::info!(container, "container made");
        Ok(())
    }

    /// Creates a resource, with a few tries. A message whose containers are missing needs several requests that succeed one after the
    /// other: were none of them repeated, a CSE that fails some of its requests would hardly ever get the first message, and the
    /// breaker would take it for one that is down. It did answer this call's first request, so it is not.
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
            tokio::time::sleep(PAUSE.mul_f64(fastrand::f64()) * tries).await;
            tries += 1;
        }
    }

    async fn create(&self, resource: &Resource, request: &str) -> Result<Answer, Failed> {
        self.binding.send(&Request::create(resource, self.identifier(request))).await
    }

    /// A request identifier: which request brought the message, and a part that no other try has.
    fn identifier(&self, request: &str) -> String {
        format!("{request}.{:x}.{:x}", self.started, self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

/// What carries requests and answers.
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

/// Whether a failure may pass by itself, and the CSE did not ask to wait.
fn passes(failed: &Failed) -> bool {
    let passing = matches!(failed.class, Class::Connection | Class::Timeout | Class::Failing | Class::Busy);
    passing && failed.kind == FailureKind::Retry(None)
}

/// Whether `resource` is there after `answer`. When it is not, that is no fault of the message, which waits.
fn there(answer: &Answer, resource: &Resource) -> Result<(), Failed> {
    match answer.meaning() {
        Meaning::Done | Meaning::Exists => Ok(()),
        _ => Err(answer.retry("creating", &resource.path())),
    }
}

#[async_trait::async_trait]
impl Output for OneM2m {
    fn shape(&self) -> Shape {
        Shape { lanes: Lanes::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    /// As long as all requests may take that a message can need, when its containers are missing too.
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
