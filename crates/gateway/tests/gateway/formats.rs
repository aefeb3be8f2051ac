//! A message in every format, and a profile with a .proto file.

use crate::support::{start, start_with};
use dunnage_formats::{Id, Mapping, Value};
use dunnage_gateway::{Binary32, Profile};
use dunnage_schema::{Model, bundled_named};

const CONTAINER: &[u8] = include_bytes!("../../../../bench/corpus/container.json");

fn encode(id: Id, mapping: Mapping) -> Vec<u8> {
    let model = Model::compile(bundled_named("container").unwrap()).unwrap();
    let message = Id::Json.open(None, Mapping::Exact).unwrap().decode(CONTAINER).unwrap();
    let mut bytes = Vec::new();
    id.open(Some(&model), mapping).unwrap().encode(&message, &mut bytes).unwrap();
    bytes
}

#[test]
fn every_format_decodes_to_the_same_message() {
    let gateway = start();
    for (n, id) in Id::all().enumerate() {
        let bytes = encode(id, Mapping::Exact);
        let answer = gateway.post("/ingest/d?schema=container", id.media_type(), &bytes);
        assert_eq!(answer.status, 204, "{id}: {}", answer.text);
        let text = gateway.get("/api/messages?limit=1").text;
        let message: serde_json::Value = serde_json::from_str(&text).unwrap();
        let message = &message["messages"][0];
        assert_eq!((&message["id"], &message["format"]), (&(n + 1).into(), &id.name().into()));
        assert_eq!((&message["bytes"], &message["json_bytes"]), (&bytes.len().into(), &379.into()));
        // As text, so that the order of the keys counts.
        let value = std::str::from_utf8(CONTAINER).unwrap().trim_end();
        assert!(text.contains(&format!("\"value\":{value}")), "{id}: {text}");
    }
    assert_eq!(gateway.get_json("/api/stats")["formats"].as_array().unwrap().len(), Id::all().count());
}

#[test]
fn a_profile_makes_the_shortest_decimal_of_a_binary32_before_it_is_validated() {
    let gateway = start_with(|config| {
        config.profiles =
            vec![Profile { device: "short-*".into(), binary32: Binary32::Shortest, ..Profile::default() }];
    });
    let pson = [0x40, 0x29, 0x5c, 0xfb, 0x41];
    for (device, value) in [("short-1", 31.42), ("exact-1", f64::from(31.42_f32))] {
        assert_eq!(gateway.post(&format!("/ingest/{device}"), Id::Pson.media_type(), &pson).status, 204);
        let stored = gateway.get_json(&format!("/api/devices/{device}/messages"));
        assert_eq!(stored["messages"][0]["value"], value, "{device}");
    }
}

#[test]
fn truncated_messages_of_every_format_are_rejected_and_quarantined() {
    let gateway = start();
    for id in Id::all() {
        let bytes = encode(id, Mapping::Exact);
        for length in [1, bytes.len() / 2, bytes.len() - 2] {
            let answer = gateway.post("/ingest/d?schema=container", id.media_type(), &bytes[..length]);
            assert!(matches!(answer.status, 400 | 422), "{id} {length}: {} {}", answer.status, answer.text);
            assert!(answer.json()["kind"].is_string(), "{id} {length}");
        }
    }
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined), (0, 3 * Id::all().count() as u64));
}

#[test]
fn stored_json_equals_the_output_of_the_json_format() {
    let gateway = start();
    let message = Value::Map(vec![
        (
            "floats".into(),
            Value::Array([1e-7, 1e21, 0.1, -0.0, 1.5e300, 16_777_217.0].map(Value::F64).into()),
        ),
        ("integers".into(), Value::Array(vec![Value::U64(u64::MAX), Value::I64(i64::MIN)])),
        ("text \"\\\u{8}\u{7f}é\u{1f600}".into(), "\n\t/".into()),
    ]);
    let (mut cbor, mut json) = (Vec::new(), Vec::new());
    Id::Cbor.open(None, Mapping::Exact).unwrap().encode(&message, &mut cbor).unwrap();
    Id::Json.open(None, Mapping::Exact).unwrap().encode(&message, &mut json).unwrap();
    assert_eq!(gateway.post("/ingest/d", Id::Cbor.media_type(), &cbor).status, 204);
    let text = gateway.get("/api/messages").text;
    let json = String::from_utf8(json).unwrap();
    assert!(text.contains(&format!("\"value\":{json}")), "{json}\n{text}");
}

#[test]
fn a_senml_pack_is_stored_as_its_resolved_records() {
    let gateway = start();
    let json =
        br#"[{"bn":"urn:dev:a:","bt":1600000000,"bu":"Cel","n":"in","v":20.5},{"n":"out","t":-60,"v":3}]"#;
    // The same pack with the integer labels of RFC 8428, table 4.
    let cbor = b"\x82\xa5\x21\x6aurn:dev:a:\x22\x1a\x5f\x5e\x10\x00\x23\x63Cel\x00\x62in\x02\xf9\x4d\x20\xa3\x00\x63out\x06\x38\x3b\x02\x03";
    let stream = json.strip_suffix(b"]").unwrap();
    let records = serde_json::json!([
        {"n": "urn:dev:a:out", "u": "Cel", "t": 1_599_999_940, "v": 3},
        {"n": "urn:dev:a:in", "u": "Cel", "t": 1_600_000_000, "v": 20.5},
    ]);
    for (name, body) in
        [("senml+json", &json[..]), ("senml+cbor", cbor), ("sensml+json", stream), ("sensml+cbor", cbor)]
    {
        assert_eq!(gateway.post("/ingest/d", &format!("application/{name}"), body).status, 204, "{name}");
        let message = &gateway.get_json("/api/messages")["messages"][0];
        assert_eq!((&message["value"], &message["device"]), (&records, &serde_json::json!("d")), "{name}");
        assert_eq!(message["format"].as_str().unwrap(), name.replace('+', "-"));
    }
    // A relative time counts from the time of receipt.
    assert_eq!(
        gateway.post("/ingest/d", "application/senml+json", br#"[{"n":"a","v":1,"t":-60}]"#).status,
        204
    );
    let message = &gateway.get_json("/api/messages")["messages"][0];
    let arrived = message["received_at"].as_str().unwrap();
    let arrived = time::OffsetDateTime::parse(arrived, &time::format_description::well_known::Rfc3339);
    let arrived = arrived.unwrap().unix_timestamp_nanos() as f64 / 1e9;
    assert!((message["value"][0]["t"].as_f64().unwrap() + 60.0 - arrived).abs() < 0.01, "{message}");
    let answer = gateway.post("/ingest/d", "application/senml+json", br#"[{"n":"a","v":"1"}]"#);
    let problem = answer.json();
    assert_eq!((answer.status, &problem["pointer"], &problem["offset"]), (422, &"/0/v".into(), &14.into()));
    assert_eq!(gateway.get_json("/api/stats")["formats"].as_array().unwrap().len(), 4);
}

#[test]
fn text_and_forms_are_accepted_where_they_are_asked_for() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let form = b"PASSKEY=X&dateutc=2024-01-07+01:43:50&tempf=39.74";
    let gateway = start_with(|config| {
        config.http.forms = false;
        config.profiles =
            vec![profile("station", "formats = ['form']"), profile("relay", "formats = ['text']")];
    });
    for (path, media_type, status) in [
        ("/ingest/d", FORM, 415),
        ("/ingest/d", "text/plain", 415),
        ("/ingest/relay", FORM, 415),
        ("/ingest/relay", "text/plain; charset=utf-8", 204),
        ("/ingest/station", FORM, 204),
    ] {
        let answer = gateway.post(path, media_type, form);
        assert_eq!(answer.status, status, "{path} {media_type}: {}", answer.text);
        assert!(status == 204 || answer.text.contains("forms") || path.contains("relay"), "{}", answer.text);
    }
    assert_eq!(gateway.get("/ingest/station?tempf=1").status, 405);
    gateway.stop();
    let gateway = start_with(|config| config.http.forms = true);
    let last = || gateway.get_json("/api/messages")["messages"][0].clone();
    assert_eq!(gateway.post("/ingest/d", "text/plain", b"53.2\r\n").status, 204);
    assert_eq!((&last()["format"], &last()["value"]), (&"text".into(), &"53.2".into()));
    assert_eq!(gateway.post("/ingest/d", FORM, form).status, 204);
    assert_eq!(last()["value"]["dateutc"], "2024-01-07 01:43:50");
    assert_eq!(gateway.get("/ingest/d?ID=STATION1&tempf=89.42&link=x").status, 204);
    assert_eq!(last()["value"], serde_json::json!({"ID": "STATION1", "tempf": "89.42", "link": "x"}));
    assert_eq!(gateway.get("/ingest/d?a=1&a=2").status, 400);
    assert_eq!(gateway.get("/ingest/d").status, 400);
}

#[test]
fn headers_of_avro_messages_are_skipped_where_the_profile_says_so() {
    let gateway = start_with(|config| {
        let header = "schema = 'container'\navro_header = 'registry'";
        config.profiles = vec![profile("k", header), profile("*", "schema = 'container'")];
    });
    let datum = encode(Id::Avro, Mapping::Exact);
    let framed = [&b"\0\0\0\0\x07"[..], &datum].concat();
    for (device, bytes, status) in [("k", &framed, 204), ("k", &datum, 400), ("d", &datum, 204)] {
        let answer = gateway.post(&format!("/ingest/{device}"), Id::Avro.media_type(), bytes);
        assert_eq!(answer.status, status, "{device}: {}", answer.text);
    }
}

#[test]
fn a_proto_alone_is_enough() {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/container.proto");
    let gateway = start_with(|config| {
        let own = format!("formats = ['protobuf']\nproto = {proto:?}\nproto_message = 'Container'");
        config.profiles =
            vec![profile("d", &own), profile("open", &format!("schema = 'any'\nproto = {proto:?}"))];
        std::fs::create_dir_all(config.buffer.path.with_file_name("schemas")).unwrap();
        config.schemas.path = config.buffer.path.with_file_name("schemas");
        std::fs::write(config.schemas.path.join("any.json"), r#"{"type":"object"}"#).unwrap();
    });
    let bytes = encode(Id::Protobuf, Mapping::Float32);
    for device in ["d", "open"] {
        let answer = gateway.post(&format!("/ingest/{device}"), Id::Protobuf.media_type(), &bytes);
        assert_eq!(answer.status, 204, "{}", answer.text);
        let message = gateway.get_json("/api/messages")["messages"][0].clone();
        assert_eq!(message["value"].as_object().unwrap().len(), 22, "{message}");
        assert_eq!(message["value"]["temperature"], 17.0);
    }
    assert_eq!(gateway.post("/ingest/d", "", &bytes).status, 204);
}

fn profile(device: &str, settings: &str) -> Profile {
    toml::from_str(&format!("device = {device:?}\n{settings}")).unwrap()
}

#[test]
fn every_name_of_a_media_type_is_known() {
    let gateway = start_with(|config| {
        config.profiles =
            vec![profile("sensor-*", "formats = ['cbor']"), profile("any-*", "formats = ['cbor', 'json']")];
    });
    for (name, body) in [
        ("application/vnd.msgpack", &b"\x81\xa1t\x01"[..]),
        ("application/x-msgpack", b"\x81\xa1t\x01"),
        ("text/xml; charset=utf-8", b"<m><t>1</t></m>"),
        ("text/yaml", b"t: 1\n"),
        ("application/x-cbor", b"\xa1at\x01"),
        ("application/vnd.oma.lwm2m+cbor", b"\xa1at\x01"),
        ("text/json", b"{\"t\":1}"),
        ("application/cloudevents+json", b"{\"t\":1}"),
    ] {
        assert_eq!(gateway.post("/ingest/d", name, body).status, 204, "{name}");
    }
    assert_eq!(gateway.post("/ingest/d", "application/jsonl", b"{}\n{}\n").status, 204);
    for unnamed in ["", "application/octet-stream"] {
        assert_eq!(gateway.post("/ingest/sensor-1", unnamed, b"\xa1at\x01").status, 204, "{unnamed}");
        for device in ["d", "any-1"] {
            let refused = gateway.post(&format!("/ingest/{device}"), unnamed, b"\xa1at\x01");
            assert_eq!(refused.status, 415, "{unnamed}");
            for known in ["application/cbor", "application/yaml", "+json"] {
                assert!(refused.json()["detail"].as_str().unwrap().contains(known), "{}", refused.text);
            }
        }
    }
    assert_eq!(gateway.post("/ingest/d", "image/png", b"x").status, 415);
    for kept in gateway.get_json("/api/quarantine")["messages"].as_array().unwrap() {
        assert!(kept["reason"].as_str().unwrap().len() < 120, "{kept}");
    }
}

#[test]
fn numbers_that_no_value_holds_are_as_the_profile_says() {
    let gateway = start_with(|config| {
        config.profiles = vec![profile("e", "numbers = 'exact'"), profile("l", "numbers = 'lenient'")];
    });
    let long = br#"{"lat":3.14159265358979323846,"lon":2.5}"#;
    assert_eq!(gateway.post("/ingest/d", "application/json", long).status, 204);
    let stored = gateway.get_json("/api/messages")["messages"][0].clone();
    assert_eq!(
        (&stored["value"]["lat"], &stored["origin"]["rounded"]),
        (&std::f64::consts::PI.into(), &1.into())
    );
    let xml = b"<m><a type='number'>1.000000000000000005</a></m>";
    assert_eq!(gateway.post("/ingest/d", "application/xml", xml).status, 204);
    let refused = gateway.post("/ingest/e", "application/json", long);
    assert_eq!((refused.status, &refused.json()["pointer"]), (422, &"/lat".into()));
    let broken = br#"{"t":nan,"h":-inf,"x":3.14159265358979323846}"#;
    let refused = gateway.post("/ingest/d", "application/json", broken);
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(refused.status == 400 && detail.contains("NaN") && detail.contains("lenient"), "{detail}");
    assert_eq!(gateway.post("/ingest/l", "application/json", broken).status, 204);
    let stored = gateway.get_json("/api/messages")["messages"][0].clone();
    assert_eq!(
        (&stored["value"]["t"], &stored["value"]["h"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert_eq!((&stored["origin"]["nulls"], &stored["origin"]["rounded"]), (&2.into(), &1.into()));
    let metrics = gateway.get("/metrics").text;
    for line in ["{result=\"nearest\"} 3", "{result=\"null\"} 2"] {
        assert!(metrics.contains(&format!("dunnage_altered_numbers_total{line}")), "{metrics}");
    }
}

#[test]
fn a_profile_can_have_its_own_proto() {
    let bytes = encode(Id::Protobuf, Mapping::Float32);
    assert_eq!(bytes.len(), 138);
    let gateway = start_with(|config| {
        config.profiles = vec![Profile {
            device: "LMCU*".into(),
            schema: Some("container".into()),
            proto: Some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/container.proto").into()),
            mapping: dunnage_gateway::Mapping::Float32,
            ..Profile::default()
        }];
    });
    let answer = gateway.post("/ingest/LMCU1231237", Id::Protobuf.media_type(), &bytes);
    assert_eq!(answer.status, 204, "{}", answer.text);
    let message = &gateway.get_json("/api/messages")["messages"][0];
    assert_eq!(
        (&message["value"]["temperature"], &message["value"]["ble-m"]),
        (&"17.00".into(), &"0".into())
    );
    // Struct has the profile's mapping as well; the other formats have only one.
    let bytes = encode(Id::Struct, Mapping::Float32);
    assert_eq!(gateway.post("/ingest/LMCU1231237", Id::Struct.media_type(), &bytes).status, 204);
    let bytes = encode(Id::Avro, Mapping::Exact);
    assert_eq!(gateway.post("/ingest/LMCU1231237", Id::Avro.media_type(), &bytes).status, 204);
    // Without the profile, the schema has the exact mapping.
    let bytes = encode(Id::Protobuf, Mapping::Exact);
    assert_eq!(gateway.post("/ingest/other?schema=container", Id::Protobuf.media_type(), &bytes).status, 204);
}
