//! `dunnage gateway profile explain`, and the mistakes in the conditions of profiles.

use crate::run::{Run, command, finish, golden, root};
use std::path::Path;

const CONFIG: &str = r#"[[profile]]
name = "register"

[[profile]]
match = { provider.application = "Yard", port = 9 }
formats = ["json"]

[[profile]]
name = "containers"
match.provider = { profile = "Cont*", tenant = "Harbour" }
schema = "container"
formats = ["packed", "cbor"]
slots = [1]
link = "lorawan-eu868-dr0"
position = "/fix"

[[profile]]
device = "em-*"
match.topic = "tele/*"
"#;

fn run(folder: &Path, arguments: &[&str]) -> Run {
    let mut command = command(&["gateway"]);
    command.args(arguments).current_dir(folder);
    finish(command.spawn().unwrap(), b"")
}

#[test]
fn the_profile_of_a_message_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dunnage.toml"), CONFIG).unwrap();
    let explain = |arguments: &[&str]| {
        let all = [&["profile", "explain", "--config", "dunnage.toml"][..], arguments].concat();
        run(folder.path(), &all)
    };
    let up = root().join("crates/gateway/tests/webhooks/chirpstack-up.json");
    let up = up.to_str().unwrap();
    let mut text = String::new();
    for arguments in [
        &[
            "d",
            "--provider-profile",
            "Container",
            "--application",
            "Yard",
            "--tenant",
            "Harbour",
            "--port",
            "2",
            "--content-type",
            "application/cbor",
        ][..],
        &["em-1", "--topic", "tele/x", "--content-type", "application/json"],
        &["em-1", "--origin", r#"{"application":"Yard","port":9}"#],
        &["other", "--content-type", "text/x"],
        &["other", "--content-type", "application/octet-stream; port=9", "--application", "Yard"],
        &["--provider", "chirpstack", "--body", up, "--topic", "application/a/device/b/event/up"],
    ] {
        let shown = arguments.join(" ").replace(up, "up.json");
        text += &format!("$ dunnage gateway profile explain {shown}\n{}\n", explain(arguments).text());
    }
    golden("gateway-profile-explain.txt", &text);
    golden(
        "gateway-profile-explain.json",
        explain(&["--provider", "chirpstack", "--body", up, "--json"]).text(),
    );
}

#[test]
fn what_cannot_be_explained_has_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("dunnage.toml", CONFIG);
    write("join.json", r#"{"joinEui":"1"}"#);
    let of = |arguments: &[&str], code: i32, why: &str| {
        let all = [&["profile", "explain", "--config", "dunnage.toml"][..], arguments].concat();
        let run = run(folder.path(), &all);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{arguments:?}: {}", run.stderr);
    };
    of(&[], 2, "DEVICE");
    of(&["d", "--origin", "[1]"], 2, "--origin");
    of(&["d", "--provider", "chirpstack", "--body", "join.json"], 2, "cannot be used with");
    of(&["--provider", "chirpstck", "--body", "join.json"], 2, "unknown variant");
    of(&["--provider", "chirpstack", "--body", "join.json"], 1, "deviceInfo.devEui");
    of(&["--provider", "generic", "--body", "join.json"], 1, "pointers: must be set");
    of(&["--provider", "chirpstack", "--body", "none.json"], 1, "none.json");
    write("dunnage.toml", "[[profile]]\nmatch.port = 300\n");
    of(&["d"], 1, "profile[1].match.port");
}

#[test]
fn a_generic_envelope_is_opened_with_the_settings_of_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("token", "0123456789abcdef");
    write(
        "dunnage.toml",
        "[[profile]]\nmatch.provider.profile = 'pump-*'\nformats = ['cbor']\n[[input]]\nname = 'g'\n[input.webhook]\nprovider = 'generic'\n\
         token_file = 'token'\nnames = { 7 = 'pump' }\n[input.webhook.pointers]\ndevice = '/id'\npayload = '/p'\nprofile = '/kind'\n",
    );
    write("body.json", r#"{"id":7,"kind":"pump-2","p":"AQ=="}"#);
    let explain =
        ["profile", "explain", "--config", "dunnage.toml", "--provider", "generic", "--body", "body.json"];
    let run = run(folder.path(), &explain);
    let text = run.text();
    assert!(
        text.contains("pump\n")
            && text.contains("provider.profile pump-2")
            && text.contains("decoded as  cbor"),
        "{text}"
    );
}

const MISTAKES: &str = r#"[[profile]]
name = "a name"
device = "a*"

[[profile]]
name = "same"
match = { port = [1, 2] }

[[profile]]
name = "same"
match = { port = 2, topic = "x" }

[[profile]]
device = "b*"
match = { device = "c*" }

[[profile]]
match = { provider.profil = "x" }

[[profile]]
match.provider.tenant = ""

[[profile]]
match = { port = [1, 256] }

[[profile]]
match.port = "85"

[[profile]]
match = { device = "ab", provider.application = "farm" }

[[profile]]
name = "nothing"

[[profile]]
schema = "container"
"#;

#[test]
fn mistakes_in_conditions_have_their_places() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dunnage.toml"), MISTAKES).unwrap();
    let check = run(folder.path(), &["check", "--config", "dunnage.toml"]);
    golden("gateway-check-profiles.txt", check.any_text());
}
