//! The settings in `[output.objects]`.

use crate::records::{
    FileFormat,
    csv::{Formulas, Style},
};
use object_store::path::Path;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::{net::IpAddr, time::Duration};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Objects in S3, Google Cloud Storage or Azure: ndjson, csv or parquet, by schema and day. Credentials are in the environment.
# [[output]]
# name = \"lake\"
# [output.objects]
# url = \"s3://telemetry/gateway\"   # or gs://BUCKET/PREFIX, az://CONTAINER/PREFIX
# kind = \"parquet\"
# region = \"eu-west-1\"
# object_bytes = 16777216
# readable_after_seconds = 600
# Also endpoint, allow_http, and formulas and bom (csv): docs/outputs.md.
";

/// Largest number of bytes of the prefix. With partitions and name, a key must fit into S3's 1,024.
const PREFIX: usize = 512;

/// The settings in `[output.objects]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`.
    pub url: String,
    /// The format of the objects.
    pub kind: FileFormat,
    /// The region of an S3 bucket; by default `AWS_REGION`, or else `us-east-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The URL of the store's API, for stores other than those of Amazon, Google and Microsoft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Whether the endpoint may be another machine without TLS.
    #[serde(default)]
    pub allow_http: bool,
    /// What to do with texts in CSV that a spreadsheet would take for formulas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<Formulas>,
    /// Whether each CSV object begins with a byte order mark, for spreadsheets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bom: Option<bool>,
    /// How many bytes of messages in memory make objects before `readable_after_seconds`.
    #[serde(default = "object_bytes")]
    pub object_bytes: usize,
    /// How many seconds a message may wait for its object.
    #[serde(default = "readable_after_seconds")]
    pub readable_after_seconds: u64,
}

fn object_bytes() -> usize {
    16 << 20
}

fn readable_after_seconds() -> u64 {
    600
}

/// Whose protocol a store speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Amazon S3.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

/// A place for objects, as `url` names it.
#[derive(Debug, PartialEq)]
pub struct Destination {
    pub protocol: Protocol,
    pub bucket: String,
    pub prefix: Path,
}

impl Settings {
    /// Returns what `url` names. An error begins with the setting that cannot work.
    pub fn destination(&self) -> Result<Destination, String> {
        let url = Url::parse(&self.url).map_err(|e| format!("url: {e}"))?;
        let protocol = match url.scheme() {
            "s3" => Protocol::S3,
            "gs" => Protocol::Google,
            "az" => Protocol::Azure,
            _ => return Err("url: must begin with s3://, gs:// or az://".into()),
        };
        let extra = !url.username().is_empty() || url.password().is_some() || url.port().is_some();
        if extra || url.query().is_some() || url.fragment().is_some() {
            return Err("url: must be only a bucket and a prefix; credentials are in the environment".into());
        }
        let bucket = url.host_str().filter(|host| !host.is_empty());
        let bucket = bucket.ok_or("url: must name a bucket, as in s3://BUCKET/PREFIX")?.to_owned();
        let prefix = Path::from_url_path(url.path()).map_err(|e| format!("url: {e}"))?;
        if prefix.as_ref().len() > PREFIX {
            return Err(format!("url: the prefix must have at most {PREFIX} bytes"));
        }
        Ok(Destination { protocol, bucket, prefix })
    }

    /// Checks the settings that say where the store is.
    pub fn check_access(&self, protocol: Protocol) -> Result<(), String> {
        if self.region.is_some() && protocol != Protocol::S3 {
            return Err("region: needs a url that begins with s3://".into());
        }
        let Some(endpoint) = &self.endpoint else {
            let needless = "allow_http: needs an endpoint";
            return if self.allow_http { Err(needless.into()) } else { Ok(()) };
        };
        let endpoint = Url::parse(endpoint).map_err(|e| format!("endpoint: {e}"))?;
        match endpoint.scheme() {
            "https" => Ok(()),
            "http" if self.allow_http || is_loopback(&endpoint) => Ok(()),
            "http" => {
                Err("endpoint: http:// sends messages in the clear; use https://, or set allow_http = true"
                    .into())
            }
            _ => Err("endpoint: must begin with https:// or http://".into()),
        }
    }

    /// Checks the settings that say what is written.
    pub fn check_content(&self) -> Result<(), String> {
        let csv = self.kind == FileFormat::Csv;
        for (key, is_set) in [("formulas", self.formulas.is_some()), ("bom", self.bom.is_some())] {
            if is_set && !csv {
                return Err(format!("{key}: needs kind = \"csv\""));
            }
        }
        if !(1 << 20..=256 << 20).contains(&self.object_bytes) {
            return Err("object_bytes: must be 1048576 (1 MiB) to 268435456 (256 MiB)".into());
        }
        if !(1..=86_400).contains(&self.readable_after_seconds) {
            return Err("readable_after_seconds: must be 1 to 86400".into());
        }
        Ok(())
    }

    /// Returns how CSV is written.
    pub fn style(&self) -> Style {
        Style { formulas: self.formulas.unwrap_or_default(), bom: self.bom.unwrap_or_default() }
    }

    /// Returns the longest time of a request: enough for an object at 2 Mbit/s.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(30 + self.object_bytes as u64 / (256 << 10))
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
