//! Several gateways behind nginx, with the templates of `deploy/`: HTTP, and streams of MQTT, CoAP and UDP.

#![allow(clippy::disallowed_methods)]

use crate::support::{
    JSON, Running, agent, answer, child, coap::Client, nats::Cluster, nginx::Nginx, start_with,
    wait::wait_until,
};
use async_nats::jetstream::Context;
use dunnage_gateway::{Who, tokens};
use std::{
    collections::{BTreeMap, HashSet},
    net::{SocketAddr, UdpSocket},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use tempfile::TempDir;

const DEVICES: usize = 24;

/// Returns the devices of a gateway and the numbers of their messages.
fn devices(gateway: &Running) -> BTreeMap<String, u64> {
    let listed = gateway.get_json("/api/devices");
    let devices = listed["devices"].as_array().unwrap().iter();
    devices.map(|d| (d["device"].as_str().unwrap().to_owned(), d["messages"].as_u64().unwrap())).collect()
}

#[test]
fn nginx_keeps_a_device_at_one_gateway_and_forwards_webhooks_api_and_page() {
    let folder = TempDir::new().unwrap();
    let token = folder.path().join("yard.token");
    std::fs::write(&token, "0123456789abcdef0123456789abcdef").unwrap();
    let hook =
        format!("name = 'yard'\n[webhook]\nprovider = 'chirpstack'\ntoken_file = {token:?}\nformat = 'json'");
    let gateways = [(); 2].map(|()| {
        start_with(|config| {
            config.access.who = Who::Anyone;
            config.inputs.push(toml::from_str(&hook).unwrap());
        })
    });
    let nginx = Nginx::balance(&gateways.each_ref().map(|gateway| gateway.gateway.address()));
    for round in 0..3 {
        for device in 0..DEVICES {
            let url = nginx.url(&format!("/ingest/urn:d.{device}?link=round-{round}"));
            assert_eq!(crate::support::post(&agent(), &url, JSON, b"1").status, 204);
        }
    }
    let [one, other] = gateways.each_ref().map(devices);
    assert!(!one.is_empty() && !other.is_empty(), "{} and {} devices", one.len(), other.len());
    assert_eq!(one.len() + other.len(), DEVICES);
    assert!(one.values().chain(other.values()).all(|messages| *messages == 3));

    let event =
        br#"{"deduplicationId":"1","deviceInfo":{"devEui":"70b3d57ed005a1b2"},"fPort":2,"data":"MTc="}"#;
    let hook = agent().post(nginx.url("/hooks/yard?event=up")).header("content-type", JSON);
    let hook = hook.header("authorization", "Bearer 0123456789abcdef0123456789abcdef").send(event);
    assert_eq!(answer(hook.unwrap()).status, 200);
    for path in ["/", "/api/stats", "/api/devices", "/healthz", "/readyz"] {
        let answered = answer(agent().get(nginx.url(path)).call().unwrap());
        assert_eq!(answered.status, 200, "{path}");
    }
}

/// Configures a gateway behind nginx that delivers to the stream.
fn configure(folder: &Path, cluster: &Cluster) {
    let urls = cluster.urls();
    let text = format!(
        "[[output]]\nname = \"stream\"\n[output.nats]\nservers = {urls:?}\nstream = \"FLEET\"\n\
         [output.nats.create]\nreplicas = 1\n"
    );
    child::configure(folder, &text);
}

/// Sends increasing numbers from each device until `stop` is set, each after the acknowledgement of the one before.
/// Returns the number of acknowledged messages.
fn load(nginx: &Nginx, token: &str, stop: &AtomicBool) -> u64 {
    std::thread::scope(|scope| {
        let send = |device: usize| {
            let (agent, url) = (agent(), nginx.url(&format!("/ingest/d{device}")));
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) {
                let request = agent.post(&url).header("content-type", JSON).header("authorization", token);
                let sent = request.header("idempotency-key", n.to_string()).send(n.to_string());
                // Without an acknowledgement, the message is sent again with the same key.
                match sent.map(|answer| answer.status().as_u16()) {
                    Ok(204) => n += 1,
                    _ => std::thread::sleep(Duration::from_millis(20)),
                }
            }
            n
        };
        let threads: Vec<_> = (0..DEVICES).map(|device| scope.spawn(move || send(device))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

/// A message of the stream: its device, its time of receipt, its number.
type StreamMessage = (String, i64, u64);

async fn read(context: &Context) -> Vec<StreamMessage> {
    let stream = context.get_stream("FLEET").await.unwrap();
    let state = stream.cached_info().state.clone();
    let mut messages = Vec::new();
    for sequence in state.first_sequence..=state.last_sequence {
        let message = stream.get_raw_message(sequence).await.unwrap();
        let header = |name: &str| message.headers.get(name).unwrap().to_string();
        let number = std::str::from_utf8(&message.payload).unwrap().parse().unwrap();
        messages.push((header("Dunnage-Device"), header("Dunnage-Received-At").parse().unwrap(), number));
    }
    messages
}

/// Returns how many messages follow a later one of their device, and of how many devices they are.
fn out_of_order<'m>(messages: impl Iterator<Item = &'m StreamMessage>) -> (usize, usize) {
    let (mut last, mut late, mut devices) = (BTreeMap::new(), 0, HashSet::new());
    for (device, _, number) in messages {
        let last = last.entry(device).or_insert(*number);
        if number < last {
            late += 1;
            devices.insert(device);
        }
        *last = (*last).max(*number);
    }
    (late, devices.len())
}

#[test]
fn the_time_of_receipt_restores_the_order_after_a_failover() {
    let cluster = Cluster::start(1, "");
    let runtime = crate::support::runtime();
    let context = runtime.block_on(cluster.context());
    let folders = [(); 2].map(|()| TempDir::new().unwrap());
    let ports = [(); 2].map(|()| crate::support::acme::free_port());
    let addresses = ports.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let mut token = String::new();
    for folder in &folders {
        configure(folder.path(), &cluster);
        // Both gateways have the same tokens.
        let file = folder.path().join("tokens.toml");
        match token.is_empty() {
            true => {
                let right = dunnage_gateway::Right::Send("*".into());
                token = format!("Bearer {}", tokens::add(&file, Some("all"), right, None).unwrap().1);
            }
            false => drop(std::fs::copy(folders[0].path().join("tokens.toml"), file).unwrap()),
        }
    }
    let start = |which: usize| {
        let address = format!("export DUNNAGE_HTTP_LISTEN={}", addresses[which]);
        child::start(folders[which].path(), &address)
    };
    let mut gateways = [0, 1].map(|which| Some(start(which)));
    let nginx = Nginx::balance(&addresses);
    let count = || {
        let stream = runtime.block_on(context.get_stream("FLEET"));
        stream.map_or(0, |stream| stream.cached_info().state.messages)
    };
    let wait_for_more = |messages: u64| {
        let before = count();
        wait_until("the stream gets further messages", || count() >= before + messages);
    };
    let stop = AtomicBool::new(false);
    let (acknowledged, undisturbed) = std::thread::scope(|scope| {
        let load = scope.spawn(|| load(&nginx, &token, &stop));
        wait_for_more(500);
        let undisturbed = runtime.block_on(read(&context));
        for round in 0..4 {
            let which = round % 2;
            gateways[which].take().unwrap().kill();
            wait_for_more(200);
            gateways[which] = Some(start(which));
            wait_for_more(200);
        }
        stop.store(true, Ordering::Relaxed);
        (load.join().unwrap(), undisturbed)
    });
    // Before the first kill, the messages of each device are in order.
    assert_eq!(out_of_order(undisturbed.iter()), (0, 0));
    wait_until("all acknowledged messages are in the stream", || count() >= acknowledged);
    let mut messages = runtime.block_on(read(&context));
    let distinct: HashSet<_> = messages.iter().map(|(device, _, number)| (device.clone(), *number)).collect();
    assert_eq!(distinct.len(), messages.len(), "a message is in the stream twice");
    assert!(distinct.len() as u64 >= acknowledged);
    let (late, of_devices) = out_of_order(messages.iter());
    messages.sort_by_key(|(_, received_at, _)| *received_at);
    println!(
        "{acknowledged} acknowledged, 4 kills: {late} of {} messages of {of_devices} of {DEVICES} devices out of order in the stream",
        messages.len()
    );
    assert_eq!(out_of_order(messages.iter()), (0, 0), "out of order by the time of receipt");
    gateways.into_iter().flatten().for_each(child::ChildGateway::stop);
}

/// So many clients that all of them are on one of two gateways in one of eight million runs.
const CLIENTS: u64 = 24;

#[test]
fn nginx_forwards_mqtt_coap_and_udp_with_tokens() {
    let mut token = String::new();
    let gateways = [(); 2].map(|()| {
        start_with(|config| {
            config.access.who = Who::Tokens;
            for input in [
                "name = 'mqtt'\n[mqtt]\nlisten = '127.0.0.1:0'",
                "name = 'coap'\n[coap]\nlisten = '127.0.0.1:0'",
                "name = 'udp'\n[udp]\nlisten = '127.0.0.1:0'",
            ] {
                config.inputs.push(toml::from_str(input).unwrap());
            }
            let right = dunnage_gateway::Right::Send("*".into());
            token += &format!("{} ", tokens::add(&config.tokens(), Some("all"), right, None).unwrap().1);
        })
    });
    let tokens: Vec<_> = token.split_whitespace().collect();
    let servers = |input: &str| {
        let addresses = gateways.iter().map(|gateway| gateway.gateway.input_address(input).unwrap());
        addresses.map(|address| format!("server {address}; ")).collect::<String>()
    };
    let [coap, udp] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let nginx = Nginx::balance_streams(&[
        ("${MQTT_GATEWAYS}", servers("mqtt")),
        ("${COAP_GATEWAYS}", servers("coap")),
        ("${UDP_GATEWAYS}", servers("udp")),
        ("${COAP_LISTEN}", coap.to_string()),
        ("${UDP_LISTEN}", udp.to_string()),
    ]);
    // nginx assigns each address to one gateway, which accepts its own token and refuses the other.
    let mut refused = 0;
    for host in 1..=CLIENTS {
        let from = format!("127.0.0.{host}");
        let port = nginx.address.port().to_string();
        let mqtt = tokens.iter().filter(|token| {
            let mut command = Command::new("mosquitto_pub");
            command.args(["-h", "127.0.0.1", "-p", &port, "-A", &from, "-u", "any", "-P", token]);
            let sent = command.args(["-V", "5", "-q", "1", "-t", "v1/mqtt/json", "-m", "1"]).output();
            sent.expect("mosquitto_pub is installed: apt-get install mosquitto-clients").status.success()
        });
        assert_eq!(mqtt.count(), 1);
        let mut client = Client::new(coap);
        client.socket = UdpSocket::bind((&*from, 0)).unwrap();
        client.socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.socket.connect(coap).unwrap();
        let answers = tokens.iter().map(|token| {
            client.post(&format!("ingest/coap?token={token}"), crate::support::coap::JSON, b"1").0
        });
        let answers: Vec<_> = answers.collect();
        // 4.29: nginx's choice depends on the ports of the gateways, so one may get so many invalid tokens that it limits them.
        refused += answers.iter().filter(|code| ["4.01", "4.29"].contains(&code.as_str())).count();
        assert!(answers.contains(&"2.04".to_owned()), "{answers:?}");
        // A client behind nginx seems to be on this machine, but gets no access by that.
        assert_eq!(client.post("ingest/coap", crate::support::coap::JSON, b"1").0, "4.01");
        let socket = UdpSocket::bind((&*from, 0)).unwrap();
        socket.send_to(b"{\"containerID\":\"udp\"}", udp).unwrap();
    }
    assert_eq!(refused as u64, CLIENTS);
    let stored = |gateway: &Running, device: &str| -> u64 {
        let buffer = rusqlite::Connection::open(gateway.folder.path().join("buffer.sqlite3")).unwrap();
        buffer
            .query_row("SELECT count(*) FROM messages WHERE device = ?", [device], |row| row.get(0))
            .unwrap()
    };
    let all = |device: &str| gateways.iter().map(|gateway| stored(gateway, device)).sum::<u64>();
    wait_until("all datagrams are counted", || all("udp") == CLIENTS);
    assert_eq!((all("mqtt"), all("coap")), (CLIENTS, CLIENTS));
    assert!(gateways.iter().all(|gateway| stored(gateway, "coap") > 0), "a gateway has no message over CoAP");
}
