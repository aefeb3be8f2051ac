//! The register of devices: names and tags travel with messages, external IDs lead to devices, and changes are all or nothing.

use crate::{
    quarantine::ask,
    support::{
        Answer, JSON, Running, answer,
        scripted::{Reply, Scripted},
        start_in, start_with,
        wait::wait_for,
    },
};
use dunnage_gateway::{AdminClient, Config, OutputKind, OutputSettings, Right, Scope, tokens};
use serde_json::{Value, json};
use std::time::Instant;

/// A gateway with a token that may operate and one that may read.
struct Registered {
    gateway: Running,
    operates: String,
    reads: String,
}

fn registered(change: impl FnOnce(&mut Config)) -> Registered {
    let mut made = Vec::new();
    let gateway = start_with(|config| {
        for (name, right) in [("olga", Right::Operate), ("reads", Right::Read(Scope::EVERYTHING))] {
            made.push(tokens::add(&config.tokens(), Some(name), right, None).unwrap().1);
        }
        change(config);
    });
    let [operates, reads] = made.try_into().unwrap();
    Registered { gateway, operates, reads }
}

impl Registered {
    fn put(&self, device: &str, record: &Value) -> Answer {
        let url = self.gateway.url(&format!("/api/register/devices/{device}"));
        let request = self.gateway.agent.put(url).header("content-type", JSON);
        answer(request.header("authorization", self.operator()).send(record.to_string()).unwrap())
    }

    fn patch(&self, device: &str, patch: &Value) -> Answer {
        let url = self.gateway.url(&format!("/api/register/devices/{device}"));
        let request = self.gateway.agent.patch(url).header("content-type", JSON);
        answer(request.header("authorization", self.operator()).send(patch.to_string()).unwrap())
    }

    fn remove(&self, device: &str) -> Answer {
        let url = self.gateway.url(&format!("/api/register/devices/{device}"));
        answer(self.gateway.agent.delete(url).header("authorization", self.operator()).call().unwrap())
    }

    fn import(&self, query: &str, media_type: &str, file: &str) -> Answer {
        let url = self.gateway.url(&format!("/api/register/import{query}"));
        let request = self.gateway.agent.post(url).header("content-type", media_type);
        answer(request.header("authorization", self.operator()).send(file).unwrap())
    }

    fn operator(&self) -> String {
        format!("Bearer {}", self.operates)
    }
}

fn devices(gateway: &Running, query: &str) -> Vec<String> {
    let page = gateway.get_json(&format!("/api/register/devices{query}"));
    page["devices"].as_array().unwrap().iter().map(|d| d["device"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_message_that_names_an_external_id_is_one_of_its_device_and_carries_its_name_and_tags() {
    let receiver = Scripted::start(|_, _| Reply::Status("204 No Content"));
    let all = registered(|config| {
        let http = toml::from_str(&format!("url = 'http://{}/in'", receiver.address)).unwrap();
        config.outputs.push(OutputSettings::new("archive", OutputKind::Http(http)));
    });
    let record = json!({
        "name": "Hive 7", "tags": {"site": "pisa", "kind": "scale"}, "external_ids": ["70b3d57ed0000001"],
        "latitude": 43.7, "longitude": 10.4, "interval_seconds": 900,
    });
    let put = all.put("hive-7", &record);
    assert_eq!((put.status, &put.json()["last_seen"]), (200, &Value::Null), "{}", put.text);
    let gateway = &all.gateway;
    assert_eq!(gateway.post("/ingest/70b3d57ed0000001", JSON, b"{\"kg\":31}").status, 204);
    assert_eq!(gateway.post("/ingest/other", JSON, b"{}").status, 204);
    let message = &gateway.get_json("/api/devices/hive-7/messages")["messages"][0];
    assert_eq!((&message["device_name"], &message["tags"]["site"]), (&json!("Hive 7"), &json!("pisa")));
    assert_eq!(message["origin"]["external_id"], "70b3d57ed0000001");
    assert_eq!(message["position"], json!({"latitude": 43.7, "longitude": 10.4}));
    let device = gateway.get_json("/api/devices/hive-7");
    assert_eq!(
        (&device["device_name"], &device["expected_every"]),
        (&json!("Hive 7"), &json!(900.0)),
        "{device}"
    );
    assert_eq!(
        (&device["expected_from"], &device["last"]["position"]["latitude"]),
        (&json!("register"), &json!(43.7))
    );
    let registered = gateway.get_json("/api/register/devices/hive-7");
    assert!(registered["last_seen"].is_string(), "{registered}");
    assert_eq!(
        (&registered["first_seen"], &device["first_seen"]),
        (&registered["last_seen"], &registered["last_seen"])
    );
    let bodies: Vec<Value> =
        receiver.wait_for(2).iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    let of = |device: &str| bodies.iter().find(|body| body["device"] == device).unwrap().clone();
    assert_eq!(
        (&of("hive-7")["device_name"], &of("hive-7")["tags"]["kind"]),
        (&json!("Hive 7"), &json!("scale"))
    );
    assert!(of("other").get("device_name").is_none() && of("other").get("tags").is_none());
}

#[test]
fn unknown_and_disabled_devices_are_quarantined_until_the_register_has_them() {
    let all = registered(|config| config.register = toml::from_str("unknown = 'quarantine'").unwrap());
    let gateway = &all.gateway;
    let sent = |device: &str| {
        let answer = gateway.post(&format!("/ingest/{device}"), JSON, b"1");
        (answer.status, answer.json()["type"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(sent("d"), (403, "urn:dunnage:problem:unregistered".into()));
    assert_eq!(all.put("d", &json!({"disabled": true})).status, 200);
    assert_eq!(sent("d"), (403, "urn:dunnage:problem:disabled".into()));
    let kinds = || -> Vec<Value> {
        let list = gateway.get_json("/api/quarantine");
        list["messages"].as_array().unwrap().iter().map(|kept| kept["kind"].clone()).collect()
    };
    assert_eq!(kinds(), [json!("disabled"), json!("unregistered")]);
    assert_eq!(ask(gateway, "quarantine/retry", &[]).unwrap()["failed"], 2);
    assert_eq!(all.patch("d", &json!({"disabled": null})).status, 200);
    assert_eq!(ask(gateway, "quarantine/retry", &[]).unwrap()["stored"], 2);
    assert_eq!(gateway.post("/ingest/d", JSON, b"1").status, 204);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_quarantined_messages_total{kind=\"unregistered\"} 1"), "{metrics}");
}

#[test]
fn a_change_needs_a_token_that_may_operate_and_a_valid_record() {
    let all = registered(|_| {});
    let gateway = &all.gateway;
    let url = gateway.url("/api/register/devices/d");
    let put = |headers: &[(&str, &str)]| {
        let request = gateway.agent.put(url.as_str());
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        answer(request.send("{}").unwrap()).status
    };
    let (operates, reads) = (all.operator(), format!("Bearer {}", all.reads));
    assert_eq!(put(&[("content-type", JSON)]), 401);
    assert_eq!(put(&[("content-type", JSON), ("authorization", &reads)]), 403);
    assert_eq!(put(&[("content-type", "text/plain"), ("authorization", &operates)]), 415);
    assert_eq!(
        put(&[("content-type", JSON), ("authorization", &operates), ("sec-fetch-site", "cross-site")]),
        403
    );
    assert_eq!(devices(gateway, ""), [""; 0]);
    let refused = |answer: Answer| (answer.status, answer.json()["detail"].as_str().unwrap().to_owned());
    assert_eq!(put(&[("content-type", JSON), ("authorization", &operates)]), 200);
    assert_eq!(all.put("e", &json!({"external_ids": ["1"]})).status, 200);
    assert_eq!(
        refused(all.patch("d", &json!({"external_ids": ["1"]}))),
        (409, "external_ids: \"1\" of the device \"d\" belongs to the device \"e\"".into())
    );
    assert_eq!(refused(all.put("d", &json!({"device": "x"}))).0, 422);
    assert_eq!(
        refused(all.put("d", &json!({"latitude": 1}))),
        (422, "longitude: missing beside latitude".into())
    );
    assert_eq!(refused(all.patch("nobody", &json!({}))).0, 404);
    assert_eq!((all.remove("e").status, all.remove("e").status), (204, 404));
    assert_eq!(devices(gateway, ""), ["d"]);
}

#[test]
fn an_import_is_all_or_nothing_and_survives_a_restart() {
    let all = registered(|_| {});
    let gateway = &all.gateway;
    let good = "device,name,external_id,tag.site\na,Ä,1,pisa\nb,,2,\nc,,,rome\n";
    let dry = all.import("?dry_run=true", "text/csv", good);
    assert_eq!(
        (dry.json(), devices(gateway, "").len()),
        (json!({"added": 3, "changed": 0, "unchanged": 0}), 0)
    );
    let bad = all.import("", "text/csv", "device,external_id\na,1\nb,1\n");
    assert_eq!(bad.status, 422);
    assert!(bad.text.contains("line 3: external_ids: "), "{}", bad.text);
    assert_eq!(devices(gateway, "").len(), 0);
    assert_eq!(all.import("", "text/csv", good).json()["added"], 3);
    let again = all.import(
        "",
        "application/x-ndjson",
        "{\"device\":\"b\",\"external_ids\":[\"2\"]}\n{\"device\":\"a\"}",
    );
    assert_eq!(again.json(), json!({"added": 0, "changed": 1, "unchanged": 1}));
    assert_eq!(
        (devices(gateway, "?limit=2"), devices(gateway, "?after=b")),
        (vec!["a".into(), "b".into()], vec!["c".into()])
    );
    assert_eq!(devices(gateway, "?tags=%7B%22site%22:%22rome%22%7D"), ["c"]);
    assert_eq!(gateway.get("/api/register/devices?tags=site").status, 400);
    let exported = gateway.get("/api/register/export?format=ndjson").text;
    assert_eq!(exported.lines().count(), 3);
    let Registered { gateway, .. } = all;
    let (_, folder) = gateway.stop();
    let gateway = start_in(folder, |_| {});
    assert_eq!(gateway.get("/api/register/export?format=ndjson").text, exported);
    assert_eq!(gateway.post("/ingest/2", JSON, b"1").status, 204);
    assert_eq!(gateway.get_json("/api/devices/b")["messages"], 1);
}

#[test]
fn one_hundred_thousand_devices_are_imported_in_seconds() {
    let gateway = start_with(|_| {});
    let rows = (0..100_000).map(|n| format!("{{\"device\":\"sensor-{n}\",\"name\":\"Sensor {n}\",\"tags\":{{\"site\":\"s{}\"}},\"external_ids\":[\"70b3d57e{n:08x}\"]}}\n", n % 50));
    let file: String = rows.collect();
    let admin = AdminClient::connect(&crate::support::config(gateway.folder.path())).unwrap();
    let begun = Instant::now();
    let query = [("format", "ndjson".to_owned())];
    let imported = gateway.runtime.block_on(admin.send("/devices/import", &query, file)).unwrap();
    println!("{imported} in {:.1} s", begun.elapsed().as_secs_f64());
    assert_eq!(imported["added"], 100_000);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(gateway.post(&format!("/ingest/70b3d57e{:08x}", 77_777), JSON, b"1").status, 204);
    let device = wait_for(|| match gateway.get("/api/devices/sensor-77777").status {
        200 => Ok(gateway.get_json("/api/devices/sensor-77777")),
        status => Err(status),
    });
    assert_eq!((&device["device_name"], &device["tags"]["site"]), (&json!("Sensor 77777"), &json!("s27")));
}

#[test]
fn the_register_chooses_profiles_by_tag_and_by_name() {
    let all = registered(|config| {
        let profiles = "[[profile]]\nname = 'special'\nlink = 'astrocast'\n\
             [[profile]]\nmatch.tags.kind = 'soil'\nlink = 'lora'\n[[profile]]\ndevice = '*'\nlink = 'other'\n";
        let read: Config = toml::from_str(profiles).unwrap();
        config.profiles = read.profiles;
    });
    let gateway = &all.gateway;
    let refused = all.put("a", &json!({"profile": "specail"}));
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("no [[profile]] has the name"), "{}", refused.text);
    all.put("a", &json!({"tags": {"kind": "soil"}}));
    all.put("b", &json!({"profile": "special", "external_ids": ["868"]}));
    let link = |device: &str, stored: &str| {
        assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, b"1").status, 204);
        gateway.get_json(&format!("/api/devices/{stored}/messages?limit=1"))["messages"][0]["link"].clone()
    };
    assert_eq!(
        (link("a", "a"), link("868", "b"), link("c", "c")),
        (json!("lora"), json!("astrocast"), json!("other"))
    );
    // A change of the register applies to the next message, and to the list of devices at once.
    all.patch("a", &json!({"tags": {"kind": "air"}}));
    assert_eq!(link("a", "a"), json!("other"));
    assert_eq!(gateway.get_json("/api/devices/a")["profile"], "*");
    all.patch("a", &json!({"profile": "special"}));
    assert_eq!(gateway.get_json("/api/devices/a")["profile"], "special");
}
