//! Webhooks of providers: requests in the form that the providers document, with and without valid credentials.

mod access;
mod answers;
pub mod downlinks;
mod packets;
#[cfg(unix)]
mod ports;
mod providers;
mod settings;
mod signatures;
mod variants;

use crate::support::{Answer, JSON, Running, answer, start_in};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_gateway::{Config, Profile};
use ring::{rand::SystemRandom, signature};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};
use std::{path::Path, sync::LazyLock};
use tempfile::TempDir;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

const FORM: &str = "application/x-www-form-urlencoded";
const TOKEN: &str = "Bearer 0123456789abcdef";
const ASTROCAST: &str = include_str!("../../webhooks/astrocast.json");
const CHIRPSTACK: &str = include_str!("../../webhooks/chirpstack-up.json");
const THE_THINGS_STACK: &str = include_str!("../../webhooks/the-things-stack-up.json");
const ROCKBLOCK: &str = include_str!("../../webhooks/rockblock.form");

fn webhook(config: &mut Config, name: &str, settings: &str) {
    let text = format!("name = {name:?}\n[webhook]\n{settings}");
    config.inputs.push(toml::from_str(&text).unwrap());
}

/// Adds a webhook for each provider. `rockblock` checks signatures, the others check tokens.
fn configure(config: &mut Config, folder: &Path) {
    let tokens = folder.join("tokens");
    std::fs::write(&tokens, "# while it is changed\n0123456789abcdef\n\nfedcba9876543210\n").unwrap();
    let signer = folder.join("signer.pub.pem");
    std::fs::write(&signer, include_str!("../../webhooks/signer.pub.pem")).unwrap();
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

/// A JWT like those of Ground Control, signed with the key of these tests.
fn jwt(claims: &Value) -> String {
    let key = PrivatePkcs8KeyDer::from_pem_slice(include_bytes!("../../webhooks/signer.pem")).unwrap();
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

/// Claims of the message `momsn`, which was sent and signed at these times.
fn claims_of(momsn: &str, sent: OffsetDateTime, signed: OffsetDateTime) -> Value {
    let mut claims = claims();
    claims["momsn"] = json!(momsn);
    claims["transmit_time"] = json!(sent.format(&Rfc3339).unwrap());
    claims["iat"] = json!(signed.unix_timestamp());
    claims
}

/// The time `hours` before these tests, in whole seconds.
fn clock(hours: i64) -> OffsetDateTime {
    static NOW: LazyLock<OffsetDateTime> =
        LazyLock::new(|| OffsetDateTime::now_utc().replace_nanosecond(0).unwrap());
    *NOW - time::Duration::hours(hours)
}

fn signed(gateway: &Running, name: &str, claims: &Value) -> Answer {
    let form = format!("{ROCKBLOCK}&JWT={}", jwt(claims));
    call(gateway, &format!("/hooks/{name}"), ("x-none", ""), FORM, &form)
}
