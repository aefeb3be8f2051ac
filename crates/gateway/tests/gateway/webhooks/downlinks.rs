//! From the uplink of a webhook to the downlink that acknowledges it.

use super::{TOKEN, assert_answer, json_call, list, webhook};
use crate::support::{
    Running,
    scripted::{Reply, Scripted},
    start_in,
    wait::wait_for,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_formats::{Format, Json};
use dunnage_gateway::{OutputKind, OutputSettings, Profile};
use dunnage_packed::{Layout, Training};
use dunnage_pson::Value as Message;
use dunnage_schema::Model;
use serde_json::{Value, json};
use tempfile::TempDir;

const DEVICE: &str = "70b3d57ed005a1b2";

pub fn message(n: u32) -> Message {
    Json.decode(format!("{{\"n\":{n}}}").as_bytes()).unwrap()
}

/// Returns a schema with statistics that expect numbers about 1,000,000.
pub fn schema() -> String {
    let mut schema = json!({"title": "R", "type": "object", "additionalProperties": false, "required": ["n"],
        "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 4_000_000_000_u64}}});
    let untrained = Layout::new(&Model::compile(&schema.to_string()).unwrap()).unwrap();
    let mut training = Training::new(&untrained).unwrap();
    let examples: Vec<_> = (0..500).map(|n| training.example(&message(1_000_000 + n % 7)).unwrap()).collect();
    for pair in examples.windows(2) {
        training.add(&pair[1]);
        training.add_change(&pair[1], &pair[0]);
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    schema.to_string()
}

/// Starts a gateway with a webhook of ChirpStack and an output that acknowledges each of its messages to `server`.
fn start(schema: &str, server: &Scripted) -> Running {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_owned();
    std::fs::create_dir(path.join("schemas")).unwrap();
    std::fs::write(path.join("schemas/r.json"), schema).unwrap();
    let token = path.join("token");
    std::fs::write(&token, &TOKEN[7..]).unwrap();
    start_in(folder, |config| {
        config.schemas.path = path.join("schemas");
        let schema = Some("r".into());
        config.profiles.push(Profile { device: "*".into(), schema, ..Profile::default() });
        let names = "[webhook.names]\n0000000000000001 = 'crane-1'";
        let token_file = format!("token_file = {token:?}\n");
        webhook(config, "lora", &format!("provider = 'chirpstack'\n{token_file}format = 'packed'\n{names}"));
        let settings = format!(
            "provider = 'chirpstack'\nurl = 'http://{}'\n{token_file}every = 1\ninterval_seconds = 0\nper_minute = 0\ninput = 'lora'",
            server.address
        );
        let kind = OutputKind::Downlink(toml::from_str(&settings).unwrap());
        config.outputs.push(OutputSettings::new("names", kind));
    })
}

/// Sends an uplink of the device with this DevEUI.
fn uplink(gateway: &Running, dev_eui: &str, id: u32, payload: &[u8], answer: &str) {
    let body = json!({"deduplicationId": id.to_string(), "deviceInfo": {"devEui": dev_eui}, "fPort": 1,
        "data": BASE64_STANDARD.encode(payload)});
    assert_answer(&json_call(gateway, "/hooks/lora?event=up", &body.to_string()), answer);
}

/// Returns the paths and names of the downlinks, once there are `count`.
fn downlinks(server: &Scripted, count: usize) -> Vec<(String, u16)> {
    wait_for(|| {
        let requests = server.requests().into_iter().filter(|request| request.method == "POST");
        let sent: Vec<_> = requests
            .map(|request| {
                let body: Value = serde_json::from_str(&request.body).unwrap();
                let name = BASE64_STANDARD.decode(body["queueItem"]["data"].as_str().unwrap()).unwrap();
                (request.path, u16::from_be_bytes(name.try_into().unwrap()))
            })
            .collect();
        if sent.len() >= count { Ok(sent) } else { Err(sent) }
    })
}

#[test]
fn uplinks_are_acknowledged_by_their_names_and_become_references() {
    let schema = schema();
    let layout = Layout::new(&Model::compile(&schema).unwrap()).unwrap();
    let server = Scripted::start(|_, _| Reply::Text("200 OK", "{}"));
    let gateway = start(&schema, &server);
    let mut prior = Vec::new();
    layout.encode(&message(1_000_003), &mut prior).unwrap();
    assert_eq!(prior[0] >> 6, 1);
    uplink(&gateway, DEVICE, 1, &prior, "stored");
    let first = layout.reference(&message(1_000_003)).unwrap();
    let path = format!("/api/devices/{DEVICE}/queue");
    assert_eq!(downlinks(&server, 1), [(path.clone(), first.name())]);

    // The device refers to the acknowledged message, and the new message is acknowledged in turn.
    let mut delta = Vec::new();
    layout.encode_delta(&message(1_000_004), &first, &mut delta).unwrap();
    uplink(&gateway, DEVICE, 2, &delta, "stored");
    let second = layout.reference(&message(1_000_004)).unwrap();
    assert_eq!(downlinks(&server, 2)[1], (path, second.name()));
    let slots = list(&gateway, "/api/messages").into_iter().map(|message| message["slot"].clone());
    assert_eq!(slots.collect::<Vec<_>>(), [Value::Null, json!(1)]);

    // A device with another ID here is addressed by the provider's ID. A delta without a reference is not acknowledged.
    let unknown = layout.reference(&message(1_000_006)).unwrap();
    let mut lost = Vec::new();
    layout.encode_delta(&message(1_000_005), &unknown, &mut lost).unwrap();
    uplink(&gateway, "0000000000000001", 3, &lost, "quarantined");
    uplink(&gateway, "0000000000000001", 4, &prior, "stored");
    let path = "/api/devices/0000000000000001/queue".to_owned();
    assert_eq!(downlinks(&server, 3)[2..], [(path, first.name())]);
    wait_for(|| {
        let metrics = gateway.get("/metrics").text;
        let is_three =
            |name: &str| metrics.contains(&format!("dunnage_output_{name}{{output=\"names\"}} 3\n"));
        let all = is_three("delivered_messages_total") && is_three("call_duration_seconds_count");
        if all { Ok(()) } else { Err(metrics) }
    });
}

#[test]
fn a_device_that_the_provider_does_not_have_makes_a_dead_letter() {
    let schema = schema();
    let layout = Layout::new(&Model::compile(&schema).unwrap()).unwrap();
    let server = Scripted::start(|_, before| match before {
        // The first attempt finds the provider busy.
        0 => Reply::Status("503 Service Unavailable"),
        _ => Reply::Text("404 Not Found", r#"{"code":5,"message":"Object does not exist","details":[]}"#),
    });
    let gateway = start(&schema, &server);
    let mut prior = Vec::new();
    layout.encode(&message(1_000_003), &mut prior).unwrap();
    uplink(&gateway, DEVICE, 1, &prior, "stored");
    let status = wait_for(|| {
        let status = gateway.gateway.outputs().remove(0);
        if status.cursor == 1 { Ok(status) } else { Err(format!("{status:?}")) }
    });
    assert_eq!(
        (status.delivered, status.refused, status.retried.values().sum::<u64>()),
        (0, 1, 1),
        "{status:?}"
    );
    let dead_letters = gateway.runtime.block_on(gateway.gateway.dead_letters("names", 0, 10)).unwrap();
    assert!(dead_letters[0].reason.contains("Object does not exist"), "{dead_letters:?}");
}
