//! What the answers of every route have, and do not have.

use super::{Scoped, ids, names, scope, scoped};
use crate::support::{Answer, JSON, answer};
use dunnage_gateway::{OutputKind, OutputSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The IDs of devices that the token may not read. All that the gateway knows of them has this text.
const SECRET: &str = "smuggler";
const OTHERS: [&str; 2] = ["ship-smuggler", "buoy-smuggler"];

/// The requests of every route for readers, as the OpenAPI document has them: without parameters, and with each parameter alone.
fn requests() -> Vec<String> {
    let document: Value = serde_json::from_str(dunnage_gateway::openapi()).unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        // These answer everyone, and this one never ends.
        if ["/healthz", "/readyz", "/api/events"].contains(&&**path) {
            continue;
        }
        let Some(operation) = item.get("get") else { continue };
        for place in places(path) {
            all.push(place.clone());
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
                let name = parameter["name"].as_str().unwrap();
                all.extend(values(name).into_iter().map(|value| format!("{place}?{name}={value}")));
            }
        }
    }
    all
}

/// The addresses of a path with parameters.
fn places(path: &str) -> Vec<String> {
    let fill = |name: &str, values: &[&str]| values.iter().map(|value| path.replace(name, value)).collect();
    if path.contains("{device}") {
        return fill("{device}", &["buoy-1", "nobody", "ship-smuggler", "buoy-smuggler"]);
    }
    if path.contains("{id}") {
        return fill("{id}", &["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }
    if path.contains("{output}") {
        return fill("{output}", &["away", "nowhere"]);
    }
    assert!(!path.contains('{'), "{path}: name values for its parameter here");
    vec![path.to_owned()]
}

/// Values of a parameter, each of which might tell something.
fn values(name: &str) -> Vec<&'static str> {
    match name {
        "device" => vec!["buoy-1", "nobody", "ship-smuggler", "buoy-smuggler"],
        "find" => vec!["buoy", "smuggler", "Hidden", "imei", "nothing"],
        "tags" => vec![r#"{"site":"pisa"}"#, r#"{"site":"smuggler-rome"}"#, r#"{"colour":"smuggler"}"#],
        "link" => vec!["lorawan", "kineis", "none"],
        "format" => vec!["json", "cbor", "csv", "ndjson"],
        "schema" | "profile" => vec!["", "container"],
        "late" | "quarantined" => vec!["true", "false"],
        "sort" => vec!["name", "last", "messages", "bytes", "late"],
        "order" => vec!["asc", "desc"],
        "limit" => vec!["1", "1000"],
        "before" => vec!["0", "3", "1000"],
        "after" => vec!["0", "1000", "a", "buoy-2", "z"],
        "cursor" => vec!["x"],
        "from" | "until" => vec!["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"],
        other => panic!("name values of the parameter {other} here"),
    }
}

impl Scoped {
    /// Stores what the client may read: messages 1 and 2, one in the quarantine, and a record.
    fn fill(&self) {
        let buoy = json!({"name": "Buoy One", "tags": {"site": "pisa"}, "external_ids": ["imei-1"]});
        self.register("buoy-1", &buoy);
        for n in 0..2 {
            assert_eq!(self.send("buoy-1", "lorawan", &format!("{{\"n\":{n},\"lat\":43,\"lon\":10}}")), 204);
        }
        assert_eq!(self.send("buoy-1", "lorawan", "{"), 400);
    }

    /// Stores what the client may not read.
    fn fill_others(&self) {
        for (n, device) in OTHERS.into_iter().enumerate() {
            let tags = json!({"site": "smuggler-rome", "colour": "smuggler"});
            let record = json!({
                "name": "Hidden smuggler", "tags": tags, "external_ids": [format!("imei-smuggler-{n}")],
                "latitude": 12.5, "longitude": 12.5, "interval_seconds": 60, "notes": "smuggler",
            });
            self.register(device, &record);
            let text = r#"{"text":"smuggler"}"#;
            assert_eq!(self.send(device, "kineis", text), 204);
            let cbor = b"\xa1\x64text\x68smuggler";
            assert_eq!(self.gateway.post(&format!("/ingest/{device}"), "application/cbor", cbor).status, 204);
            assert_eq!(self.send(device, "kineis", "[\"smuggler\""), 400);
        }
    }

    fn answers(&self) -> BTreeMap<String, Answer> {
        requests().into_iter().map(|request| (request.clone(), self.get(&encoded(&request)))).collect()
    }
}

fn encoded(request: &str) -> String {
    request.replace('{', "%7B").replace('}', "%7D").replace('"', "%22")
}

/// The devices of others change nothing in any answer. This is more than that no answer has them: it is about counts, pages and errors, too.
#[test]
fn other_devices_change_no_answer() {
    for scope in [
        scope(Some("buoy-1*"), &[]),
        scope(None, &[("site", "pisa")]),
        scope(Some("buoy-*"), &[("site", "pisa")]),
    ] {
        let all = scoped(scope.clone(), |config| {
            config.outputs.push(OutputSettings::new(
                "away",
                OutputKind::Http(toml::from_str("url = 'http://127.0.0.1:9/'").unwrap()),
            ));
        });
        all.fill();
        let before = all.answers();
        all.fill_others();
        let after = all.answers();
        assert!(before.len() > 100, "{}", before.len());
        for (request, answer) in &after {
            let earlier = &before[request];
            assert_eq!((answer.status, &answer.text), (earlier.status, &earlier.text), "{scope}: {request}");
            assert!([200, 400, 403, 404].contains(&answer.status), "{request}: {}", answer.status);
            for name in answer.headers.keys().filter(|name| *name != "date") {
                assert_eq!(answer.headers.get(name), earlier.headers.get(name), "{scope}: {request} {name}");
            }
            // A device that the client has named may be in an error.
            let text = OTHERS.iter().fold(answer.text.clone(), |text, device| text.replace(device, ""));
            assert!(!text.contains(SECRET) || answer.status == 400, "{scope}: {request}: {}", answer.text);
            if !request.contains(SECRET) {
                assert!(!answer.text.contains(SECRET), "{scope}: {request}: {}", answer.text);
            }
        }
        // The test sees what it looks for: a client that reads everything gets other answers, with the others in them.
        let seen = |path: &str| all.get_with(&all.reads, path).text;
        assert!(
            seen("/api/devices").contains("ship-smuggler")
                && seen("/api/register/export").contains("smuggler-rome")
        );
        let different =
            after.keys().filter(|request| seen(&encoded(request)) != after[*request].text).count();
        assert!(different > 60, "{different}");
    }
}

/// A device that may not be read answers like one that does not exist: the same status and, but for the name, the same body.
#[test]
fn nobody_can_probe_for_devices() {
    let all = scoped(scope(Some("buoy-*"), &[("site", "pisa")]), |_| ());
    all.fill();
    all.fill_others();
    for request in requests().iter().filter(|request| request.contains("ship-smuggler")) {
        for other in OTHERS {
            let answer = |device: &str| all.get(&encoded(&request.replace("ship-smuggler", device)));
            let (hidden, missing) = (answer(other), answer("buoy-nobody"));
            assert_eq!(hidden.status, missing.status, "{request}");
            assert_eq!(hidden.text, missing.text.replace("buoy-nobody", other), "{request}");
        }
    }
    // The messages 3 to 6 are of others, 7 does not exist.
    let message = |id: i64| all.get(&format!("/api/messages/{id}"));
    assert_eq!(message(2).status, 200);
    for id in 3..=6 {
        let (hidden, missing) = (message(id), message(700));
        assert_eq!((hidden.status, hidden.text), (404, missing.text.replace("700", &id.to_string())));
    }
}

#[test]
fn a_part_is_complete() {
    let all = scoped(scope(None, &[("site", "pisa")]), |_| ());
    all.fill_others();
    all.fill();
    all.fill_others();
    let devices = all.json("/api/devices");
    assert_eq!(names(&devices), ["buoy-1"]);
    let count = |name: &str| devices[name].as_u64().unwrap();
    assert_eq!((count("matches"), count("listed"), count("stored"), count("offset")), (1, 1, 1, 0));
    assert_eq!(devices["names"]["link"], json!({"lorawan": 1}));
    assert_eq!(ids(&all.json("/api/messages")), [6, 5]);
    assert_eq!(ids(&all.json("/api/messages?limit=1")), [6]);
    assert_eq!(ids(&all.json("/api/messages?limit=1&before=6")), [5]);
    assert_eq!(ids(&all.json("/api/messages?before=5")), [0; 0]);
    assert_eq!(ids(&all.json("/api/messages?device=buoy-1")), [6, 5]);
    assert_eq!(all.json("/api/quarantine")["messages"].as_array().unwrap().len(), 1);
    assert_eq!(all.json("/api/devices/buoy-1")["messages"], 2);
    assert_eq!(all.json("/api/devices/buoy-1/series")["messages"], 2);
    assert_eq!(all.json("/api/register/devices")["matches"], 1);
    let file = all.get("/api/register/export").text;
    assert!(file.contains("Buoy One") && !file.contains("colour"), "{file}");
    assert_eq!(
        all.json("/api/scope"),
        json!({"everything": false, "device": null, "tags": {"site": "pisa"}})
    );
    let everything = all.get_with(&all.reads, "/api/scope").json();
    assert_eq!(everything, json!({"everything": true, "device": null, "tags": {}}));
    for path in [
        "/api/stats",
        "/metrics",
        "/api/operations",
        "/api/rates",
        "/api/tokens",
        "/api/keys",
        "/api/schemas",
    ] {
        let refused = all.get(path);
        assert_eq!(
            (refused.status, refused.json()["type"].as_str()),
            (403, Some("urn:dunnage:problem:forbidden")),
            "{path}"
        );
        assert!(
            refused.json()["detail"].as_str().unwrap().contains("a part of the devices"),
            "{}",
            refused.text
        );
        assert_eq!(all.get_with(&all.reads, path).status, 200, "{path}");
        assert_eq!(all.get_with(&all.operates, path).status, 200, "{path}");
    }
    let listed = all.get_with(&all.reads, "/api/tokens").json();
    assert_eq!(listed["entries"][2]["tags"], json!({"site": "pisa"}), "{listed}");
}

/// The lists of few devices are merged, and those of many are searched: both are the same list.
#[test]
fn pages_of_messages_have_each_message_of_the_part_once() {
    let all = scoped(scope(Some("buoy-*"), &[]), |_| ());
    let mut expected = Vec::new();
    for n in 1..=60 {
        let device = format!("{}-{}", if n % 3 == 0 { "ship" } else { "buoy" }, n % 7);
        assert_eq!(all.send(&device, "lorawan", "1"), 204);
        expected.extend((n % 3 != 0).then_some(n));
    }
    expected.reverse();
    let (mut found, mut before) = (Vec::new(), i64::MAX);
    loop {
        let page = ids(&all.json(&format!("/api/messages?limit=7&before={before}")));
        let Some(last) = page.last() else { break };
        before = *last;
        found.extend(page);
    }
    assert_eq!(found, expected);
}

/// A token for a part changes nothing, also not what it may read.
#[test]
fn a_part_does_not_operate() {
    let all = scoped(scope(Some("buoy-*"), &[]), |_| ());
    all.fill();
    let document: Value = serde_json::from_str(dunnage_gateway::openapi()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|method| *method != "get") {
            if path.starts_with("/ingest") || path.starts_with("/hooks") || path.starts_with("/api/play") {
                continue;
            }
            let url = all.gateway.url(&path.replace("{device}", "buoy-1").replace("{output}", "away"));
            let request = ureq::http::Request::builder().method(&*method.to_uppercase()).uri(url);
            let request = request.header("authorization", &all.part).header("content-type", JSON);
            let refused = answer(all.gateway.agent.run(request.body("{}").unwrap()).unwrap());
            assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text);
        }
    }
    assert_eq!(all.gateway.post("/ingest/buoy-1", JSON, b"1").status, 204);
    let request = all.gateway.agent.post(all.gateway.url("/ingest/buoy-1")).header("content-type", JSON);
    assert_eq!(answer(request.header("authorization", &all.part).send("1").unwrap()).status, 403);
}
