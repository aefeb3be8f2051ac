use crate::run::{command, dunnage, finish, golden, terminate};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Command},
    time::{Duration, Instant},
};

/// Starts a gateway on a free port with its buffer in `folder`. Returns its address, taken from the log.
fn gateway(folder: &std::path::Path) -> (Child, SocketAddr) {
    gateway_with(folder, "")
}

/// The same, with a configuration.
fn gateway_with(folder: &std::path::Path, config: &str) -> (Child, SocketAddr) {
    let file = folder.join("dunnage.toml");
    std::fs::write(&file, config).unwrap();
    let mut command: Command = command(&["gateway", "--config", file.to_str().unwrap()]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command.env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the gateway ended");
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = line["address"].as_str() {
            break address.parse().unwrap();
        }
    };
    std::thread::spawn(move || log.read_to_string(&mut String::new()));
    (child, address)
}

fn exit_code(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + Duration::from_secs(8);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it did not end");
}

/// The warnings that a gateway logs at start with `settings` in its environment.
fn warnings(folder: &std::path::Path, settings: &[(&str, &str)]) -> Vec<String> {
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_LOG_FORMAT", "json").env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    let mut child = command.envs(settings.iter().copied()).spawn().unwrap();
    let mut warnings = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let message = line["message"].as_str().unwrap().to_owned();
        if message == "gateway started" {
            break;
        }
        if line["level"] == "WARN" {
            warnings.push(message);
        }
    }
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0), "{settings:?}: {warnings:?}");
    warnings
}

#[test]
fn an_exposed_gateway_warns_at_start_about_missing_protection() {
    let folder = tempfile::tempdir().unwrap();
    let expect = |settings: &[(&str, &str)], expected: &[&str]| {
        let warnings = warnings(folder.path(), settings);
        let all = warnings.iter().zip(expected).all(|(warning, expected)| warning.contains(expected));
        assert!(all && warnings.len() == expected.len(), "{settings:?}: {warnings:?}");
    };
    let (here, everywhere) = (("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0"), ("DUNNAGE_HTTP_LISTEN", "0.0.0.0:0"));
    let who = |who| ("DUNNAGE_ACCESS_WHO", who);
    let (none, open, clear) = ("there is no token", "any client that reaches these addresses", "unencrypted");
    expect(&[here], &[]);
    expect(&[here, who("anyone")], &[]);
    expect(&[here, who("tokens")], &[none]);
    expect(&[everywhere], &[none]);
    expect(&[everywhere, who("anyone")], &[open]);
    let made = command(&["gateway", "token", "new", "--read"])
        .env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"))
        .output();
    assert!(made.unwrap().status.success());
    expect(&[here, who("tokens")], &[]);
    expect(&[everywhere], &[clear]);
}

#[test]
fn a_message_is_stored_and_sigterm_ends_the_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    let pson = dunnage(&["convert", "--from", "json", "--to", "pson"], r#"{"t":23.5}"#);
    let answer = ureq::post(format!("http://{address}/ingest/d1"))
        .content_type("application/vnd.dunnage.pson")
        .send(&pson.stdout)
        .unwrap();
    assert_eq!(answer.status(), 204);
    let mut answer = ureq::get(format!("http://{address}/api/devices/d1/messages")).call().unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let messages: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(messages["messages"][0]["value"], serde_json::json!({"t": 23.5}));
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn the_openapi_document_is_printed_as_it_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    let mut answer = ureq::get(format!("http://{address}/api/openapi.json")).call().unwrap();
    let served: serde_json::Value =
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
    let printed = dunnage(&["gateway", "openapi"], "");
    printed.text();
    assert_eq!(printed.json(), served);
    assert!(served["paths"]["/ingest/{device}"]["post"].is_object());
}

#[test]
fn a_gateway_keeps_running_when_its_log_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command
        .env("DUNNAGE_LOG_LEVEL", "debug")
        .env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = log.find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        (line["message"] == "gateway started").then(|| line["address"].as_str().unwrap().to_owned())
    });
    drop(log);
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{}/ingest/d1", address.unwrap());
    for (body, status) in [("[", 400), ("{}", 204), ("[", 400), ("{}", 204)] {
        let answer = agent.post(&url).content_type("application/json").send(body).unwrap();
        assert_eq!(answer.status(), status);
    }
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn a_second_signal_ends_the_gateway_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    // An unfinished request keeps the gateway draining.
    let mut slow = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /ingest/d1 HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: 9"
    );
    write!(slow, "{head}\r\n\r\n{{").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    terminate(&child);
    until("it takes no more", || TcpStream::connect(address).is_err());
    assert_eq!(child.try_wait().unwrap(), None, "the drain waits for the request");
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(130));
}

#[test]
fn an_address_in_use_is_reported_with_a_suggestion() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    for name in ["gateway", "demo"] {
        let mut command = command(&[name]);
        command.env("DUNNAGE_HTTP_LISTEN", &address);
        command.env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
        let run = finish(command.spawn().unwrap(), b"");
        assert_eq!(run.code, 1);
        let expected = format!(
            "dunnage: {address} is in use by another process; choose another address: DUNNAGE_HTTP_LISTEN="
        );
        assert!(run.stderr.lines().any(|line| line.starts_with(&expected)), "{}", run.stderr);
    }
}

#[test]
fn the_printed_configuration_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dunnage.toml");
    let printed = dunnage(&["gateway", "config"], "");
    assert!(printed.text().contains("[http]") && printed.text().contains("# "));
    std::fs::write(&file, format!("{}\n[nonsense]\n", printed.text())).unwrap();
    let run = dunnage(&["gateway", "--config", file.to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("nonsense") && run.stderr.lines().count() == 1, "{}", run.stderr);
}

/// Runs `dunnage gateway ...` for the gateway whose buffer is in `folder`.
fn ask(folder: &std::path::Path, arguments: &[&str]) -> crate::run::Run {
    let mut command = command(&["gateway"]);
    command.args(arguments).env("DUNNAGE_BUFFER_PATH", folder.join("buffer.sqlite3"));
    finish(command.spawn().unwrap(), b"")
}

fn post(address: SocketAddr, device: &str, body: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{address}/ingest/{device}");
    agent.post(url).content_type("application/json").send(body).unwrap().status().as_u16()
}

#[test]
fn a_running_gateway_answers_status_and_quarantine_commands() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    assert_eq!((post(address, "d1", "{}"), post(address, "d2", "{")), (204, 400));
    let status = ask(folder.path(), &["status"]);
    assert!(
        status.text().contains("2 received, 1 stored, 0 duplicates, 1 quarantined, 0 refused"),
        "{}",
        status.text()
    );
    assert_eq!(ask(folder.path(), &["status", "--json"]).json()["address"], address.to_string());

    let list = ask(folder.path(), &["quarantine", "list"]);
    assert!(list.text().contains("truncated: ") && list.text().contains("at byte 1"), "{}", list.text());
    let retried = ask(folder.path(), &["quarantine", "retry"]);
    assert_eq!(retried.code, 1);
    assert!(retried.any_text().contains("not decoded 1 message:\n  1 of d2: truncated: "));
    assert_eq!(ask(folder.path(), &["quarantine", "discard"]).code, 2);
    assert_eq!(
        ask(folder.path(), &["quarantine", "discard", "--device", "d*", "1"]).text(),
        "discarded 1 message\n"
    );
    assert_eq!(ask(folder.path(), &["quarantine", "list"]).text(), "no messages\n");
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn control_characters_in_a_message_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    // The name of an unknown member that clears the screen, starts a new line and reverses the text direction.
    let name = "\\u001b[2J\\n2026 all is well\\u202e";
    assert_eq!(post(address, "buoy-7?schema=weather", &format!("{{\"{name}\":1}}")), 422);
    let list = ask(folder.path(), &["quarantine", "list"]);
    let listed = list.text();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(!listed.contains(['\u{1b}', '\u{202e}']) && listed.contains("[2J"), "{listed:?}");
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn commands_fail_without_a_gateway_and_a_stale_socket_does_not_prevent_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _) = gateway(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folder.path().join("admin.sock").exists());
    let run = ask(folder.path(), &["status"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("dunnage: no gateway is running: "), "{}", run.stderr);
    let (mut child, _) = gateway(folder.path());
    assert_eq!(ask(folder.path(), &["status"]).code, 0);
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
    assert_eq!(ask(folder.path(), &["quarantine", "list"]).code, 1);
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits until `holds` returns true; panics with `what` after 30 seconds.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn sighup_and_reload_read_the_profiles_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway_with(folder.path(), "");
    assert_eq!(post(address, "d1", "1"), 204);
    let only_cbor = "[log]\nlevel = 'debug'\n[[profile]]\ndevice = 'd*'\nformats = ['cbor']\n";
    std::fs::write(folder.path().join("dunnage.toml"), only_cbor).unwrap();
    signal(&child, "HUP");
    until("the profile holds", || post(address, "d1", "1") == 415);

    let reload = |text: &str| {
        let file = folder.path().join("dunnage.toml");
        std::fs::write(&file, text).unwrap();
        ask(folder.path(), &["reload", "--config", file.to_str().unwrap()])
    };
    let run = reload(only_cbor);
    assert!(run.text().starts_with("1 profile, "), "{}", run.text());
    assert!(run.text().contains("[log] level has changed and needs a restart"), "{}", run.text());
    // Run without `--config`, because the command needs a valid configuration to find the socket.
    std::fs::write(folder.path().join("dunnage.toml"), "[[profile]]\ndevice = 'd*'\nschema = 'weahter'\n")
        .unwrap();
    let run = ask(folder.path(), &["reload"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("weahter"), "{}", run.stderr);
    assert_eq!(post(address, "d1", "1"), 415);
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn dead_letters_can_be_listed_retried_and_discarded() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut refusing, refuses) = gateway(other.path());
    // The target answers 400, because the device ID contains a space.
    let config = format!("[[output]]\nname = 'o'\n[output.http]\nurl = 'http://{refuses}/ingest/a%20b'\n");
    let (mut child, address) = gateway_with(folder.path(), &config);
    assert_eq!(post(address, "d1", "1"), 204);
    let listed = || ask(folder.path(), &["dead-letters", "list"]).text().to_owned();
    until("it is a dead letter", || listed() != "no dead letters\n");
    assert!(listed().contains("d1") && listed().contains("400 Bad Request"), "{}", listed());
    let status = || ask(folder.path(), &["status"]).text().to_owned();
    until("nothing is pending", || status().contains("o: waiting, 0 delivered, 0 pending"));
    assert!(status().contains("1 dead letters") && status().contains("400 Bad Request"), "{}", status());
    let before = ask(folder.path(), &["dead-letters", "list", "--json"]).json();
    assert_eq!(ask(folder.path(), &["dead-letters", "retry", "1"]).text(), "retrying 1 message\n");
    until("it is refused again", || ask(folder.path(), &["dead-letters", "list", "--json"]).json() != before);
    assert_eq!(ask(folder.path(), &["dead-letters", "list", "--output", "p"]).code, 1);
    assert_eq!(ask(folder.path(), &["dead-letters", "discard"]).code, 2);
    assert_eq!(
        ask(folder.path(), &["dead-letters", "discard", "--output", "o"]).text(),
        "discarded 1 message\n"
    );
    assert_eq!(listed(), "no dead letters\n");
    for child in [&mut child, &mut refusing] {
        terminate(child);
        assert_eq!(exit_code(child), Some(0));
    }
}

#[test]
fn sigterm_under_load_loses_nothing_and_delivers_nothing_twice() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut target, to) = gateway(other.path());
    let config = format!("[[output]]\nname = 'o'\n[output.http]\nurl = 'http://{to}/ingest/all'\n");
    let (mut child, address) = gateway_with(folder.path(), &config);
    let clients: Vec<_> =
        (0..4).map(|n| std::thread::spawn(move || send_until_it_ends(address, n))).collect();
    let count = |folder: &std::path::Path, what: &str| {
        ask(folder, &["status", "--json"]).json()[what].as_u64().unwrap()
    };
    until("messages arrive", || count(other.path(), "stored") > 100);
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
    let acknowledged: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();

    let (mut child, _) = gateway_with(folder.path(), &config);
    let stored = count(folder.path(), "stored");
    assert!(
        stored >= acknowledged && stored <= acknowledged + 4,
        "{acknowledged} acknowledged, {stored} stored"
    );
    until("all are delivered", || count(other.path(), "stored") == stored);
    for child in [&mut child, &mut target] {
        terminate(child);
        assert_eq!(exit_code(child), Some(0));
    }
}

/// Sends messages of one device until the gateway stops answering. Returns how many were acknowledged.
fn send_until_it_ends(address: SocketAddr, client: usize) -> u64 {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{address}/ingest/d{client}");
    let mut acknowledged = 0;
    while let Ok(answer) = agent.post(&url).content_type("application/json").send("1") {
        match answer.status().as_u16() {
            204 => acknowledged += 1,
            503 => {}
            status => panic!("{status}"),
        }
    }
    acknowledged
}

const MISTAKES: &str = r#"[http]
lisen = "127.0.0.1:1"
connections = "many"
body_limit_bytes = 2000000

[bufer]
path = "x"

[schemas]
path = "schemas"

[log]
format = "xml"
level = "lots=of=it"

[[profile]]
schema = "container"

[[profile]]
device = "a*"
schema = "contaner"

[[profile]]
device = "f*"
formats = ["json", "jsn"]
mapping = "float"

[[profile]]
device = "b*"
schema = "container"
proto = "bad.proto"
slots = [9]
link = "no link"

[[profile]]
device = "a1*"

[[output]]
name = "x"
concurrency = 0
[output.http]
url = "not a url"

[[output]]
name = "x"
[output.http]
url = "http://127.0.0.1:1/"
timeout = 3

[[output]]
name = "y"

[[output]]
name = "z"
[output.http]

[[output]]
name = "both"
[output.files]
path = "files"
kind = "ndjson"
[output.http]
url = "http://127.0.0.1:1/"

[[input]]
name = "both"
[input.coap]
listen = "127.0.0.1:0"
[input.udp]
listen = "127.0.0.1:0"

[[input]]
name = "other"
[input.copa]

[[input]]
name = "none"
"#;

#[test]
fn every_mistake_in_a_configuration_is_reported_with_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command(&["gateway"]);
        command.args(arguments).current_dir(folder.path()).env("DUNNAGE_HTTP_LISTNE", "x");
        finish(command.spawn().unwrap(), b"")
    };
    std::fs::create_dir(folder.path().join("schemas")).unwrap();
    write("schemas/bad.json", r##"{"title":"B","$dynamicRef":"#a"}"##);
    write("schemas/n.json", r#"{"title":"N","type":"integer","minimum":0,"maximum":10,"x-dunnage-slot":1}"#);
    write(
        "schemas/n.2.json",
        r#"{"title":"N","type":"integer","minimum":0,"maximum":99,"x-dunnage-slot":1}"#,
    );
    write("bad.proto", "syntax = \"proto3\";\nmessage M { strin a = 1; }\n");
    write("dunnage.toml", MISTAKES);
    let check = run(&["check", "--config", "dunnage.toml"]);
    assert_eq!((check.code, &*check.stderr), (1, ""));
    golden("gateway-check.txt", check.any_text());
    // Starting the gateway reports the same mistakes.
    let start = run(&["--config", "dunnage.toml"]);
    assert_eq!(start.code, 1);
    let lines: Vec<_> = start.stderr.lines().map(|line| line.strip_prefix("dunnage: ").unwrap()).collect();
    let (_, mistakes) = check.any_text().trim_end().rsplit_once('\n').map(|(m, count)| (count, m)).unwrap();
    assert_eq!(lines, mistakes.lines().collect::<Vec<_>>());

    write("broken.toml", "[http]\nlisten = \n[buffer]\nqueue_messages = 0\nbatch_messages = 'x\n");
    let check = run(&["check", "--config", "broken.toml"]);
    golden("gateway-check-broken.txt", check.any_text());
    let check = run(&["check", "--config", "missing.toml"]);
    assert!(check.any_text().starts_with("missing.toml: No such file"), "{}", check.any_text());
}

#[test]
fn the_default_configuration_has_no_mistakes() {
    assert_eq!(dunnage(&["gateway", "check"], "").text(), "0 mistakes\n");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dunnage.toml");
    std::fs::write(&file, dunnage(&["gateway", "config"], "").text()).unwrap();
    assert_eq!(dunnage(&["gateway", "check", "--config", file.to_str().unwrap()], "").text(), "0 mistakes\n");
}

#[test]
fn quarantined_messages_are_logged_and_a_flood_is_rate_limited() {
    let folder = tempfile::tempdir().unwrap();
    let mut command: Command = command(&["gateway"]);
    command.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_FORMAT", "json");
    command.env("DUNNAGE_BUFFER_PATH", folder.path().join("buffer.sqlite3"));
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut log = log.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let address = log.find_map(|line| Some(line["address"].as_str()?.to_owned())).unwrap();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    for _ in 0..40 {
        let post = agent.post(format!("http://{address}/ingest/d1")).content_type("application/json");
        assert_eq!(post.send("[").unwrap().status(), 400);
    }
    terminate(&child);
    let lines: Vec<_> = log.filter(|line| line["message"] == "a message was quarantined").collect();
    assert_eq!(exit_code(&mut child), Some(0));
    let first = lines.first().unwrap();
    assert_eq!(
        (&first["level"], &first["device"], &first["kind"]),
        (&"INFO".into(), &"d1".into(), &"truncated".into())
    );
    // The burst that the rate limit allows, and a few more on a slow machine.
    assert!((10..30).contains(&lines.len()), "{}", lines.len());
}

#[test]
fn rejected_topics_are_logged_and_a_flood_is_rate_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let config = format!(
        "[http]\nlisten = '127.0.0.1:0'\n[buffer]\npath = '{path}/buffer.sqlite3'\n[[input]]\nname = 'devices'\n[input.mqtt]\nlisten = '127.0.0.1:0'\n"
    );
    std::fs::write(folder.path().join("dunnage.toml"), config).unwrap();
    let mut gateway = command(&["gateway", "--config"]);
    let mut child = gateway.arg(folder.path().join("dunnage.toml")).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = log.by_ref().map(|line| line.unwrap()).find(|line| line.contains("listens")).unwrap();
    let port = listens.rsplit(':').next().unwrap().trim();
    for _ in 0..15 {
        let mut publish = Command::new("mosquitto_pub");
        publish.args(["-h", "127.0.0.1", "-p", port, "-V", "5", "-q", "1", "-t", "stat/plug-1", "-m", "1"]);
        publish.output().expect("mosquitto_pub is installed: apt-get install mosquitto-clients");
    }
    terminate(&child);
    let refused = log.filter(|line| line.as_ref().unwrap().contains("a topic is refused"));
    let refused: Vec<_> = refused.map(|line| line.unwrap()).collect();
    assert!((1..=11).contains(&refused.len()), "{refused:#?}");
    assert!(refused[0].contains("stat/plug-1") && refused[0].contains("v1/DEVICE/FORMAT"), "{}", refused[0]);
    child.wait().unwrap();
}
