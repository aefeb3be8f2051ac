//! Code that the NATS output and the NATS input share: the connection, and the headers and subjects of messages in a stream.

use crate::secret::{self, SecretFile};
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use dunnage_access::tls;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest, Sha256};
use std::{path::Path, sync::Arc, time::Duration};

/// Headers of a message in a stream. `Nats-Msg-Id` is its stable ID, `Content-Type` the media type of its payload.
pub mod header {
    /// The device's ID.
    pub const DEVICE: &str = "Dunnage-Device";
    /// When its last byte arrived at the first gateway, in microseconds since 1970 (UTC).
    pub const RECEIVED_AT: &str = "Dunnage-Received-At";
    /// The format in which the device sent it.
    pub const FORMAT: &str = "Dunnage-Format";
    /// Its schema's name.
    pub const SCHEMA: &str = "Dunnage-Schema";
    /// The link that carried it.
    pub const LINK: &str = "Dunnage-Link";
    /// Its request ID.
    pub const REQUEST: &str = "X-Request-Id";
    /// The name of the device in the register, percent-encoded.
    pub const DEVICE_NAME: &str = "Dunnage-Device-Name";
    /// The tags of the device in the register, as a JSON object.
    pub const TAGS: &str = "Dunnage-Tags";
    /// The origin as reported by the input: an object, as compact JSON.
    pub const ORIGIN: &str = "Dunnage-Origin";
    /// The format of the payload.
    pub const CONTENT_TYPE: &str = "Content-Type";
}

/// Longest wait for a connection, and longest pause between two attempts.
const CONNECT: Duration = Duration::from_secs(5);
const ATTEMPTS: Duration = Duration::from_secs(2);
/// How often a silent server is pinged.
const PING: Duration = Duration::from_secs(10);

/// Addresses and credentials of the servers, from the settings.
pub struct Access<'a> {
    /// URLs: `nats://HOST:PORT`, or `tls://HOST:PORT`.
    pub servers: &'a [String],
    /// A credentials file.
    pub credentials: Option<&'a Path>,
    /// A file that holds a token.
    pub token_file: Option<&'a Path>,
    /// Certificates to trust, as PEM.
    pub ca_file: Option<&'a Path>,
}

/// Servers of one cluster.
pub struct Servers {
    addresses: Vec<ServerAddr>,
    credentials: Option<Arc<SecretFile>>,
    token: Option<Arc<SecretFile>>,
    ca: Option<Arc<SecretFile>>,
}

impl Servers {
    /// Reads the files that `access` names, without connecting. An error begins with the setting that cannot work.
    pub fn new(access: &Access<'_>) -> Result<Servers, String> {
        if access.servers.is_empty() {
            return Err("servers: must not be empty".into());
        }
        let address = |url: &String| url.parse::<ServerAddr>().map_err(|e| format!("servers: {url:?}: {e}"));
        let open = |key, path: Option<&Path>, check| {
            path.map(|path| SecretFile::open(key, path.to_owned(), check)).transpose()
        };
        let ca = open("ca_file", access.ca_file, secret::certificates)?;
        let token = open("token_file", access.token_file, secret::any)?;
        let credentials = open("credentials", access.credentials, |text| {
            ConnectOptions::with_credentials(text).map(|_| ()).map_err(|e| e.to_string())
        })?;
        Ok(Servers {
            addresses: access.servers.iter().map(address).collect::<Result<_, _>>()?,
            credentials,
            token,
            ca,
        })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.credentials.iter().chain(&self.token).chain(&self.ca).cloned().collect()
    }

    /// Returns how often these have changed. A client that was made before a change keeps using the old ones.
    pub fn changes(&self) -> u64 {
        self.credentials.iter().chain(&self.token).chain(&self.ca).map(|file| file.changes()).sum()
    }

    /// Creates a client with the name `name` in the servers' lists. It connects in the background and reconnects when the connection is
    /// lost.
    pub async fn connect(&self, name: &str) -> Result<Client, String> {
        tls::prepare();
        let log = name.to_owned();
        let mut options = ConnectOptions::new()
            .name(format!("dunnage {name}"))
            .retry_on_initial_connect()
            .connection_timeout(CONNECT)
            .ping_interval(PING)
            .reconnect_delay_callback(|attempts| {
                ATTEMPTS.min(Duration::from_millis(50) * u32::try_from(attempts).unwrap_or(u32::MAX).min(100))
            })
            .event_callback(move |event| {
                tell(&log, &event);
                std::future::ready(())
            });
        if let Some(text) = &self.credentials {
            options = options.credentials(&text.text()).map_err(|e| e.to_string())?;
        }
        if let Some(token) = &self.token {
            options = options.token(String::clone(&token.text()));
        }
        if let Some(ca) = &self.ca {
            options = options.add_root_certificates(ca.path().to_owned()).require_tls(true);
        }
        options.connect(&self.addresses[..]).await.map_err(|e| e.to_string())
    }
}

fn tell(name: &str, event: &Event) {
    match event {
        Event::Connected | Event::LameDuckMode | Event::Draining | Event::Closed => {
            tracing::info!(name, %event, "NATS");
        }
        Event::Disconnected | Event::SlowConsumer(_) | Event::ServerError(_) | Event::ClientError(_) => {
            tracing::warn!(name, %event, "NATS");
        }
    }
}

/// The characters that a device's ID has unchanged in a subject and in a header. The others are percent-encoded (RFC 3986, 2.1).
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b':').remove(b'-');
const PLAIN_OR_DOT: &AsciiSet = &PLAIN.remove(b'.');

/// Encodes a device's ID as one token of a subject.
pub fn token_of(device: &str) -> String {
    utf8_percent_encode(device, PLAIN).to_string()
}

/// Encodes a device's ID as the value of a header, where a dot is not special.
pub fn header_of(device: &str) -> String {
    utf8_percent_encode(device, PLAIN_OR_DOT).to_string()
}

/// Decodes a token, or the value of a header, to the device's ID. One that is not UTF-8 becomes an empty text, which is not a device ID.
pub fn device_of(token: &str) -> String {
    percent_decode_str(token).decode_utf8().map_or_else(|_| String::new(), Into::into)
}

/// Returns the partition, of `partitions`, of a device's messages: the first 8 bytes of the ID's SHA-256, as a big-endian number, modulo
/// `partitions`.
pub fn partition_of(device: &str, partitions: u64) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&Sha256::digest(device)[..8]);
    u64::from_be_bytes(first) % partitions.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_one_token_and_comes_back() {
        for device in ["buoy-7", "urn:imei:356938035643809", "a.b..c_d", "x%2", "Käse 1", "a/b>*", "\u{200b}"]
        {
            assert!(!token_of(device).contains(['.', ' ', '*', '>']), "{device}");
            assert_eq!(device_of(&token_of(device)), device);
            assert!(header_of(device).is_ascii());
            assert_eq!(device_of(&header_of(device)), device);
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_no_device() {
        assert_eq!(device_of("a%FF"), "");
    }

    #[test]
    fn a_partition_is_what_sha256_says() {
        // printf buoy-7 | sha256sum
        assert_eq!(partition_of("buoy-7", 1 << 32), u64::from_str_radix(BUOY_7, 16).unwrap() % (1 << 32));
        assert_eq!(partition_of("buoy-7", 1), 0);
        let mut counts = [0; 4];
        (0..400).for_each(|n| counts[partition_of(&format!("d{n}"), 4) as usize] += 1);
        assert!(counts.iter().all(|count| *count > 60), "{counts:?}");
    }

    const BUOY_7: &str = "312be1dbac9d7fa1";

    #[test]
    fn settings_that_cannot_work_say_which() {
        let none = Access { servers: &[], credentials: None, token_file: None, ca_file: None };
        let servers = ["nats://127.0.0.1:4222".to_owned()];
        let missing = Some(Path::new("/nowhere/to/be/found"));
        for (access, key) in [
            (Access { ..none }, "servers"),
            (Access { servers: &["nats://:x".to_owned()], ..none }, "servers"),
            (Access { servers: &servers, credentials: missing, ..none }, "credentials"),
            (Access { servers: &servers, token_file: missing, ..none }, "token_file"),
            (Access { servers: &servers, ca_file: missing, ..none }, "ca_file"),
        ] {
            let message = Servers::new(&access).err().unwrap();
            assert!(message.starts_with(key), "{message}");
        }
    }
}
