//! Connections that settings describe: the address of a broker, a user, and files with the password and the certificates to trust. The
//! broker input and the MQTT and downlink outputs have these settings in common.

use crate::{
    mqtt::{Options, Trust, Version},
    secret::{self, SecretFile},
};
use std::{path::Path, sync::Arc};
use url::Url;

/// The settings of a connection to a broker.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'s> {
    /// `mqtt://HOST:PORT`, or `mqtts://HOST:PORT` for TLS.
    pub url: &'s str,
    /// The user name, together with a password.
    pub user: Option<&'s str>,
    /// A file with the password.
    pub password_file: Option<&'s Path>,
    /// A PEM file with the certificates to trust instead of the system's.
    pub ca_file: Option<&'s Path>,
}

/// How to connect to a broker.
pub struct Connector {
    options: Options,
    password: Option<Arc<SecretFile>>,
    ca: Option<Arc<SecretFile>>,
}

impl Connector {
    /// Reads the files of `settings`. An error begins with the key of the wrong setting. The broker may still be down.
    pub fn new(settings: &Settings<'_>, version: Version, client_id: &str) -> Result<Connector, String> {
        let open = |key, path: Option<&Path>, check| {
            path.map(|path| SecretFile::open(key, path.to_owned(), check)).transpose()
        };
        Ok(Connector {
            options: options(settings, version, client_id)?,
            password: open("password_file", settings.password_file, secret::any)?,
            ca: open("ca_file", settings.ca_file, secret::certificates)?,
        })
    }

    /// Returns the options of a connection that begins now. Reads the files again, so that a password that has changed is used without a
    /// reload.
    pub fn options(&self) -> Result<Options, String> {
        let mut options = self.options.clone();
        if let (Some((_, password)), Some(file)) = (&mut options.login, &self.password) {
            *password = file.read_again().as_bytes().to_vec();
        }
        if let Some(file) = &self.ca {
            options.tls = Some(Trust::new(Some(file.read_again().as_bytes()))?);
        }
        Ok(options)
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.password.iter().chain(&self.ca).cloned().collect()
    }
}

/// Returns the options of the connection, without the contents of files.
fn options(settings: &Settings<'_>, version: Version, client_id: &str) -> Result<Options, String> {
    let bad = |why: &dyn std::fmt::Display| format!("url: {:?}: {why}", settings.url);
    let url = Url::parse(settings.url).map_err(|e| bad(&e))?;
    let tls = match url.scheme() {
        "mqtt" => false,
        "mqtts" => true,
        _ => return Err(bad(&"must begin with mqtt:// or mqtts://")),
    };
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad(&"has no host"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad(&"must not have a user or password; set user and password_file"));
    }
    let port = url.port().unwrap_or(if tls { 8883 } else { 1883 });
    let mut options = Options::new(version, client_id, host, port);
    options.login = match (settings.user, settings.password_file) {
        // The password is read from its file when a connection begins.
        (Some(user), Some(_)) => Some((user.to_owned(), Vec::new())),
        (None, None) => None,
        (Some(_), None) => return Err("password_file: must be set together with user".into()),
        (None, Some(_)) => return Err("user: must be set together with password_file".into()),
    };
    options.tls = match (tls, settings.ca_file) {
        (false, Some(_)) => return Err("ca_file: requires an mqtts:// URL".into()),
        (false, None) | (true, Some(_)) => None,
        (true, None) => Some(Trust::new(None)?),
    };
    Ok(options)
}
