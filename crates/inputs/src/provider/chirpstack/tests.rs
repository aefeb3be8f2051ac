use super::*;
use serde_json::{Value, json};

/// Events of each version as ChirpStack documents them, and as its own libraries write them (`chirpstack-api` 4.20 and 3.12 for Python).
const JSON_4: &[u8] = include_bytes!("../../../../gateway/tests/webhooks/chirpstack-up.json");
const PROTOBUF_4: &[u8] = include_bytes!("../../../../gateway/tests/webhooks/chirpstack-4-up.bin");
const PROTOBUF_3: &[u8] = include_bytes!("../../../../gateway/tests/webhooks/chirpstack-3-up.bin");

fn open(event: Option<&str>, bytes: &[u8]) -> Result<Content, Rejected> {
    read(&Envelope { event, content_type: "", headers: None, bytes })
}

fn uplink(bytes: &[u8]) -> Uplink {
    match open(None, bytes).unwrap() {
        Content::Uplink(uplink) => *uplink,
        Content::Packets(packets) => panic!("{} packets", packets.len()),
        Content::Event(event) => panic!("{event}"),
    }
}

fn detail(bytes: &[u8]) -> String {
    open(Some("up"), bytes).err().unwrap().detail
}

fn json_3() -> Value {
    json!({
        "applicationID": "123", "applicationName": "Yard", "deviceName": "Crane 4", "devEUI": "cLPVftAFobI=",
        "rxInfo": [
            {"gatewayID": "ABbAAfFToUw=", "time": null, "timeSinceGPSEpoch": null, "rssi": -36, "loRaSNR": 10.5, "channel": 5,
             "rfChain": 0, "board": 0, "antenna": 0, "location": {"latitude": 52.3740364, "longitude": 4.9144401, "altitude": 10.5},
             "fineTimestampType": "NONE", "context": "9u/uvA==", "uplinkID": "ABEiM0RVZneImaq7zN3u/w=="},
            {"gatewayID": "ABbAAfFToU0=", "rssi": -101, "loRaSNR": -3.25}
        ],
        "txInfo": {"frequency": 867100000, "modulation": "LORA",
            "loRaModulationInfo": {"bandwidth": 125, "spreadingFactor": 11, "codeRate": "4/5", "polarizationInversion": false}},
        "adr": true, "dr": 1, "fCnt": 34, "fPort": 2, "data": "oWF0+Uxw", "objectJSON": "{\"temperature\":17.5}",
        "tags": {"key": "value"}, "confirmedUplink": true, "devAddr": "ABiUQA==", "publishedAt": "2022-07-18T09:34:15.775023242Z"
    })
}

#[test]
fn all_versions_and_marshalers_give_the_same() {
    let expected = json!({
        "sent_at": "2022-07-18T09:34:15.775Z", "device_name": "Crane 4", "application": "Yard", "port": 2, "counter": 34,
        "gateway": {"id": "0016c001f153a14c", "rssi": -36.0, "snr": 10.5,
            "position": {"latitude": 52.3740364, "longitude": 4.9144401, "altitude_m": 10.5}},
        "frequency_hz": 867_100_000, "spreading_factor": 11, "bandwidth_hz": 125_000
    });
    let json_3 = json_3().to_string();
    for (name, bytes) in [
        ("4 JSON", JSON_4),
        ("4 Protobuf", PROTOBUF_4),
        ("3 JSON", json_3.as_bytes()),
        ("3 Protobuf", PROTOBUF_3),
    ] {
        let up = uplink(bytes);
        assert_eq!(up.device, "70b3d57ed005a1b2", "{name}");
        let mut origin = serde_json::to_value(&up.origin).unwrap();
        // Version 3 has no tenants, and only some of these events have a device profile.
        let kinds = ["tenant", "profile"].map(|key| origin.as_object_mut().unwrap().remove(key));
        let tenant = name.starts_with('4').then(|| json!("Harbour"));
        assert_eq!(
            (origin, kinds),
            (expected.clone(), [tenant, (name == "4 JSON").then(|| json!("Container"))]),
            "{name}"
        );
        let object: Value = serde_json::from_str(up.decoded.unwrap().get()).unwrap();
        assert_eq!(object["temperature"], 17.5, "{name}");
        assert!(up.id.is_some() && up.payload.starts_with(b"\xa1"), "{name}");
    }
    assert_eq!(uplink(PROTOBUF_4).id, uplink(JSON_4).id);
    assert_eq!(uplink(PROTOBUF_3).payload, b"\xa1at\xf9Lp");
    let object: Value = serde_json::from_str(uplink(PROTOBUF_4).decoded.unwrap().get()).unwrap();
    assert_eq!(
        object,
        json!({"door": true, "list": [1.0, null, {"a": "b"}], "name": "Käse", "temperature": 17.5})
    );
}

#[test]
fn all_versions_and_marshalers_say_the_device_profile() {
    let profile = |bytes: &[u8]| uplink(bytes).origin.profile;
    let mut event = json_3();
    event["deviceProfileName"] = json!("EM300");
    assert_eq!(profile(event.to_string().as_bytes()).as_deref(), Some("EM300"));
    // The field device_profile_name, 18, at the end.
    let version_3 = [PROTOBUF_3, b"\x92\x01\x05EM300"].concat();
    assert_eq!(profile(&version_3).as_deref(), Some("EM300"));
    // Another device_info, whose fields are merged: device_profile_name is 6.
    let version_4 = [PROTOBUF_4, b"\x1a\x07\x32\x05EM300"].concat();
    assert_eq!(profile(&version_4).as_deref(), Some("EM300"));
}

#[test]
fn the_older_marshaler_of_version_3_writes_hexadecimal_digits() {
    let mut event = json_3();
    event["devEUI"] = json!("70B3D57ED005A1B2");
    event["rxInfo"][0]["gatewayID"] = json!("0016c001f153a14c");
    event["object"] = json!({"t": 1});
    let up = uplink(event.to_string().as_bytes());
    assert_eq!((&*up.device, &*up.origin.gateway.unwrap().id), ("70b3d57ed005a1b2", "0016c001f153a14c"));
    assert_eq!(up.decoded.unwrap().get(), r#"{"t":1}"#);
    event["devEUI"] = json!("cLPV");
    assert!(detail(event.to_string().as_bytes()).contains("devEUI must be"));
}

#[test]
fn a_message_of_version_3_is_named_by_its_reception_or_its_counter_and_time() {
    let mut event = json_3();
    assert_eq!(uplink(event.to_string().as_bytes()).id.as_deref(), Some("ABEiM0RVZneImaq7zN3u/w=="));
    event["rxInfo"] = Value::Null;
    assert_eq!(uplink(event.to_string().as_bytes()).id.as_deref(), Some("34@2022-07-18T09:34:15.775023242Z"));
    event["publishedAt"] = Value::Null;
    event["fCnt"] = Value::Null;
    assert_eq!(uplink(event.to_string().as_bytes()).id, None);
}

#[test]
fn fields_may_be_missing_null_or_text() {
    let up = uplink(br#"{"deduplicationId":"1","deviceInfo":{"devEui":"A84041C100000012"}}"#);
    assert_eq!(
        (&*up.device, up.origin.port, up.origin.counter, up.payload.len()),
        ("a84041c100000012", None, Some(0), 0)
    );
    let nulls = br#"{"deduplicationId":"1","deviceInfo":{"devEui":"a84041c100000012","deviceName":null},"time":null,"fCnt":null,
        "fPort":null,"data":null,"object":null,"rxInfo":null,"txInfo":null}"#;
    let up = uplink(nulls);
    assert!(up.decoded.is_none() && up.origin.gateway.is_none() && up.payload.is_empty());
    let texts = br#"{"deduplicationId":"1","deviceInfo":{"devEui":"a84041c100000012"},"fCnt":"7","fPort":"2","data":"AQ",
        "rxInfo":[{"gatewayId":"g","rssi":"-36","snr":"10.5"}],"txInfo":{"frequency":"868100000"}}"#;
    let origin = uplink(texts).origin;
    assert_eq!((origin.port, origin.counter, origin.frequency_hz), (Some(2), Some(7), Some(868_100_000)));
    assert_eq!(origin.gateway.unwrap().snr, Some(10.5));
    // The smallest message in Protobuf: all other fields are zero, and are left out.
    let smallest = b"\x0a\x01x\x1a\x12B\x100102030405060708";
    let up = uplink(smallest);
    assert_eq!((&*up.device, up.id.as_deref(), up.origin.port), ("0102030405060708", Some("x"), None));
}

#[test]
fn bad_envelopes_have_a_clear_error() {
    let of = |change: &str| {
        format!(r#"{{"deduplicationId":"1","deviceInfo":{{"devEui":"a84041c100000012"}},{change}}}"#)
    };
    for (envelope, why) in [
        (of(r#""data":"?""#), "not valid base64"),
        (of(r#""fPort":70000"#), "/fPort must be a port"),
        (of(r#""fPort":-1"#), "/fPort must be a port"),
        (of(r#""fPort":1.5"#), "/fPort must be a port"),
        (of(r#""fPort":2,"fPort":3"#), "duplicate key"),
        (r#"{"deduplicationId":null,"deviceInfo":{"devEui":"a8"}}"#.into(), "deduplicationId"),
        (r#"{"deduplicationId":"1","deviceInfo":null}"#.into(), "deviceInfo.devEui"),
        (r#"{"end_device_ids":{},"uplink_message":{}}"#.into(), "deviceInfo.devEui"),
        ("[1]".into(), "JSON object"),
        ("{".into(), "not valid JSON"),
        (String::new(), "not valid JSON"),
        ("hello".into(), "neither JSON nor Protobuf"),
    ] {
        let found = detail(envelope.as_bytes());
        assert!(found.contains(why), "{envelope}: {found}");
    }
    let mut large = PROTOBUF_4.to_vec();
    // The field f_port with the number 70000.
    large.extend([0x40, 0xf0, 0xa2, 0x04]);
    assert!(detail(&large).contains("f_port must be a port"));
    for end in 1..PROTOBUF_4.len() {
        // No prefix panics. Some are complete messages, because all fields are optional.
        let _ = open(None, &PROTOBUF_4[..end]);
        let _ = open(None, &PROTOBUF_3[..end.min(PROTOBUF_3.len())]);
    }
}

#[test]
fn topics_name_the_event() {
    let event = |topic: &'static str| event_of(topic.split('/'));
    assert_eq!(event("application/a/device/70b3d57ed005a1b2/event/up"), Some("up"));
    assert_eq!(event("application/a/device/70b3d57ed005a1b2/event/txack"), Some("txack"));
    assert_eq!(event("application/a/device/70b3d57ed005a1b2/command/down"), Some("down"));
    assert_eq!(event("application/1/device/70b3d57ed005a1b2/rx"), None);
    assert_eq!(event("application/1/device/70b3d57ed005a1b2/join"), Some("join"));
    assert_eq!(event("lora/uplinks"), None);
    for name in ["join", "ack", "txack", "status", "log", "location", "integration", "error", "down"] {
        assert!(matches!(open(Some(name), b"anything"), Ok(Content::Event(event)) if event == name));
    }
    assert!(open(Some("dance"), JSON_4).is_err());
}
