//! The stored message of each provider: its device, format, time, position and gateway.

use super::{ASTROCAST, CHIRPSTACK, THE_THINGS_STACK, TOKEN, assert_answer, call, json_call, list, start};
use crate::support::{JSON, answer};
use serde_json::{Value, json};

const CONTAINER: &str = include_str!("../../../../../bench/corpus/container.json");

#[test]
fn an_astrocast_message_has_its_device_time_and_position() {
    let gateway = start();
    assert_answer(&json_call(&gateway, "/hooks/astrocast", ASTROCAST), "stored");
    let message = &list(&gateway, "/api/devices/LMCU1231237/messages")[0];
    assert_eq!(message["value"], serde_json::from_str::<Value>(CONTAINER).unwrap());
    let about = ["format", "schema", "link", "bytes"].map(|key| message[key].clone());
    assert_eq!(about, [json!("packed"), json!("container"), json!("astrocast"), json!(56)]);
    let origin = json!({
        "input": "astrocast", "provider": "astrocast", "message_id": "6a3a3c0e-7d1f-4a0c-9a55-0f1e6c1b7a01",
        "provider_device": "c984ff2b-e4d0-417f-8ea3-11d74a55d251",
        "sent_at": "2022-01-01T00:00:00.000Z", "position": {"latitude": 36.1408, "longitude": -5.3536}
    });
    assert_eq!(message["origin"], origin);
    let command = include_str!("../../webhooks/astrocast-command.json");
    assert_answer(&json_call(&gateway, "/hooks/astrocast", command), "ignored");
}

#[test]
fn a_chirpstack_message_has_the_format_of_its_port_and_its_best_gateway() {
    let gateway = start();
    assert_answer(&json_call(&gateway, "/hooks/chirpstack?event=up", CHIRPSTACK), "stored");
    let message = &list(&gateway, "/api/devices/70b3d57ed005a1b2/messages")[0];
    assert_eq!((&message["format"], &message["value"]), (&json!("cbor"), &json!({"temperature": 17.5})));
    let place = json!({"latitude": 52.3740364, "longitude": 4.9144401, "altitude_m": 10.5});
    let origin = json!({
        "input": "chirpstack", "provider": "chirpstack", "message_id": "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
        "sent_at": "2022-07-18T09:34:15.775Z", "device_name": "Crane 4", "tenant": "Harbour",
        "application": "Yard", "profile": "Container", "port": 2, "counter": 34,
        "gateway": {"id": "0016c001f153a14c", "rssi": -36.0, "snr": 10.5, "position": place},
        "frequency_hz": 867_100_000, "spreading_factor": 11, "bandwidth_hz": 125_000
    });
    assert_eq!(message["origin"], origin);
}

/// Protobuf's JSON leaves out zeros: the frame counter of the first frame, an SNR, a latitude on the equator.
#[test]
fn fields_that_are_left_out_are_zero() {
    let gateway = start();
    let up = json!({
        "deduplicationId": "1", "deviceInfo": {"devEui": "a84041c100000012"}, "fPort": 2, "data": "oWF0AQ==",
        "time": null, "rxInfo": [
            {"gatewayId": "a", "rssi": -101, "snr": -17.5},
            {"gatewayId": "b", "rssi": -60, "location": {"longitude": 6.5}},
            {"gatewayId": "c", "rssi": -90, "snr": null, "location": null}
        ]
    });
    assert_answer(&json_call(&gateway, "/hooks/chirpstack?event=up", &up.to_string()), "stored");
    let origin = &list(&gateway, "/api/devices/a84041c100000012/messages")[0]["origin"];
    assert_eq!((&origin["counter"], &origin["gateway"]["id"]), (&json!(0), &json!("b")));
    assert_eq!(origin["gateway"]["snr"], 0.0);
    assert_eq!(origin["gateway"]["position"], json!({"latitude": 0.0, "longitude": 6.5}));
    let up = json!({
        "end_device_ids": {"device_id": "dev2", "dev_eui": "0004A30B001C0531"}, "correlation_ids": ["as:up:2"],
        "uplink_message": {"f_port": 15, "frm_payload": "eyJ0IjoxfQ==", "rx_metadata": [
            {"gateway_ids": {"gateway_id": "a"}, "rssi": -60, "snr": -2.5},
            {"gateway_ids": {"gateway_id": "b"}, "rssi": -110}
        ]}
    });
    assert_answer(&call(&gateway, "/hooks/tts", ("x-token", &TOKEN[7..]), JSON, &up.to_string()), "stored");
    let origin = &list(&gateway, "/api/devices/0004a30b001c0531/messages")[0]["origin"];
    assert_eq!(origin["gateway"], json!({"id": "b", "rssi": -110.0, "snr": 0.0}));
}

/// A TS013 codec passes a delta on with the data `{"dunnage": "delta"}`, because only the gateway has the message that it refers to.
#[test]
fn what_a_codec_made_of_the_bytes_is_ignored() {
    let gateway = start();
    for (path, device, body, decoded, number) in [
        ("/hooks/chirpstack?event=up", "70b3d57ed005a1b2", CHIRPSTACK, "object", 17.5),
        ("/hooks/tts", "0004a30b001c0530", THE_THINGS_STACK, "decoded_payload", 17.25),
    ] {
        let other = body.replace(
            &format!("\"{decoded}\": {{ \"temperature\": {number} }}"),
            &format!("\"{decoded}\": {{ \"dunnage\": \"delta\" }}"),
        );
        assert_ne!(other, body);
        let token = ("x-token", &TOKEN[7..]);
        let answer = match path {
            "/hooks/tts" => call(&gateway, path, token, JSON, &other),
            _ => json_call(&gateway, path, &other),
        };
        assert_answer(&answer, "stored");
        let message = &list(&gateway, &format!("/api/devices/{device}/messages"))[0];
        assert_eq!(message["value"], json!({"temperature": number}));
    }
}

#[test]
fn a_message_of_the_things_stack_is_stored_without_its_api_key() {
    let gateway = start();
    let request = gateway.agent.post(gateway.url("/hooks/tts")).header("content-type", JSON);
    let request = request.header("x-token", &TOKEN[7..]).header("x-downlink-apikey", "NNSXS.SECRET");
    assert_answer(&answer(request.send(THE_THINGS_STACK).unwrap()), "stored");
    let message = &list(&gateway, "/api/devices/0004a30b001c0530/messages")[0];
    assert_eq!(message["value"], json!({"temperature": 17.25}));
    let place = |height: i32| json!({"latitude": 37.97155556731436, "longitude": 23.72678801175413, "altitude_m": f64::from(height)});
    let mut position = place(10);
    position["accuracy_m"] = json!(25.0);
    let origin = json!({
        "input": "tts", "provider": "the-things-stack", "message_id": "as:up:01E0WZGT6Y7657CPFPE5WEYDSQ",
        "sent_at": "2020-02-12T15:15:46.643Z", "position": position, "device_name": "dev1", "tenant": "tenant1",
        "application": "app1", "port": 15, "counter": 66,
        "gateway": {"id": "gtw1", "rssi": -35.0, "snr": 5.0, "position": place(2)},
        "frequency_hz": 868_300_000, "spreading_factor": 7, "bandwidth_hz": 125_000
    });
    assert_eq!(message["origin"], origin);
    assert!(!message.to_string().contains("NNSXS"));
}
