//! Forwarders that each read a partition of one NATS stream: one is lost with its disk, and another takes over its consumer.

#![allow(clippy::disallowed_methods)]

use crate::support::{JSON, Running, child, nats::Cluster, start_with, wait::wait_for};
use async_nats::jetstream::Context;
use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use dunnage_gateway::Config;
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;

const DEVICES: usize = 8;

/// The destination of the forwarders. It returns 503 while `down` is set.
#[derive(Default)]
struct Archive {
    down: AtomicBool,
    received: Mutex<Vec<Value>>,
}

impl Archive {
    fn stable_ids(&self) -> HashSet<String> {
        self.received.lock().unwrap().iter().map(|m| m["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Panics unless each device's values count up from 0. Only the first delivery of a message counts.
    fn check_order(&self) {
        let (mut seen, mut next) = (HashSet::new(), HashMap::new());
        for message in self.received.lock().unwrap().iter().filter(|m| seen.insert(m["name"].clone())) {
            let next = next.entry(message["device"].to_string()).or_insert(0);
            assert_eq!(message["value"], *next, "{message}");
            *next += 1;
        }
    }
}

async fn receive(State(archive): State<Arc<Archive>>, Json(message): Json<Value>) -> StatusCode {
    if archive.down.load(Ordering::Relaxed) {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    archive.received.lock().unwrap().push(message);
    StatusCode::NO_CONTENT
}

/// A NATS server, a gateway that publishes messages to its stream in two partitions, and an archive.
struct Setup {
    cluster: Cluster,
    gateway: Running,
    context: Context,
    archive: Arc<Archive>,
    url: String,
    sent: u64,
}

impl Setup {
    fn start() -> Setup {
        let cluster = Cluster::start(1, "");
        let urls = cluster.urls();
        let output = format!(
            "[[output]]\nname = \"stream\"\n[output.nats]\nservers = {urls:?}\nstream = \"FLEET\"\npayload = \"raw\"\n\
             subject = \"fleet.{{partition}}.{{device}}\"\npartitions = 2\n[output.nats.create]\nreplicas = 1\n"
        );
        let gateway =
            start_with(|config| config.outputs = toml::from_str::<Config>(&output).unwrap().outputs);
        let context = gateway.runtime.block_on(cluster.context());
        let archive = Arc::new(Archive::default());
        let listener = gateway.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/in", listener.local_addr().unwrap());
        let router = Router::new().route("/in", post(receive)).with_state(Arc::clone(&archive));
        gateway.runtime.spawn(async move { axum::serve(listener, router).await });
        Setup { cluster, gateway, context, archive, url, sent: 0 }
    }

    /// Configures a forwarder in `folder` that reads the given partitions with each consumer.
    fn configure(&self, folder: &Path, consumers: &[(&str, &[u8])]) {
        let (urls, url) = (self.cluster.urls(), &self.url);
        let input = |(consumer, partitions): &(&str, &[u8])| {
            let subjects: Vec<_> = partitions.iter().map(|number| format!("fleet.{number}.>")).collect();
            format!(
                "[[input]]\nname = \"{consumer}\"\n[input.nats]\nservers = {urls:?}\nstream = \"FLEET\"\n\
                 consumer = \"{consumer}\"\nsubjects = {subjects:?}\n"
            )
        };
        let inputs: String = consumers.iter().map(input).collect();
        let output = format!("[[output]]\nname = \"archive\"\n[output.http]\nurl = \"{url}\"\n");
        child::configure(folder, &(inputs + &output));
    }

    fn send(&mut self, rounds: u64) {
        for round in self.sent..self.sent + rounds {
            for device in 0..DEVICES {
                let path = format!("/ingest/d{device}");
                assert_eq!(self.gateway.post(&path, JSON, round.to_string().as_bytes()).status, 204);
            }
        }
        self.sent += rounds;
    }

    /// Waits until the archive has received all messages, and checks their order.
    fn wait_for_all(&self) {
        let all = self.sent as usize * DEVICES;
        wait_for(|| {
            (self.archive.stable_ids().len() >= all).then_some(()).ok_or(self.archive.stable_ids().len())
        });
        assert_eq!(self.archive.stable_ids().len(), all);
        self.archive.check_order();
    }

    /// Returns the filter subjects of `consumer`.
    fn filter(&self, consumer: &str) -> Vec<String> {
        self.gateway.runtime.block_on(async {
            let stream = self.context.get_stream("FLEET").await.unwrap();
            let config = stream.consumer_info(consumer).await.unwrap().config;
            let one = Some(config.filter_subject).filter(|subject| !subject.is_empty());
            config.filter_subjects.into_iter().chain(one).collect()
        })
    }
}

/// Returns the number of messages in the buffer in `folder`, which another process writes.
fn stored(folder: &Path) -> u64 {
    let Ok(buffer) = rusqlite::Connection::open(folder.join("buffer.sqlite3")) else { return 0 };
    buffer.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap_or(0)
}

/// Starts two forwarders and kills the second together with its disk, when it has stored all messages of its partition and delivered some.
/// Returns the folder and the process of the first.
fn lose_the_second(setup: &mut Setup) -> (TempDir, child::ChildGateway) {
    let [first, second] = [(); 2].map(|()| TempDir::new().unwrap());
    setup.configure(first.path(), &[("forwarder-1", &[0])]);
    setup.configure(second.path(), &[("forwarder-2", &[1])]);
    let first_forwarder = child::start(first.path(), "");
    let second_forwarder = child::start(second.path(), "");
    setup.send(5);
    setup.wait_for_all();
    setup.archive.down.store(true, Ordering::Relaxed);
    setup.send(5);
    let total = |folder: &TempDir| stored(folder.path());
    let all = setup.sent * DEVICES as u64;
    wait_for(|| (total(&first) + total(&second) == all).then_some(()).ok_or((total(&first), total(&second))));
    assert!(total(&second) >= 10, "{}", total(&second));
    second_forwarder.kill();
    drop(second);
    setup.send(5);
    (first, first_forwarder)
}

#[test]
fn another_forwarder_replaces_a_lost_one_by_adding_its_consumer() {
    let mut setup = Setup::start();
    let (first, forwarder) = lose_the_second(&mut setup);
    forwarder.stop();
    setup.configure(first.path(), &[("forwarder-1", &[0]), ("forwarder-2", &[1])]);
    setup.archive.down.store(false, Ordering::Relaxed);
    let forwarder = child::start(first.path(), "");
    setup.send(5);
    setup.wait_for_all();
    forwarder.stop();
}

#[test]
fn forwarder_that_lost_its_disk_resumes_with_its_consumer() {
    let mut setup = Setup::start();
    let (_first, forwarder) = lose_the_second(&mut setup);
    let new_folder = TempDir::new().unwrap();
    setup.configure(new_folder.path(), &[("forwarder-2", &[1])]);
    setup.archive.down.store(false, Ordering::Relaxed);
    let replacement = child::start(new_folder.path(), "");
    setup.send(5);
    setup.wait_for_all();
    replacement.stop();
    forwarder.stop();
}

#[test]
fn filter_of_an_existing_consumer_is_not_changed() {
    let mut setup = Setup::start();
    let folder = TempDir::new().unwrap();
    setup.configure(folder.path(), &[("forwarder-1", &[0])]);
    let forwarder = child::start(folder.path(), "");
    setup.send(5);
    wait_for(|| (stored(folder.path()) >= 5).then_some(()).ok_or(()));
    forwarder.stop();
    // If the filter were overwritten, messages of the other partition below the consumer's acknowledgement floor would never be delivered.
    setup.configure(folder.path(), &[("forwarder-1", &[0, 1])]);
    let forwarder = child::start(folder.path(), "");
    setup.send(1);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(setup.filter("forwarder-1"), ["fleet.0.>"]);
    forwarder.stop();
    setup.configure(folder.path(), &[("forwarder-1", &[0]), ("rest", &[1])]);
    let forwarder = child::start(folder.path(), "");
    setup.wait_for_all();
    forwarder.stop();
}
