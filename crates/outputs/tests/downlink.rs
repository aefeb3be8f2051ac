//! The downlink output with a server that answers as the providers do.

#![allow(clippy::unwrap_used)]

use base64::{Engine, engine::general_purpose::STANDARD};
use dunnage_base::clock;
use dunnage_clients::secret::SecretFiles;
use dunnage_outputs::{
    Class, Failed, FailureKind, Message, Output, OutputKind, OutputSettings, downlink::Settings, open,
};
use dunnage_test_support::{
    runtime,
    scripted::{Reply, Request, Scripted},
};
use serde_json::{Value, json};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;

const DONE: Reply = Reply::Text("200 OK", "{}");
const RETRY: FailureKind = FailureKind::Retry(None);

/// An output to a scripted server, with its secret in a file.
struct Bench {
    folder: TempDir,
    server: Scripted,
    output: Arc<dyn Output>,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    /// Opens an output of `provider` to a server with `script`. `settings` are further lines.
    fn new(
        provider: &str,
        settings: &str,
        script: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Bench {
        let (folder, server) = (tempfile::tempdir().unwrap(), Scripted::start(script));
        std::fs::write(folder.path().join("secret"), "s3cret key\n").unwrap();
        let key = if provider == "rockblock" { "password_file" } else { "token_file" };
        let file = folder.path().join("secret");
        let text = format!(
            "url = 'http://{}'\nprovider = {provider:?}\n{key} = {file:?}\n{settings}",
            server.address
        );
        let settings: Settings = toml::from_str(&text).unwrap();
        let output = open(&OutputSettings::new("names", OutputKind::Downlink(settings))).unwrap();
        Bench { folder, server, output, runtime: runtime() }
    }

    /// Offers messages as the forwarder does. Returns whether they were delivered in a call.
    fn offer(&self, messages: &[Message]) -> Result<bool, Failed> {
        if self.output.skip(messages) {
            return Ok(false);
        }
        self.runtime.block_on(self.output.deliver(messages)).map(|()| true)
    }

    fn secret(&self) -> PathBuf {
        self.folder.path().join("secret")
    }
}

/// A message that was received now over the webhook `hook` of `provider`.
fn message(provider: &str, device: &str, name: u16) -> Message {
    let origin = json!({"input": "hook", "provider": provider, "message_id": "1", "device_name": "dev-1"});
    let mut message = Message::default();
    message.stored.name = Some(name);
    message.stored.device = device.into();
    message.stored.received_at = clock::now();
    message.stored.origin = Some(origin.to_string());
    message
}

fn json_of(request: &Request) -> Value {
    assert_eq!(request.headers["content-type"], "application/json");
    serde_json::from_str(&request.body).unwrap()
}

fn form_of(request: &Request) -> Vec<(String, String)> {
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    serde_urlencoded::from_str(&request.body).unwrap()
}

const NO_INTERVAL: &str = "interval_seconds = 0\nper_minute = 0";

#[test]
fn chirpstack_flushes_the_queue_of_the_device_and_enqueues_the_name() {
    let bench = Bench::new("chirpstack", "port = 15", |request, _| match &*request.method {
        "DELETE" => DONE,
        _ => Reply::Text("200 OK", r#"{"id":"9f8b0a4e-6e55-4b23-8b8a-3a6c0d5a8d3f"}"#),
    });
    assert_eq!(bench.offer(&[message("chirpstack", "70b3d57ed005a1b2", 0xBEEF)]), Ok(true));
    let requests = bench.server.requests();
    let lines: Vec<_> = requests.iter().map(|request| (&*request.method, &*request.path)).collect();
    let path = "/api/devices/70b3d57ed005a1b2/queue";
    assert_eq!(lines, [("DELETE", path), ("POST", path)]);
    for request in &requests {
        assert_eq!(request.headers["grpc-metadata-authorization"], "Bearer s3cret key");
    }
    let item = json!({"confirmed": false, "data": STANDARD.encode([0xBE, 0xEF]), "fPort": 15});
    assert_eq!(json_of(&requests[1]), json!({"queueItem": item}));
}

#[test]
fn the_things_stack_gets_the_name_for_its_own_device_id() {
    let more = "application = 'app1'\nwebhook = 'wh1'\nevery = 1\ninterval_seconds = 0\n";
    for (replace, how) in [(true, "replace"), (false, "push")] {
        let bench = Bench::new("the-things-stack", &format!("{more}replace = {replace}"), |_, _| DONE);
        assert_eq!(bench.offer(&[message("the-things-stack", "0004a30b001c0530", 7)]), Ok(true));
        let requests = bench.server.requests();
        assert_eq!((requests.len(), &*requests[0].method), (1, "POST"));
        let path = format!("/api/v3/as/applications/app1/webhooks/wh1/devices/dev-1/down/{how}");
        assert_eq!(requests[0].path, path);
        assert_eq!(requests[0].headers["authorization"], "Bearer s3cret key");
        let downlink = json!({"frm_payload": "AAc=", "f_port": 64, "priority": "NORMAL"});
        assert_eq!(json_of(&requests[0]), json!({"downlinks": [downlink]}));
    }
}

#[test]
fn rockblock_gets_a_form_and_answers_200_also_to_errors() {
    let bench =
        Bench::new(
            "rockblock",
            "user = 'me&you'\nevery = 1\ninterval_seconds = 0",
            |_, before| match before {
                0 => Reply::Text("200 OK", "OK,4114651"),
                1 => Reply::Text("200 OK", "FAILED,11,No RockBLOCK with this IMEI found on your account"),
                2 => Reply::Text("200 OK", "FAILED,10,Invalid login credentials"),
                _ => Reply::Text("200 OK", "FAILED,99,System Error"),
            },
        );
    let offer = || bench.offer(&[message("rockblock", "300234010753370", 0x00A5)]);
    assert_eq!(offer(), Ok(true));
    let fields = form_of(&bench.server.requests()[0]);
    let expected = [
        ("imei", "300234010753370"),
        ("username", "me&you"),
        ("password", "s3cret key"),
        ("data", "00a5"),
        ("flush", "yes"),
    ];
    assert_eq!(fields, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let refused = offer().unwrap_err();
    assert_eq!(refused.kind, FailureKind::Refused);
    assert!(refused.reason.contains("No RockBLOCK with this IMEI"), "{refused:?}");
    let again: Vec<_> =
        (0..2).map(|_| offer().unwrap_err()).map(|failed| (failed.kind, failed.class)).collect();
    assert_eq!(again, [(RETRY, Class::Denied), (RETRY, Class::Failing)]);
}

#[test]
fn astrocast_gets_a_command_of_eight_bytes() {
    let bench = Bench::new("astrocast", "", |_, _| Reply::Status("201 Created"));
    let mut mapped = message("astrocast", "LMCU1231237", 0x0102);
    let origin =
        json!({"input": "hook", "provider": "astrocast", "message_id": "1", "provider_device": "c984ff2b"});
    mapped.stored.origin = Some(origin.to_string());
    assert_eq!(bench.offer(&[mapped]), Ok(true));
    let request = &bench.server.requests()[0];
    assert_eq!(request.headers["x-api-key"], "s3cret key");
    let data = STANDARD.encode([1, 2, 1, 2, 1, 2, 1, 2]);
    assert_eq!(json_of(request), json!({"deviceGuid": "c984ff2b", "data": data}));
}

#[test]
fn one_in_n_messages_of_each_device_is_acknowledged_and_the_newest_name_wins() {
    let bench = Bench::new("chirpstack", &format!("every = 3\nreplace = false\n{NO_INTERVAL}"), |_, _| DONE);
    let names = |device: &str, names: std::ops::Range<u16>| -> Vec<Message> {
        names.map(|name| message("chirpstack", device, name)).collect()
    };
    // A batch counts with all its messages. One without a name does not count.
    let mut unnamed = names("a", 9..10);
    unnamed[0].stored.name = None;
    for (messages, delivered) in [
        (names("a", 1..2), true),
        (names("b", 1..2), true),
        (names("a", 2..4), false),
        (unnamed.clone(), false),
        ([names("a", 4..7), unnamed].concat(), true),
        (names("a", 7..9), false),
        (names("a", 9..10), true),
    ] {
        assert_eq!(bench.offer(&messages), Ok(delivered), "{messages:?}");
    }
    let sent = bench.server.requests().into_iter().map(|request| {
        let data = json_of(&request)["queueItem"]["data"].as_str().unwrap().to_owned();
        (request.path.split('/').nth(3).unwrap().to_owned(), STANDARD.decode(data).unwrap()[1])
    });
    let expected = [("a", 1), ("b", 1), ("a", 6), ("a", 9)].map(|(device, name)| (device.to_owned(), name));
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}

#[test]
fn messages_of_others_old_messages_and_those_within_the_interval_are_skipped() {
    let bench = Bench::new("chirpstack", "input = 'hook'\nevery = 1\ninterval_seconds = 3600", |_, _| DONE);
    let mut other = message("chirpstack", "a", 1);
    other.stored.origin = Some(other.stored.origin.unwrap().replace("hook", "port"));
    let mut without = message("chirpstack", "a", 1);
    without.stored.origin = None;
    let mut old = message("chirpstack", "a", 1);
    old.stored.received_at -= 301_000_000;
    for skipped in [message("rockblock", "a", 1), other, without, old] {
        assert_eq!(bench.offer(&[skipped]), Ok(false));
    }
    assert_eq!(bench.offer(&[message("chirpstack", "a", 1)]), Ok(true));
    assert_eq!(bench.offer(&[message("chirpstack", "a", 2)]), Ok(false));
    assert_eq!(bench.offer(&[message("chirpstack", "b", 2)]), Ok(true));
    assert_eq!(bench.server.requests().len(), 4);
    // A dead letter that an operator retries comes without the question. It is too old, and leaves the list.
    let mut letter = message("chirpstack", "c", 3);
    letter.stored.received_at -= 301_000_000;
    assert_eq!(bench.runtime.block_on(bench.output.deliver(&[letter])), Ok(()));
    assert_eq!(bench.server.requests().len(), 4);
}

#[test]
fn all_devices_together_have_a_limit_that_failures_count_for() {
    let bench = Bench::new("chirpstack", "replace = false\nper_minute = 2", |_, before| match before {
        0 => Reply::Status("503 Service Unavailable"),
        _ => DONE,
    });
    assert_eq!(bench.offer(&[message("chirpstack", "a", 1)]).unwrap_err().kind, RETRY);
    assert_eq!(bench.offer(&[message("chirpstack", "b", 1)]), Ok(true));
    for device in ["a", "c"] {
        assert_eq!(bench.offer(&[message("chirpstack", device, 2)]), Ok(false), "{device}");
        // A dead letter that is retried does not pass the limit either.
        let retried = bench.runtime.block_on(bench.output.deliver(&[message("chirpstack", device, 3)]));
        assert_eq!(retried, Ok(()));
    }
    assert_eq!(bench.server.requests().len(), 2);
}

/// After a failure nothing counts as sent, and the retry has the name of the message that is then the newest.
#[test]
fn failures_are_retried_or_make_dead_letters() {
    let bench =
        Bench::new("chirpstack", "timeout_seconds = 1\nreplace = false\nper_minute = 0", |_, before| {
            match before {
                0 => Reply::Status("429 Too Many Requests\r\nretry-after: 7\r\n"),
                1 => Reply::Status("503 Service Unavailable"),
                2 => Reply::Status("401 Unauthorized"),
                3 => Reply::Hang,
                4 => Reply::Drop,
                5 => Reply::Text(
                    "404 Not Found",
                    r#"{"code":5,"message":"Object does not exist","details":[]}"#,
                ),
                6 => Reply::Status("400 Bad Request"),
                _ => DONE,
            }
        });
    let mut messages = vec![message("chirpstack", "a", 1)];
    let mut fail = || {
        let failed = bench.offer(&messages).unwrap_err();
        messages.push(message("chirpstack", "a", messages.len() as u16 + 1));
        failed
    };
    let asked = FailureKind::Retry(Some(Duration::from_secs(7)));
    for (kind, class) in [
        (asked, Class::Busy),
        (RETRY, Class::Busy),
        (RETRY, Class::Denied),
        (RETRY, Class::Timeout),
        (RETRY, Class::Connection),
    ] {
        let failed = fail();
        assert_eq!((failed.kind, failed.class, failed.delivered), (kind, class, 0), "{failed:?}");
    }
    let missing = fail();
    assert_eq!((missing.kind, missing.delivered), (FailureKind::Refused, 5));
    assert!(missing.reason.contains("Object does not exist"), "{missing:?}");
    assert_eq!((fail().kind, messages.len()), (FailureKind::Refused, 8));
    assert_eq!(bench.offer(&messages[7..]), Ok(true));
    let last = bench.server.requests().pop().unwrap();
    assert_eq!(json_of(&last)["queueItem"]["data"], STANDARD.encode([0, 8]));
}

#[test]
fn hostile_ids_stay_within_their_place() {
    let hostile = "../x/%2e%2e/?a=b&c#d X-Evil: 1 é";
    let more = "application = 'a/../b'\nwebhook = 'w?x'\nevery = 1\ninterval_seconds = 0\nper_minute = 0";
    let bench = Bench::new("the-things-stack", more, |_, _| DONE);
    let mut named = message("the-things-stack", "d", 1);
    let origin = json!({"input": "i", "provider": "the-things-stack", "device_name": hostile});
    named.stored.origin = Some(origin.to_string());
    assert_eq!(bench.offer(&[named.clone()]), Ok(true));
    let request = &bench.server.requests()[0];
    let segments: Vec<_> = request.path.split('/').skip(5).collect();
    let device = "..%2Fx%2F%252e%252e%2F%3Fa=b&c%23d%20X-Evil:%201%20%C3%A9";
    assert_eq!(segments, ["a%2F..%2Fb", "webhooks", "w%3Fx", "devices", device, "down", "replace"]);
    for id in ["..", ".", "", "d\r\nX-Evil: 1", "d\t"] {
        let origin = json!({"input": "i", "provider": "the-things-stack", "device_name": id});
        named.stored.origin = Some(origin.to_string());
        assert_eq!(bench.offer(&[named.clone()]).unwrap_err().kind, FailureKind::Refused, "{id:?}");
    }
    let bench = Bench::new("rockblock", "user = 'u'", |_, _| Reply::Text("200 OK", "OK,1"));
    assert_eq!(bench.offer(&[message("rockblock", hostile, 1)]), Ok(true));
    let request = &bench.server.requests()[0];
    assert_eq!((&form_of(request)[0], form_of(request).len()), (&("imei".into(), hostile.into()), 5));
    let bench = Bench::new("astrocast", "", |_, _| DONE);
    assert_eq!(bench.offer(&[message("astrocast", hostile, 1)]), Ok(true));
    assert_eq!(json_of(&bench.server.requests()[0])["deviceGuid"], hostile);
}

#[test]
fn a_reload_reads_the_secret_again() {
    let bench = Bench::new(
        "the-things-stack",
        &format!("application = 'a'\nwebhook = 'w'\nevery = 1\n{NO_INTERVAL}"),
        |_, _| DONE,
    );
    let files = SecretFiles(vec![("[[output]]".into(), Arc::clone(&bench.output.secrets()[0]))]);
    let offer = || bench.offer(&[message("the-things-stack", "d", 1)]).unwrap();
    offer();
    for wrong in ["", "a\u{7f}b"] {
        std::fs::write(bench.secret(), wrong).unwrap();
        assert!(files.read().err().unwrap().to_string().contains("token_file: "), "{wrong:?}");
    }
    std::fs::write(bench.secret(), "second").unwrap();
    files.read().unwrap().replace();
    offer();
    let keys: Vec<_> = bench.server.requests().iter().map(|r| r.headers["authorization"].clone()).collect();
    assert_eq!(keys, ["Bearer s3cret key", "Bearer second"]);
}

#[test]
fn errors_in_settings_name_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "secret").unwrap();
    let token = format!("token_file = {file:?}\n");
    let url = format!("{token}url = 'http://x/'\n");
    let stack = format!("{url}application = 'a'\nwebhook = 'w'\n");
    let rockblock = format!("user = 'u'\npassword_file = {file:?}\n");
    for (provider, settings, key) in [
        ("chirpstack", token.clone(), "url"),
        ("chirpstack", format!("{token}url = 'x'"), "url"),
        ("chirpstack", format!("{token}url = 'ftp://x/'"), "url"),
        ("chirpstack", "url = 'http://x/'".into(), "token_file"),
        ("chirpstack", "url = 'http://x/'\ntoken_file = '/nowhere'".into(), "token_file"),
        ("chirpstack", format!("{url}user = 'u'"), "user"),
        ("chirpstack", format!("{url}application = 'a'"), "application"),
        ("chirpstack", format!("{url}port = 0"), "port"),
        ("chirpstack", format!("{url}port = 224"), "port"),
        ("chirpstack", format!("{url}every = 0"), "every"),
        ("chirpstack", format!("{url}max_age_seconds = 0"), "max_age_seconds"),
        ("chirpstack", format!("{url}timeout_seconds = 0"), "timeout_seconds"),
        ("the-things-stack", url.clone(), "application"),
        ("the-things-stack", stack.replace("'w'", "'..'"), "webhook"),
        ("rockblock", token.clone(), "user"),
        ("rockblock", "user = 'u'".into(), "password_file"),
        ("rockblock", format!("{rockblock}{token}"), "token_file"),
        ("astrocast", format!("{token}webhook = 'w'"), "webhook"),
    ] {
        let kind = toml::from_str(&format!("provider = {provider:?}\n{settings}")).unwrap();
        let error = open(&OutputSettings::new("names", OutputKind::Downlink(kind))).err().unwrap();
        assert!(error.to_string().contains(&format!(": {key}: ")), "{provider} {settings}: {error}");
    }
    for (provider, settings) in
        [("astrocast", &token), ("rockblock", &rockblock), ("the-things-stack", &stack)]
    {
        let kind = toml::from_str(&format!("provider = {provider:?}\n{settings}")).unwrap();
        assert!(open(&OutputSettings::new("names", OutputKind::Downlink(kind))).is_ok());
    }
}
