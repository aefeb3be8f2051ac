//! Links that fail, gateways that are killed, and ends that differ.

use super::{NUMBERS, batch, cloud, edge, http, messages};
use crate::support::{
    JSON, agent, child, post_with_key,
    proxy::{Mode, Proxy},
    scripted::{Reply, Scripted},
    wait::wait_until,
};
use dunnage_relay::{Content, Entry, MEDIA_TYPE, Sender};
use serde_json::json;
use std::{
    fs,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Writes the configuration of a gateway at the edge, in a process of its own, that relays to `address`.
fn configure(folder: &Path, address: SocketAddr) {
    let toml = format!(
        "[[output]]\nname = 'cloud'\n[output.relay]\nreadings = 12\nwait_seconds = 0\n[[output.relay.link]]\nname = 'port'\n\
         timeout_seconds = 1\nhttp = {{ url = 'http://{address}/ingest/ship-7' }}\n"
    );
    child::configure(folder, &toml);
}

#[test]
fn nothing_is_lost_or_stored_twice_while_the_link_fails_and_the_edge_is_killed() {
    const KILLS: usize = 8;
    const DEVICES: [&str; 3] = ["a", "b", "c"];
    let cloud = cloud();
    let proxy = Proxy::start(cloud.gateway.address());
    let folder = TempDir::new().unwrap();
    configure(folder.path(), proxy.address);
    let agent = agent();
    let mut sent = [0_u64; DEVICES.len()];
    for round in 0..=KILLS {
        // The link loses answers, then requests, and works in between.
        proxy.set(match round % 4 {
            0 => Mode::CutAfterRequest { every: 2 },
            1 => Mode::FailThreeOfTen,
            2 => Mode::Refuse,
            _ => Mode::Pass,
        });
        let edge = child::start(folder.path(), "");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(400) {
            for (device, sent) in DEVICES.iter().zip(&mut sent) {
                let url = format!("{}/ingest/{device}", edge.url);
                let body = json!({ "n": *sent }).to_string();
                let answer = post_with_key(&agent, &url, &format!("{device}-{sent}"), body.as_bytes());
                assert_eq!(answer.status, 204, "{}", answer.text);
                *sent += 1;
            }
        }
        edge.kill();
    }
    proxy.set(Mode::Pass);
    let edge = child::start(folder.path(), "");
    let expected: u64 = sent.iter().sum();
    let arrived = || {
        let mut found = Vec::new();
        let mut before = String::new();
        loop {
            let page = cloud.get_json(&format!("/api/messages?limit=1000{before}"));
            let list = page["messages"].as_array().unwrap().clone();
            let Some(last) = list.last() else { break };
            before = format!("&before={}", last["id"]);
            found.extend(list);
        }
        found.reverse();
        found
    };
    wait_until("the readings arrive", || arrived().len() as u64 >= expected);
    std::thread::sleep(Duration::from_millis(300));
    let arrived = arrived();
    for (device, sent) in DEVICES.iter().zip(sent) {
        let of_device = arrived.iter().filter(|message| message["device"] == format!("ship-7/{device}"));
        let numbers: Vec<_> = of_device.map(|message| message["value"]["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..sent).collect::<Vec<_>>(), "{device}");
    }
    assert!(proxy.cuts() > 0 && arrived.len() as u64 == expected);
    edge.stop();
}

#[test]
fn only_204_counts_and_a_batch_that_is_too_large_is_halved() {
    let server = Scripted::start(|_, before| match before {
        0 => Reply::Status("200 OK"),
        1 => Reply::Status("413 Payload Too Large"),
        _ => Reply::Status("204 No Content"),
    });
    let edge = edge("times = false\nreadings = 4\nwait_seconds = 30", &http(server.address));
    for n in 0..4 {
        assert_eq!(edge.post("/ingest/door", JSON, n.to_string().as_bytes()).status, 204);
    }
    wait_until("the readings are delivered", || edge.gateway.outputs()[0].delivered == 4);
    let sizes: Vec<_> = server.requests().iter().map(|request| request.body.len()).collect();
    assert!(sizes.len() == 4 && sizes[0] == sizes[1] && sizes[2] < sizes[1], "{sizes:?}");
}

#[test]
fn a_program_that_leaves_others_behind_and_says_much_is_over_when_it_ends() {
    let sent = TempDir::new().unwrap();
    let path = sent.path().join("batch");
    let script = format!("cat > '{}'; sleep 20 & head -c 5000000 /dev/zero >&2", path.display());
    let link = format!("[[link]]\nname = 'modem'\nexec = {{ command = ['sh', '-c', {script:?}] }}\n");
    let edge = edge("wait_seconds = 0", &link);
    let begun = Instant::now();
    assert_eq!(edge.post("/ingest/door", JSON, b"1").status, 204);
    wait_until("the reading is delivered", || edge.gateway.outputs()[0].delivered == 1);
    assert!(begun.elapsed() < Duration::from_secs(15) && path.exists());
}

#[test]
fn a_reading_of_another_schema_or_layout_is_never_decoded_as_one_of_the_profile() {
    let cloud = cloud();
    let edge = edge("wait_seconds = 0", &http(cloud.gateway.address()));
    let other = edge.post("/ingest/hold-1?schema=tag", JSON, br#"{"id":"hold-1","on":true}"#);
    assert_eq!(other.status, 204);
    let kept = || cloud.get_json("/api/quarantine?limit=100")["messages"].as_array().unwrap().clone();
    wait_until("the reading arrives", || kept().len() == 1);
    assert_eq!((&kept()[0]["device"], &kept()[0]["kind"]), (&json!("hold-1"), &json!("schema")));

    let file = NUMBERS
        .replace("\"number\": 1, \"slot\": 11", "\"number\": 1, \"slot\": 11, \"layout\": \"00000000\"");
    fs::write(cloud.folder.path().join("ship-7.json"), file).unwrap();
    cloud.runtime.block_on(cloud.gateway.reload()).unwrap();
    let (sender, content) = (Sender::Number(1), Content::Packed { mode: 0, body: &[0x7e] });
    let packed = batch(&[Entry { sequence: 1, received_at: None, sender, content }]);
    assert_eq!(cloud.post("/ingest/ship-7", MEDIA_TYPE, &packed).status, 204);
    assert!(kept().iter().any(|message| message["kind"] == "unknown-layout"), "{:?}", kept());
    assert!(messages(&cloud).is_empty());
}
