//! Requests in the variants that providers really send, and generic envelopes with each kind of authentication.

use super::{FORM, assert_answer, assert_problem, call, list, webhook};
use crate::support::{JSON, Running, start_in};
use base64::{Engine, prelude::BASE64_STANDARD};
use ring::hmac;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef";
const ROCK: &str = "/hooks/rock?token=0123456789abcdef";
const IMEI: &str = "300234010753370";

fn start(configure: impl FnOnce(&mut dunnage_gateway::Config, &Path)) -> Running {
    let folder = TempDir::new().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, TOKEN).unwrap();
    start_in(folder, |config| configure(config, &tokens))
}

fn rock(gateway: &Running, kind: &str, body: &str) -> crate::support::Answer {
    call(gateway, ROCK, ("x-none", ""), kind, body)
}

#[test]
fn one_webhook_of_rockblock_serves_devices_of_several_formats() {
    let gateway = start(|config, tokens| {
        webhook(config, "rock", &format!("provider = 'rockblock'\ntoken_file = {tokens:?}"));
        for (device, format) in
            [("300234010753370", "json"), ("300234010753371", "cbor"), ("300234010753372", "text")]
        {
            let text = format!("device = '{device}'\nformats = ['{format}']");
            config.profiles.push(toml::from_str(&text).unwrap());
        }
    });
    let send = |imei: u64, data: &str| {
        let body = format!("imei={imei}&momsn=1&transmit_time=21-10-31+10%3A41%3A50&data={data}");
        rock(&gateway, FORM, &body)
    };
    for (imei, data, value) in [
        (300_234_010_753_370, "7b2274223a32312e357d", json!({"t": 21.5})),
        (300_234_010_753_371, "A16174FB4035800000000000", json!({"t": 21.5})),
        (300_234_010_753_372, "6f6e", json!("on")),
    ] {
        assert_answer(&send(imei, data), "stored");
        assert_eq!(list(&gateway, &format!("/api/devices/{imei}/messages"))[0]["value"], value);
    }
    let answer = send(300_234_010_753_373, "01");
    assert_answer(&answer, "quarantined");
    assert!(answer.text.contains("no format is set"), "{}", answer.text);
}

#[test]
fn rockblocks_variants_of_a_request() {
    let gateway = start(|config, tokens| {
        webhook(config, "rock", &format!("provider = 'rockblock'\nformat = 'json'\ntoken_file = {tokens:?}"));
    });
    let hex = "7b2274223a32312e357d";
    for (kind, body, message) in [
        (
            FORM,
            format!(
                "imei={IMEI}&serial=12345&momsn=1&transmit_time=21-10-31+10%3A41%3A50&iridium_latitude=52.3867&iridium_longitude=0.2938&iridium_cep=8&data={hex}"
            ),
            "stored",
        ),
        (
            JSON,
            format!(
                r#"{{"imei":"{IMEI}","serial":12345,"momsn":2,"transmit_time":"21-10-31 10:41:51","iridium_cep":8.0,"data":"{hex}"}}"#
            ),
            "stored",
        ),
        (
            FORM,
            format!("imei={IMEI}&momsn=3&transmit_time=21-10-31+10%3A41%3A52&iridium_cep=8&data="),
            "ignored",
        ),
        (
            FORM,
            format!("imei={IMEI}&momsn=4&transmit_time=21-10-31+10%3A41%3A53&data={}", hex.to_uppercase()),
            "stored",
        ),
        (
            FORM,
            format!(
                "imei={IMEI}&device_type=ROCKBLOCK&momsn=5&transmit_time=2023-03-14T09%3A00%3A14Z&data={hex}"
            ),
            "stored",
        ),
        (
            JSON,
            format!(r#"{{"imei":{IMEI},"momsn":"6","transmit_time":"21-10-31 10:41:56","data":"{hex}"}}"#),
            "stored",
        ),
        (
            JSON,
            format!(
                r#"{{"imei":{IMEI},"momsn":"7","transmit_time":"21-10-31 10:41:57","iridium_latitude":null,"data":null}}"#
            ),
            "ignored",
        ),
    ] {
        assert_answer(&rock(&gateway, kind, &body), message);
    }
    assert_eq!(list(&gateway, &format!("/api/devices/{IMEI}/messages")).len(), 5);
    let odd = format!("imei={IMEI}&momsn=8&transmit_time=21-10-31+10%3A41%3A55&data=7b2");
    assert_problem(&rock(&gateway, FORM, &odd), 400, "callback");
}

fn generic(header: &str, secret: &str) -> String {
    format!(
        "provider = 'generic'\nheader = '{header}'\n{secret}\nformat = 'json'\n[webhook.pointers]\ndevice = '/imei'\npayload = '/data'\n\
         encoding = 'hex'\nid = ['/id']\ntime = '/at'\nlatitude = '/lat'\nlongitude = '/lon'"
    )
}

fn envelope(id: u32) -> Value {
    json!({"imei": 300_234_010_753_370_u64, "id": id, "at": 1_635_676_910, "lat": "52.5", "lon": 0.25, "data": "7b2274223a32312e357d"})
}

#[test]
fn a_generic_envelope_is_authenticated_in_each_way() {
    let gateway = start(|config, tokens| {
        webhook(config, "bearer", &generic("Authorization", &format!("token_file = {tokens:?}")));
        webhook(config, "named", &generic("X-Api-Key", &format!("token_file = {tokens:?}")));
        webhook(config, "signed", &generic("X-Signature", &format!("hmac_file = {tokens:?}")));
    });
    let body = |id| envelope(id).to_string();
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("any:{TOKEN}")));
    let sign = |body: &str| {
        let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, TOKEN.as_bytes()), body.as_bytes());
        format!("sha256={}", mac.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    };
    let bearer = format!("Bearer {TOKEN}");
    for (id, name, header, value) in [
        (1, "bearer", "authorization", &*bearer),
        (2, "bearer", "authorization", &basic),
        (3, "named", "x-api-key", TOKEN),
        (4, "signed", "x-signature", &sign(&body(4))),
    ] {
        assert_answer(&call(&gateway, &format!("/hooks/{name}"), (header, value), JSON, &body(id)), "stored");
    }
    let wrong = format!("Basic {}", BASE64_STANDARD.encode("any:0123456789abcdeg"));
    for (name, header, value) in [
        ("bearer", "authorization", &*wrong),
        ("named", "authorization", &bearer),
        ("signed", "x-signature", &sign("another body")),
        ("signed", "x-signature", TOKEN),
        ("signed", "x-none", ""),
    ] {
        assert_problem(
            &call(&gateway, &format!("/hooks/{name}"), (header, value), JSON, &body(9)),
            401,
            "unauthorized",
        );
    }
    let messages = list(&gateway, &format!("/api/devices/{IMEI}/messages"));
    assert_eq!(messages.len(), 4);
    let origin = &messages[0]["origin"];
    assert_eq!((&origin["provider"], &origin["message_id"]), (&json!("generic"), &json!("4")));
    assert_eq!(
        (&origin["sent_at"], &origin["position"]["latitude"]),
        (&json!("2021-10-31T10:41:50.000Z"), &json!(52.5))
    );
    // A repeated request is the same message, and a duplicate key is an error.
    assert_answer(&call(&gateway, "/hooks/named", ("x-api-key", TOKEN), JSON, &body(3)), "stored");
    // The ID names a message among those of one input.
    assert_answer(&call(&gateway, "/hooks/bearer", ("authorization", &bearer), JSON, &body(3)), "stored");
    let twice = r#"{"imei":"1","imei":"2","data":"31"}"#;
    let answer = call(&gateway, "/hooks/named", ("x-api-key", TOKEN), JSON, twice);
    assert_problem(&answer, 400, "callback");
    assert_eq!((&answer.json()["offset"], gateway.stop().0.stored), (&json!(12), 5));
}

#[test]
fn a_message_without_bytes_is_what_the_provider_decoded_also_with_a_format() {
    let gateway = start(|config, tokens| {
        let settings = format!(
            "provider = 'generic'\nheader = 'X-Key'\ntoken_file = {tokens:?}\nformat = 'cbor'\n[webhook.pointers]\ndevice = '/d'\n\
             payload = '/p'\ndecoded = '/v'"
        );
        webhook(config, "decoded", &settings);
    });
    let send = |body: &str| call(&gateway, "/hooks/decoded", ("x-key", TOKEN), JSON, body);
    assert_answer(&send(r#"{"d":"a","v":{"t":1}}"#), "stored");
    assert_eq!(list(&gateway, "/api/devices/a/messages")[0]["value"], json!({"t": 1}));
    // Such a number has lost its last digits, so it names no device.
    assert_problem(&send(r#"{"d":89490200001234567890,"v":{"t":1}}"#), 400, "callback");
    assert_problem(&send(r#"{"d":1.5,"v":{"t":1}}"#), 400, "callback");
    assert_eq!(gateway.stop().0.stored, 1);
}

#[test]
fn a_device_whose_address_cannot_name_it_posts_to_a_webhook() {
    let gateway = start(|config, tokens| {
        let settings = format!(
            "provider = 'generic'\ntoken_file = {tokens:?}\ndevices = '3562*'\n[webhook.pointers]\ndevice = '/imei'\ndecoded = ''"
        );
        webhook(config, "trackers", &settings);
    });
    let send = |body: &str| {
        call(&gateway, "/hooks/trackers", ("Authorization", "Bearer 0123456789abcdef"), JSON, body)
    };
    assert_answer(&send(r#"{"imei":356245000000001,"t":21.50}"#), "stored");
    let message = &list(&gateway, "/api/devices/356245000000001/messages")[0];
    assert_eq!(message["value"], json!({"imei": 356_245_000_000_001_u64, "t": 21.5}));
    // The body names a device that the webhook may not send as, or none.
    assert_problem(&send(r#"{"imei":"other","t":1}"#), 403, "forbidden");
    assert_problem(&send(r#"{"t":1}"#), 400, "callback");
}

#[test]
fn a_profile_says_what_becomes_the_message_of_its_devices() {
    let gateway = start(|config, tokens| {
        webhook(
            config,
            "lora",
            &format!("provider = 'chirpstack'\npayload = 'bytes'\nformat = 'json'\ntoken_file = {tokens:?}"),
        );
        for (device, payload) in [("*1", "decoded"), ("*2", "both")] {
            let text = format!("device = '{device}'\npayload = '{payload}'");
            config.profiles.push(toml::from_str(&text).unwrap());
        }
    });
    let send = |device: &str| {
        let body = json!({"deduplicationId": device, "deviceInfo": {"devEui": device}, "fPort": 2,
            "data": BASE64_STANDARD.encode("{\"t\":1}"), "object": {"celsius": 1}});
        let answer = call(
            &gateway,
            "/hooks/lora?event=up",
            ("Authorization", "Bearer 0123456789abcdef"),
            JSON,
            &body.to_string(),
        );
        assert_answer(&answer, "stored");
        let message = list(&gateway, &format!("/api/devices/{device}/messages")).remove(0);
        (message["value"].clone(), message["origin"]["decoded"].clone())
    };
    let (bytes, decoded) = (json!({"t": 1}), json!({"celsius": 1}));
    assert_eq!(send("70b3d57ed0000001"), (decoded.clone(), Value::Null));
    assert_eq!(send("70b3d57ed0000002"), (bytes.clone(), decoded));
    assert_eq!(send("70b3d57ed0000003"), (bytes, Value::Null));
}

#[test]
fn ids_of_messages_may_be_any_text_and_names_may_be_in_upper_case() {
    let gateway = start(|config, tokens| {
        let settings =
            "provider = 'chirpstack'\nformat = 'json'\n[webhook.names]\n70B3D57ED0000001 = 'tank 1'";
        let settings = settings.replace("\n[", &format!("\ntoken_file = {tokens:?}\n["));
        webhook(config, "lora", &settings);
    });
    let send = |id: &str| {
        let body = json!({"deduplicationId": id, "deviceInfo": {"devEui": "70b3d57ed0000001"}, "fPort": 2,
            "data": BASE64_STANDARD.encode("1")});
        let authorization = ("Authorization", "Bearer 0123456789abcdef");
        call(&gateway, "/hooks/lora?event=up", authorization, JSON, &body.to_string())
    };
    let long = "x".repeat(300);
    for id in ["a b", "a%20b", "a\nb", "é", &long, &format!("{long}y")] {
        for _ in 0..2 {
            assert_answer(&send(id), "stored");
        }
    }
    let messages = list(&gateway, "/api/devices/tank%201/messages");
    let ids: Vec<_> =
        messages.iter().map(|message| message["origin"]["message_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 6, "{ids:?}");
    assert!(ids.contains(&"a%20b") && ids.contains(&"a%2520b"), "{ids:?}");
    assert_eq!(gateway.get_json("/api/stats")["duplicates"], 6);
}
