//! A link of a relay: how it sends, what it takes at once, and whether it failed.

use super::{LinkSettings, exec::Exec, http::Http, unsent::Unsent};
use crate::{Class, Failed, FailureKind};
use dunnage_clients::secret::SecretFile;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a link that failed is not used, at first and at most, and at most if the other gateway asks for it.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
const MAX_ASKED: Duration = Duration::from_secs(3600);

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

/// Until when a link is not used, and why.
#[derive(Default)]
struct Pause {
    length: Duration,
    until: Option<Instant>,
    reason: String,
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

    /// Sends a batch, unless the link has failed shortly before. All failures are to be retried: what a link refuses now, it may take later.
    pub async fn send(&self, batch: Vec<u8>) -> Result<(), Unsent> {
        if let Some(reason) = self.paused() {
            return Err(Failed::retry(reason).into());
        }
        let sending = async {
            match &self.way {
                Way::Http(http) => http.send(batch).await,
                Way::Exec(exec) => exec.send(batch).await,
            }
        };
        let sent = tokio::time::timeout(self.timeout, sending)
            .await
            .unwrap_or_else(|_| Err(Failed::retry("timed out").because(Class::Timeout).into()));
        let mut pause = self.pause();
        match &sent {
            Ok(()) => *pause = Pause::default(),
            Err(Unsent::TooLarge(_)) => {}
            Err(Unsent::Failed(failed)) => {
                let asked = match failed.kind {
                    FailureKind::Retry(Some(wait)) => wait.min(MAX_ASKED),
                    _ => Duration::ZERO,
                };
                pause.length = (pause.length * 2).clamp(MIN_PAUSE, MAX_PAUSE);
                pause.until = Some(Instant::now() + pause.length.max(asked));
                pause.reason.clone_from(&failed.reason);
            }
        }
        sent
    }

    /// Returns why it is not used now, if it is not.
    fn paused(&self) -> Option<String> {
        let pause = self.pause();
        pause.until.filter(|until| Instant::now() < *until).map(|_| pause.reason.clone())
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
