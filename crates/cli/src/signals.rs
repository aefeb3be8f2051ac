//! SIGTERM and Ctrl-C, which end a process, and SIGHUP, by which it reads its configuration again.

use crate::failure::Failure;
use tokio::sync::oneshot;

/// Exit code of a process that a second signal ends: 128 + SIGINT.
const AT_ONCE: i32 = 130;

/// Listens for signals from now on. The future is ready at the first; the second ends the process.
pub fn stop() -> Result<impl Future<Output = ()>, Failure> {
    let mut signals = Signals::listen().map_err(|e| Failure::about("cannot listen for signals", e))?;
    let (first, stopped) = oneshot::channel();
    tokio::spawn(async move {
        signals.next().await;
        // Nobody waits when the process is ending already.
        let _ = first.send(());
        signals.next().await;
        std::process::exit(AT_ONCE);
    });
    Ok(async {
        let _ = stopped.await;
    })
}

/// SIGHUP.
#[cfg(unix)]
pub struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    /// Listens from now on; without it, SIGHUP ends the process.
    pub fn listen() -> Result<Self, Failure> {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        signal.map(Hangups).map_err(|e| Failure::about("cannot listen for signals", e))
    }

    /// Waits for the next.
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
    /// There are none.
    pub fn listen() -> Result<Self, Failure> {
        Ok(Hangups)
    }

    /// Waits for ever.
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
