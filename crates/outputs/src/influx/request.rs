//! Requests to the database.

use super::settings::{Api, Settings, Token};
use crate::{Class, Failed, http};
use dunnage_access::tls;
use dunnage_clients::{mqtt::Trust, secret::SecretFile};
use flate2::{Compression, write::GzEncoder};
use reqwest::{Client, StatusCode, Url, header, redirect::Policy};
use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// The database.
pub struct Server {
    url: Url,
    api: Api,
    /// The host and the path.
    shown: String,
    timeout: Duration,
    token: Option<Token>,
    ca: Option<Arc<SecretFile>>,
    /// The client, and how often the file with the certificates had changed when it was made.
    client: Mutex<(u64, Client)>,
}

/// Why a request was not taken.
#[derive(Debug)]
pub enum Fault {
    /// The database refuses at least one of the lines. It may have written the others.
    Line(String),
    /// The request is too large.
    Size(String),
    /// The request has failed.
    Server(Failed),
}

impl Server {
    /// Reads the settings, without connecting. An error begins with the setting that cannot work.
    pub fn new(settings: &Settings) -> Result<Server, String> {
        let (url, api) = settings.address()?;
        let (timeout, token, ca) = (settings.timeout()?, settings.token(api)?, settings.ca()?);
        let client = Mutex::new((0, client(timeout, ca.as_deref())?));
        Ok(Server { shown: http::shown(&url), url, api, timeout, token, ca, client })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        let token = match &self.token {
            Some(Token::File(file)) => Some(file),
            _ => None,
        };
        token.into_iter().chain(&self.ca).cloned().collect()
    }

    /// Returns the longest time of a request.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Posts lines.
    pub async fn write(&self, lines: &str) -> Result<(), Fault> {
        let retry = |reason: String| Fault::Server(Failed::retry(format!("{}: {reason}", self.shown)));
        let client = self.client().map_err(&retry)?;
        let body = gzip(lines).map_err(|e| retry(e.to_string()))?;
        let mut request = client.post(self.url.clone()).header(header::CONTENT_ENCODING, "gzip");
        request = request.header(header::CONTENT_TYPE, "text/plain; charset=utf-8");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token.header(self.api).map_err(&retry)?);
        }
        let answer = request.body(body).send().await.map_err(|e| {
            let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
            let reason = format!("{}: {}", self.shown, http::reason(&e.without_url()));
            Fault::Server(Failed::retry(reason).because(class))
        })?;
        let (status, wait) = (answer.status(), http::retry_after(answer.headers()));
        let text = http::read(answer).await;
        if status.is_success() {
            return Ok(());
        }
        let colon = if text.is_empty() { "" } else { ": " };
        let reason = format!("{} answered {status}{colon}{text}", self.shown);
        Err(match status {
            StatusCode::PAYLOAD_TOO_LARGE => Fault::Size(reason),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if is_about_lines(&text) => {
                Fault::Line(reason)
            }
            _ => {
                let failed = Failed::retry(reason).because(Class::of_status(status.as_u16()));
                Fault::Server(failed.not_before(wait))
            }
        })
    }

    /// Returns a client that trusts the current certificates.
    fn client(&self) -> Result<Client, String> {
        let changes = self.ca.as_ref().map_or(0, |file| file.changes());
        let mut current = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 != changes {
            *current = (changes, client(self.timeout, self.ca.as_deref())?);
        }
        Ok(current.1.clone())
    }
}

/// Whether the text of an answer is about the lines of the request: in JSON, or as VictoriaMetrics says it. A proxy, or a port with TLS, refuses
/// every request.
fn is_about_lines(text: &str) -> bool {
    text.starts_with('{') || text.contains("influx line")
}

fn client(timeout: Duration, ca: Option<&SecretFile>) -> Result<Client, String> {
    tls::prepare();
    let mut client = Client::builder().http1_only().timeout(timeout).redirect(Policy::none());
    if let Some(ca) = ca {
        let trust = Trust::new(Some(ca.text().as_bytes())).map_err(|e| format!("ca_file: {e}"))?;
        client = client.tls_backend_preconfigured((*trust.config()).clone());
    }
    client.build().map_err(|e| e.to_string())
}

fn gzip(lines: &str) -> std::io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(lines.as_bytes())?;
    gzip.finish()
}
