//! The configuration: the printed default, and the position of each mistake.

use crate::run::{command, dunnage, finish, golden};

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

#[test]
fn the_default_configuration_has_no_mistakes() {
    assert_eq!(dunnage(&["gateway", "check"], "").text(), "0 mistakes\n");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dunnage.toml");
    std::fs::write(&file, dunnage(&["gateway", "config"], "").text()).unwrap();
    assert_eq!(dunnage(&["gateway", "check", "--config", file.to_str().unwrap()], "").text(), "0 mistakes\n");
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
link = "astrocats"

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

[[output]]
name = "names"
[output.downlink]
provider = "the-things-stack"
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

[[input]]
name = "yard"
[input.broker]
url = "mqtt://127.0.0.1:1"
client_id = "yard"
topics = ["a/{device}", { topic = "b/{device}", schema = "wether" }]

[[output]]
name = "downs"
[output.downlink]
provider = "chirpstack"
input = "yrad"
url = "mqtt://127.0.0.1:1"
application = "7"

[[output]]
name = "warm"
when = """
.value.t
  > (30"""
map = ".value"
[output.files]
path = "files"
kind = "ndjson"
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

    // A wrong value is not also reported as missing.
    write("one.toml", "[[input]]\nname = 'w'\n[input.webhook]\nprovider = 'chirpstak'\n");
    let check = run(&["check", "--config", "one.toml"]);
    assert!(
        !check.any_text().contains("missing") && check.any_text().contains("chirpstak"),
        "{}",
        check.any_text()
    );

    write("broken.toml", "[http]\nlisten = \n[buffer]\nqueue_messages = 0\nbatch_messages = 'x\n");
    let check = run(&["check", "--config", "broken.toml"]);
    golden("gateway-check-broken.txt", check.any_text());
    let check = run(&["check", "--config", "missing.toml"]);
    assert!(check.any_text().starts_with("missing.toml: No such file"), "{}", check.any_text());
}
