//! Connections to the server.

use super::{fault, settings::Settings};
use crate::{Class, Failed};
use dunnage_clients::{
    mqtt::Trust,
    secret::{self, SecretFile},
};
use std::{sync::Arc, time::Duration};
use tokio::task::AbortHandle;
use tokio_postgres::{
    Client, Config,
    config::{Host, SslMode},
    tls::NoTls,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Longest wait for a connection, and for the answer to what was sent.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(30);

/// What every connection begins with. A commit must be on the server's disk, whatever its default is. The server gives up before the output
/// does, so that no statement outlives its call for long.
const BEGIN: &str = "SET TIME ZONE 'UTC'; SET statement_timeout = '50s'; SET lock_timeout = '30s'; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// The server, from the settings.
pub struct Server {
    config: Config,
    password: Option<Password>,
    ca: Option<Arc<SecretFile>>,
    /// The hosts and the database.
    shown: String,
}

enum Password {
    File(Arc<SecretFile>),
    Variable(String),
}

/// A connection, which ends when it is dropped.
pub struct Session {
    pub client: Client,
    connection: AbortHandle,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Server {
    /// Reads the settings, without connecting. An error begins with the setting that cannot work, and has no secrets.
    pub fn new(settings: &Settings) -> Result<Server, String> {
        let mut config = parse(&settings.url)?;
        let password = match (&settings.password_file, &settings.password_variable) {
            (None, None) => None,
            (Some(_), Some(_)) => return Err("password_file, password_variable: only one may be set".into()),
            (Some(path), None) => {
                Some(Password::File(SecretFile::open("password_file", path.clone(), secret::any)?))
            }
            (None, Some(variable)) => {
                let text =
                    std::env::var(variable).map_err(|e| format!("password_variable: {variable}: {e}"))?;
                Some(Password::Variable(text))
            }
        };
        if password.is_some() && config.get_password().is_some() {
            return Err("url: must not have a password beside password_file or password_variable".into());
        }
        let ca = settings.ca_file.clone();
        let ca = ca.map(|path| SecretFile::open("ca_file", path, secret::certificates)).transpose()?;
        if config.get_application_name().is_none() {
            config.application_name("dunnage");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(ANSWER);
        Ok(Server { shown: shown(&config), config, password, ca })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        let password = match &self.password {
            Some(Password::File(file)) => Some(file),
            _ => None,
        };
        password.into_iter().chain(&self.ca).cloned().collect()
    }

    /// Connects.
    pub async fn connect(&self) -> Result<Session, Failed> {
        let mut config = self.config.clone();
        if let Some(password) = &self.password {
            match password {
                Password::File(file) => config.password(&*file.text()),
                Password::Variable(text) => config.password(text),
            };
        }
        let failed = |e: &tokio_postgres::Error| fault::connection(e, &self.shown);
        let session = match config.get_ssl_mode() {
            SslMode::Disable => {
                let (client, connection) = config.connect(NoTls).await.map_err(|e| failed(&e))?;
                Session { client, connection: run(connection) }
            }
            _ => {
                let pem = self.ca.as_ref().map(|file| file.text());
                let trust = Trust::new(pem.as_ref().map(|pem| pem.as_bytes()));
                let trust = trust.map_err(|e| Failed::retry(e).because(Class::Connection))?;
                let tls = MakeRustlsConnect::new((*trust.config()).clone());
                let (client, connection) = config.connect(tls).await.map_err(|e| failed(&e))?;
                Session { client, connection: run(connection) }
            }
        };
        session.client.batch_execute(BEGIN).await.map_err(|e| failed(&e))?;
        Ok(session)
    }
}

/// Runs a connection in the background.
fn run(connection: impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static) -> AbortHandle {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to PostgreSQL ended");
        }
    })
    .abort_handle()
}

/// Reads a URL. Without `sslmode`, connections to other machines need TLS, and those to this one have none. A certificate is always verified.
fn parse(url: &str) -> Result<Config, String> {
    if !["postgresql://", "postgres://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err("url: must begin with postgresql://".into());
    }
    let known =
        url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    let mut config: Config = known.parse().map_err(|e: tokio_postgres::Error| {
        format!("url: {}", std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string))
    })?;
    if config.get_hosts().is_empty() {
        return Err("url: must name a host".into());
    }
    let local = config.get_hosts().iter().all(is_local);
    if !url.contains("sslmode=") {
        config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
    }
    if config.get_ssl_mode() == SslMode::Prefer && !local {
        let why = "url: sslmode=prefer sends in the clear if the server has no TLS; set require or disable";
        return Err(why.into());
    }
    Ok(config)
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// Returns the parts of a URL that are not secret.
fn shown(config: &Config) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<_> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<_> = config.get_ports().iter().map(|port| format!(":{port}")).collect();
    format!("{}{}/{}", hosts.join(","), ports.join(","), config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_to_other_machines_are_encrypted() {
        let mode = |url: &str| parse(url).map(|config| config.get_ssl_mode());
        for (url, expected) in [
            ("postgresql://u@127.0.0.1/d", SslMode::Disable),
            ("postgres://u@localhost:5433/d", SslMode::Disable),
            ("postgresql://u@[::1]/d", SslMode::Disable),
            ("postgresql://u@%2Frun%2Fpostgresql/d", SslMode::Disable),
            ("postgresql://u@db.example.org/d", SslMode::Require),
            ("postgresql://u@localhost,db.example.org/d", SslMode::Require),
            ("postgresql://u@db.example.org/d?sslmode=disable", SslMode::Disable),
            ("postgresql://u@db.example.org/d?sslmode=verify-full", SslMode::Require),
            ("postgresql://u@127.0.0.1/d?sslmode=require", SslMode::Require),
        ] {
            assert_eq!(mode(url), Ok(expected), "{url}");
        }
    }

    #[test]
    fn an_error_and_what_is_shown_have_no_password() {
        for url in [
            "postgresql://u:hidden@h/d?nothing=1",
            "postgresql://u:hidden@h:x/d",
            "http://u:hidden@h",
            "postgresql://u:hidden@/d",
        ] {
            let error = parse(url).unwrap_err();
            assert!(error.starts_with("url: ") && !error.contains("hidden"), "{error}");
        }
        let error = parse("postgresql://u:hidden@h/d?sslmode=prefer").unwrap_err();
        assert!(error.starts_with("url: sslmode=prefer"), "{error}");
        assert_eq!(shown(&parse("postgresql://u:hidden@h:5433/d").unwrap()), "h:5433/d");
    }
}
