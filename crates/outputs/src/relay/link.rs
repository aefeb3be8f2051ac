//! A link of a relay: how it sends, what it takes at once, and whether it failed.

use super::{LinkSettings, exec::Exec, http::Http};
use crate::{Class, Failed, FailureKind};
use dunnage_clients::secret::SecretFile;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a link that failed is not used, at first and at most.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A link.
pub struct Link {
    name: String,
    limit: usize,
    fits: bool,
    timeout: Duration,
    way: Way,
    pause: Mutex<Pause>,
}

enum Way {
    Http(Http),
    Exec(Exec),
}

/// Since when a link fails.
#[derive(Default)]
struct Pause {
    length: Duration,
    until: Option<Instant>,
}

impl Link {
    /// Opens a link. An error begins with the key.
    pub fn new(settings: &LinkSettings) -> Result<Link, String> {
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let way = match (&settings.http, &settings.exec) {
            (Some(http), None) => Way::Http(Http::new(http, timeout).map_err(|e| format!("http.{e}"))?),
            (None, Some(exec)) => Way::Exec(Exec::new(exec).map_err(|e| format!("exec.{e}"))?),
            _ => return Err("http, exec: exactly one must be set".into()),
        };
        Ok(Link {
            name: settings.name.clone(),
            limit: settings.limit_bytes,
            fits: settings.fit,
            timeout,
            way,
            pause: Mutex::default(),
        })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how many bytes it takes at once.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Whether properties may be left out so that a reading fits.
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// Returns how long sending may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether it failed so shortly before `now` that it is not tried.
    pub fn is_paused(&self, now: Instant) -> bool {
        self.pause().until.is_some_and(|until| now < until)
    }

    /// Sends a batch. Fails only with failures to retry: what a link refuses now, it may take later.
    pub async fn send(&self, batch: Vec<u8>) -> Result<(), Failed> {
        let sending = async {
            match &self.way {
                Way::Http(http) => http.send(batch).await,
                Way::Exec(exec) => exec.send(batch).await,
            }
        };
        let sent = tokio::time::timeout(self.timeout, sending)
            .await
            .unwrap_or_else(|_| Err(Failed::retry("timed out").because(Class::Timeout)));
        let mut pause = self.pause();
        match &sent {
            Ok(()) => *pause = Pause::default(),
            Err(failed) => {
                pause.length = (pause.length * 2).clamp(MIN_PAUSE, MAX_PAUSE);
                let asked = match failed.kind {
                    FailureKind::Retry(wait) => wait.unwrap_or_default(),
                    FailureKind::Refused => Duration::ZERO,
                };
                pause.until = Some(Instant::now() + pause.length.max(asked));
            }
        }
        sent
    }

    /// Returns its file with credentials.
    pub fn secret(&self) -> Option<Arc<SecretFile>> {
        match &self.way {
            Way::Http(http) => http.secret(),
            Way::Exec(_) => None,
        }
    }

    fn pause(&self) -> std::sync::MutexGuard<'_, Pause> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
