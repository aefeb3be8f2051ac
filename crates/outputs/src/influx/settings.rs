//! The settings in `[output.influx]`.

use dunnage_access::is_loopback_host;
use dunnage_clients::secret::{self, SecretFile};
use reqwest::{Url, header::HeaderValue};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Points in InfluxDB 1, 2 or 3, VictoriaMetrics or Telegraf, in InfluxDB's line protocol: a measurement for each schema, with typed fields.
# [[output]]
# name = \"points\"
# [output.influx]
# url = \"http://127.0.0.1:8086/api/v2/write?org=acme&bucket=telemetry\"   # or /write?db=telemetry
# timeout_seconds = 10
# Also token_file, token_variable, ca_file: docs/outputs.md.
";

/// The settings in `[output.influx]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The URL to write to: `.../write?db=DATABASE`, or `.../api/v2/write?org=ORGANIZATION&bucket=BUCKET`.
    pub url: String,
    /// A file with the token, or with `USER:PASSWORD` for `/write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// An environment variable with the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_variable: Option<String>,
    /// Certificates to trust, as PEM; by default the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// Longest time to wait for a response.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

fn timeout_seconds() -> u64 {
    10
}

/// The request that a database takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// `/write`
    V1,
    /// `/api/v2/write`
    V2,
}

/// The token, or the user and the password.
pub(super) enum Token {
    File(Arc<SecretFile>),
    Variable(String),
}

impl Settings {
    pub(super) fn timeout(&self) -> Result<Duration, String> {
        match self.timeout_seconds {
            0 => Err("timeout_seconds: must be at least 1".into()),
            seconds => Ok(Duration::from_secs(seconds)),
        }
    }

    /// Returns the URL with the precision of the timestamps, and the request that it takes.
    pub(super) fn address(&self) -> Result<(Url, Api), String> {
        let mut url = Url::parse(&self.url).map_err(|e| format!("url: {e}"))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err("url: must begin with http:// or https://".into());
        }
        let has_token = self.token_file.is_some() || self.token_variable.is_some();
        if url.scheme() == "http" && has_token && !url.host_str().is_some_and(is_loopback_host) {
            return Err("url: http:// sends the token in the clear; use https://".into());
        }
        let api = match url.path() {
            path if path.ends_with("/api/v2/write") => Api::V2,
            path if path.ends_with("/write") => Api::V1,
            _ => return Err("url: must have the path /write or /api/v2/write".into()),
        };
        let secret = url.query_pairs().any(|(key, _)| ["u", "p"].contains(&&*key));
        if secret || !url.username().is_empty() || url.password().is_some() {
            return Err("url: must have no user and no password; they belong into token_file".into());
        }
        // Without them the server refuses every message, as it refuses a bad one.
        let has = |name: &str| url.query_pairs().any(|(key, value)| key == name && !value.is_empty());
        match api {
            Api::V1 if !has("db") => {
                return Err("url: must have the database, as in /write?db=telemetry".into());
            }
            Api::V2 if !has("bucket") || !(has("org") || has("orgID")) => {
                let example = "/api/v2/write?org=acme&bucket=telemetry";
                return Err(format!("url: must have the organization and the bucket, as in {example}"));
            }
            _ if has("precision") => return Err("url: must not have a precision; it is nanoseconds".into()),
            _ => {}
        }
        url.query_pairs_mut().append_pair("precision", if api == Api::V1 { "n" } else { "ns" });
        Ok((url, api))
    }

    /// Opens the token, if there is one.
    pub(super) fn token(&self, api: Api) -> Result<Option<Token>, String> {
        let check: fn(&str) -> Result<(), String> = match api {
            Api::V1 => |text| api_header(Api::V1, text),
            Api::V2 => |text| api_header(Api::V2, text),
        };
        Ok(Some(match (&self.token_file, &self.token_variable) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return Err("token_file, token_variable: only one may be set".into()),
            (Some(path), None) => Token::File(SecretFile::open("token_file", path.clone(), check)?),
            (None, Some(variable)) => {
                let text = std::env::var(variable).map_err(|e| format!("token_variable: {variable}: {e}"))?;
                check(&text).map_err(|e| format!("token_variable: {e}"))?;
                Token::Variable(text)
            }
        }))
    }

    /// Opens the file with the certificates to trust, if there is one.
    pub(super) fn ca(&self) -> Result<Option<Arc<SecretFile>>, String> {
        let path = self.ca_file.clone();
        path.map(|path| SecretFile::open("ca_file", path, secret::certificates)).transpose()
    }
}

impl Token {
    /// Returns the value of `Authorization`.
    pub fn header(&self, api: Api) -> Result<HeaderValue, String> {
        match self {
            Token::File(file) => header(api, &file.text()),
            Token::Variable(text) => header(api, text),
        }
    }
}

fn api_header(api: Api, text: &str) -> Result<(), String> {
    header(api, text).map(drop)
}

/// Returns the value of `Authorization`: InfluxDB 1 knows users with passwords, its successors tokens.
fn header(api: Api, text: &str) -> Result<HeaderValue, String> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let value = match api {
        Api::V1 if !text.contains(':') => return Err("must be USER:PASSWORD, because url has /write".into()),
        Api::V1 => format!("Basic {}", STANDARD.encode(text)),
        Api::V2 => format!("Token {text}"),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| "is not a valid token".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> Settings {
        toml::from_str(&format!("url = {url:?}")).unwrap()
    }

    #[test]
    fn the_url_says_which_request_and_which_database() {
        for (url, expected, api) in [
            ("http://h:8086/write?db=a&rp=b", "http://h:8086/write?db=a&rp=b&precision=n", Api::V1),
            (
                "https://h/influx/api/v2/write?orgID=1&bucket=a%2Fb",
                "https://h/influx/api/v2/write?orgID=1&bucket=a%2Fb&precision=ns",
                Api::V2,
            ),
        ] {
            let (found, of) = settings(url).address().unwrap();
            assert_eq!((found.as_str(), of), (expected, api));
        }
    }

    #[test]
    fn an_error_names_the_key_and_has_no_secret() {
        for (url, why) in [
            ("h/write", "url: relative"),
            ("udp://h/write?db=a", "url: must begin"),
            ("http://h:8086", "url: must have the path"),
            ("http://h:8086/query?db=a", "url: must have the path"),
            ("http://h/write", "url: must have the database"),
            ("http://h/write?db=", "url: must have the database"),
            ("http://h/api/v2/write?bucket=a", "url: must have the organization"),
            ("http://h/write?db=a&precision=s", "url: must not have a precision"),
            ("http://h/write?db=a&u=x&p=hidden", "url: must have no user"),
            ("http://x:hidden@h/write?db=a", "url: must have no user"),
        ] {
            let error = settings(url).address().unwrap_err();
            assert!(error.starts_with(why) && !error.contains("hidden"), "{url}: {error}");
        }
        let named = |url: &str| Settings { token_variable: Some("PATH".into()), ..settings(url) };
        assert!(named("http://h/write?db=a").address().unwrap_err().contains("in the clear"));
        for url in ["http://127.0.0.1/write?db=a", "http://[::1]:1/write?db=a", "https://h/write?db=a"] {
            assert!(named(url).address().is_ok(), "{url}");
        }
        assert!(Settings { timeout_seconds: 0, ..settings("http://h/write") }.timeout().is_err());
    }

    #[test]
    fn version_1_has_users_and_the_others_tokens() {
        assert_eq!(header(Api::V1, "u:p:q").unwrap(), "Basic dTpwOnE=");
        assert_eq!(header(Api::V2, "u:p").unwrap(), "Token u:p");
        assert!(header(Api::V1, "secret").unwrap_err().starts_with("must be USER:PASSWORD"));
        assert_eq!(header(Api::V2, "a\nb").unwrap_err(), "is not a valid token");
    }
}
