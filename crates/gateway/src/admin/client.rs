//! A client of the admin socket of a running gateway.

use super::check_length;
use crate::config::Config;
use dunnage_access::tls;
use serde_json::Value;
use std::{
    io::ErrorKind,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

/// Why a request to a gateway failed.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The configuration has no admin socket.
    #[error("[admin] socket is empty, so commands cannot reach a running gateway")]
    Off,
    /// Nothing listens on the socket.
    #[error("no gateway is running: nothing listens on {0}")]
    NotRunning(PathBuf),
    /// The socket cannot be used.
    #[error("{path}: {message}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The gateway refused the request; its reason.
    #[error("the gateway refused the request: {0}")]
    Refused(String),
}

/// Sends requests to the gateway of a configuration.
pub struct AdminClient {
    http: reqwest::Client,
    path: PathBuf,
    base: reqwest::Url,
}

impl AdminClient {
    /// Creates a client for the gateway that runs with `config`. Fails if none is running.
    pub fn connect(config: &Config) -> Result<AdminClient, AdminError> {
        let path = config.admin_socket().ok_or(AdminError::Off)?;
        check_length(&path).map_err(|e| failed(&path, e.message))?;
        match UnixStream::connect(&path) {
            Ok(_) => {}
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Err(AdminError::NotRunning(std::path::absolute(&path).unwrap_or(path)));
            }
            Err(e) => return Err(failed(&path, e)),
        }
        tls::prepare();
        let http = reqwest::Client::builder().unix_socket(path.as_path()).build();
        // HTTP requires a host; the socket ignores it.
        let base = reqwest::Url::parse("http://gateway/").map_err(|e| failed(&path, e))?;
        Ok(AdminClient { http: http.map_err(|e| failed(&path, e))?, path, base })
    }

    /// Sends a `GET` for the path `what` with a query.
    pub async fn get(&self, what: &str, query: &[(&str, String)]) -> Result<Value, AdminError> {
        self.ask(self.http.get(self.url(what, query))).await
    }

    /// Sends a `POST` to the path `what` with a query. There is no timeout.
    pub async fn post(&self, what: &str, query: &[(&str, String)]) -> Result<Value, AdminError> {
        self.ask(self.http.post(self.url(what, query))).await
    }

    /// Sends a `POST` with a body to the path `what` with a query. There is no timeout.
    pub async fn send(
        &self,
        what: &str,
        query: &[(&str, String)],
        body: impl Into<reqwest::Body>,
    ) -> Result<Value, AdminError> {
        let request = self.http.post(self.url(what, query)).header("Content-Type", "application/json");
        self.ask(request.body(body)).await
    }

    async fn ask(&self, request: reqwest::RequestBuilder) -> Result<Value, AdminError> {
        let answer = request.send().await.map_err(|e| failed(&self.path, e))?;
        let success = answer.status().is_success();
        let value: Value = answer.json().await.map_err(|e| failed(&self.path, e))?;
        match success {
            true => Ok(value),
            false => Err(AdminError::Refused(value["detail"].as_str().unwrap_or("it gave no reason").into())),
        }
    }

    fn url(&self, what: &str, query: &[(&str, String)]) -> reqwest::Url {
        let mut url = self.base.clone();
        url.set_path(what);
        url.query_pairs_mut().extend_pairs(query);
        url
    }
}

fn failed(path: &Path, error: impl std::fmt::Display) -> AdminError {
    AdminError::Socket { path: path.to_owned(), message: error.to_string() }
}
