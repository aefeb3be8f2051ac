//! A gateway at the edge that relays to another one.

mod faults;

use crate::{
    deltas,
    quarantine::ask,
    support::{
        JSON, Running,
        proxy::{Mode, Proxy},
        start_in,
        wait::wait_until,
    },
};
use dunnage_formats::{Format, Json};
use dunnage_gateway::{OutputKind, OutputSettings, Profile, Who};
use dunnage_relay::{Content, Entry, MEDIA_TYPE, Sender, Writer};
use serde_json::{Value, json};
use std::{fs, net::SocketAddr, time::Duration};
use tempfile::TempDir;

/// A schema whose messages have a byte besides the slot byte, and 5 with the pressure.
const CLIMATE: &str = r#"{
    "title": "Climate",
    "type": "object",
    "properties": {
        "temperature": {"type": "number", "minimum": -10, "maximum": 53.5, "multipleOf": 0.5},
        "pressure": {"type": "integer", "minimum": 0, "maximum": 4294967295, "x-dunnage-drop": 1}
    },
    "required": ["temperature"],
    "additionalProperties": false,
    "x-dunnage-slot": 11
}"#;
const NUMBERS: &str = r#"{"hold-1": {"number": 1, "slot": 11}, "hold-2": {"number": 2, "slot": 11}, "door": {"number": 3}, "tag-1": {"number": 4, "slot": 12},
    "meter-1": {"number": 5, "slot": 13}}"#;
/// A schema that leaves out the ID of the device.
const TAG: &str = r#"{"title": "Tag", "type": "object", "properties": {"id": {"type": "string", "x-dunnage-known": "device"}, "on": {"type": "boolean"}},
    "required": ["id", "on"], "additionalProperties": false, "x-dunnage-slot": 12}"#;

/// Returns a folder with the schema and the numbers.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/climate.json"), CLIMATE).unwrap();
    fs::write(folder.path().join("schemas/tag.json"), TAG).unwrap();
    fs::write(folder.path().join("schemas/meter.json"), deltas::trained(13)).unwrap();
    fs::write(folder.path().join("ship-7.json"), NUMBERS).unwrap();
    folder
}

/// Returns the profiles of the sensors, which both gateways have.
fn sensors() -> Vec<Profile> {
    let of = |device: &str, schema: &str| Profile {
        device: device.into(),
        schema: Some(schema.into()),
        ..Profile::default()
    };
    vec![of("hold-*", "climate"), of("tag-*", "tag"), of("meter-*", "meter")]
}

/// Starts the gateway that receives. The batches of `ship-7` are those of a relay.
fn cloud() -> Running {
    start_in(folder(), |config| {
        // Requests through a proxy are not local.
        config.access.who = Who::Anyone;
        config.schemas.path = config.buffer.path.with_file_name("schemas");
        let relay = Some(config.buffer.path.with_file_name("ship-7.json"));
        config.profiles = sensors();
        config.profiles.push(Profile { device: "ship-7".into(), relay, ..Profile::default() });
    })
}

/// Starts the gateway at the edge. `links` are the tables of its links.
fn edge(settings: &str, links: &str) -> Running {
    start_in(folder(), |config| {
        config.schemas.path = config.buffer.path.with_file_name("schemas");
        let numbers = config.buffer.path.with_file_name("ship-7.json");
        config.profiles = sensors();
        let settings = toml::from_str(&format!("numbers = {numbers:?}\n{settings}\n{links}")).unwrap();
        config.outputs.push(OutputSettings::new("cloud", OutputKind::Relay(settings)));
    })
}

fn http(address: SocketAddr) -> String {
    format!("[[link]]\nname = 'port'\nhttp = {{ url = 'http://{address}/ingest/ship-7' }}\n")
}

/// Returns the stored messages, the first one first.
fn messages(gateway: &Running) -> Vec<Value> {
    let mut messages = gateway.get_json("/api/messages?limit=1000")["messages"].as_array().unwrap().clone();
    messages.reverse();
    messages
}

fn wait_for_messages(gateway: &Running, count: usize) -> Vec<Value> {
    wait_until("the readings arrive", || messages(gateway).len() >= count);
    messages(gateway)
}

fn batch(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut batch = Writer::new(usize::MAX, 0);
    entries.iter().for_each(|entry| assert!(batch.add(entry)));
    batch.finish()
}

#[test]
fn each_reading_is_a_message_of_its_own_device_at_the_other_gateway() {
    let cloud = cloud();
    let edge = edge("readings = 12\nwait_seconds = 1", &http(cloud.gateway.address()));
    let sent = [
        ("hold-1", json!({"temperature": 21.5, "pressure": 101325})),
        ("hold-2", json!({"temperature": -3.5})),
        ("door", json!({"open": true})),
        ("mast", json!({"lat": 44.5, "lon": 8.9})),
        ("hold-1", json!({"temperature": 22.5, "pressure": 101330})),
        ("tag-1", json!({"id": "tag-1", "on": true})),
        // The other gateway would restore its own ID.
        ("tag-1", json!({"id": "tag-2", "on": true})),
    ];
    for (device, value) in &sent {
        assert_eq!(edge.post(&format!("/ingest/{device}"), JSON, value.to_string().as_bytes()).status, 204);
    }
    let stored = wait_for_messages(&cloud, sent.len());
    let devices: Vec<_> = stored.iter().map(|message| message["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["hold-1", "hold-2", "door", "ship-7/mast", "hold-1", "tag-1", "tag-1"]);
    let values: Vec<_> = stored.iter().map(|message| &message["value"]).collect();
    assert_eq!(values, sent.iter().map(|(_, value)| value).collect::<Vec<_>>());
    let formats: Vec<_> = stored.iter().map(|message| message["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["packed", "packed", "cbor", "cbor", "packed", "packed", "cbor"]);
    let origins: Vec<_> = stored.iter().map(|message| &message["origin"]).collect();
    let first = origins[0]["relay_sequence"].as_u64().unwrap();
    for (number, origin) in origins.iter().enumerate() {
        assert_eq!(
            (&origin["relay"], &origin["relay_sequence"]),
            (&json!("ship-7"), &json!(first + number as u64))
        );
        let at = origin["sent_at"].as_str().unwrap();
        assert!(at.starts_with("20") && at.ends_with('Z'), "{at}");
    }
}

#[test]
fn a_batch_that_comes_again_is_stored_once_and_its_faults_are_kept() {
    let cloud = cloud();
    let send = |bytes: &[u8]| cloud.post("/ingest/ship-7", MEDIA_TYPE, bytes);
    let entry = |sequence, number, body| Entry {
        sequence,
        received_at: None,
        sender: Sender::Number(number),
        content: Content::Packed { mode: 0, body },
    };
    // 21.5 is number 63 of 128 values; then the pressure is absent.
    let bytes = batch(&[entry(5, 1, &[0x7e]), entry(6, 9, &[0x7e]), entry(7, 2, &[0xff]), entry(8, 3, &[1])]);
    for _ in 0..2 {
        let answer = send(&bytes);
        assert_eq!(answer.status, 204, "{}", answer.text);
    }
    assert_eq!(messages(&cloud).len(), 1, "{:?}", messages(&cloud));
    let kept = cloud.get_json("/api/quarantine?limit=100")["messages"].clone();
    let kept: Vec<_> =
        kept.as_array().unwrap().iter().map(|m| (m["device"].clone(), m["reason"].clone())).collect();
    assert_eq!(kept.len(), 6, "{kept:?}");
    assert!(
        kept.contains(&(json!("ship-7"), json!("the relay has no device with the number 9"))),
        "{kept:?}"
    );
    assert!(
        kept.contains(&(json!("ship-7"), json!("the file of the relay's numbers gives door no slot"))),
        "{kept:?}"
    );
    assert!(kept.iter().any(|(device, _)| device == "hold-2"), "{kept:?}");

    // Bytes that are no batch are refused, and kept as well.
    let answer = send(&bytes[..bytes.len() - 2]);
    assert_eq!((answer.status, &answer.json()["offset"]), (400, &json!(bytes.len() - 2)), "{}", answer.text);
    let answer = cloud.post("/ingest/other", MEDIA_TYPE, &bytes);
    assert!(answer.status == 415 && answer.text.contains("needs a profile with relay"), "{}", answer.text);
    // Without a media type, the profile says that it is a batch.
    assert_eq!(
        cloud.post("/ingest/ship-7", "application/octet-stream", &batch(&[entry(9, 1, &[0x7e])])).status,
        204
    );
    assert_eq!(messages(&cloud).len(), 2);
}

#[test]
fn a_reading_of_a_device_without_a_number_is_stored_once_the_file_has_it() {
    let cloud = cloud();
    let content = Content::Packed { mode: 0, body: &[0x7e] };
    let entry = Entry { sequence: 700, received_at: Some(1_780_000_000), sender: Sender::Number(9), content };
    assert_eq!(cloud.post("/ingest/ship-7", MEDIA_TYPE, &batch(&[entry])).status, 204);
    assert_eq!(ask(&cloud, "quarantine/retry", &[]).unwrap()["stored"], 0);
    let numbers = NUMBERS.replace("\"door\": {\"number\": 3}", "\"hold-9\": {\"number\": 9, \"slot\": 11}");
    fs::write(cloud.folder.path().join("ship-7.json"), numbers).unwrap();
    cloud.runtime.block_on(cloud.gateway.reload()).unwrap();
    assert_eq!(ask(&cloud, "quarantine/retry", &[]).unwrap()["stored"], 1);
    let stored = messages(&cloud).remove(0);
    assert_eq!((&stored["device"], &stored["value"]), (&json!("hold-9"), &json!({"temperature": 21.5})));
    assert_eq!(stored["origin"]["sent_at"], "2026-05-28T20:26:40.000Z");
    // The relay may send it again.
    assert_eq!(cloud.post("/ingest/ship-7", MEDIA_TYPE, &batch(&[entry])).status, 204);
    assert_eq!(messages(&cloud).len(), 1);
}

#[test]
fn the_first_link_that_works_sends_and_a_small_one_leaves_out_what_may_be() {
    let cloud = cloud();
    let proxy = Proxy::start(cloud.gateway.address());
    proxy.set(Mode::Refuse);
    let sent = TempDir::new().unwrap();
    let script = format!("cat > '{}'/$$ && mv '{0}'/$$ '{0}'/$$.batch", sent.path().display());
    let links = format!(
        "{}[[link]]\nname = 'satellite'\nlimit_bytes = 8\nfit = true\nexec = {{ command = ['sh', '-c', {script:?}] }}\n",
        http(proxy.address)
    );
    let edge = edge("times = false\nwait_seconds = 0", &links);
    let reading = json!({"temperature": 21.5, "pressure": 101325});
    assert_eq!(edge.post("/ingest/hold-1", JSON, reading.to_string().as_bytes()).status, 204);
    let batches = || -> Vec<Vec<u8>> {
        let files = fs::read_dir(sent.path()).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some()).map(|path| fs::read(path).unwrap()).collect()
    };
    wait_until("the satellite gets a batch", || batches().len() == 1);
    let batch = batches().remove(0);
    assert!(batch.len() <= 8, "{batch:?}");
    assert_eq!(cloud.post("/ingest/ship-7", MEDIA_TYPE, &batch).status, 204);
    let stored = messages(&cloud).remove(0);
    assert_eq!(
        (&stored["value"], &stored["origin"]["left_out"]),
        (&json!({"temperature": 21.5}), &json!(["pressure"]))
    );

    // No link takes this one at the moment; the first does once it works.
    assert_eq!(edge.post("/ingest/door", JSON, br#"{"log":"a text of some bytes"}"#).status, 204);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!((batches().len(), messages(&cloud).len()), (1, 1));
    proxy.set(Mode::Pass);
    assert_eq!(wait_for_messages(&cloud, 2)[1]["device"], "door");
}

#[test]
fn readings_of_one_device_are_deltas_against_the_one_before_in_the_batch() {
    let sent = TempDir::new().unwrap();
    let path = sent.path().join("batch");
    let script = format!("cat > '{0}.part' && mv '{0}.part' '{0}'", path.display());
    let link = format!("[[link]]\nname = 'file'\nexec = {{ command = ['sh', '-c', {script:?}] }}\n");
    let edge = edge("times = false\nreadings = 12\nwait_seconds = 30", &link);
    let mut values = Vec::new();
    for n in 0..12 {
        let mut json = Vec::new();
        Json.encode(&deltas::message(n), &mut json).unwrap();
        assert_eq!(edge.post("/ingest/meter-1", JSON, &json).status, 204);
        values.push(serde_json::from_slice::<Value>(&json).unwrap());
    }
    wait_until("the program gets a batch", || path.exists());
    let batch = fs::read(&path).unwrap();
    let entries = dunnage_relay::read(&batch).unwrap();
    let is_delta = |entry: &&Entry<'_>| matches!(entry.content, Content::Delta(_));
    assert_eq!((entries.len(), entries.iter().filter(is_delta).count()), (12, 11));

    let stored = |cloud: &Running| messages(cloud).iter().map(|m| m["value"].clone()).collect::<Vec<_>>();
    let cloud = cloud();
    assert_eq!(cloud.post("/ingest/ship-7", MEDIA_TYPE, &batch).status, 204);
    assert_eq!(stored(&cloud), values);

    // A delta is kept with those before it until the file has the number.
    let late = self::cloud();
    let numbers = late.folder.path().join("ship-7.json");
    fs::write(&numbers, NUMBERS.replace("\"number\": 5", "\"number\": 6")).unwrap();
    late.runtime.block_on(late.gateway.reload()).unwrap();
    assert_eq!(late.post("/ingest/ship-7", MEDIA_TYPE, &batch).status, 204);
    assert!(messages(&late).is_empty());
    fs::write(&numbers, NUMBERS).unwrap();
    late.runtime.block_on(late.gateway.reload()).unwrap();
    assert_eq!(ask(&late, "quarantine/retry", &[]).unwrap()["stored"], 12);
    assert_eq!(stored(&late), values);

    // Without the reading before it, a delta has no meaning.
    let mut broken = Writer::new(usize::MAX, 0);
    entries[1..].iter().for_each(|entry| assert!(broken.add(entry)));
    let other = self::cloud();
    assert_eq!(other.post("/ingest/ship-7", MEDIA_TYPE, &broken.finish()).status, 204);
    assert!(messages(&other).is_empty());
    let kept = other.get_json("/api/quarantine?limit=100")["messages"].clone();
    assert!(kept.as_array().unwrap().iter().all(|m| m["kind"] == "reference"), "{kept}");
}

#[test]
fn a_reading_that_no_link_takes_is_a_dead_letter_and_holds_up_none() {
    let cloud = cloud();
    let links = http(cloud.gateway.address()) + "limit_bytes = 40\n";
    let edge = edge("wait_seconds = 0", &links);
    for value in [json!("x".repeat(50)), json!(7)] {
        assert_eq!(edge.post("/ingest/door", JSON, value.to_string().as_bytes()).status, 204);
    }
    assert_eq!(wait_for_messages(&cloud, 1)[0]["value"], 7);
    let letters = edge.runtime.block_on(edge.gateway.dead_letters("cloud", 0, 10)).unwrap();
    assert!(
        letters.len() == 1 && letters[0].reason.contains("of at most 40 bytes"),
        "{:?}",
        letters[0].reason
    );
}
