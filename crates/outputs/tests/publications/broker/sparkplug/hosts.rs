//! Commands of hosts, and the state of the primary host.

use super::{NODE, all_seen, assert_numbered, at, command, deliver, publish, rebirth, tend, titles, wait};
use crate::broker::{Bench, retried};
use dunnage_outputs::Class;
use dunnage_test_support::{subscriber::Subscriber, wait::wait_for};
use serde_json::json;
use std::time::{Duration, Instant};

const STATE: &str = "spBv1.0/STATE/scada";

#[test]
fn a_host_gets_all_births_again_when_it_asks() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    for (seconds, device, json) in [(0, "a", "{\"t\":1}"), (1, "b", "{\"t\":2}"), (2, "a", "{\"t\":3}")] {
        assert_eq!(deliver(&bench, &output, &at(seconds, device, json)), Ok(()));
    }
    let begun = Instant::now();
    // What is no request for births changes nothing.
    command(&bench, &json!({"name": "Node Control/Rebirth", "datatype": 11, "boolean_value": false}));
    command(&bench, &json!({"name": "Node Control/Reboot", "datatype": 11, "boolean_value": true}));
    publish(&bench, "spBv1.0/Plant 1/NCMD/dunnage", b"\xff\xff\xff".to_vec(), false);
    publish(&bench, "spBv1.0/Plant 1/NCMD/dunnage", [0x12, 0].repeat(10_000), false);
    // A flood of requests is one request.
    (0..30).for_each(|_| command(&bench, &rebirth()));
    let all = wait_for(|| {
        tend(&bench, &output);
        let all = all_seen(&subscriber);
        if all.len() >= 7 { Ok(all) } else { Err(titles(&all)) }
    });
    assert!(begun.elapsed() > Duration::from_secs(8), "births were repeated at once");
    assert_eq!(titles(&all), ["NBIRTH", "DBIRTH a", "DBIRTH b", "DDATA a", "NBIRTH", "DBIRTH b", "DBIRTH a"]);
    assert_numbered(&all);
    assert_eq!((all[0].bd_seq(), all[4].bd_seq()), (0, 0));
    let current = all[6].metric("t");
    assert_eq!((&current["long_value"], &current["timestamp"]), (&json!(3), &json!(1_767_225_602_000_u64)));
    assert_eq!(current["datatype"], 4);
    assert_eq!(deliver(&bench, &output, &at(3, "b", "{\"t\":4}")), Ok(()));
    assert_eq!(wait(&subscriber, 8)[7].title(), "DDATA b");
    tend(&bench, &output);
    assert_eq!(all_seen(&subscriber).len(), 8);
}

#[test]
fn a_node_without_messages_is_online() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(NODE);
    tend(&bench, &output);
    assert_eq!(titles(&wait(&subscriber, 1)), ["NBIRTH"]);
}

fn state(bench: &Bench, online: bool, timestamp: u64) {
    let payload = json!({"online": online, "timestamp": timestamp}).to_string();
    publish(bench, STATE, payload.into_bytes(), true);
}

#[test]
fn nothing_is_sent_before_the_primary_host_is_online() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    let output = bench.output(&format!("{NODE}primary_host = 'scada'"));
    let first = at(0, "d", "{\"t\":1}");
    let reason = retried(deliver(&bench, &output, &first), Class::Connection);
    assert!(reason.contains("no STATE of the primary host \"scada\""), "{reason}");
    state(&bench, false, 100);
    publish(&bench, "spBv1.0/STATE/other", b"{\"online\":true,\"timestamp\":200}".to_vec(), true);
    publish(&bench, STATE, b"ONLINE".to_vec(), false);
    let reason = retried(deliver(&bench, &output, &first), Class::Connection);
    assert!(reason.contains("is offline, as its STATE says"), "{reason}");
    tend(&bench, &output);
    assert_eq!(titles(&all_seen(&subscriber)), Vec::<String>::new());
    state(&bench, true, 200);
    assert_eq!(deliver(&bench, &output, &first), Ok(()));
    assert_eq!(titles(&wait(&subscriber, 2)), ["NBIRTH", "DBIRTH d"]);
}

#[test]
fn the_node_leaves_when_the_primary_host_does_and_comes_back_with_it() {
    let bench = Bench::new("");
    let subscriber = Subscriber::new(bench.broker.port);
    state(&bench, true, 200);
    let output = bench.output(&format!("{NODE}primary_host = 'scada'"));
    assert_eq!(deliver(&bench, &output, &at(0, "d", "{\"t\":1}")), Ok(()));
    // The will of an earlier connection of the host comes late.
    state(&bench, false, 100);
    state(&bench, true, 200);
    assert_eq!(deliver(&bench, &output, &at(1, "d", "{\"t\":2}")), Ok(()));
    state(&bench, false, 300);
    let reason = wait_for(|| deliver(&bench, &output, &at(1, "d", "{\"t\":2}")).err().ok_or("delivered"));
    assert!(reason.reason.contains("offline"), "{reason:?}");
    // It leaves also if the host is back at once.
    state(&bench, true, 400);
    let death = wait_for(|| {
        tend(&bench, &output);
        all_seen(&subscriber).into_iter().find(|seen| seen.kind == "NDEATH").ok_or("no death")
    });
    assert_eq!(death.bd_seq(), 0);
    assert_eq!(deliver(&bench, &output, &at(2, "d", "{\"t\":3}")), Ok(()));
    let all = wait_for(|| {
        let all = all_seen(&subscriber);
        if all.last().is_some_and(|seen| seen.is("DDATA", "d")) { Ok(all) } else { Err(titles(&all)) }
    });
    let last: Vec<_> = all
        .iter()
        .skip_while(|seen| seen.kind != "NDEATH")
        .filter(|seen| seen.kind != "NDEATH")
        .cloned()
        .collect();
    assert_eq!(titles(&last), ["NBIRTH", "DBIRTH d", "DDATA d"]);
    assert_eq!((last[0].bd_seq(), &last[2].metric("t")["long_value"]), (1, &json!(3)));
    assert_numbered(&all);
}
