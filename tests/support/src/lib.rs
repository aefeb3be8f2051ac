//! What the tests of several crates use: servers that they start, networks that they make worse, and waits.

#![allow(missing_docs, clippy::unwrap_used)]

pub mod acme;
pub mod certificates;
pub mod faulty;
pub mod influx;
pub mod kafka;
pub mod lossy;
pub mod mosquitto;
pub mod nats;
pub mod postgres;
pub mod proxy;
pub mod registry;
pub mod s3;
pub mod scripted;
pub mod subscriber;
pub mod tools;
pub mod victoria;
pub mod wait;

use std::time::Duration;

/// Returns a client that returns error statuses as answers, not as errors.
pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_secs(60))).build().into()
}

/// Returns a runtime with two threads.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
