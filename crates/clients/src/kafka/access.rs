//! Addresses of brokers, certificates to trust, and passwords.

use super::{Error, Kind};
use crate::{mqtt::Trust, secret::SecretFile};
use serde::{Deserialize, Serialize};
use std::{fmt, net::IpAddr, sync::Arc};

/// The address of a broker.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// Name or IP address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Address {
    /// Reads `HOST:PORT`; an IPv6 address is in brackets.
    pub fn parse(text: &str) -> Result<Address, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let Some((host, port)) = parts.filter(|(_, port)| *port != 0) else {
            return Err(format!("{text:?} must be HOST:PORT"));
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_plain = bare.parse::<IpAddr>().is_ok()
            || (bare == host && !host.is_empty() && !host.contains(['/', ':', '[', ']', '@', ' ']));
        if !is_plain || (bare == host && host.contains(':')) {
            return Err(format!("{text:?} must be HOST:PORT, without a scheme"));
        }
        Ok(Address { host: bare.to_owned(), port })
    }

    /// Returns whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// How brokers are accessed.
pub struct Access {
    /// The certificates to trust; `None` without TLS.
    pub tls: Option<Certificates>,
    /// The user, if the brokers require one.
    pub login: Option<Login>,
    /// Whether a login may go to another machine without TLS.
    pub login_in_the_clear: bool,
}

/// The certificates to trust.
pub enum Certificates {
    /// The system's.
    System(Trust),
    /// Those in a PEM file. A new connection reads it again.
    File(Arc<SecretFile>),
}

/// A user, and how it is authenticated.
pub struct Login {
    /// The mechanism of SASL.
    pub mechanism: Mechanism,
    /// The user.
    pub user: String,
    /// The password.
    pub password: Password,
}

/// Where a password is.
pub enum Password {
    /// In a file. A new connection reads it again.
    File(Arc<SecretFile>),
    /// Here.
    Text(String),
}

/// A mechanism of SASL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mechanism {
    /// The password as it is (RFC 4616).
    #[serde(rename = "plain")]
    Plain,
    /// A proof of the password (RFC 5802, RFC 7677).
    #[serde(rename = "scram-sha-256")]
    ScramSha256,
    /// The same with SHA-512.
    #[serde(rename = "scram-sha-512")]
    ScramSha512,
}

impl Mechanism {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::ScramSha256 => "SCRAM-SHA-256",
            Mechanism::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

impl Password {
    pub(super) fn text(&self) -> Arc<String> {
        match self {
            Password::File(file) => file.read_again(),
            Password::Text(text) => Arc::new(text.clone()),
        }
    }
}

impl Access {
    /// Returns access with TLS, with `ca` or else the system's certificates; without TLS if `tls` is false.
    pub fn new(
        tls: bool,
        ca: Option<Arc<SecretFile>>,
        login: Option<Login>,
        login_in_the_clear: bool,
    ) -> Result<Access, String> {
        let tls = match (tls, ca) {
            (true, Some(file)) => Some(Certificates::File(file)),
            (true, None) => Some(Certificates::System(Trust::new(None).map_err(|e| format!("tls: {e}"))?)),
            (false, Some(_)) => return Err("ca_file: requires tls = true".into()),
            (false, None) => None,
        };
        Ok(Access { tls, login, login_in_the_clear })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        let ca = match &self.tls {
            Some(Certificates::File(file)) => Some(file),
            _ => None,
        };
        let password = match &self.login {
            Some(Login { password: Password::File(file), .. }) => Some(file),
            _ => None,
        };
        ca.into_iter().chain(password).cloned().collect()
    }

    pub(super) fn trust(&self) -> Result<Option<Trust>, Error> {
        match &self.tls {
            None => Ok(None),
            Some(Certificates::System(trust)) => Ok(Some(trust.clone())),
            Some(Certificates::File(file)) => {
                let trust = Trust::new(Some(file.read_again().as_bytes()));
                trust.map(Some).map_err(|e| Error::new(Kind::Connection, e))
            }
        }
    }

    /// Returns the login for the broker at `address`, which may be one that another broker has named.
    pub(super) fn login(&self, address: &Address) -> Result<Option<&Login>, Error> {
        let is_safe = self.tls.is_some() || self.login_in_the_clear || address.is_loopback();
        if self.login.is_some() && !is_safe {
            let why = "the brokers name this address, to which no password goes without tls = true";
            return Err(Error::new(Kind::Denied, format!("{address}: {why}")));
        }
        Ok(self.login.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports() {
        for (text, host, port) in [
            ("127.0.0.1:9092", "127.0.0.1", 9092),
            ("[::1]:9093", "::1", 9093),
            ("broker-1.example.org:9", "broker-1.example.org", 9),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((&*address.host, address.port), (host, port));
            assert_eq!(address.to_string(), text);
        }
        for text in [
            "",
            "host",
            ":9092",
            "host:",
            "host:0",
            "host:65536",
            "::1:9092",
            "SSL://host:9093",
            "u@h:1",
            "[h]:1",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_goes_to_another_machine_only_over_tls_or_if_that_is_allowed() {
        let login = || Login {
            mechanism: Mechanism::Plain,
            user: "u".into(),
            password: Password::Text("hidden".into()),
        };
        let far = Address { host: "203.0.113.1".into(), port: 9092 };
        let near = Address { host: "127.0.0.1".into(), port: 9092 };
        let access = Access::new(false, None, Some(login()), false).unwrap();
        assert!(access.login(&near).unwrap().is_some());
        let error = access.login(&far).err().unwrap();
        assert_eq!(error.kind, Kind::Denied);
        assert!(!error.reason.contains("hidden"), "{error}");
        let allowed = Access::new(false, None, Some(login()), true).unwrap();
        assert!(allowed.login(&far).unwrap().is_some());
    }
}
