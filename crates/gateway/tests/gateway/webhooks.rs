//! Webhooks of providers: bodies in the shapes that their documentation shows, with and without what proves the sender.

use crate::support::{Answer, JSON, Running, answer, start_in};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_gateway::{Config, InputSettings, Profile, WhenFull};
use ring::{rand::SystemRandom, signature};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};
use std::{path::Path, sync::LazyLock};
use tempfile::TempDir;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

const FORM: &str = "application/x-www-form-urlencoded";
const TOKEN: &str = "Bearer 0123456789abcdef";
const ASTROCAST: &str = include_str!("../webhooks/astrocast.json");
const CHIRPSTACK: &str = include_str!("../webhooks/chirpstack-up.json");
const THE_THINGS_STACK: &str = include_str!("../webhooks/the-things-stack-up.json");
const ROCKBLOCK: &str = include_str!("../webhooks/rockblock.form");
const CONTAINER: &str = include_str!("../../../../bench/corpus/container.json");

fn webhook(config: &mut Config, name: &str, settings: &str) {
    let text = format!("name = {name:?}\n[webhook]\n{settings}");
    config.inputs.push(toml::from_str(&text).unwrap());
}

/// A webhook of each provider, under the provider's name; `rockblock` by signature, `rockblock-url` by a token.
fn configure(config: &mut Config, folder: &Path) {
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, "# while it is changed\n0123456789abcdef\n\nfedcba9876543210\n").unwrap();
    let signer = folder.join("signer.pub.pem");
    std::fs::write(&signer, include_str!("../webhooks/signer.pub.pem")).unwrap();
    let token = format!("token_file = {tokens:?}\n");
    let of = |provider: &str, more: &str| format!("provider = {provider:?}\n{token}{more}");
    let devices = "[webhook.names]\nc984ff2b-e4d0-417f-8ea3-11d74a55d251 = 'LMCU1231237'";
    webhook(
        config,
        "astrocast",
        &of("astrocast", &format!("format = 'packed'\nlink = 'astrocast'\n{devices}")),
    );
    webhook(config, "chirpstack", &of("chirpstack", "[webhook.formats]\n2 = 'cbor'"));
    webhook(config, "tts", &of("the-things-stack", "header = 'X-Token'\nformat = 'json'"));
    webhook(config, "rockblock-url", &of("rockblock", "format = 'json'"));
    let signed =
        format!("provider = 'rockblock'\nkey_file = {signer:?}\nformat = 'json'\nlink = 'iridium-sbd-mo'");
    webhook(config, "rockblock", &signed);
    let schema = Some("container".into());
    config.profiles.push(Profile { device: "LMCU*".into(), schema, ..Profile::default() });
}

fn start() -> Running {
    start_again(TempDir::new().unwrap(), |_| ())
}

fn start_again(folder: TempDir, change: impl FnOnce(&mut Config)) -> Running {
    let path = folder.path().to_owned();
    start_in(folder, |config| {
        configure(config, &path);
        change(config);
    })
}

fn call(gateway: &Running, path: &str, (header, token): (&str, &str), kind: &str, body: &str) -> Answer {
    let request = gateway.agent.post(gateway.url(path)).header("content-type", kind);
    answer(request.header(header, token).send(body.as_bytes()).unwrap())
}

fn json_call(gateway: &Running, path: &str, body: &str) -> Answer {
    call(gateway, path, ("authorization", TOKEN), JSON, body)
}

fn assert_answer(answer: &Answer, message: &str) {
    assert_eq!((answer.status, &answer.json()["message"]), (200, &json!(message)), "{}", answer.text);
    assert!(answer.headers.contains_key("x-request-id"));
}

fn assert_problem(answer: &Answer, status: u16, name: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert_eq!(answer.json()["type"], format!("urn:dunnage:problem:{name}"));
}

fn list(gateway: &Running, path: &str) -> Vec<Value> {
    gateway.get_json(path)["messages"].as_array().unwrap().clone()
}

/// A token as Ground Control makes them, signed with the key of these tests.
fn jwt(claims: &Value) -> String {
    let key = PrivatePkcs8KeyDer::from_pem_slice(include_bytes!("../webhooks/signer.pem")).unwrap();
    let key = signature::RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
    let part = |json: &str| URL_SAFE_NO_PAD.encode(json);
    let signed = format!("{}.{}", part(r#"{"alg":"RS256"}"#), part(&claims.to_string()));
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&signature::RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn claims() -> Value {
    json!({
        "iss": "Rock 7", "iat": 1_635_676_911, "device_type": "ROCKBLOCK", "imei": "300234010753370", "serial": "12345",
        "momsn": "12345", "transmit_time": "2021-10-31T10:41:50Z", "iridium_latitude": "52.3867",
        "iridium_longitude": "0.2938", "iridium_cep": "8", "data": "7b2274656d7065726174757265223a31372e32357d"
    })
}

#[test]
fn a_message_by_satellite_is_its_devices_with_the_providers_time_and_position() {
    let gateway = start();
    assert_answer(&json_call(&gateway, "/hooks/astrocast", ASTROCAST), "stored");
    let message = &list(&gateway, "/api/devices/LMCU1231237/messages")[0];
    assert_eq!(message["value"], serde_json::from_str::<Value>(CONTAINER).unwrap());
    let about = ["format", "schema", "link", "bytes"].map(|key| message[key].clone());
    assert_eq!(about, [json!("packed"), json!("container"), json!("astrocast"), json!(56)]);
    let origin = json!({
        "input": "astrocast", "provider": "astrocast", "message_id": "6a3a3c0e-7d1f-4a0c-9a55-0f1e6c1b7a01",
        "sent_at": "2022-01-01T00:00:00.000Z", "position": {"latitude": 36.1408, "longitude": -5.3536}
    });
    assert_eq!(message["origin"], origin);
    let command = include_str!("../webhooks/astrocast-command.json");
    assert_answer(&json_call(&gateway, "/hooks/astrocast", command), "ignored");
}

#[test]
fn a_message_of_chirpstack_has_the_format_of_its_port_and_the_best_gateway() {
    let gateway = start();
    assert_answer(&json_call(&gateway, "/hooks/chirpstack?event=up", CHIRPSTACK), "stored");
    let message = &list(&gateway, "/api/devices/70b3d57ed005a1b2/messages")[0];
    assert_eq!((&message["format"], &message["value"]), (&json!("cbor"), &json!({"temperature": 17.5})));
    let place = json!({"latitude": 52.3740364, "longitude": 4.9144401, "altitude_m": 10.5});
    let origin = json!({
        "input": "chirpstack", "provider": "chirpstack", "message_id": "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
        "sent_at": "2022-07-18T09:34:15.775Z", "device_name": "Crane 4", "port": 2, "counter": 34,
        "gateway": {"id": "0016c001f153a14c", "rssi": -36.0, "snr": 10.5, "position": place}
    });
    assert_eq!(message["origin"], origin);
}

#[test]
fn a_message_of_the_things_stack_is_stored_and_its_api_key_is_not() {
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
        "sent_at": "2020-02-12T15:15:46.643Z", "position": position, "device_name": "dev1", "port": 15, "counter": 66,
        "gateway": {"id": "gtw1", "rssi": -35.0, "snr": 5.0, "position": place(2)}
    });
    assert_eq!(message["origin"], origin);
    assert!(!message.to_string().contains("NNSXS"));
}

#[test]
fn a_message_of_rockblock_is_what_its_signature_covers() {
    let gateway = start();
    let none = ("x-none", "");
    let form = format!("{ROCKBLOCK}&JWT={}", jwt(&claims()));
    assert_answer(&call(&gateway, "/hooks/rockblock", none, FORM, &form), "stored");
    // The same again as JSON, and with a body that says something else than what is signed.
    let mut body = json!({"imei": 1, "momsn": 2, "transmit_time": "", "data": "00"});
    body["JWT"] = json!(jwt(&claims()));
    assert_answer(&call(&gateway, "/hooks/rockblock", none, JSON, &body.to_string()), "stored");
    let messages = list(&gateway, "/api/devices/300234010753370/messages");
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["value"], json!({"temperature": 17.25}));
    assert_eq!(messages[0]["link"], "iridium-sbd-mo");
    let origin = json!({
        "input": "rockblock", "provider": "rockblock", "message_id": "12345@2021-10-31T10:41:50.000Z",
        "sent_at": "2021-10-31T10:41:50.000Z", "counter": 12345,
        "position": {"latitude": 52.3867, "longitude": 0.2938, "accuracy_m": 8000.0}
    });
    assert_eq!(messages[0]["origin"], origin);
}

/// Claims of the message `momsn`, which was sent and signed at these times.
fn claims_of(momsn: &str, sent: OffsetDateTime, signed: OffsetDateTime) -> Value {
    let mut claims = claims();
    claims["momsn"] = json!(momsn);
    claims["transmit_time"] = json!(sent.format(&Rfc3339).unwrap());
    claims["iat"] = json!(signed.unix_timestamp());
    claims
}

/// A time of the run of these tests, `hours` ago.
fn clock(hours: i64) -> OffsetDateTime {
    static NOW: LazyLock<OffsetDateTime> =
        LazyLock::new(|| OffsetDateTime::now_utc().replace_nanosecond(0).unwrap());
    *NOW - time::Duration::hours(hours)
}

fn signed(gateway: &Running, name: &str, claims: &Value) -> Answer {
    let form = format!("{ROCKBLOCK}&JWT={}", jwt(claims));
    call(gateway, &format!("/hooks/{name}"), ("x-none", ""), FORM, &form)
}

#[test]
fn a_signed_request_is_stored_once_whenever_it_is_sent_again() {
    for window in [2, 0, 3600] {
        let gateway = start_again(TempDir::new().unwrap(), |config| {
            config.buffer.duplicate_window_seconds = window;
        });
        let stored = || list(&gateway, "/api/devices/300234010753370/messages").len();
        // The gateway was away: both come late, in their order.
        let [first, second] =
            [("1", 30), ("2", 20)].map(|(momsn, hours)| claims_of(momsn, clock(hours), clock(hours)));
        assert_answer(&signed(&gateway, "rockblock", &first), "stored");
        assert_answer(&signed(&gateway, "rockblock", &second), "stored");
        let third = claims_of("3", clock(0), clock(0));
        assert_answer(&signed(&gateway, "rockblock", &third), "stored");
        assert_eq!(stored(), 3);
        if window == 2 {
            // It is not remembered any more.
            std::thread::sleep(std::time::Duration::from_millis(2500));
            gateway.post("/ingest/d", JSON, b"{}");
        }
        for old in [&first, &second] {
            assert_problem(&signed(&gateway, "rockblock", old), 401, "unauthorized");
        }
        assert_answer(&signed(&gateway, "rockblock", &third), "stored");
        // A time ahead gives no right to be sent again later, and no signature is without a time.
        let ahead = claims_of("1", clock(30), clock(-48));
        assert_problem(&signed(&gateway, "rockblock", &ahead), 401, "unauthorized");
        let mut never = claims_of("1", clock(30), clock(30));
        never.as_object_mut().unwrap().remove("iat");
        never["transmit_time"] = json!("someday");
        assert_problem(&signed(&gateway, "rockblock", &never), 401, "unauthorized");
        assert_eq!(stored(), 3, "{window}");
        let (summary, folder) = gateway.stop();
        assert_eq!(summary.received, summary.stored + summary.refused + summary.duplicates);
        let gateway = start_again(folder, |config| config.buffer.duplicate_window_seconds = window);
        assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
        assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 3);
    }
}

#[test]
fn a_signed_request_is_stored_once_though_the_memory_of_duplicates_is_full_or_gone() {
    let gateway = start_again(TempDir::new().unwrap(), |config| config.buffer.duplicate_limit_messages = 4);
    let minutes = |ago| clock(0) - time::Duration::minutes(ago);
    let [first, second] =
        [("1", 3), ("2", 2)].map(|(momsn, ago)| claims_of(momsn, minutes(ago), minutes(ago)));
    assert_answer(&signed(&gateway, "rockblock", &first), "stored");
    assert_answer(&signed(&gateway, "rockblock", &second), "stored");
    // Messages of somebody else, with keys.
    for n in 0..8 {
        let url = gateway.url("/ingest/other");
        assert_eq!(crate::support::post_with_key(&gateway.agent, &url, &n.to_string(), b"1").status, 204);
    }
    assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
    let third = claims_of("3", minutes(1), minutes(1));
    assert_answer(&signed(&gateway, "rockblock", &third), "stored");
    let (_, folder) = gateway.stop();
    // What was dropped from the buffer is not known to the next process.
    let connection = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let drop = "DELETE FROM messages WHERE id <= 2; UPDATE totals SET dropped = 2, dropped_to = 2;
                DELETE FROM waypoints";
    connection.execute_batch(drop).unwrap();
    std::mem::drop(connection);
    let gateway = start_again(folder, |_| ());
    assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
    assert_answer(&signed(&gateway, "rockblock", &third), "stored");
    assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 1);
    let fourth = claims_of("4", minutes(0), minutes(0));
    assert_answer(&signed(&gateway, "rockblock", &fourth), "stored");
    assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 2);
}

#[test]
fn a_signed_request_that_cannot_be_decoded_is_kept_once_and_pushes_nothing_out_of_the_quarantine() {
    let gateway = start_again(TempDir::new().unwrap(), |config| config.quarantine.messages = 3);
    assert_eq!(gateway.post("/ingest/other", JSON, b"{").status, 400);
    let mut claims = claims_of("1", clock(0), clock(0));
    // No JSON.
    claims["data"] = json!("7b");
    for _ in 0..5 {
        assert_answer(&signed(&gateway, "rockblock", &claims), "quarantined");
    }
    claims["momsn"] = json!("2");
    assert_answer(&signed(&gateway, "rockblock", &claims), "quarantined");
    let kept = list(&gateway, "/api/quarantine");
    let devices: Vec<_> = kept.iter().map(|message| message["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["300234010753370", "300234010753370", "other"]);
}

#[test]
fn a_webhook_sends_as_its_devices_and_no_others() {
    let folder = TempDir::new().unwrap();
    let signer = folder.path().join("signer.pub.pem");
    let gateway = start_again(folder, |config| {
        let more = |devices: &str| {
            format!("provider = 'rockblock'\nkey_file = {signer:?}\nformat = 'json'\ndevices = {devices}\n")
        };
        webhook(config, "list", &more("['buoy-*', '300234010753370']"));
        webhook(config, "pattern", &more("'LMCU*'"));
        let names = "[webhook.names]\n300234010753370 = 'ship-1'";
        webhook(config, "named", &(more("'ship-*'") + names));
    });
    let fresh = |imei: &str, momsn: &str| {
        let mut claims = claims_of(momsn, clock(0), clock(0));
        claims["imei"] = json!(imei);
        claims
    };
    let own = fresh("300234010753370", "1");
    // Another customer of the provider, whose messages the same key signs.
    let foreign = fresh("300434062929540", "1");
    assert_answer(&signed(&gateway, "list", &own), "stored");
    assert_problem(&signed(&gateway, "pattern", &own), 403, "forbidden");
    assert_answer(&signed(&gateway, "named", &own), "stored");
    for name in ["list", "pattern", "named"] {
        assert_problem(&signed(&gateway, name, &foreign), 403, "forbidden");
        // Nor under a name that the webhook gives to its own.
        assert_problem(&signed(&gateway, name, &fresh("LMCX1", "1")), 403, "forbidden");
    }
    let devices = gateway.get_json("/api/devices");
    assert_eq!(devices["devices"].as_array().unwrap().len(), 2, "{devices}");
    assert!(list(&gateway, "/api/quarantine").is_empty());
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"forbidden\"} 7"), "{metrics}");
    let table = "name = 'h'\n[webhook]\nprovider = 'rockblock'\nformat = 'json'\n[webhook.devices]\na = 'b'";
    let error = toml::from_str::<InputSettings>(table).unwrap_err().to_string();
    assert!(error.contains("[input.webhook.names]"), "{error}");
}

#[test]
fn a_query_that_a_provider_does_not_send_is_refused() {
    let gateway = start();
    assert_problem(&json_call(&gateway, "/hooks/astrocast?event=up", ASTROCAST), 400, "query");
    let answer = json_call(&gateway, "/hooks/chirpstack?evnt=up", CHIRPSTACK);
    assert_problem(&answer, 400, "query");
    assert!(answer.text.contains("did you mean \\\"event\\\"?"), "{}", answer.text);
    // Whoever has no token is not told.
    let stranger = call(&gateway, "/hooks/chirpstack?evnt=up", ("x-none", ""), JSON, CHIRPSTACK);
    assert_problem(&stranger, 401, "unauthorized");
}

#[test]
fn who_cannot_prove_who_it_is_is_401_and_nothing_is_kept() {
    let gateway = start();
    for (path, header, token) in [
        ("/hooks/astrocast", "x-none", ""),
        ("/hooks/astrocast", "authorization", ""),
        ("/hooks/astrocast", "authorization", "Bearer 0123456789abcdeg"),
        ("/hooks/astrocast", "authorization", "Bearer # while it is changed"),
        ("/hooks/astrocast?token=0123456789abcdef", "x-none", ""),
        ("/hooks/tts", "authorization", TOKEN),
        ("/hooks/rockblock-url", "x-none", ""),
        ("/hooks/rockblock-url?token=x", "x-none", ""),
    ] {
        assert_problem(&call(&gateway, path, (header, token), JSON, ASTROCAST), 401, "unauthorized");
    }
    let mut forged = jwt(&claims());
    forged.replace_range(30..31, if &forged[30..31] == "A" { "B" } else { "A" });
    let others = include_str!("../webhooks/rock7.jwt").trim().to_owned();
    for jwt in [String::new(), forged, others] {
        let form = format!("{ROCKBLOCK}&JWT={jwt}");
        assert_problem(&call(&gateway, "/hooks/rockblock", ("x-none", ""), FORM, &form), 401, "unauthorized");
    }
    assert!(list(&gateway, "/api/messages").is_empty() && list(&gateway, "/api/quarantine").is_empty());
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.refused), (11, 11));
}

#[test]
fn who_tries_many_tokens_is_told_to_wait_and_the_right_one_is_still_taken() {
    let gateway = start();
    let status =
        |path: &str, header: &str, token: &str| call(&gateway, path, (header, token), JSON, ASTROCAST).status;
    // Who brings nothing does not guess.
    let none: Vec<_> = (0..40).map(|_| status("/hooks/astrocast", "x-none", "")).collect();
    assert_eq!(none, [401; 40]);
    let wrong: Vec<_> =
        (0..40).map(|n| status("/hooks/astrocast", "authorization", &format!("Bearer {n}"))).collect();
    assert_eq!((&wrong[..30], wrong[39]), (&[401; 30][..], 429));
    assert_eq!(status("/hooks/rockblock-url?token=x", "x-none", ""), 429);
    assert_eq!(status("/hooks/astrocast", "authorization", "Bearer 0123456789abcdef"), 200);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"too-many\"}"), "{metrics}");
}

#[test]
fn two_tokens_hold_while_one_takes_the_place_of_the_other_and_one_may_be_in_the_url() {
    let gateway = start();
    for token in ["Bearer fedcba9876543210", "bearer 0123456789abcdef", "0123456789abcdef"] {
        let answer = call(&gateway, "/hooks/astrocast", ("authorization", token), JSON, ASTROCAST);
        assert_answer(&answer, "stored");
    }
    let path = "/hooks/rockblock-url?token=fedcba9876543210";
    assert_answer(&call(&gateway, path, ("x-none", ""), FORM, ROCKBLOCK), "stored");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (2, 2));
}

#[test]
fn what_comes_again_is_stored_once_also_after_a_restart() {
    let send = |gateway: &Running| {
        assert_answer(&json_call(gateway, "/hooks/astrocast", ASTROCAST), "stored");
        assert_answer(&json_call(gateway, "/hooks/chirpstack?event=up", CHIRPSTACK), "stored");
        let token = ("x-token", &TOKEN[7..]);
        assert_answer(&call(gateway, "/hooks/tts", token, JSON, THE_THINGS_STACK), "stored");
        assert_answer(&signed(gateway, "rockblock", &claims_of("12345", clock(0), clock(0))), "stored");
        // A device of another name, but the same key: another provider's message.
        let same = ASTROCAST.replace("c984ff2b-e4d0-417f-8ea3-11d74a55d251", "LMCU7654321");
        assert_answer(&json_call(gateway, "/hooks/astrocast", &same), "stored");
    };
    let gateway = start();
    send(&gateway);
    send(&gateway);
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (5, 5));
    let gateway = start_again(folder, |_| ());
    send(&gateway);
    assert_eq!(list(&gateway, "/api/messages").len(), 5);
}

#[test]
fn what_cannot_be_decoded_is_200_and_kept_with_its_origin() {
    let gateway = start();
    let mut broken: Value = serde_json::from_str(CHIRPSTACK).unwrap();
    broken["data"] = json!("/w==");
    let answer = json_call(&gateway, "/hooks/chirpstack?event=up", &broken.to_string());
    assert_answer(&answer, "quarantined");
    assert_eq!(answer.json()["problem"]["kind"], "malformed");
    broken["fPort"] = json!(9);
    let answer = json_call(&gateway, "/hooks/chirpstack?event=up", &broken.to_string());
    assert_answer(&answer, "quarantined");
    assert_eq!(answer.json()["problem"]["type"], "urn:dunnage:problem:media-type");
    let kept = list(&gateway, "/api/quarantine");
    assert_eq!(kept.len(), 2);
    assert_eq!((&kept[1]["hex"], &kept[1]["device"]), (&json!("ff"), &json!("70b3d57ed005a1b2")));
    assert_eq!((&kept[1]["origin"]["counter"], &kept[0]["origin"]["port"]), (&json!(34), &json!(9)));
}

#[test]
fn events_are_counted_and_not_stored() {
    let gateway = start();
    let join = include_str!("../webhooks/chirpstack-join.json");
    for event in ["join", "status", "ack", "txack", "log", "location", "integration"] {
        assert_answer(&json_call(&gateway, &format!("/hooks/chirpstack?event={event}"), join), "ignored");
    }
    let mut empty: Value = serde_json::from_str(CHIRPSTACK).unwrap();
    empty.as_object_mut().unwrap().remove("data");
    assert_answer(&json_call(&gateway, "/hooks/chirpstack?event=up", &empty.to_string()), "ignored");
    let join = include_str!("../webhooks/the-things-stack-join.json");
    assert_answer(&call(&gateway, "/hooks/tts", ("x-token", &TOKEN[7..]), JSON, join), "ignored");
    let metrics = gateway.get("/metrics").text;
    for (provider, event) in
        [("chirpstack", "join"), ("chirpstack", "empty"), ("the-things-stack", "join_accept")]
    {
        let line = format!("dunnage_hook_events_total{{provider=\"{provider}\",event=\"{event}\"}} 1");
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.quarantined), (0, 0));
}

#[test]
fn what_is_not_the_providers_is_400_and_not_kept() {
    let gateway = start();
    let token = ("authorization", TOKEN);
    for (path, body) in [
        ("/hooks/astrocast", "{}"),
        ("/hooks/astrocast", "[]"),
        ("/hooks/astrocast", ""),
        ("/hooks/astrocast", &*ASTROCAST.replace("\"AVRf", "\"?VRf")),
        ("/hooks/astrocast", &ASTROCAST.replace("6a3a3c0e-7d1f-4a0c-9a55-0f1e6c1b7a01", "")),
        ("/hooks/astrocast", &ASTROCAST.replace("6a3a3c0e-7d1f-4a0c-9a55-0f1e6c1b7a01", &"x".repeat(129))),
        ("/hooks/chirpstack", CHIRPSTACK),
        ("/hooks/chirpstack?event=dance", CHIRPSTACK),
        ("/hooks/chirpstack?event=up", THE_THINGS_STACK),
        ("/hooks/rockblock-url", CHIRPSTACK),
        ("/hooks/rockblock-url", "imei=1&momsn=2&transmit_time=3&data=4"),
    ] {
        assert_problem(&call(&gateway, path, token, FORM, body), 400, "callback");
    }
    let bad_name = ASTROCAST.replace("c984ff2b-e4d0-417f-8ea3-11d74a55d251", "a/b");
    assert_problem(&json_call(&gateway, "/hooks/astrocast", &bad_name), 400, "name");
    let large = format!("{}{}", " ".repeat(1 << 20), ASTROCAST);
    assert_problem(&json_call(&gateway, "/hooks/astrocast", &large), 413, "too-large");
    assert_problem(&gateway.get("/hooks/astrocast"), 405, "method");
    assert_problem(&gateway.post("/hooks/nobody", JSON, ASTROCAST.as_bytes()), 404, "not-found");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.quarantined, summary.refused), (0, 0, 13));
}

#[test]
fn a_full_buffer_is_503_so_that_it_comes_again() {
    let gateway = start_again(TempDir::new().unwrap(), |config| {
        config.buffer.limit_bytes = 1 << 20;
        config.buffer.when_full = WhenFull::Refuse;
    });
    let body = format!("\"{}\"", "x".repeat(100_000));
    let full = (0..100).any(|_| gateway.post("/ingest/d", JSON, body.as_bytes()).status == 503);
    assert!(full, "the buffer does not fill up");
    let answer = json_call(&gateway, "/hooks/astrocast", ASTROCAST);
    assert_problem(&answer, 503, "buffer-full");
    assert_eq!(answer.headers["retry-after"], "1");
}

#[test]
fn settings_that_cannot_work_are_named() {
    let folder = TempDir::new().unwrap();
    let (short, good) = (folder.path().join("short"), folder.path().join("good"));
    std::fs::write(&short, "password\n").unwrap();
    std::fs::write(&good, "0123456789abcdef").unwrap();
    let token = format!("token_file = {good:?}\n");
    for (provider, settings, key) in [
        ("chirpstack", "format = 'json'", "token_file"),
        ("chirpstack", &*format!("format = 'json'\ntoken_file = {short:?}"), "token_file"),
        ("chirpstack", "format = 'json'\ntoken_file = '/nowhere'", "token_file"),
        ("chirpstack", &format!("format = 'json'\nkey_file = {good:?}"), "key_file"),
        ("rockblock", &format!("format = 'json'\nkey_file = {good:?}"), "key_file"),
        ("chirpstack", &token, "format"),
        ("chirpstack", &format!("{token}[webhook.formats]\n0 = 'json'"), "formats"),
        ("astrocast", &format!("{token}format = 'json'\n[webhook.formats]\n1 = 'json'"), "formats"),
        ("astrocast", &format!("{token}format = 'json'\nheader = 'a b'"), "header"),
        ("astrocast", &format!("{token}format = 'json'\nlink = 'a b'"), "link"),
        ("astrocast", &format!("{token}format = 'json'\n[webhook.names]\na = '/'"), "names"),
        ("astrocast", &format!("{token}format = 'json'\ndevices = []"), "devices"),
        ("astrocast", &format!("{token}format = 'json'\ndevices = ['buoy-*', 'a b']"), "devices"),
        // The key that all customers' messages are signed with.
        ("rockblock", "format = 'json'", "devices"),
    ] {
        let text = format!("name = 'h'\n[webhook]\nprovider = {provider:?}\n{settings}");
        let input: InputSettings = toml::from_str(&text).unwrap();
        let mut config = crate::support::config(folder.path());
        config.inputs = vec![input];
        let Err(error) = crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)) else {
            panic!("{text}");
        };
        assert!(error.to_string().contains(&format!(": {key}: ")), "{text}\n{error}");
    }
}

#[test]
fn tokens_change_with_a_reload_and_old_and_new_overlap() {
    let gateway = start();
    let file = gateway.folder.path().join("tokens");
    let known = |token: &str| {
        let answer = call(
            &gateway,
            "/hooks/astrocast",
            ("authorization", &format!("Bearer {token}")),
            JSON,
            ASTROCAST,
        );
        assert!([200, 401].contains(&answer.status), "{}", answer.text);
        answer.status == 200
    };
    let reload = || gateway.runtime.block_on(gateway.gateway.reload()).map_err(|e| e.to_string());
    let (old, new) = ("0123456789abcdef", "a-token-that-is-new");
    for (text, valid) in [
        (format!("{old}\n{new}\n"), [true, true]),
        (format!("# the old one is gone\n{new}\n"), [false, true]),
        (format!("{old}\n"), [true, false]),
    ] {
        let before = [old, new].map(known);
        std::fs::write(&file, &text).unwrap();
        assert_eq!([old, new].map(known), before, "without a reload");
        reload().unwrap();
        assert_eq!([old, new].map(known), valid, "{text}");
    }
    for bad in ["", "short\n", "# nothing\n"] {
        std::fs::write(&file, bad).unwrap();
        let error = reload().unwrap_err();
        assert!(error.contains("token_file") && error.contains(file.to_str().unwrap()), "{error}");
        assert_eq!([old, new].map(known), [true, false], "{bad:?}");
    }
    std::fs::write(&file, format!("{old}\n")).unwrap();
    std::fs::write(gateway.folder.path().join("signer.pub.pem"), "no key").unwrap();
    assert!(reload().unwrap_err().contains("key_file"));
}
