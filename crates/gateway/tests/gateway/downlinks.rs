//! Downlinks over a broker: mosquitto, with and without TLS and a password. `mosquitto_sub` is in the place of the network server.

use crate::{
    envelopes::{publish, subscribe, wait_until_subscribed},
    support::{Running, authority::Authority, mosquitto::Mosquitto, start_in, wait::wait_until},
    webhooks::downlinks::{message, schema},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_gateway::{Config, OutputKind, OutputSettings, Profile};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use serde_json::json;
use std::{
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

const DEVICE: &str = "70b3d57ed005a1b2";
const TOKEN: &str = "0123456789abcdef";

/// Starts a gateway with the webhook `hook` of ChirpStack, devices that send packed messages, and an output `names`.
fn start(folder: TempDir, provider: &str, downlink: &str, more: impl FnOnce(&mut Config)) -> Running {
    let path = folder.path().to_owned();
    std::fs::create_dir(path.join("schemas")).unwrap();
    std::fs::write(path.join("schemas/r.json"), schema()).unwrap();
    let token = path.join("token");
    std::fs::write(&token, TOKEN).unwrap();
    start_in(folder, |config| {
        config.schemas.path = path.join("schemas");
        let schema = Some("r".into());
        config.profiles.push(Profile { device: "*".into(), schema, ..Profile::default() });
        let webhook = format!(
            "name = 'hook'\n[webhook]\nprovider = 'chirpstack'\ntoken_file = {token:?}\nformat = 'packed'"
        );
        config.inputs.push(toml::from_str(&webhook).unwrap());
        let settings =
            format!("provider = '{provider}'\n{downlink}\nevery = 1\ninterval_seconds = 0\nper_minute = 0");
        let kind = OutputKind::Downlink(toml::from_str(&settings).unwrap());
        config.outputs.push(OutputSettings::new("names", kind));
        more(config);
    })
}

/// Returns a packed message that makes use of an acknowledgement, and its name in base64.
fn named(n: u32) -> (Vec<u8>, String) {
    let layout = Layout::new(&Model::compile(&schema()).unwrap()).unwrap();
    let mut bytes = Vec::new();
    layout.encode(&message(n), &mut bytes).unwrap();
    let name = layout.reference(&message(n)).unwrap().name();
    (bytes, BASE64_STANDARD.encode(name.to_be_bytes()))
}

fn chirpstack_up(id: u32, payload: &[u8]) -> String {
    let data = BASE64_STANDARD.encode(payload);
    json!({"deduplicationId": id.to_string(), "deviceInfo": {"devEui": DEVICE}, "fPort": 1, "data": data})
        .to_string()
}

/// Sends an uplink to the webhook.
fn uplink(gateway: &Running, id: u32, payload: &[u8]) {
    let request = gateway.agent.post(gateway.url("/hooks/hook?event=up"));
    let request = request.header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {TOKEN}"));
    assert_eq!(request.send(chirpstack_up(id, payload)).unwrap().status(), 200);
}

/// A subscriber that ends after the first message to `topic`. The process ends with it.
struct Subscriber(Child);

impl Subscriber {
    fn start(port: u16, topic: &str, more: &[&str]) -> Subscriber {
        let arguments =
            ["-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1", "-C", "1", "-F", "%t %p", "-t", topic];
        let mut command = Command::new("mosquitto_sub");
        Subscriber(command.args(arguments).args(more).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Waits for the message, and returns its topic and payload.
    fn message(mut self) -> String {
        let output = self.0.stdout.take().unwrap();
        let text = std::io::read_to_string(output).unwrap();
        self.0.wait().unwrap();
        text.trim_end().to_owned()
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn delivered(gateway: &Running) -> u64 {
    gateway.gateway.outputs().remove(0).delivered
}

/// Returns the reasons for which the output has retried, by name.
fn retried(gateway: &Running) -> Vec<String> {
    let status = gateway.gateway.outputs().remove(0);
    status
        .retried
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(class, _)| format!("{class:?}"))
        .collect()
}

/// A broker with TLS whose user `dunnage` may read uplinks, and write downlinks to the application 7 alone.
fn guarded(folder: &Path) -> (Mosquitto, String) {
    let [ca, certificate, key, users, rights, password] =
        ["ca.pem", "cert.pem", "key.pem", "users", "rights", "password"].map(|name| folder.join(name));
    let authority = Authority::new("brokers");
    authority.issue(&["127.0.0.1"], 2099, &certificate, &key);
    authority.write(&ca);
    std::fs::write(&password, "s3cret\n").unwrap();
    let hashed =
        Command::new("mosquitto_passwd").arg("-b").arg("-c").arg(&users).args(["dunnage", "s3cret"]).status();
    assert!(hashed.unwrap().success());
    std::fs::write(
        &rights,
        "topic readwrite #\nuser dunnage\ntopic read application/#\ntopic write application/7/device/+/command/down\n",
    )
    .unwrap();
    let more = format!(
        "allow_anonymous true\npassword_file {}\nacl_file {}\ncertfile {}\nkeyfile {}",
        users.display(),
        rights.display(),
        certificate.display(),
        key.display()
    );
    let broker = Mosquitto::start_in(folder, &more);
    let login = format!(
        "url = 'mqtts://127.0.0.1:{}'\nuser = 'dunnage'\npassword_file = {password:?}\nca_file = {ca:?}",
        broker.port
    );
    (broker, login)
}

#[test]
fn a_downlink_reaches_chirpstacks_topic_over_tls() {
    let folder = TempDir::new().unwrap();
    let (broker, login) = guarded(folder.path());
    let ca = folder.path().join("ca.pem");
    let tls = ["--cafile", ca.to_str().unwrap()];
    let gateway = start(
        TempDir::new().unwrap(),
        "chirpstack",
        &format!("{login}\nport = 10\napplication = '7'"),
        |_| (),
    );
    let server = Subscriber::start(broker.port, "application/+/device/+/command/down", &tls);
    let (bytes, name) = named(1_000_003);
    uplink(&gateway, 1, &bytes);
    // The example of ChirpStack's page, without its spaces and the decoded object.
    let payload = format!(r#"{{"devEui":"{DEVICE}","confirmed":false,"fPort":10,"data":"{name}"}}"#);
    assert_eq!(server.message(), format!("application/7/device/{DEVICE}/command/down {payload}"));
    wait_until("the output has the acknowledgement", || delivered(&gateway) == 1);
}

#[test]
fn a_downlink_that_the_broker_refuses_or_nobody_takes_is_not_delivered() {
    let folder = TempDir::new().unwrap();
    let (broker, login) = guarded(folder.path());
    let ca = folder.path().join("ca.pem");
    let (bytes, _) = named(1_000_003);
    let denied = start(TempDir::new().unwrap(), "chirpstack", &format!("{login}\napplication = '8'"), |_| ());
    uplink(&denied, 1, &bytes);
    wait_until("the broker refuses the downlink", || retried(&denied) == ["Denied"]);
    assert_eq!(delivered(&denied), 0);
    let alone = start(TempDir::new().unwrap(), "chirpstack", &format!("{login}\napplication = '7'"), |_| ());
    uplink(&alone, 1, &bytes);
    wait_until("the broker has no subscriber", || retried(&alone) == ["Missing"]);
    assert_eq!(delivered(&alone), 0);
    let server = Subscriber::start(broker.port, "application/7/#", &["--cafile", ca.to_str().unwrap()]);
    wait_until("the network server is there", || delivered(&alone) == 1);
    assert!(server.message().starts_with("application/7/"));
}

#[test]
fn the_application_is_that_of_the_message() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let url = format!("url = 'mqtt://127.0.0.1:{port}'\nversion = '3.1.1'\ninput = 'lora'");
    let gateway = start(TempDir::new().unwrap(), "chirpstack", &url, |config| {
        subscribe(config, port, "chirpstack", "application/+/device/+/event/+", "format = 'packed'");
    });
    let topic = format!("application/ab-1/device/{DEVICE}/event/up");
    wait_until_subscribed(&gateway, port, &topic.replace("/up", "/join"), b"{}");
    let server = Subscriber::start(port, "application/+/device/+/command/down", &[]);
    let (bytes, name) = named(1_000_003);
    publish(port, &topic, chirpstack_up(1, &bytes).as_bytes());
    let payload = format!(r#"{{"devEui":"{DEVICE}","confirmed":false,"fPort":64,"data":"{name}"}}"#);
    assert_eq!(server.message(), format!("application/ab-1/device/{DEVICE}/command/down {payload}"));
    wait_until("the output has the acknowledgement", || delivered(&gateway) == 1);
    // The input of this message is not the one whose messages are acknowledged.
    uplink(&gateway, 2, &bytes);
    wait_until("it is skipped", || gateway.gateway.outputs().remove(0).skipped >= 1);
}

#[test]
fn a_broker_that_is_down_is_tried_again() {
    let folder = TempDir::new().unwrap();
    let mut broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let url = format!("url = 'mqtt://127.0.0.1:{}'\napplication = '7'", broker.port);
    let gateway = start(TempDir::new().unwrap(), "chirpstack", &url, |_| ());
    broker.stop();
    let (bytes, name) = named(1_000_003);
    uplink(&gateway, 1, &bytes);
    wait_until("the output finds no broker", || retried(&gateway) == ["Connection"]);
    broker.restart();
    let server = Subscriber::start(broker.port, "application/7/#", &[]);
    wait_until("the output has the acknowledgement", || delivered(&gateway) == 1);
    assert!(server.message().ends_with(&format!(r#""data":"{name}"}}"#)));
}

#[test]
fn a_downlink_reaches_the_topic_of_the_things_stack() {
    let folder = TempDir::new().unwrap();
    let broker = Mosquitto::start_in(folder.path(), "allow_anonymous true");
    let port = broker.port;
    let url = format!("url = 'mqtt://127.0.0.1:{port}'\nport = 15");
    let topics = "v3/app1@ttn/devices/+/up', 'v3/app1@ttn/devices/+/join";
    let gateway = start(TempDir::new().unwrap(), "the-things-stack", &url, |config| {
        subscribe(config, port, "the-things-stack", topics, "format = 'packed'");
    });
    let topic = "v3/app1@ttn/devices/dev1/up";
    let join = include_bytes!("../webhooks/the-things-stack-join.json");
    wait_until_subscribed(&gateway, port, &topic.replace("/up", "/join"), join);
    let server = Subscriber::start(port, "v3/+/devices/+/down/replace", &[]);
    let (bytes, name) = named(1_000_003);
    let up = json!({"end_device_ids": {"device_id": "dev1", "dev_eui": "0004A30B001C0530", "application_ids": {"application_id": "app1"}},
        "correlation_ids": ["as:up:01"], "uplink_message": {"f_port": 1, "frm_payload": BASE64_STANDARD.encode(&bytes)}});
    publish(port, topic, up.to_string().as_bytes());
    // The example of the page of The Things Stack, without its spaces.
    let payload = format!(r#"{{"downlinks":[{{"f_port":15,"frm_payload":"{name}","priority":"NORMAL"}}]}}"#);
    assert_eq!(server.message(), format!("v3/app1@ttn/devices/dev1/down/replace {payload}"));
    wait_until("the output has the acknowledgement", || delivered(&gateway) == 1);
}

#[test]
fn settings_of_a_broker_that_cannot_work_are_named() {
    for (settings, key) in [
        ("provider = 'rockblock'\nurl = 'mqtt://h'", "url: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://h'\ntoken_file = 't'", "token_file: "),
        ("provider = 'the-things-stack'\nurl = 'mqtt://h'\nwebhook = 'w'", "webhook: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://h'\nreplace = true", "replace: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://h'\napplication = 'a/b'", "application: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://h'\nuser = 'u'", "password_file: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://h'\nca_file = 'c'", "ca_file: "),
        ("provider = 'chirpstack'\nurl = 'mqtt://u:p@h'", "url: "),
        ("provider = 'chirpstack'\nurl = 'http://h'\ntoken_file = 't'\nca_file = 'c'", "ca_file: "),
        ("provider = 'chirpstack'\nurl = 'http://h'\ntoken_file = 't'\nversion = '5'", "version: "),
        ("provider = 'chirpstack'\nurl = 'tcp://h'\ntoken_file = 't'", "url: "),
    ] {
        let folder = TempDir::new().unwrap();
        let mut config = crate::support::config(folder.path());
        let kind = OutputKind::Downlink(toml::from_str(settings).unwrap());
        config.outputs.push(OutputSettings::new("names", kind));
        let Err(error) = crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)) else {
            panic!("{settings}");
        };
        assert!(error.to_string().contains(key), "{settings}\n{error}");
    }
}
