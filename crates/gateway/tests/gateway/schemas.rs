//! Messages with a schema, which the request names or the profile of the device selects.

use crate::support::{JSON, config, runtime, start, start_with};
use dunnage_formats::Id;
use dunnage_gateway::{Error, FormatName, Gateway, Profile};
use serde_json::{Value, json};

const CONTAINER: &str = include_str!("../../../../bench/corpus/container.json");

fn profile(device: &str, schema: &str) -> Profile {
    Profile { device: device.into(), schema: Some(schema.into()), ..Profile::default() }
}

#[test]
fn valid_message_is_stored_with_the_schema_that_it_names() {
    let gateway = start();
    assert_eq!(gateway.post("/ingest/d?schema=container", JSON, CONTAINER.as_bytes()).status, 204);
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!(message["schema"], "container");
    assert_eq!(message["value"], serde_json::from_str::<Value>(CONTAINER).unwrap());
}

#[test]
fn message_that_violates_its_schema_returns_422_with_a_pointer_and_is_quarantined() {
    let gateway = start();
    let body = CONTAINER.replace("\"bat-soc\":\"96\"", "\"bat-soc\":\"960\"");
    assert_ne!(body, CONTAINER);
    let answer = gateway.post("/ingest/d?schema=container", JSON, body.as_bytes());
    assert_eq!(answer.status, 422, "{}", answer.text);
    let problem = answer.json();
    assert_eq!(problem["type"], "urn:dunnage:problem:schema");
    assert_eq!((&problem["kind"], &problem["pointer"]), (&json!("schema"), &json!("/bat-soc")));
    let offset = body.find("\"960\"").unwrap();
    assert_eq!(problem["offset"], offset);
    let quarantined = &gateway.get_json("/api/quarantine")["messages"][0];
    assert_eq!(
        (&quarantined["kind"], &quarantined["schema"], &quarantined["offset"]),
        (&json!("schema"), &json!("container"), &json!(offset))
    );
    assert!(quarantined["reason"].as_str().unwrap().starts_with("/bat-soc: "), "{quarantined}");
}

#[test]
fn errors_of_malformed_json_and_numbers_out_of_range_have_pointer_and_offset() {
    let gateway = start();
    for (body, status, kind, pointer, offset) in [
        (r#"{"a": [1, tru]}"#, 400, "malformed", "/a/1", 13),
        (r#"{"a": [1, 1e309]}"#, 422, "range", "/a/1", 10),
        (r#"{"a": [1, 1e-400]}"#, 422, "range", "/a/1", 10),
    ] {
        let answer = gateway.post("/ingest/d", JSON, body.as_bytes());
        let problem = answer.json();
        assert_eq!(answer.status, status, "{problem}");
        let found = (&problem["kind"], &problem["pointer"], &problem["offset"]);
        assert_eq!(found, (&json!(kind), &json!(pointer), &json!(offset)), "{body}");
    }
    assert_eq!(gateway.post("/ingest/d", JSON, b"[0.1, 0.33333333333333331, 4.9E-324]").status, 204);
}

#[test]
fn first_profile_that_matches_the_device_selects_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    for (name, max) in [("small", 10), ("large", 1000)] {
        let schema = json!({"title": name, "type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": max}}});
        std::fs::write(folder.path().join(format!("{name}.json")), schema.to_string()).unwrap();
    }
    let gateway = start_with(|config| {
        config.schemas.path = folder.path().into();
        config.profiles = vec![profile("s*", "small"), profile("*", "large")];
    });
    let body = br#"{"n":11}"#;
    assert_eq!(gateway.post("/ingest/s1", JSON, body).status, 422);
    assert_eq!(gateway.post("/ingest/x1", JSON, body).status, 204);
    assert_eq!(gateway.get_json("/api/messages")["messages"][0]["schema"], "large");
    // The schema that the request names takes precedence over the profile's.
    assert_eq!(gateway.post("/ingest/s1?schema=large", JSON, body).status, 204);
    assert_eq!(gateway.post("/ingest/s1?schema=container", JSON, body).status, 422);
}

#[test]
fn schema_in_the_folder_overrides_the_bundled_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("container.json"), r#"{"title":"C","type":"integer"}"#).unwrap();
    let gateway = start_with(|config| config.schemas.path = folder.path().into());
    assert_eq!(gateway.post("/ingest/d?schema=container", JSON, b"7").status, 204);
}

#[test]
fn unusable_schemas_and_profiles_prevent_the_start_and_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let start = |change: &dyn Fn(&mut dunnage_gateway::Config)| {
        let mut config = config(folder.path());
        change(&mut config);
        match runtime().block_on(Gateway::start(config)) {
            Err(Error::Profile(e)) => e.to_string(),
            Err(e) => panic!("{e}"),
            Ok(_) => panic!("the gateway started"),
        }
    };
    let e = start(&|config| config.profiles = vec![profile("LMCU*", "contaner")]);
    assert!(e.contains("LMCU*") && e.contains("contaner") && e.contains("container"), "{e}");
    let e = start(&|config| config.schemas.path = folder.path().join("nothing"));
    assert!(e.contains("nothing"), "{e}");
    std::fs::write(folder.path().join("bad.json"), r##"{"title":"B","$dynamicRef":"#a"}"##).unwrap();
    let e = start(&|config| config.schemas.path = folder.path().into());
    assert!(e.contains("bad.json") && e.contains("$dynamicRef"), "{e}");
}

#[test]
fn profile_restricts_the_formats_of_its_devices_and_sets_their_link() {
    let cbor = "application/cbor";
    let gateway = start_with(|config| {
        config.profiles = vec![
            Profile {
                formats: vec![FormatName(Id::Json), FormatName(Id::Packed)],
                link: Some("kineis".into()),
                ..profile("s*", "container")
            },
            Profile { device: "x*".into(), formats: vec![FormatName(Id::Cbor)], ..Profile::default() },
        ];
    });
    let answer = gateway.post("/ingest/s1", cbor, &[0xa0]);
    assert_eq!(answer.status, 415);
    assert_eq!(answer.json()["detail"], "devices that match s* may send json, packed, not cbor");
    let quarantined = &gateway.get_json("/api/quarantine")["messages"][0];
    assert_eq!((&quarantined["kind"], &quarantined["link"]), (&json!("media-type"), &json!("kineis")));
    // A profile needs no schema. Devices without a profile may send all formats.
    assert_eq!(gateway.post("/ingest/x1", cbor, &[0xa0]).status, 204);
    assert_eq!(gateway.post("/ingest/y1", cbor, &[0xa0]).status, 204);
    // The link that the request names takes precedence over the profile's.
    assert_eq!(gateway.post("/ingest/s1?link=astrocast", JSON, CONTAINER.as_bytes()).status, 204);
    assert_eq!(gateway.get_json("/api/messages")["messages"][0]["link"], "astrocast");
    assert_eq!(gateway.post("/ingest/s1", JSON, CONTAINER.as_bytes()).status, 204);
    assert_eq!(gateway.get_json("/api/messages")["messages"][0]["link"], "kineis");
}

#[test]
fn contradictory_profiles_prevent_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let start = |profile: Profile| {
        let config = dunnage_gateway::Config { profiles: vec![profile], ..config(folder.path()) };
        match runtime().block_on(Gateway::start(config)) {
            Err(Error::Profile(e)) => e.to_string(),
            Err(e) => panic!("{e}"),
            Ok(_) => panic!("the gateway started"),
        }
    };
    let e = start(Profile { slots: vec![1, 9], ..profile("*", "weather") });
    assert!(e.contains("slot 9") && e.contains("weather"), "{e}");
    let e = start(Profile { device: "*".into(), slots: vec![1], ..Profile::default() });
    assert!(e.contains("slots needs a schema"), "{e}");
    for path in ["", "/a", "a//b", "a b", "a/"] {
        let e = start(Profile { path: Some(path.into()), ..profile("*", "weather") });
        assert!(e.contains("path must be"), "{e}");
    }
    let e = start(Profile { link: Some("a/b".into()), ..profile("*", "weather") });
    assert!(e.contains("link must be"), "{e}");
}

#[test]
fn profile_can_treat_messages_with_equal_bytes_as_duplicates() {
    let gateway = start_with(|config| {
        config.profiles = vec![Profile {
            device: "s*".into(),
            duplicates: dunnage_gateway::Duplicates::Bytes,
            ..Profile::default()
        }];
    });
    for device in ["s1", "s1", "s2", "x1", "x1"] {
        assert_eq!(gateway.post(&format!("/ingest/{device}"), JSON, b"1").status, 204);
    }
    let stats = gateway.get_json("/api/stats");
    assert_eq!((&stats["stored"], &stats["duplicates"]), (&json!(4), &json!(1)));
}
