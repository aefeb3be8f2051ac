//! The output `[output.http]`: posts to a URL, with a signature if a secret is set.

mod signature;

use super::{Class, Failed, FailureKind, Message, Output, Partitions, Shape, envelope};
use dunnage_access::tls;
use dunnage_base::clock;
use dunnage_clients::secret::SecretFile;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{self, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use signature::Secret;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# POST to any URL, as JSON; if batch > 1, as lines of JSON (application/x-ndjson).
# [[output]]
# name = \"archive\"
# [output.http]
# url = \"https://example.org/telemetry\"
# timeout_seconds = 10
# batch = 1
# Also a secret for signatures (Standard Webhooks), a bearer token and further headers: docs/outputs.md.
";

/// Largest number of messages in a request.
const BATCH: usize = 10_000;
/// How long a batch waits for more messages.
const LINGER: Duration = Duration::from_millis(200);
/// How many bytes of a response body are read, and how many are shown.
const READ_BYTES: usize = 64 << 10;
const SHOWN_BYTES: usize = 200;

/// The settings in `[output.http]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The URL to post to.
    pub url: String,
    /// Longest time to wait for a response.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Largest number of messages in a request, 1 to 10,000. If it is more than one, requests are sent one after the other,
    /// except those of a device whose messages fail.
    #[serde(default = "batch")]
    pub batch: usize,
    /// A file with the secret for signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// An environment variable with the secret for signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_variable: Option<String>,
    /// A file with a bearer token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Additional headers of every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

fn timeout_seconds() -> u64 {
    10
}

fn batch() -> usize {
    1
}

/// The output.
pub struct Http {
    client: Client,
    url: Url,
    /// The host and path of the URL, without parts that may be secret.
    shown: String,
    secret: Option<Signer>,
    token: Option<Arc<SecretFile>>,
    batch: usize,
    timeout: Duration,
    duplicates: AtomicU64,
}

impl Http {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Http, String> {
        tls::prepare();
        let url = Url::parse(&settings.url).map_err(|e| format!("url: {e}"))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err("url: must begin with http:// or https://".into());
        }
        if !(1..=BATCH).contains(&settings.batch) {
            return Err(format!("batch: must be 1 to {BATCH}"));
        }
        if settings.timeout_seconds == 0 {
            return Err("timeout_seconds: must be at least 1".into());
        }
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let client = Client::builder()
            .http1_only()
            .timeout(timeout)
            .redirect(Policy::none())
            .default_headers(headers(settings)?);
        Ok(Http {
            client: client.build().map_err(|e| e.to_string())?,
            shown: shown(&url),
            url,
            secret: secret(settings)?,
            token: token(settings)?,
            batch: settings.batch,
            timeout,
            duplicates: AtomicU64::new(0),
        })
    }

    async fn post(&self, messages: &[Message]) -> Result<(), Failed> {
        let mut body = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            write(message, &mut body).map_err(|e| Failed::refused(e.to_string()).after(at))?;
            if self.batch > 1 {
                body.push(b'\n');
            }
        }
        let id = name(messages);
        let media_type = if self.batch > 1 { "application/x-ndjson" } else { "application/json" };
        let mut request = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, media_type);
        request = request.header("idempotency-key", &id);
        if let [message] = messages {
            request = request.header("x-request-id", &message.request);
        }
        if let Some(token) = &self.token {
            let token = bearer(&token.text()).map_err(Failed::retry)?;
            request = request.header(header::AUTHORIZATION, token);
        }
        if let Some(secret) = &self.secret {
            let secret = secret.now().map_err(Failed::retry)?;
            let timestamp = clock::now() / 1_000_000;
            let signature = secret.sign(&id, timestamp, &body);
            request = request.header("webhook-timestamp", timestamp).header("webhook-signature", signature);
            request = request.header("webhook-id", &id);
        }
        let answer = request.body(body).send().await.map_err(|e| {
            let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
            Failed::retry(format!("{}: {}", self.shown, reason(&e.without_url()))).because(class)
        })?;
        let status = answer.status();
        let wait = retry_after(answer.headers());
        let text = read(answer).await;
        if status == StatusCode::CONFLICT && messages.len() == 1 {
            self.duplicates.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        if status.is_success() {
            return Ok(());
        }
        let text = if text.is_empty() { text } else { format!(": {text}") };
        let reason = format!("{} answered {status}{text}", self.shown);
        Err(match status {
            // For a batch, a conflict does not tell which messages the receiver has.
            StatusCode::CONFLICT
            | StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => Failed::refused(reason),
            _ => Failed::retry(reason).because(Class::of_status(status.as_u16())).not_before(wait),
        })
    }
}

/// Returns the headers of every request.
fn headers(settings: &Settings) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let failed = |e: &dyn std::fmt::Display| format!("headers: {name:?}: {e}");
        let value = HeaderValue::from_str(value).map_err(|e| failed(&e))?;
        headers.insert(name.parse::<HeaderName>().map_err(|e| failed(&e))?, value);
    }
    Ok(headers)
}

/// Opens the file of the bearer token, if there is one.
fn token(settings: &Settings) -> Result<Option<Arc<SecretFile>>, String> {
    let path = settings.token_file.clone();
    path.map(|path| SecretFile::open("token_file", path, |text| bearer(text).map(|_| ()))).transpose()
}

/// Returns the value of `Authorization` with a bearer token.
pub(crate) fn bearer(token: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| "is not a valid token".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// The source of the secret for signatures.
enum Signer {
    /// A file, which may change.
    File(Arc<SecretFile>),
    /// The content of an environment variable.
    Variable(String),
}

impl Signer {
    /// Returns the current secret.
    fn now(&self) -> Result<Secret, &'static str> {
        match self {
            Signer::File(file) => Secret::parse(&file.text()),
            Signer::Variable(text) => Secret::parse(text),
        }
    }
}

fn secret(settings: &Settings) -> Result<Option<Signer>, String> {
    let check = |text: &str| Secret::parse(text).map(|_| ()).map_err(str::to_owned);
    Ok(Some(match (&settings.secret_file, &settings.secret_variable) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err("secret_file, secret_variable: only one may be set".into()),
        (Some(path), None) => Signer::File(SecretFile::open("secret_file", path.clone(), check)?),
        (None, Some(variable)) => {
            let text = std::env::var(variable).map_err(|e| format!("secret_variable: {variable}: {e}"))?;
            check(&text).map_err(|e| format!("secret_variable: {e}"))?;
            Signer::Variable(text)
        }
    }))
}

fn write(message: &Message, body: &mut Vec<u8>) -> serde_json::Result<()> {
    match message.mapped() {
        Some(mapped) => body.extend_from_slice(mapped.as_bytes()),
        None => envelope::write(message, body)?,
    }
    Ok(())
}

/// Returns the idempotency key of a request, which is the same for the same messages.
fn name(messages: &[Message]) -> String {
    if let [message] = messages {
        return message.stable_id.clone();
    }
    let mut hash = Sha256::new();
    for message in messages {
        hash.update(&message.stable_id);
        hash.update([0]);
    }
    format!("b{}", dunnage_base::hex::hex(&hash.finalize()[..16]))
}

/// Returns the beginning of a response body as one line. Reads on to [`READ_BYTES`], so that the connection can be reused.
pub(crate) async fn read(mut answer: Response) -> String {
    let (mut text, mut length) = (Vec::new(), 0);
    while length < READ_BYTES
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        length += chunk.len();
        text.extend_from_slice(&chunk[..chunk.len().min(SHOWN_BYTES - text.len())]);
    }
    String::from_utf8_lossy(&text).replace(char::is_control, " ")
}

/// Describes an error with its causes.
pub(crate) fn reason(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the time to wait by `Retry-After`, a number of seconds or a date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let seconds = text.parse().ok().map(Duration::from_secs);
    seconds.or_else(|| httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok())
}

#[async_trait::async_trait]
impl Output for Http {
    fn shape(&self) -> Shape {
        match self.batch {
            1 => Shape { partitions: Partitions::PerDevice, batch: 1, linger: Duration::ZERO },
            batch => Shape { partitions: Partitions::Together, batch, linger: LINGER },
        }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let Err(failed) = self.post(messages).await else { return Ok(()) };
        if failed.kind != FailureKind::Refused {
            return Err(failed);
        }
        // Bisect the batch to find the rejected message.
        if messages.len() > 1 {
            let (first, second) = messages.split_at(messages.len() / 2);
            self.deliver(first).await?;
            return self.deliver(second).await.map_err(|failed| {
                let delivered = first.len() + failed.delivered;
                failed.after(delivered)
            });
        }
        Err(failed)
    }

    fn deadline(&self) -> Duration {
        // Finding one message of a batch takes two requests for each bisection.
        self.timeout * (2 * self.batch.ilog2() + 1) + Duration::from_secs(5)
    }

    fn secrets(&self) -> Vec<Arc<SecretFile>> {
        let signs = match &self.secret {
            Some(Signer::File(file)) => Some(file),
            _ => None,
        };
        self.token.iter().chain(signs).cloned().collect()
    }

    fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }
}

/// Returns the parts of `url` that are not secret: host, port and path.
pub(crate) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path())
}
