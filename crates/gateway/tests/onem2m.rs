//! From the ingest into a real oneM2M CSE over HTTP.

#![allow(clippy::unwrap_used)]

mod support;

use dunnage_gateway::{Output, onem2m_output::Settings};
use serde_json::json;
use std::{
    collections::HashSet,
    time::{Duration, Instant},
};
use support::{
    JSON, Running,
    acme::Acme,
    proxy::{Mode, Proxy},
    start_with,
};

const DEVICES: [&str; 4] = ["buoy-7", "urn:imei:356938035643809", "LMCU1231237", "la"];
/// What their containers are called.
const CONTAINERS: [&str; 4] = ["buoy-7", "urn~3Aimei~3A356938035643809", "LMCU1231237", "~6Ca"];

fn settings(url: &str, more: &str) -> Settings {
    toml::from_str(&format!("url = '{url}'\ncse = 'cse-in'\n{more}")).unwrap()
}

/// A gateway that delivers to the CSE at `url`.
fn gateway(url: &str, more: &str) -> Running {
    let onem2m = settings(url, more);
    start_with(|config| {
        config.outputs.push(Output { name: "cse".into(), onem2m: Some(onem2m), ..Output::default() });
    })
}

/// Sends a message of each device for each number.
fn send(gateway: &Running, numbers: std::ops::Range<usize>) {
    for n in numbers {
        for device in DEVICES {
            let message = format!(r#"{{"n":{n},"of":"{device}"}}"#);
            assert_eq!(
                gateway.post(&format!("/ingest/{device}?link=astrocast"), JSON, message.as_bytes()).status,
                204
            );
        }
    }
}

fn wait(gateway: &Running, what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(60), "in vain for {what}: {:?}", gateway.gateway.outputs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How many instances the CSE says each container has.
fn counts(acme: &Acme) -> Vec<u64> {
    let count = |container: &&str| {
        let container = acme.get(&format!("/cse-in/dunnage/{container}"));
        container.map_or(0, |container| container["cni"].as_u64().unwrap())
    };
    CONTAINERS.iter().map(count).collect()
}

/// Waits until every message with these numbers is in the CSE, and checks that each is there once and in order.
fn expect(gateway: &Running, acme: &Acme, numbers: std::ops::Range<usize>) {
    wait(gateway, "messages in the CSE", || {
        counts(acme).iter().all(|count| *count as usize >= numbers.len())
    });
    let mut names = HashSet::new();
    for (device, container) in DEVICES.iter().zip(CONTAINERS) {
        let instances = acme.instances(&format!("/cse-in/dunnage/{container}"));
        let contents: Vec<_> = instances.iter().map(|instance| instance.content.clone()).collect();
        let expected: Vec<_> = numbers.clone().map(|n| json!({"n": n, "of": device})).collect();
        assert_eq!(contents, expected, "{device}");
        names.extend(instances.into_iter().map(|instance| instance.name));
    }
    assert_eq!(names.len(), DEVICES.len() * numbers.len());
}

#[test]
fn messages_of_many_devices_arrive_once_and_in_order() {
    let acme = Acme::in_memory();
    let gateway = gateway(&acme.url(), "");
    send(&gateway, 0..30);
    expect(&gateway, &acme, 0..30);
    let found = acme.discover("/cse-in/dunnage", 4);
    assert_eq!(found.len(), 120, "{found:?}");
    let content =
        |name: &str| acme.get(&format!("/cse-in/dunnage/buoy-7/{name}")).unwrap()["con"]["n"].clone();
    assert_eq!((content("ol"), content("la")), (json!(0), json!(29)));
    let labels = &acme.instances("/cse-in/dunnage/buoy-7")[0].labels;
    for label in ["device:buoy-7", "format:json", "link:astrocast"] {
        assert!(labels.contains(&label.to_owned()), "{labels:?}");
    }
    assert!(labels.iter().any(|label| label.starts_with("request:")), "{labels:?}");
}

#[test]
fn what_is_missing_in_the_cse_is_made_again() {
    let mut acme = Acme::in_memory();
    let gateway = gateway(&acme.url(), "mni = 1000");
    send(&gateway, 0..5);
    expect(&gateway, &acme, 0..5);
    acme.delete("/cse-in/dunnage/buoy-7");
    send(&gateway, 5..6);
    wait(&gateway, "a container that was deleted", || counts(&acme) == [1, 6, 6, 6]);
    acme.delete("/cse-in/dunnage");
    send(&gateway, 6..8);
    expect(&gateway, &acme, 6..8);
    acme.kill();
    send(&gateway, 8..12);
    acme.restart();
    send(&gateway, 12..15);
    expect(&gateway, &acme, 8..15);
    assert_eq!(acme.get("/cse-in/dunnage/buoy-7").unwrap()["mni"], 1000);
}

#[test]
fn an_answer_that_is_lost_makes_no_message_twice() {
    let acme = Acme::in_memory();
    let proxy = Proxy::start(acme.address);
    let gateway = gateway(&format!("http://{}", proxy.address), "");
    proxy.set(Mode::CutAfterRequest { every: 3 });
    send(&gateway, 0..10);
    wait(&gateway, "lost answers", || proxy.cuts() >= 10);
    proxy.set(Mode::Pass);
    expect(&gateway, &acme, 0..10);
    let status = &gateway.gateway.outputs()[0];
    assert!(status.duplicates > 0, "{status:?}");
    assert_eq!((status.delivered, status.refused), (40, 0), "{status:?}");
}

#[test]
fn a_cse_that_is_slow_stalls_or_is_away_gets_everything_once() {
    let acme = Acme::in_memory();
    let proxy = Proxy::start(acme.address);
    let gateway = gateway(&format!("http://{}", proxy.address), "timeout_seconds = 1");
    proxy.set(Mode::Refuse);
    send(&gateway, 0..5);
    proxy.set(Mode::Delay(Duration::from_millis(100)));
    send(&gateway, 5..10);
    wait(&gateway, "some messages in the CSE", || counts(&acme)[0] > 1);
    proxy.set(Mode::Stall);
    send(&gateway, 10..12);
    // Longer than the gateway waits for an answer.
    std::thread::sleep(Duration::from_millis(1500));
    proxy.set(Mode::Pass);
    expect(&gateway, &acme, 0..12);
}
