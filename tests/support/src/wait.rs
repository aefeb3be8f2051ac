//! Waiting for conditions.

use std::{
    fmt::Debug,
    thread,
    time::{Duration, Instant},
};

/// The longest wait. Only a failing test waits this long.
const TIMEOUT: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until `condition` holds; `description` names it in the panic message.
#[track_caller]
pub fn wait_until(description: &str, mut condition: impl FnMut() -> bool) {
    wait_for(|| condition().then_some(()).ok_or_else(|| format!("not in time: {description}")));
}

/// Repeats `attempt` until it succeeds, and returns its result. Panics with its last error.
#[track_caller]
pub fn wait_for<T, E: Debug>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let begun = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(error) => assert!(begun.elapsed() < TIMEOUT, "{error:?}"),
        }
        thread::sleep(POLL_INTERVAL);
    }
}
