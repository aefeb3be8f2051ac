//! The satellite provider: it receives a container's message and posts it to the gateway's webhook, as Astrocast does.

use super::Http;
use crate::{demo::report::Report, failure::Failure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// The header that carries the provider's token.
pub const HEADER: &str = "x-provider-token";

/// The file with the provider's token, in the gateway's folder.
const TOKEN: &str = "provider.token";

/// A simulated satellite provider.
pub struct Satellite {
    http: Http,
    url: String,
    token: String,
    /// Part of every message's GUID, so that no two runs share one.
    run: u128,
    next: AtomicU64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Push<'a> {
    message_guid: String,
    device_guid: &'a str,
    latitude: f64,
    longitude: f64,
    data: String,
}

impl Satellite {
    /// A provider that posts to `url` with the token from the folder `data`.
    pub fn new(http: Http, url: String, data: &Path) -> Result<Satellite, Failure> {
        let file = data.join(TOKEN);
        let token = fs::read_to_string(&file).map_err(|e| Failure::about(file.display(), e))?;
        let run = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        Ok(Satellite { http, url, token: token.trim().into(), run, next: AtomicU64::new(0) })
    }

    /// Writes a new token, shared by the gateway and its provider, into the folder `data`. Returns the path of the file.
    pub fn agree(data: &Path) -> Result<PathBuf, Failure> {
        let file = data.join(TOKEN);
        let failed = |e| Failure::about(file.display(), e);
        fs::create_dir_all(data).map_err(failed)?;
        fs::write(&file, format!("{:032x}\n", fastrand::u128(..))).map_err(failed)?;
        Ok(file)
    }

    /// Posts a report to the gateway's webhook.
    pub fn send(&self, report: &Report) -> Result<(), String> {
        let (latitude, longitude) = report.position;
        let push = Push {
            message_guid: format!("{}-{}", self.run, self.next.fetch_add(1, Ordering::Relaxed)),
            device_guid: &report.device,
            latitude,
            longitude,
            data: BASE64_STANDARD.encode(&report.body),
        };
        let body = serde_json::to_vec(&push).map_err(|e| e.to_string())?;
        self.http.post(&self.url, "application/json", &body, Some((HEADER, &self.token)))
    }
}
