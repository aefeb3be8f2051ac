//! The list of devices: its order, filters and pages, and its entries.

use crate::support::{JSON, Running, start, start_in, start_with, wait::wait_until};
use dunnage_gateway::{Config, Profile};
use serde_json::{Value, json};
use std::time::Duration;

fn send(gateway: &Running, device: &str, body: &str) {
    assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, body.as_bytes()).status, 204, "{device}");
}

fn list(gateway: &Running, query: &str) -> Value {
    gateway.get_json(&format!("/api/devices?{query}"))
}

fn names(list: &Value) -> Vec<String> {
    list["devices"].as_array().unwrap().iter().map(|d| d["device"].as_str().unwrap().to_owned()).collect()
}

/// Three devices: `b` sent last, `a` sends most messages, `c` the most bytes.
fn three() -> Running {
    let gateway = start();
    for device in ["a", "a", "a"] {
        send(&gateway, device, "1");
    }
    send(
        &gateway,
        "c?link=kineis",
        &format!("{{\"lat\":1.5,\"lon\":\"-2\",\"text\":\"{}\"}}", "x".repeat(100)),
    );
    send(&gateway, "b", "22");
    gateway
}

#[test]
fn devices_are_sorted_and_paged_in_both_directions() {
    let gateway = three();
    let orders = [
        ("", ["b", "c", "a"]),
        ("sort=name", ["a", "b", "c"]),
        ("sort=name&order=desc", ["c", "b", "a"]),
        ("sort=last&order=asc", ["a", "c", "b"]),
        ("sort=messages", ["a", "b", "c"]),
        ("sort=bytes", ["c", "a", "b"]),
        ("sort=late", ["a", "b", "c"]),
    ];
    for (order, expected) in orders {
        assert_eq!(names(&list(&gateway, order)), expected, "{order}");
        let first = list(&gateway, &format!("{order}&limit=2"));
        assert_eq!(
            (names(&first), &first["matches"], &first["offset"]),
            (expected[..2].iter().map(|n| (*n).to_owned()).collect(), &json!(3), &json!(0))
        );
        assert_eq!(
            (&first["previous"], &first["listed"], &first["stored"]),
            (&json!(null), &json!(3), &json!(3))
        );
        let second = list(&gateway, &format!("{order}&limit=2&cursor={}", first["next"].as_str().unwrap()));
        assert_eq!(
            (names(&second), &second["offset"], &second["next"]),
            (vec![expected[2].to_owned()], &json!(2), &json!(null)),
            "{order}"
        );
        let back =
            list(&gateway, &format!("{order}&limit=2&cursor={}", second["previous"].as_str().unwrap()));
        assert_eq!((names(&back), &back["previous"]), (names(&first), &json!(null)), "{order}");
    }
}

#[test]
fn an_entry_says_what_the_last_message_does() {
    let gateway = three();
    assert_eq!(gateway.post("/ingest/c", JSON, b"[1").status, 400);
    let mut c = gateway.get_json("/api/devices/c");
    assert_eq!(list(&gateway, "find=C")["devices"][0], c);
    assert!(c["last"]["received_at"].take().as_str().unwrap().ends_with('Z'));
    assert!(c["first_seen"].take().as_str().unwrap().ends_with('Z'));
    let bytes = c["bytes"].clone();
    assert_eq!(
        c,
        json!({"device": "c", "first_seen": null, "messages": 1, "bytes": bytes, "quarantined": 1, "profile": null, "expected_every": null, "expected_from": null, "late_after": null, "late": null, "last": {
            "id": 4, "received_at": null, "format": "json", "schema": null, "link": "kineis", "bytes": bytes, "position": {"latitude": 1.5, "longitude": -2.0}
        }})
    );
    assert_eq!(gateway.get("/api/devices/nobody").status, 404);
    assert_eq!(gateway.get("/api/devices/c?limit=1").status, 400);
}

#[test]
fn devices_are_filtered() {
    let gateway = three();
    assert_eq!(gateway.post("/ingest/c", JSON, b"[1").status, 400);
    assert_eq!(gateway.post("/ingest/stored-nothing", JSON, b"[1").status, 400);
    for (filter, expected) in [
        ("find=B", &["b"][..]),
        ("find=", &["stored-nothing", "b", "c", "a"]),
        ("link=kineis", &["c"]),
        ("link=", &["stored-nothing", "b", "a"]),
        ("format=json", &["b", "c", "a"]),
        ("format=cbor", &[]),
        ("schema=", &["stored-nothing", "b", "c", "a"]),
        ("schema=container", &[]),
        ("profile=", &["stored-nothing", "b", "c", "a"]),
        ("quarantined=true", &["stored-nothing", "c"]),
        ("quarantined=false", &["b", "a"]),
        ("late=true", &[]),
        ("late=false&link=kineis&quarantined=true&find=c", &["c"]),
        ("find=%3Cb%3E", &[]),
        ("find=%D7%A9%D7%9C%D7%95%D7%9D", &[]),
        ("link=%E2%80%AEsieink", &[]),
    ] {
        let found = list(&gateway, filter);
        assert_eq!(
            (names(&found), &found["matches"]),
            (expected.iter().map(|n| (*n).to_owned()).collect(), &json!(expected.len())),
            "{filter}"
        );
    }
    let names = list(&gateway, "")["names"].clone();
    assert_eq!(names, json!({"link": {"kineis": 1}, "format": {"json": 3}, "schema": {}, "profile": {}}));
}

#[test]
fn invalid_parameters_are_rejected() {
    let gateway = three();
    let next = list(&gateway, "sort=name&limit=1")["next"].as_str().unwrap().to_owned();
    let long = "9".repeat(8000);
    for bad in [
        "sort=size",
        "sort=",
        "sort=true",
        "sort=NAME",
        "order=up",
        "late=1",
        "late=",
        "quarantined=yes",
        "limit=x",
        "limit=-1",
        "limit=0",
        "limit=1001",
        "limit=4294967295",
        "before=5",
        "find=a&find=b",
        "cursor=",
        "cursor=AAAA",
        "cursor=%00",
        &format!("cursor={long}"),
        &format!("limit={long}"),
        &format!("sort={long}"),
        &format!("sort=last&cursor={next}"),
        &format!("sort=name&order=desc&cursor={next}"),
    ] {
        let answer = gateway.get(&format!("/api/devices?{bad}"));
        assert_eq!(answer.status, 400, "{bad}: {}", answer.text);
        assert_eq!(answer.json()["type"], "urn:dunnage:problem:query", "{bad}");
        assert!(answer.text.len() < 600, "{}", answer.text);
    }
    assert_eq!(names(&list(&gateway, "limit=1000")).len(), 3);
    assert_eq!(names(&list(&gateway, &format!("find={long}"))).len(), 0);
}

#[test]
fn a_device_is_late_by_its_schema_its_profile_or_its_messages() {
    let schemas = tempfile::TempDir::new().unwrap();
    let schema = json!({"type": "object", "properties": {"at": {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32, "x-dunnage-every": 900}}});
    std::fs::write(schemas.path().join("clock.json"), schema.to_string()).unwrap();
    let path = schemas.path().to_owned();
    let gateway = start_with(move |config| {
        config.schemas.path = path;
        let profile = |device: &str| Profile { device: device.into(), ..Profile::default() };
        config.profiles = vec![
            Profile { silent_after_seconds: Some(1), ..profile("quiet-*") },
            Profile { schema: Some("clock".into()), ..profile("clock-*") },
        ];
    });
    for device in ["quiet-1", "clock-1"] {
        send(&gateway, device, "{\"at\":1}");
    }
    for _ in 0..4 {
        send(&gateway, "steady", "1");
        std::thread::sleep(Duration::from_millis(1050));
    }
    let device = |name: &str| gateway.get_json(&format!("/api/devices/{name}"));
    wait_until("the device is silent", || device("quiet-1")["late"].as_f64().is_some());
    wait_until("the device is late", || device("steady")["late"].as_f64().is_some());
    let (quiet, clock, steady) = (device("quiet-1"), device("clock-1"), device("steady"));
    assert_eq!(
        (&quiet["profile"], &quiet["expected_every"], &quiet["expected_from"]),
        (&json!("quiet-*"), &json!(1.0), &json!("profile"))
    );
    assert_eq!(
        (&clock["profile"], &clock["expected_every"], &clock["expected_from"]),
        (&json!("clock-*"), &json!(900.0), &json!("schema"))
    );
    assert_eq!((&clock["late"], &clock["last"]["schema"]), (&json!(null), &json!("clock")));
    assert_eq!((&steady["profile"], &steady["expected_from"]), (&json!(null), &json!("messages")));
    let every = steady["expected_every"].as_f64().unwrap();
    assert!((1.0..3.0).contains(&every), "{every}");
    assert!(steady["late"].as_f64().unwrap() > every, "{steady}");
    assert_eq!(names(&list(&gateway, "late=true&sort=late")), ["quiet-1", "steady"]);
    assert_eq!(names(&list(&gateway, "profile=clock-*")), ["clock-1"]);
    assert_eq!(names(&list(&gateway, "schema=clock&late=false")), ["clock-1"]);
}

#[test]
fn a_device_is_where_its_message_or_its_profile_says() {
    let profiles = |config: &mut Config| {
        config.profiles = vec![Profile {
            device: "mast-*".into(),
            position: Some("/site/at~1now".into()),
            ..Profile::default()
        }];
    };
    let gateway = start_with(profiles);
    send(&gateway, "tracker", r#"{"battery":3.7,"gps":{"lat":47.5,"lng":8.5}}"#);
    send(
        &gateway,
        "mast-1",
        r#"{"lat":1,"lon":2,"site":{"at/now":{"type":"Point","coordinates":[10.5,59.5]}}}"#,
    );
    send(&gateway, "pump", r#"{"level":3}"#);
    let check = |gateway: &Running| {
        let place = |latitude: f64, longitude: f64| json!({"latitude": latitude, "longitude": longitude});
        for (device, position) in
            [("tracker", place(47.5, 8.5)), ("mast-1", place(59.5, 10.5)), ("pump", json!(null))]
        {
            let get = |rest: &str| gateway.get_json(&format!("/api/devices/{device}{rest}"));
            assert_eq!(get("")["last"]["position"], position);
            assert_eq!(get("/messages")["messages"][0]["position"], position);
            let track = get("/series")["track"].as_array().unwrap().clone();
            assert_eq!(track.first().map(|stop| stop["latitude"].clone()), position.get("latitude").cloned());
        }
    };
    check(&gateway);
    let (_, folder) = gateway.stop();
    check(&start_in(folder, profiles));
}

#[test]
fn the_list_is_the_same_after_a_restart() {
    let gateway = three();
    for _ in 0..4 {
        send(&gateway, "steady", "1");
        std::thread::sleep(Duration::from_millis(1050));
    }
    assert_eq!(gateway.post("/ingest/c", JSON, b"[1").status, 400);
    let cursor = list(&gateway, "sort=name&limit=2")["next"].as_str().unwrap().to_owned();
    let without_cadence = |mut list: Value| {
        for device in list["devices"].as_array_mut().unwrap() {
            for key in ["expected_every", "expected_from", "late_after", "late"] {
                device[key] = Value::Null;
            }
        }
        list
    };
    let before = without_cadence(list(&gateway, ""));
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |_| ());
    assert_eq!(without_cadence(list(&gateway, "")), before);
    assert_eq!(names(&list(&gateway, &format!("sort=name&cursor={cursor}"))), ["c", "steady"]);
    // The interval is found again from the messages of the device, and is then in the list, too.
    assert_eq!(list(&gateway, "find=steady")["devices"][0]["expected_from"], json!(null));
    assert_eq!(gateway.get_json("/api/devices/steady")["expected_from"], "messages");
    assert_eq!(list(&gateway, "find=steady")["devices"][0]["expected_from"], "messages");
    // It follows the commits again.
    send(&gateway, "a", "4");
    let a = gateway.get_json("/api/devices/a");
    assert_eq!((&a["messages"], &a["bytes"]), (&json!(4), &json!(4)));
}

#[test]
fn duplicates_are_not_counted_and_what_leaves_the_quarantine_is_not_in_it() {
    let gateway = start_with(|config| config.quarantine.messages = 2);
    for _ in 0..2 {
        let key = crate::support::post_with_key(&gateway.agent, &gateway.url("/ingest/d"), "k", b"1");
        assert_eq!(key.status, 204);
    }
    send(&gateway, "e", "1");
    for device in ["d", "e", "e"] {
        assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, b"[").status, 400);
    }
    // The quarantine has room for two messages.
    let count =
        |device: &str, key: &str| gateway.get_json(&format!("/api/devices/{device}"))[key].as_u64().unwrap();
    assert_eq!((count("d", "messages"), count("d", "quarantined"), count("e", "quarantined")), (1, 0, 2));
}

#[test]
fn a_device_is_listed_whose_messages_are_all_in_the_quarantine() {
    let gateway = three();
    assert_eq!(gateway.get("/api/devices/z").status, 404);
    assert_eq!(gateway.post("/ingest/z", JSON, b"[").status, 400);
    let check = |gateway: &Running| {
        assert_eq!(names(&list(gateway, "")), ["z", "b", "c", "a"]);
        assert_eq!(names(&list(gateway, "quarantined=true")), ["z"]);
        let z = gateway.get_json("/api/devices/z");
        assert_eq!((&z["messages"], &z["quarantined"], &z["last"]), (&json!(0), &json!(1), &json!(null)));
    };
    check(&gateway);
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |_| ());
    check(&gateway);
    send(&gateway, "z", "1");
    assert_eq!(gateway.get_json("/api/devices/z")["last"]["id"], 6);
}
