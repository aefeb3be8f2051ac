//! SIGTERM and Ctrl-C, which stop the process, and SIGHUP, which makes it reload its configuration.

use crate::failure::Failure;
use tokio::sync::oneshot;

/// Exit code after a second signal: 128 + SIGINT.
const AT_ONCE: i32 = 130;

/// Starts listening for signals. The future completes at the first signal; the second exits the process.
pub fn stop() -> Result<impl Future<Output = ()>, Failure> {
    let mut signals = Signals::listen().map_err(|e| Failure::about("cannot listen for signals", e))?;
    let (first, stopped) = oneshot::channel();
    tokio::spawn(async move {
        signals.next().await;
        // The receiver is gone if the process is already stopping.
        let _ = first.send(());
        signals.next().await;
        std::process::exit(AT_ONCE);
    });
    Ok(async {
        let _ = stopped.await;
    })
}

/// Receives SIGHUP.
#[cfg(unix)]
pub struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    /// Starts listening. Without a listener, SIGHUP would end the process.
    pub fn listen() -> Result<Self, Failure> {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        signal.map(Hangups).map_err(|e| Failure::about("cannot listen for signals", e))
    }

    /// Waits for the next SIGHUP.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
pub struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    /// Never fails, because this platform has no SIGHUP.
    pub fn listen() -> Result<Self, Failure> {
        Ok(Hangups)
    }

    /// Never completes.
    pub async fn next(&mut self) {
        std::future::pending().await
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
