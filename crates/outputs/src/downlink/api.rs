//! The requests of each provider's downlink API, and the meaning of its answers.
//!
//! - ChirpStack 4 (`api/proto/api/device.proto`, chirpstack-rest-api): `POST /api/devices/{dev_eui}/queue` enqueues, `DELETE` flushes.
//! - The Things Stack 3 (thethingsindustries.com/docs, "Scheduling Downlinks"): `down/push` enqueues, `down/replace` replaces.
//! - RockBLOCK (docs.groundcontrol.com, "Sending MT Messages - HTTP POST"): a form; `flush=yes` replaces. The status is 200 also for
//!   errors; the text begins with `OK` or `FAILED`.
//! - Astrocast (docs.astrocast.com, "API", "Push notifications"): a command has 8 or 40 bytes. The request that creates one is not
//!   published with the other pages; this one follows the fields of the notification.

use super::{
    broker::the_things_stack,
    settings::{Provider, Settings, is_segment},
};
use crate::{Class, Failed, http};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use dunnage_clients::secret::SecretFile;
use reqwest::{
    Client, RequestBuilder, StatusCode, Url,
    header::{self, HeaderValue},
};
use serde_json::json;
use std::sync::Arc;

/// The bytes of Astrocast's smallest command.
const COMMAND: usize = 8;

/// The downlink API of a provider.
pub struct Api {
    provider: Provider,
    url: Url,
    /// The API key, or the password.
    secret: Arc<SecretFile>,
    /// The parts of the path before the device's, for The Things Stack.
    application: String,
    webhook: String,
    /// The user name, for RockBLOCK.
    user: String,
    port: u8,
    replace: bool,
}

impl Api {
    /// Creates the API that the settings describe. An error begins with the key.
    pub fn new(settings: &Settings) -> Result<Api, String> {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        let (key, path) = match settings.provider {
            Provider::Rockblock => ("password_file", &settings.password_file),
            _ => ("token_file", &settings.token_file),
        };
        let path = path.clone().ok_or_else(|| format!("{key}: must be set"))?;
        Ok(Api {
            provider: settings.provider,
            url: settings.address()?,
            secret: SecretFile::open(key, path, |text| header_value(text).map(drop))?,
            application: of(&settings.application),
            webhook: of(&settings.webhook),
            user: of(&settings.user),
            port: settings.port,
            replace: settings.replaces(),
        })
    }

    /// Returns the file with the API key or the password.
    pub fn secret(&self) -> &Arc<SecretFile> {
        &self.secret
    }

    /// Returns the requests that send `name` to the device with the provider's ID `device`, in their order.
    pub fn requests(&self, client: &Client, device: &str, name: u16) -> Result<Vec<RequestBuilder>, Failed> {
        if !is_segment(device) {
            return Err(Failed::refused(format!("{device:?} is not the ID of a device")));
        }
        let bytes = name.to_be_bytes();
        Ok(match self.provider {
            Provider::Chirpstack => {
                let url = self.below(&["api", "devices", device, "queue"])?;
                let item = json!({"confirmed": false, "data": BASE64.encode(bytes), "fPort": self.port});
                let flush = self.replace.then(|| client.delete(url.clone()));
                let enqueue = client.post(url).json(&json!({"queueItem": item}));
                let key = self.bearer()?;
                let sign =
                    |request: RequestBuilder| request.header("grpc-metadata-authorization", key.clone());
                flush.into_iter().chain([enqueue]).map(sign).collect()
            }
            Provider::TheThingsStack => {
                let (application, webhook) = (&*self.application, &*self.webhook);
                let how = if self.replace { "replace" } else { "push" };
                let mut path = vec!["api", "v3", "as", "applications", application, "webhooks", webhook];
                path.extend(["devices", device, "down", how]);
                let downlinks = the_things_stack(&BASE64.encode(bytes), self.port);
                let request = client.post(self.below(&path)?).json(&downlinks);
                vec![request.header(header::AUTHORIZATION, self.bearer()?)]
            }
            Provider::Rockblock => {
                let (data, password) = (dunnage_base::hex::hex(&bytes), self.secret.text());
                let mut form = vec![("imei", device), ("username", &self.user), ("password", &password)];
                form.push(("data", &data));
                if self.replace {
                    form.push(("flush", "yes"));
                }
                let body = serde_urlencoded::to_string(form).map_err(|e| Failed::refused(e.to_string()))?;
                let kind = "application/x-www-form-urlencoded";
                vec![client.post(self.url.clone()).header(header::CONTENT_TYPE, kind).body(body)]
            }
            Provider::Astrocast => {
                let data = BASE64.encode(bytes.repeat(COMMAND / bytes.len()));
                let body = json!({"deviceGuid": device, "data": data});
                let key = header_value(&self.secret.text()).map_err(Failed::retry)?;
                vec![client.post(self.url.clone()).header("x-api-key", key).json(&body)]
            }
        })
    }

    /// Converts the provider's answer to a result.
    pub fn result(&self, status: StatusCode, text: &str) -> Result<(), Failed> {
        if status.is_success() {
            return match self.provider {
                Provider::Rockblock => rockblock(text),
                _ => Ok(()),
            };
        }
        let reason = format!("the provider answered {status}: {text}");
        Err(match status {
            StatusCode::BAD_REQUEST
            | StatusCode::NOT_FOUND
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => Failed::refused(reason),
            _ => Failed::retry(reason),
        }
        .because(Class::of_status(status.as_u16())))
    }

    /// Returns a URL below that of the API. No segment can begin another one, a query or a fragment.
    fn below(&self, segments: &[&str]) -> Result<Url, Failed> {
        let mut url = self.url.clone();
        match url.path_segments_mut() {
            Ok(mut path) => path.pop_if_empty().extend(segments),
            Err(()) => return Err(Failed::refused("url: has no path")),
        };
        Ok(url)
    }

    fn bearer(&self) -> Result<HeaderValue, Failed> {
        http::bearer(&self.secret.text()).map_err(Failed::retry)
    }
}

fn header_value(text: &str) -> Result<HeaderValue, String> {
    if text.is_empty() {
        return Err("is empty".into());
    }
    let mut value = HeaderValue::from_str(text).map_err(|_| "has characters that no header can have")?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the result of RockBLOCK's answer: `OK,ID` or `FAILED,CODE,TEXT`.
fn rockblock(text: &str) -> Result<(), Failed> {
    let mut parts = text.trim().splitn(3, ',');
    let (status, code) = (parts.next(), parts.next().and_then(|code| code.trim().parse().ok()));
    let reason = format!("the provider answered {text}");
    Err(match (status, code) {
        (Some("OK"), _) => return Ok(()),
        // Invalid login; insufficient credit; an internal error.
        (Some("FAILED"), Some(10)) => Failed::retry(reason).because(Class::Denied),
        (Some("FAILED"), Some(13)) => Failed::retry(reason).because(Class::Denied),
        (Some("FAILED"), Some(99)) => Failed::retry(reason).because(Class::Failing),
        // No such device, or none with a contract; data that it does not accept.
        (Some("FAILED"), Some(11..=16)) => Failed::refused(reason),
        _ => Failed::retry(reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[test]
    fn answers_of_rockblock_are_read_with_status_200() {
        let kind = |text: &str| rockblock(text).map_err(|failed| (failed.kind, failed.class));
        assert_eq!(kind("OK,4114651"), Ok(()));
        assert_eq!(kind("OK,4114651\r\n"), Ok(()));
        let (again, refused) = (FailureKind::Retry(None), FailureKind::Refused);
        assert_eq!(kind("FAILED,10,Invalid login credentials"), Err((again, Class::Denied)));
        assert_eq!(
            kind("FAILED,11,No RockBLOCK with this IMEI found on your account"),
            Err((refused, Class::Other))
        );
        assert_eq!(kind("FAILED,13,Your account has insufficient credit"), Err((again, Class::Denied)));
        assert_eq!(kind("FAILED,99,System Error"), Err((again, Class::Failing)));
        for strange in ["", "OKAY", "FAILED", "FAILED,x", "FAILED,17,new", "<html>"] {
            assert_eq!(kind(strange), Err((again, Class::Other)), "{strange}");
        }
    }
}
