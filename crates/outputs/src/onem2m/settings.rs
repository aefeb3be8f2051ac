//! The settings in `[output.onem2m]`.

use reqwest::Url;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# contentInstances in a oneM2M CSE. The AE and the containers are created if they are missing.
# [[output]]
# name = \"cse\"
# [output.onem2m]
# Over HTTP, or over MQTT: mqtt://HOST:PORT of the broker, with user and password_file if it requires them.
# url = \"http://127.0.0.1:8080\"
# The name of the CSE base in paths.
# cse = \"cse-in\"
# Its CSE-ID, for MQTT.
# cse_id = \"id-in\"
# The gateway's AE, its App-ID, and the originator of all requests.
# ae = \"dunnage\"
# app_id = \"Ndunnage\"
# originator = \"Cdunnage\"
# release = \"3\"
# The container of a device, below the AE. {path} is the path of its profile.
# container = \"{device}\"
# Limits of new containers: instances, bytes, seconds. Default: those of the CSE.
# mni = 100000
# mbs = 100000000
# mia = 2592000
# The content of con: object (the message's JSON), string (its text; tinyIoT needs it), or base64 (for a CSE that changes JSON).
# content = \"object\"
# The value of cnf. Default: none, and application/json:1 for base64.
# cnf = \"application/json:0\"
# The labels of an instance. Default: as many of these as fit into 200 characters, which Mobius stores.
# labels = [\"device\", \"received\", \"format\", \"schema\", \"link\", \"request\"]
# timeout_seconds = 10
";

/// The settings in `[output.onem2m]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The address of the CSE, `http://HOST:PORT`, or of its broker, `mqtt://HOST:PORT`.
    pub url: String,
    /// The user name at the broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A file with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// The name of the CSE base in paths.
    pub cse: String,
    /// The CSE-ID, which is part of the MQTT topics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cse_id: Option<String>,
    /// The name of the gateway's AE.
    #[serde(default = "ae")]
    pub ae: String,
    /// The App-ID of the AE: `N...`, or `R...` if it is registered.
    #[serde(default = "app_id")]
    pub app_id: String,
    /// The originator of requests: the AE-ID, `C...` or `S...`.
    #[serde(default = "originator")]
    pub originator: String,
    /// The oneM2M release of requests (`X-M2M-RVI`). The AE is registered with support for it.
    #[serde(default = "release")]
    pub release: String,
    /// The container of a device, below the AE: names separated by `/`. `{device}` is replaced by the device's ID, and `{path}` by the path
    /// of its profile (without a path, by no name).
    #[serde(default = "container")]
    pub container: String,
    /// Largest number of instances in a new container (`mni`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mni: Option<u64>,
    /// Largest number of bytes in a new container (`mbs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mbs: Option<u64>,
    /// Longest time that a new container keeps an instance, in seconds (`mia`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mia: Option<u64>,
    /// The content of an instance (`con`).
    #[serde(default)]
    pub content: Content,
    /// The content type of an instance (`cnf`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cnf: Option<String>,
    /// The labels of an instance (`lbl`). By default as many as fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<Label>>,
    /// Longest time to wait for a response.
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
}

/// The content of an instance (`con`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The message's JSON, unchanged.
    #[default]
    Object,
    /// A string with the message's JSON.
    String,
    /// A string with the message's JSON in base64.
    Base64,
}

/// A label: a property of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Its device.
    Device,
    /// When it arrived.
    Received,
    /// Its format.
    Format,
    /// Its schema.
    Schema,
    /// The link that carried it.
    Link,
    /// Its request ID.
    Request,
}

impl Label {
    /// All labels, the most important first.
    pub const ALL: [Label; 6] =
        [Label::Device, Label::Received, Label::Format, Label::Schema, Label::Link, Label::Request];
}

fn ae() -> String {
    "dunnage".into()
}

fn app_id() -> String {
    "Ndunnage".into()
}

fn originator() -> String {
    "Cdunnage".into()
}

fn release() -> String {
    "3".into()
}

fn container() -> String {
    "{device}".into()
}

fn timeout_seconds() -> u64 {
    10
}

impl Settings {
    /// Parses the address of the CSE or of the broker.
    pub fn address(&self) -> Result<Url, String> {
        let url = Url::parse(&self.url).map_err(|e| format!("url: {e}"))?;
        match (url.scheme(), url.host_str()) {
            ("http" | "https" | "mqtt", Some(_)) => Ok(url),
            _ => Err("url: must be http://HOST:PORT or mqtt://HOST:PORT".into()),
        }
    }

    /// Returns an error that names an invalid setting.
    pub fn check(&self) -> Result<(), String> {
        let address = self.address()?;
        let mqtt = address.scheme() == "mqtt";
        if self.user.is_some() && (!mqtt || !address.username().is_empty()) {
            return Err("user: needs an mqtt:// URL without a user in it".into());
        }
        if self.user.is_some() != self.password_file.is_some() {
            return Err("password_file: must be set if user is set, and only then".into());
        }
        let cse_id = self.cse_id.as_deref().map(|id| id.trim_start_matches('/'));
        if cse_id.map_or(mqtt, |id| !is_name(id)) {
            return Err("cse_id: must be the CSE-ID, such as id-in; MQTT needs it".into());
        }
        for (key, name) in [("cse", &self.cse), ("ae", &self.ae)] {
            if !is_name(name) {
                return Err(format!("{key}: {name:?} is not a valid name; use A-Z a-z 0-9 - . _ ~"));
            }
        }
        // A name with `{device}` in it is valid with any device if it is with one.
        let names: Vec<_> = self.container.split('/').filter(|name| *name != "{path}").collect();
        if names.is_empty() || !names.iter().all(|name| is_name(&name.replace("{device}", "d"))) {
            return Err(format!(
                "container: {:?} must be names separated by /, at least one of them not {{path}}",
                self.container
            ));
        }
        if !self.originator.starts_with(['C', 'S']) || !is_name(&self.originator) {
            return Err(format!(
                "originator: {:?} is not a valid AE-ID, which begins with C or S",
                self.originator
            ));
        }
        if !self.app_id.starts_with(['N', 'R']) || !is_name(&self.app_id) {
            return Err(format!("app_id: {:?} is not an App-ID, which begins with N or R", self.app_id));
        }
        if self.release.is_empty() || !self.release.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(format!("release: {:?} is not a valid release, such as 2a, 3 or 4", self.release));
        }
        if self.cnf.as_deref().is_some_and(|cnf| !is_content_info(cnf)) {
            return Err("cnf: must be TYPE/SUBTYPE:ENCODING, with an encoding of 0 (plain) to 2".into());
        }
        if self.timeout_seconds == 0 {
            return Err("timeout_seconds: must be at least 1".into());
        }
        Ok(())
    }
}

/// Returns whether `name` is valid as the name of a resource: unreserved characters of RFC 3986.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
}

/// Returns whether `text` is a contentInfo: a media type and an encoding (TS-0004, 6.3.3).
fn is_content_info(text: &str) -> bool {
    let Some((media, encoding)) = text.split_once(':') else { return false };
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let media = media.split_once('/').is_some_and(|(kind, sub)| part(kind) && part(sub));
    media && matches!(encoding, "0" | "1" | "2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_named() {
        let check = |text: &str| {
            let minimal = "url = 'http://h:1'\ncse = 'cse-in'\n".to_owned();
            let mut table: toml::Table = minimal.parse().unwrap();
            table.extend(text.parse::<toml::Table>().unwrap());
            table.try_into::<Settings>().unwrap().check()
        };
        for good in [
            "",
            "container = '{path}/a/{device}-x/b'",
            "release = '2a'",
            "cnf = 'text/plain:0'",
            "url = 'https://h'",
            "url = 'mqtt://h'\ncse_id = '/id-in'",
            "url = 'mqtt://h'\ncse_id = 'id-in'\nuser = 'u'\npassword_file = 'p'",
            "url = 'mqtt://u:p@h'\ncse_id = 'id-in'",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "url = 'ftp://h'",
            "url = 'http:'",
            "cse = ''",
            "cse_id = 'a/b'",
            "cse = 'a/b'",
            "ae = 'a b'",
            "app_id = 'x'",
            "originator = 'Me'",
            "release = ''",
            "container = 'a//b'",
            "container = '/{device}'",
            "container = '{link}'",
            "container = '{path}'",
            "cnf = 'application/json'",
            "timeout_seconds = 0",
            "user = 'u'\npassword_file = 'p'",
            "password_file = 'p'",
        ] {
            let key = bad.split(' ').next().unwrap();
            assert!(check(bad).unwrap_err().starts_with(key), "{bad}");
        }
        assert!(check("url = 'mqtt://h'").unwrap_err().starts_with("cse_id"));
        let mqtt = |more: &str| check(&format!("cse_id = 'id-in'\n{more}")).unwrap_err();
        assert!(mqtt("url = 'mqtt://u:p@h'\nuser = 'u'\npassword_file = 'p'").starts_with("user"));
        assert!(mqtt("url = 'mqtt://h'\nuser = 'u'").starts_with("password_file"));
    }
}
