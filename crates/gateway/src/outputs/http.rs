//! `[output.http]`: POST to any URL, a message a request.

use super::{Class, Failed, Lanes, Message, Output, Shape};
use crate::{clock::rfc3339, tls};
use reqwest::{Client, StatusCode, Url, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;

/// What the commented default configuration says.
pub const EXAMPLE: &str = "\
# POST to any URL, a message a request, as JSON.
# [[output]]
# name = \"archive\"
# [output.http]
# url = \"https://example.org/telemetry\"
# timeout_seconds = 10
";

/// `[output.http]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where to.
    pub url: String,
    /// Longest wait for an answer.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

fn timeout_seconds() -> u64 {
    10
}

/// An HTTP server.
pub struct Http {
    client: Client,
    url: Url,
}

#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    device: &'a str,
    received_at: String,
    format: &'a str,
    schema: Option<&'a str>,
    link: Option<&'a str>,
    request: &'a str,
    value: &'a RawValue,
}

impl Http {
    /// The server that `settings` names. An error says what is wrong with them.
    pub fn new(settings: &Settings) -> Result<Http, String> {
        tls::prepare();
        let url = Url::parse(&settings.url).map_err(|e| format!("url: {e}"))?;
        let client = Client::builder().timeout(Duration::from_secs(settings.timeout_seconds)).build();
        Ok(Http { client: client.map_err(|e| e.to_string())?, url })
    }

    async fn post(&self, message: &Message) -> Result<(), Failed> {
        let value = serde_json::from_str(&message.json).map_err(|e| Failed::refused(e.to_string()))?;
        let body = Body {
            name: &message.name,
            device: &message.device,
            received_at: rfc3339(message.received_at),
            format: &message.format,
            schema: message.schema.as_deref(),
            link: message.link.as_deref(),
            request: &message.request,
            value,
        };
        let request = self.client.post(self.url.clone()).json(&body);
        let answer = request
            .header("idempotency-key", &message.name)
            .header("x-request-id", &message.request)
            .send()
            .await
            .map_err(|e| {
                let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
                Failed::retry(e.to_string()).because(class)
            })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let reason = format!("{} answers {status}", self.url);
        Err(match status {
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => Failed::refused(reason),
            _ => Failed::retry(reason)
                .because(Class::of_status(status.as_u16()))
                .not_before(retry_after(answer.headers())),
        })
    }
}

/// `Retry-After`, when it is in seconds.
pub fn retry_after(headers: &header::HeaderMap) -> Option<Duration> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

#[async_trait::async_trait]
impl Output for Http {
    fn shape(&self) -> Shape {
        Shape { lanes: Lanes::PerDevice, batch: 1, linger: Duration::ZERO }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        for (delivered, message) in messages.iter().enumerate() {
            self.post(message).await.map_err(|failed| failed.after(delivered))?;
        }
        Ok(())
    }
}
