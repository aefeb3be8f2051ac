//! The oneM2M output, against a real CSE over HTTP and MQTT. The fault table has a row for a CSE that is killed (`crates/cli/tests/faults`).

use crate::support::{
    JSON, Running,
    acme::Acme,
    mosquitto::Mosquitto,
    proxy::{Mode, Proxy},
    start_with,
    wait::wait_for,
};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
};
use dunnage_gateway::{OutputKind, OutputSettings, onem2m_output::Settings};
use serde_json::json;
use std::{
    collections::HashSet,
    net::SocketAddr,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

pub const DEVICES: [&str; 4] = ["buoy-7", "urn:imei:356938035643809", "LMCU1231237", "la"];
/// The names of the devices' containers.
const CONTAINERS: [&str; 4] = ["buoy-7", "urn~3Aimei~3A356938035643809", "LMCU1231237", "~6Ca"];

fn settings(url: &str, more: &str) -> Settings {
    let mut settings: toml::Table = format!("url = '{url}'\ncse = 'cse-in'").parse().unwrap();
    settings.extend(more.parse::<toml::Table>().unwrap());
    settings.try_into().unwrap()
}

/// Starts a gateway that delivers to the CSE at `url`.
pub fn gateway(url: &str, more: &str) -> Running {
    let onem2m = settings(url, more);
    start_with(|config| {
        config.outputs.push(OutputSettings::new("cse", OutputKind::Onem2m(onem2m)));
    })
}

/// Sends a message of each device for each number.
pub fn send(gateway: &Running, numbers: std::ops::Range<usize>) {
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

/// Waits until `done`; `what` describes it. Panics with the status of the outputs.
pub fn wait(gateway: &Running, what: &str, mut done: impl FnMut() -> bool) {
    wait_for(|| done().then_some(()).ok_or_else(|| format!("{what}: {:?}", gateway.gateway.outputs())));
}

/// Returns the number of instances in each container.
fn counts(acme: &Acme) -> Vec<usize> {
    let count = |container: &&str| acme.instances(&format!("/cse-in/dunnage/{container}")).len();
    CONTAINERS.iter().map(count).collect()
}

/// Waits until every message with these numbers is in the CSE, and checks that each occurs once and in order.
fn expect(gateway: &Running, acme: &Acme, numbers: std::ops::Range<usize>) {
    wait(gateway, "messages in the CSE", || counts(acme).iter().all(|count| *count >= numbers.len()));
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

/// Waits until the gateway has counted `messages` deliveries, and checks that the CSE refused no message.
pub fn expect_delivered(gateway: &Running, messages: u64) {
    wait(gateway, "responses of the CSE", || gateway.gateway.outputs()[0].delivered >= messages);
    let status = &gateway.gateway.outputs()[0];
    assert_eq!((status.delivered, status.refused), (messages, 0), "{status:?}");
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
fn missing_resources_in_the_cse_are_created_again() {
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
fn lost_responses_do_not_duplicate_messages() {
    let acme = Acme::in_memory();
    let proxy = Proxy::start(acme.address);
    let gateway = gateway(&format!("http://{}", proxy.address), "");
    proxy.set(Mode::CutAfterRequest { every: 3 });
    send(&gateway, 0..10);
    wait(&gateway, "lost responses", || proxy.cuts() >= 10);
    proxy.set(Mode::Pass);
    expect(&gateway, &acme, 0..10);
    expect_delivered(&gateway, 40);
    assert!(gateway.gateway.outputs()[0].duplicates > 0);
}

#[test]
fn cse_that_fails_three_of_ten_requests_receives_every_message() {
    const DEVICES: usize = 24;
    let acme = Acme::in_memory();
    let proxy = Proxy::start(acme.address);
    proxy.set(Mode::FailThreeOfTen);
    let gateway = gateway(&format!("http://{}", proxy.address), "container = 'fleet/{device}/data'");
    for device in 0..DEVICES {
        assert_eq!(gateway.post(&format!("/ingest/d{device}"), JSON, b"1").status, 204);
    }
    wait(&gateway, "messages in the CSE", || gateway.gateway.outputs()[0].delivered >= DEVICES as u64);
    assert!(proxy.cuts() > DEVICES, "{}", proxy.cuts());
    assert_eq!(acme.discover("/cse-in/dunnage", 4).len(), DEVICES);
}

#[test]
fn slow_stalled_or_unreachable_cse_receives_every_message_once() {
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
    // Longer than the timeout of the gateway.
    std::thread::sleep(Duration::from_millis(1500));
    proxy.set(Mode::Pass);
    expect(&gateway, &acme, 0..12);
}

#[test]
fn killed_mqtt_broker_neither_loses_nor_duplicates_messages() {
    let mut broker = Mosquitto::start();
    let port = broker.port;
    let acme =
        Acme::start(&format!("databaseType=memory\n[mqtt]\nenable=true\naddress=127.0.0.1\nport={port}\n"));
    let gateway = gateway(&format!("mqtt://127.0.0.1:{port}"), "cse_id = 'id-in'\ntimeout_seconds = 3");
    send(&gateway, 0..10);
    wait(&gateway, "some messages in the CSE", || counts(&acme)[0] > 1);
    broker.kill();
    send(&gateway, 10..15);
    broker.restart();
    send(&gateway, 15..20);
    expect(&gateway, &acme, 0..20);
    expect_delivered(&gateway, 80);
}

#[test]
fn reload_reads_a_corrected_mqtt_password() {
    let folder = tempfile::tempdir().unwrap();
    let [passwords, file] = ["passwords", "password"].map(|name| folder.path().join(name));
    let status =
        Command::new("mosquitto_passwd").args(["-c", "-b"]).arg(&passwords).args(["g", "right"]).status();
    assert!(status.unwrap().success());
    // The broker lets the CSE in without a login, but still refuses a wrong password.
    let broker = Mosquitto::start_in(
        folder.path(),
        &format!("allow_anonymous true\npassword_file {}", passwords.display()),
    );
    let port = broker.port;
    let acme =
        Acme::start(&format!("databaseType=memory\n[mqtt]\nenable=true\naddress=127.0.0.1\nport={port}\n"));
    std::fs::write(&file, "wrong\n").unwrap();
    let more = format!("cse_id = 'id-in'\ntimeout_seconds = 1\nuser = 'g'\npassword_file = {file:?}");
    let gateway = gateway(&format!("mqtt://127.0.0.1:{port}"), &more);
    send(&gateway, 0..1);
    let refused = |output: &dunnage_gateway::Status| {
        output.last_failure.as_ref().is_some_and(|failure| failure.reason.contains("the broker"))
    };
    wait(&gateway, "a login that is refused", || gateway.gateway.outputs().iter().all(refused));
    assert_eq!(gateway.gateway.outputs()[0].delivered, 0);
    std::fs::write(&file, "right\n").unwrap();
    gateway.runtime.block_on(gateway.gateway.reload()).unwrap();
    expect(&gateway, &acme, 0..1);
}

/// ACME runs in memory here, because with files it writes messages only a second after it has acknowledged them.
#[test]
fn messages_too_large_for_the_cse_become_dead_letters_and_do_not_block_others() {
    let acme = Acme::in_memory();
    let gateway = gateway(&acme.url(), "mbs = 300");
    send(&gateway, 0..1);
    let large = format!(r#""{}""#, "x".repeat(1000));
    assert_eq!(gateway.post("/ingest/buoy-7", JSON, large.as_bytes()).status, 204);
    send(&gateway, 1..3);
    expect(&gateway, &acme, 0..3);
    wait(&gateway, "a message that is refused", || gateway.gateway.outputs()[0].refused == 1);
    let list = gateway.runtime.block_on(gateway.gateway.dead_letters("cse", 0, 10)).unwrap();
    assert!(list.len() == 1 && list[0].reason.contains("5207"), "{list:?}");
}

/// Serves `router` on its own runtime.
pub fn serve(router: Router) -> (tokio::runtime::Runtime, SocketAddr) {
    let runtime = crate::support::runtime();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await });
    (runtime, address)
}

/// A proxy in front of a CSE. It responds to a quarter of the requests with an error, to half of these after the CSE has processed them.
#[derive(Clone)]
struct FaultyProxy {
    cse: String,
    client: reqwest::Client,
    requests: Arc<AtomicUsize>,
}

/// Errors: an HTTP status, and the response status code of a CSE or none.
const ERRORS: [(u16, Option<&str>); 8] = [
    (500, Some("5000")),
    (503, None),
    (403, Some("4103")),
    (404, None),
    (501, Some("5001")),
    (408, Some("4008")),
    (400, Some("4000")),
    (413, None),
];

async fn proxy_with_faults(
    State(faulty_proxy): State<FaultyProxy>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap, Bytes) {
    let count = faulty_proxy.requests.fetch_add(1, Ordering::Relaxed);
    let mut request = faulty_proxy.client.request(method, format!("{}{uri}", faulty_proxy.cse)).body(body);
    for name in ["content-type", "accept", "x-m2m-origin", "x-m2m-ri", "x-m2m-rvi"] {
        if let Some(value) = headers.get(name) {
            request = request.header(name, value);
        }
    }
    let (status, code) = ERRORS[count % ERRORS.len()];
    let error = |code: Option<&'static str>| {
        let code = code.map(|code| ("x-m2m-rsc".parse().unwrap(), code.parse().unwrap()));
        (StatusCode::from_u16(status).unwrap(), code.into_iter().collect(), Bytes::new())
    };
    // Pseudo-random instead of every n-th request, because the requests for one message form a period of their own.
    let chance =
        (count as u32).wrapping_add(1).wrapping_mul(0x9e37_79b1).rotate_left(15).wrapping_mul(0x85eb_ca6b)
            >> 16;
    if chance % 8 == 1 {
        return error(code);
    }
    let answer = request.send().await.unwrap();
    if chance % 8 == 3 {
        return error(code);
    }
    (answer.status(), answer.headers().clone(), answer.bytes().await.unwrap())
}

#[test]
fn errors_before_and_after_the_cse_stores_a_message_neither_lose_nor_duplicate_it() {
    let acme = Acme::in_memory();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let faulty_proxy = FaultyProxy { cse: acme.url(), client, requests: Arc::default() };
    let (_runtime, address) =
        serve(Router::new().fallback(proxy_with_faults).with_state(faulty_proxy.clone()));
    let gateway = gateway(&format!("http://{address}"), "");
    send(&gateway, 0..10);
    expect(&gateway, &acme, 0..10);
    expect_delivered(&gateway, 40);
    assert!(faulty_proxy.requests.load(Ordering::Relaxed) > 50);
}
