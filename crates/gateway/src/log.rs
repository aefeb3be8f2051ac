//! The gateway's log: lines on standard error, as text or JSON.

use crate::config::{Log, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Sends the log of this process to standard error. Fails if the level is invalid, or if a log is set up already.
pub fn start(log: &Log) -> Result<(), String> {
    let filter = filter(log).map_err(|e| format!("[log] level: {e}"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // If standard error is closed, reporting a failed write there would panic and end the thread.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    match log.format {
        LogFormat::Human => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    }
    .map_err(|e| e.to_string())
}

/// Parses the level. The error describes the mistake.
pub fn filter(log: &Log) -> Result<EnvFilter, String> {
    // rustls warns at each connection to an IP address; a directive of the operator for it comes later, and wins.
    EnvFilter::try_new(&log.level)
        .and_then(|_| EnvFilter::try_new(format!("rustls=error,{}", log.level)))
        .map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustls_is_quiet_unless_the_operator_names_it() {
        let of = |level: &str| {
            filter(&Log { level: level.into(), ..Log::default() }).map(|filter| filter.to_string())
        };
        assert!(of("info").unwrap().contains("rustls=error"));
        let named = of("info,rustls=debug").unwrap();
        assert!(named.contains("rustls=debug") && !named.contains("rustls=error"), "{named}");
        assert!(of("").is_ok() && of("info,=").is_err());
    }
}
