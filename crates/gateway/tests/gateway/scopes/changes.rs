//! Tags and tokens that change while a client reads.

use super::{Scoped, ids, names, scope, scoped};
use dunnage_gateway::tokens;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::Duration,
};

/// An open event stream.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(all: &Scoped, token: &str) -> Events {
        let mut stream = TcpStream::connect(all.gateway.gateway.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "GET /api/events HTTP/1.1\r\nhost: localhost\r\nauthorization: {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        assert_eq!(events.line().as_deref(), Some("HTTP/1.1 200 OK"));
        while events.line().is_some_and(|line| !line.is_empty()) {}
        events
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// Returns the name and the object of the next event, or `None` at the end of the stream.
    fn next(&mut self) -> Option<(String, Value)> {
        let name = loop {
            // Chunks have their lengths in lines of their own.
            if let Some(name) = self.line()?.strip_prefix("event: ") {
                break name.to_owned();
            }
        };
        let data = self.line()?;
        Some((name, serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap()))
    }

    /// The next event has to be a message of `device`.
    fn expect_message(&mut self, device: &str) {
        let (name, object) = self.next().unwrap();
        assert_eq!((&*name, &object["device"]), ("message", &json!(device)), "{object}");
    }

    fn expect_scope(&mut self, tags: &Value) {
        let (name, object) = self.next().unwrap();
        assert_eq!((&*name, &object["tags"]), ("scope", tags), "{object}");
    }
}

#[test]
fn a_tag_that_changes_takes_effect_at_once_on_an_open_stream_too() {
    let all = scoped(scope(None, &[("site", "pisa")]), |_| ());
    all.tag("hive-7", "pisa");
    all.tag("hive-8", "rome");
    let mut events = Events::open(&all, &all.part);
    let send = |device: &str| assert_eq!(all.send(device, "lorawan", "{}"), 204);
    ["hive-8", "hive-9", "hive-7"].into_iter().for_each(send);
    events.expect_message("hive-7");
    assert_eq!(all.gateway.post("/ingest/hive-8", "application/json", b"{").status, 400);
    // What happens to other devices is no event: this change is about two that the client may not read before and after it.
    all.tag("hive-8", "milan");
    all.tag("hive-9", "rome");
    all.tag("hive-7", "rome");
    events.expect_scope(&json!({"site": "pisa"}));
    send("hive-7");
    assert_eq!(all.get("/api/devices/hive-7").status, 404);
    assert_eq!((names(&all.json("/api/devices")).len(), ids(&all.json("/api/messages")).len()), (0, 0));
    all.tag("hive-8", "pisa");
    events.expect_scope(&json!({"site": "pisa"}));
    send("hive-7");
    send("hive-8");
    events.expect_message("hive-8");
    assert_eq!(names(&all.json("/api/devices")), ["hive-8"]);
    assert_eq!(ids(&all.json("/api/messages")), [6, 1]);
    // A name is no tag.
    all.register("hive-8", &json!({"tags": {"site": "pisa"}, "name": "Eight"}));
    // A device that leaves the register has no tags.
    let url = all.gateway.url("/api/register/devices/hive-8");
    all.gateway.agent.delete(url).header("authorization", &all.operates).call().unwrap();
    events.expect_scope(&json!({"site": "pisa"}));
    assert_eq!(names(&all.json("/api/devices")), [""; 0]);
}

#[test]
fn a_stream_of_everything_has_no_scope() {
    let all = scoped(scope(None, &[("site", "pisa")]), |_| ());
    let mut events = Events::open(&all, &all.reads);
    assert_eq!(events.next().unwrap().0, "stats");
    all.tag("hive-7", "pisa");
    assert_eq!(all.send("hive-7", "lorawan", "{}"), 204);
    let seen = std::iter::from_fn(|| events.next().map(|(name, _)| name)).take(2).collect::<Vec<_>>();
    assert!(!seen.contains(&"scope".to_owned()), "{seen:?}");
}

#[test]
fn a_reload_changes_what_a_token_reads_and_ends_its_stream() {
    let all = scoped(scope(Some("buoy-*"), &[]), |_| ());
    for device in ["buoy-1", "ship-1"] {
        assert_eq!(all.send(device, "lorawan", "{}"), 204);
    }
    let mut events = Events::open(&all, &all.part);
    let other = Events::open(&all, &all.reads);
    let (path, secret) =
        (all.gateway.folder.path().join("tokens.toml"), all.part.strip_prefix("Bearer ").unwrap());
    let reload = || all.gateway.runtime.block_on(all.gateway.gateway.reload()).unwrap();
    assert_eq!(names(&all.json("/api/devices")), ["buoy-1"]);
    tokens::revoke(&path, "part", None).unwrap();
    let rows = format!("name,device,read,token\npart,ship-*,true,{secret}\n");
    tokens::import(&path, rows.as_bytes(), std::io::sink()).unwrap();
    reload();
    assert_eq!(names(&all.json("/api/devices")), ["ship-1"]);
    assert!(events.next().is_none(), "the stream goes on with the old scope");
    // A reload that changes nothing ends no stream.
    let (mut events, mut other) = (Events::open(&all, &all.part), other);
    reload();
    assert_eq!(all.send("ship-1", "lorawan", "{}"), 204);
    events.expect_message("ship-1");
    other.0.get_mut().set_nonblocking(true).unwrap();
    let ended = std::io::copy(&mut other.0, &mut std::io::sink()).map_err(|e| e.kind());
    assert_eq!(ended.unwrap_err(), std::io::ErrorKind::WouldBlock);
}
