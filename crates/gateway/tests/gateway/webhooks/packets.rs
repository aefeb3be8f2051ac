//! Requests with several messages, and devices that a header names.

use super::{TOKEN, assert_answer, assert_problem, call, list, webhook};
use crate::support::{Answer, JSON, Running, start_in};
use dunnage_gateway::Config;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Starts a gateway with a webhook `hook` of `provider`.
fn start(provider: &str, settings: &str, change: impl FnOnce(&mut Config)) -> Running {
    let folder = TempDir::new().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, &TOKEN[7..]).unwrap();
    start_in(folder, |config| {
        webhook(config, "hook", &format!("provider = '{provider}'\ntoken_file = {tokens:?}\n{settings}"));
        change(config);
    })
}

fn post(gateway: &Running, body: &str) -> Answer {
    call(gateway, "/hooks/hook", ("authorization", TOKEN), JSON, body)
}

fn count(gateway: &Running, name: &str) -> u64 {
    gateway.get_json("/api/stats")[name].as_u64().unwrap()
}

fn packet(device: &str, time: u64, text: &str) -> Value {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    json!({"Timestamp": time, "TerminalId": device, "Value": digits})
}

fn myriota(packets: &[Value]) -> String {
    let data = json!({"Packets": packets}).to_string();
    json!({"EndpointRef": "N_HlfTNgRsqe:uyXKvYTmTAO5", "Timestamp": 1_563_521_870, "Data": data, "Id": "fe77e2c7",
        "CertificateUrl": "https://security.myriota.com/data.crt", "Signature": "k2OIBppMRmBT520rUlIvMxNg"})
    .to_string()
}

#[test]
fn a_mistake_in_one_packet_quarantines_that_packet_alone() {
    let gateway = start("myriota", "format = 'text'\ndevices = 'm-*'", |_| ());
    let packets = [
        packet("m-1", 1000, "one"),
        json!({"Timestamp": 1001, "TerminalId": "m-1", "Value": "0g"}),
        packet("m-2", 1002, "two"),
        packet("stranger", 1003, "three"),
        packet("m-1", 1000, "one"),
        packet("m-1", 1004, ""),
        packet("m-1", 1004, "four"),
    ];
    let answer = post(&gateway, &myriota(&packets));
    assert_answer(&answer, "quarantined");
    assert_eq!(answer.json()["quarantined"], 2, "{}", answer.text);
    assert!(answer.text.contains("hexadecimal"), "{}", answer.text);
    // The fifth repeats the ID of the first.
    assert_eq!(
        [count(&gateway, "stored"), count(&gateway, "duplicates"), count(&gateway, "quarantined")],
        [3, 1, 2]
    );
    let values: Vec<Value> = list(&gateway, "/api/devices/m-1/messages")
        .into_iter()
        .map(|message| message["value"].clone())
        .collect();
    assert_eq!(values, [json!("four"), json!("one")]);
    let kept = list(&gateway, "/api/quarantine");
    assert!(
        kept.iter().all(|kept| kept["device"] == "unknown" && kept["origin"]["provider"] == "myriota"),
        "{kept:?}"
    );
    assert!(kept[0]["reason"].as_str().unwrap().contains("may not send as \"stranger\""), "{kept:?}");
    // "0g" of the packet, which is kept itself.
    assert!(kept[1]["hex"].as_str().unwrap().contains("223067"), "{kept:?}");
    // In another request, in another order, all are known.
    let again = post(&gateway, &myriota(&[packets[6].clone(), packets[2].clone(), packets[0].clone()]));
    assert_answer(&again, "stored");
    assert_eq!((again.json()["quarantined"].clone(), count(&gateway, "stored")), (json!(0), 3));
    assert_answer(&post(&gateway, &myriota(&[])), "ignored");
}

#[test]
fn the_token_of_myriota_may_be_in_the_url() {
    let gateway = start("myriota", "format = 'text'", |_| ());
    let body = myriota(&[packet("m-1", 1000, "one")]);
    let with = |path: &str| call(&gateway, path, ("x-none", ""), JSON, &body);
    assert_answer(&with("/hooks/hook?token=0123456789abcdef"), "stored");
    for wrong in ["/hooks/hook", "/hooks/hook?token=0123456789abcdee", "/hooks/hook?token="] {
        assert_problem(&with(wrong), 401, "unauthorized");
    }
    let folded = call(&gateway, "/hooks/hook?tokens=1", ("authorization", TOKEN), JSON, &body);
    assert_problem(&folded, 400, "query");
    assert_eq!(count(&gateway, "stored"), 1);
}

#[test]
fn ten_thousand_packets_are_stored_and_recognized() {
    let gateway = start("myriota", "format = 'text'", |config| config.buffer.queue_messages = 100);
    let packets: Vec<Value> = (0..10_000).map(|n| packet(&format!("m-{}", n % 7), 1000 + n, "1")).collect();
    let body = myriota(&packets);
    assert!(body.len() < 1 << 20, "{}", body.len());
    let begun = Instant::now();
    assert_answer(&post(&gateway, &body), "stored");
    println!("10,000 packets in {} bytes: {:?}", body.len(), begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(count(&gateway, "stored"), 10_000);
    assert_answer(&post(&gateway, &body), "stored");
    assert_eq!([count(&gateway, "stored"), count(&gateway, "duplicates")], [10_000, 10_000]);
}

#[test]
fn an_envelope_has_at_most_a_mebibyte_and_32_levels() {
    let gateway = start("myriota", "format = 'text'", |_| ());
    let filled = |length: usize| {
        let body = |filler: usize| myriota(&[packet("m-1", 1000, &"x".repeat(filler))]);
        let spare = length - body(0).len();
        body(spare / 2) + &" ".repeat(spare % 2)
    };
    assert_answer(&post(&gateway, &filled(1 << 20)), "stored");
    assert_problem(&post(&gateway, &filled((1 << 20) + 1)), 413, "too-large");
    let deep = json!({"Data": format!("{{\"Packets\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000))});
    assert_problem(&post(&gateway, &deep.to_string()), 400, "callback");
    let many = json!({"Data": format!("{{\"Packets\":[{}0]}}", "0,".repeat(200_000))}).to_string();
    assert_problem(&post(&gateway, &many), 400, "callback");
    assert_eq!(count(&gateway, "quarantined"), 0);
}

#[test]
fn an_envelope_counts_once_for_each_of_its_devices() {
    let gateway = start("myriota", "format = 'text'", |config| config.access.device_messages_per_minute = 2);
    let packets = |from: u64| (from..from + 50).map(|n| packet("m-1", n, "1")).collect::<Vec<_>>();
    assert_answer(&post(&gateway, &myriota(&packets(1000))), "stored");
    assert_answer(&post(&gateway, &myriota(&packets(2000))), "stored");
    assert_problem(&post(&gateway, &myriota(&packets(3000))), 429, "too-many");
    assert_eq!(count(&gateway, "stored"), 100);
}

#[test]
fn a_device_in_a_header_is_believed_from_an_authorized_caller_alone() {
    let gateway = start("soracom", "format = 'cbor'\ndevices = '2950*'", |_| ());
    let send = |headers: &[(&str, &str)], body: &[u8]| {
        let request =
            gateway.agent.post(gateway.url("/hooks/hook")).header("content-type", "application/cbor");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        crate::support::answer(request.send(body).unwrap())
    };
    let (token, imsi) = (("authorization", TOKEN), ("x-soracom-imsi", "295050012345678"));
    let body = [0xa1, 0x61, 0x74, 0x07];
    assert_problem(&send(&[imsi], &body), 401, "unauthorized");
    assert_problem(&send(&[("authorization", "Bearer 0123456789abcdee"), imsi], &body), 401, "unauthorized");
    assert_problem(&send(&[token], &body), 400, "callback");
    assert_problem(&send(&[token, imsi, ("x-soracom-imsi", "295050012345679")], &body), 400, "callback");
    assert_problem(&send(&[token, ("x-soracom-imsi", "440103114938318")], &body), 403, "forbidden");
    assert_eq!(count(&gateway, "stored") + count(&gateway, "quarantined"), 0);
    assert_answer(&send(&[token, imsi], &body), "stored");
    let message = list(&gateway, "/api/devices/295050012345678/messages").remove(0);
    assert_eq!((&message["value"], &message["format"]), (&json!({"t": 7}), &json!("cbor")));
}

#[test]
fn what_1nce_parsed_is_the_message() {
    let gateway = start("1nce", "", |_| ());
    let event = |kind: &str, id: &str, payload: Value| {
        json!({"payload": payload, "received": "1670598749915", "id": id, "source": "UDP", "type": kind, "version": "1.0.0",
            "device": {"iccid": "8988280666000002864", "ip": "100.91.200.24", "imsi": "901405100002864"}})
        .to_string()
    };
    let json_payload = json!({"type": "JSON", "value": {"t": 7.5}});
    assert_answer(&post(&gateway, &event("TELEMETRY_DATA", "1-a", json_payload.clone())), "stored");
    assert_answer(&post(&gateway, &event("TELEMETRY_DATA", "1-a", json_payload)), "stored");
    assert_answer(&post(&gateway, &event("LIFECYCLE", "1-b", Value::Null)), "ignored");
    let unparsed =
        post(&gateway, &event("TELEMETRY_DATA", "1-c", json!({"type": "STRING", "value": "AQI="})));
    assert_answer(&unparsed, "quarantined");
    assert!(unparsed.text.contains("no format is set"), "{}", unparsed.text);
    assert_eq!([count(&gateway, "stored"), count(&gateway, "duplicates")], [1, 1]);
    assert_eq!(list(&gateway, "/api/devices/8988280666000002864/messages")[0]["value"], json!({"t": 7.5}));
}
