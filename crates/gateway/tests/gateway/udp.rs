//! Bare datagrams: their contents, their permitted senders, and the quarantine of undecodable ones.

use crate::support::{
    Running, start_with,
    wait::{wait_for, wait_until},
};
use serde_json::Value;
use std::net::UdpSocket;

fn gateway(more: &str) -> (Running, UdpSocket) {
    let text = format!("name = 'udp'\n[udp]\nlisten = '127.0.0.1:0'\n{more}");
    let gateway = start_with(|config| config.inputs.push(toml::from_str(&text).unwrap()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(gateway.gateway.input_address("udp").unwrap()).unwrap();
    (gateway, socket)
}

/// Waits until `count` of `/api/stats` is `n`. Returns the stats.
fn wait_for_count(gateway: &Running, count: &str, n: u64) -> Value {
    wait_for(|| {
        let stats = gateway.get_json("/api/stats");
        if stats[count] == n { Ok(stats) } else { Err(stats) }
    })
}

fn metric(gateway: &Running, outcome: &str) -> u64 {
    let line = format!("dunnage_datagrams_total{{input=\"udp\",outcome=\"{outcome}\"}} ");
    let text = gateway.get("/metrics").text;
    text.lines().find_map(|found| found.strip_prefix(&line)).map_or(0, |n| n.parse().unwrap())
}

#[test]
fn objects_name_their_device_and_other_formats_have_a_prefix() {
    let (gateway, socket) = gateway("");
    let object = "{\"containerID\":\"LMCU1231237\",\"sensors\":{\"temperature\":17.00}}";
    let datagrams: [&[u8]; 4] =
        [object.as_bytes(), b"\x01\x06buoy-7[1]", b"\x03\x06buoy-7\xa1at\x02", b"\x0d\x06buoy-7\x80"];
    for (n, datagram) in datagrams.iter().enumerate() {
        socket.send(datagram).unwrap();
        wait_for_count(&gateway, "received", n as u64 + 1);
    }
    let messages = gateway.get_json("/api/messages");
    let messages = messages["messages"].as_array().unwrap();
    let container = messages.iter().find(|message| message["device"] == "LMCU1231237").unwrap();
    assert_eq!(container["value"]["sensors"]["temperature"], 17.0);
    assert_eq!(container["origin"]["endpoint"], socket.local_addr().unwrap().to_string());
    let cbor = messages.iter().find(|message| message["format"] == "cbor").unwrap();
    assert_eq!((&cbor["device"], &cbor["value"]["t"]), (&"buoy-7".into(), &2.into()));
    // The gateway never replies.
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err());
}

#[test]
fn undecodable_datagrams_are_quarantined_and_devices_stay_in_order() {
    let (gateway, socket) = gateway("device = '/id'");
    let bad: [&[u8]; 6] = [b"", b"\x00", b"\xff\x01d1", b"{\"id\":\"d\"", b"{\"id\":7.5}", b"\x01\x01d[1,"];
    for datagram in bad {
        socket.send(datagram).unwrap();
    }
    let stats = wait_for_count(&gateway, "quarantined", 6);
    assert_eq!((&stats["received"], &stats["stored"]), (&6.into(), &0.into()));
    let kinds = gateway.get_json("/api/quarantine");
    let devices: Vec<_> = kinds["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["device"].as_str().unwrap())
        .collect();
    assert_eq!(devices.iter().filter(|device| **device == "unknown").count(), 5, "{devices:?}");
    for n in 0..100 {
        socket.send(format!("{{\"id\":\"row\",\"n\":{n}}}").as_bytes()).unwrap();
    }
    wait_for_count(&gateway, "stored", 100);
    let messages = gateway.get_json("/api/devices/row/messages?limit=100");
    let numbers: Vec<_> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["value"]["n"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().rev().copied().eq(0..100), "{numbers:?}");
}

#[test]
fn datagrams_of_other_networks_are_ignored_and_limits_are_counted() {
    let (gateway, socket) = gateway("from = ['10.0.0.0/8']");
    socket.send(b"{\"containerID\":\"d\"}").unwrap();
    wait_until("a foreign datagram is counted", || metric(&gateway, "foreign") > 0);
    assert_eq!(gateway.get_json("/api/stats")["received"], 0);

    let text = "name = 'udp'\n[udp]\nlisten = '127.0.0.1:0'";
    let gateway = start_with(|config| {
        config.inputs.push(toml::from_str(text).unwrap());
        config.access.device_messages_per_minute = 2;
    });
    let address = gateway.gateway.input_address("udp").unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for _ in 0..3 {
        socket.send_to(b"{\"containerID\":\"d\"}", address).unwrap();
    }
    let stats = wait_for_count(&gateway, "received", 3);
    assert_eq!(stats["refused"], 1);
    assert_eq!(metric(&gateway, "dropped"), 1);
}
