//! Commands to a running gateway: status, quarantine, dead letters, reload; and its OpenAPI document.

use super::{ask, exit_code, gateway, gateway_with, post};
use crate::run::{dunnage, terminate};
use crate::wait::wait_until;
use std::process::{Child, Command};

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
    for command in ["retry", "discard"] {
        let unknown = ask(folder.path(), &["quarantine", command, "4711"]);
        assert_eq!(unknown.code, 1);
        assert!(unknown.stderr.contains("no message in the list has the ID 4711"), "{}", unknown.stderr);
    }
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

#[test]
fn dead_letters_can_be_listed_retried_and_discarded() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut refusing, refuses) = gateway(other.path());
    // The target answers 400, because the device ID contains a line end.
    let config = format!("[[output]]\nname = 'o'\n[output.http]\nurl = 'http://{refuses}/ingest/a%0Ab'\n");
    let (mut child, address) = gateway_with(folder.path(), &config);
    assert_eq!(post(address, "d1", "1"), 204);
    let listed = || ask(folder.path(), &["dead-letters", "list"]).text().to_owned();
    wait_until("it is a dead letter", || listed() != "no dead letters\n");
    assert!(listed().contains("d1") && listed().contains("400 Bad Request"), "{}", listed());
    let status = || ask(folder.path(), &["status"]).text().to_owned();
    wait_until("nothing is pending", || status().contains("o: idle, 0 delivered, 0 pending"));
    assert!(status().contains("1 dead letter") && status().contains("400 Bad Request"), "{}", status());
    let before = ask(folder.path(), &["dead-letters", "list", "--json"]).json();
    assert_eq!(ask(folder.path(), &["dead-letters", "retry", "1"]).text(), "retrying 1 message\n");
    wait_until("it is refused again", || {
        ask(folder.path(), &["dead-letters", "list", "--json"]).json() != before
    });
    assert_eq!(ask(folder.path(), &["dead-letters", "list", "--output", "p"]).code, 1);
    assert_eq!(ask(folder.path(), &["dead-letters", "discard"]).code, 2);
    for command in ["retry", "discard"] {
        let unknown = ask(folder.path(), &["dead-letters", command, "4711"]);
        assert_eq!(unknown.code, 1);
        assert!(unknown.stderr.contains("no message in the list has the ID 4711"), "{}", unknown.stderr);
    }
    assert_eq!(
        ask(folder.path(), &["dead-letters", "discard", "--output", "o"]).text(),
        "discarded 1 message\n"
    );
    assert_eq!(listed(), "no dead letters\n");
    // Without the target, the next message is retried, and only its ID discards it.
    terminate(&refusing);
    assert_eq!(exit_code(&mut refusing), Some(0));
    assert_eq!(post(address, "d1", "2"), 204);
    wait_until("it is retried", || listed().contains("retried") && listed().contains("d1"));
    wait_until("the status counts its device", || status().contains("1 device retried"));
    assert_eq!(ask(folder.path(), &["dead-letters", "discard", "--all"]).text(), "discarded 0 messages\n");
    assert_eq!(ask(folder.path(), &["dead-letters", "discard", "2"]).text(), "discarded 1 message\n");
    wait_until("nothing is pending", || status().contains("o: idle, 0 delivered, 0 pending"));
    assert_eq!(listed(), "no dead letters\n");
    {
        let child = &mut child;
        terminate(child);
        assert_eq!(exit_code(child), Some(0));
    }
}

#[test]
fn messages_are_delivered_again_and_the_status_shows_how_far() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut receiving, receiver) = gateway(other.path());
    let config = format!("[[output]]\nname = 'o'\n[output.http]\nurl = 'http://{receiver}/ingest/a'\n");
    let (mut child, address) = gateway_with(folder.path(), &config);
    for device in ["d1", "d2", "d1"] {
        assert_eq!(post(address, device, "1"), 204);
    }
    let status = |folder: &std::path::Path| ask(folder, &["status"]).text().to_owned();
    wait_until("nothing is pending", || status(folder.path()).contains("o: idle, 3 delivered, 0 pending"));
    let replay = |arguments: &[&str]| ask(folder.path(), &[&["output", "replay", "o"], arguments].concat());
    let from = ["--from", "2026-01-01T00:00:00Z", "--device", "d1"];
    assert_eq!(replay(&[&from[..], &["--dry-run"]].concat()).text(), "2 messages would be delivered again\n");
    assert!(replay(&from).text().starts_with("replay "));
    wait_until("it is complete", || status(folder.path()).contains("replay complete: 2 of 2 messages done"));
    assert!(status(folder.path()).contains("5 delivered"));
    // The receiver is a gateway, too: the stable ID is the key.
    assert!(status(other.path()).contains("5 received, 3 stored, 2 duplicates"), "{}", status(other.path()));
    let none = replay(&["--cancel"]);
    assert_eq!((none.code, none.stderr.contains("has no replay in progress")), (1, true));
    for wrong in [&[][..], &["--pause", "--resume"], &["--pause", "--from", "2026-01-01T00:00:00Z"]] {
        assert_eq!(replay(wrong).code, 2, "{wrong:?}");
    }
    for child in [&mut child, &mut receiving] {
        terminate(child);
        assert_eq!(exit_code(child), Some(0));
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
    wait_until("the profile holds", || post(address, "d1", "1") == 415);

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

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn the_printed_openapi_document_is_the_served_one() {
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
fn devices_are_registered_listed_changed_imported_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, address) = gateway(folder.path());
    let device = |arguments: &[&str]| ask(folder.path(), &[&["device"], arguments].concat());
    let added = [
        "add",
        "hive-7",
        "--name",
        "Hive 7",
        "--tag",
        "site=pisa",
        "--external-id",
        "70b3",
        "--longitude",
        "-10",
        "--latitude",
        "43",
    ];
    assert_eq!(device(&added).text(), "added hive-7\n");
    let twice = device(&added);
    assert!(
        twice.code == 1 && twice.stderr.contains("the device \"hive-7\" is in the register already"),
        "{}",
        twice.stderr
    );
    assert_eq!(post(address, "70b3", "{}"), 204);
    assert_eq!(
        device(&["set", "hive-7", "--tag", "kind=scale", "--remove-tag", "site", "--unset", "place"]).text(),
        "changed hive-7\n"
    );
    let shown = device(&["show", "hive-7"]).json();
    assert_eq!(
        (&shown["tags"], &shown["latitude"]),
        (&serde_json::json!({"kind": "scale"}), &serde_json::Value::Null)
    );
    assert!(shown["first_seen"].is_string() && shown["last_seen"].is_string());
    assert_eq!(device(&["set", "hive-7", "--disable"]).text(), "changed hive-7\n");
    assert_eq!(post(address, "hive-7", "{}"), 403);
    assert_eq!(device(&["set", "hive-7", "--enable"]).text(), "changed hive-7\n");
    assert_eq!(device(&["set", "hive-7"]).code, 2);

    let file = folder.path().join("devices.csv");
    std::fs::write(&file, "device,name\nhive-8,Hive 8\nhive-9\n").unwrap();
    let path = file.to_str().unwrap();
    let cut = device(&["import", path]);
    assert!(cut.code == 1 && cut.stderr.contains("line 3: 1 cells; the header has 2"), "{}", cut.stderr);
    std::fs::write(&file, "device,name\nhive-8,Hive 8\nhive-9,\n").unwrap();
    assert_eq!(device(&["import", path, "--dry-run"]).text(), "would be: 2 added, 0 changed, 0 unchanged\n");
    assert_eq!(device(&["import", path]).text(), "2 added, 0 changed, 0 unchanged\n");
    let exported = device(&["export"]).text().to_owned();
    assert_eq!(exported.lines().nth(2), Some("hive-8,Hive 8,,,,,,,,"), "{exported}");
    let list = device(&["list", "--find", "HIVE 8"]).text().to_owned();
    assert!(list.contains("hive-8") && list.lines().count() == 2, "{list}");
    let page = device(&["list", "--limit", "1"]).text().to_owned();
    assert!(page.contains("3 devices in all; continue with --after \"hive-7\""), "{page}");
    let unknown = device(&["set", "hive-8", "--profile", "hives"]);
    assert!(unknown.stderr.contains("profile: no [[profile]] has the name \"hives\""), "{}", unknown.stderr);
    let explained = ask(folder.path(), &["profile", "explain", "70b3"]).text().to_owned();
    assert!(
        explained.starts_with("device      hive-7") && explained.contains("tags.kind scale"),
        "{explained}"
    );
    assert_eq!(device(&["remove", "hive-8", "hive-9"]).text(), "removed 2 devices\n");
    assert_eq!(device(&["list", "--tag", "kind=scale", "--json"]).json()["matches"], 1);
    assert_eq!(device(&["show", "hive-8"]).code, 1);
    terminate(&child);
    assert_eq!(exit_code(&mut child), Some(0));
}

#[test]
fn a_token_that_reads_is_for_all_devices_or_for_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let token = |arguments: &[&str]| ask(folder.path(), &[&["token"], arguments].concat());
    for new in [
        &["--read", "--name", "all"][..],
        &["--read", "--device", "buoy-*", "--name", "buoys"],
        &["--read", "--tag", "site=pisa", "--tag", "kind=scale", "--device", "hive-*", "--name", "pisa"],
        &["--device", "buoy-*", "--name", "sends"],
        &["--operate", "--name", "olga"],
    ] {
        let made = token(&[&["new"], new].concat());
        assert!(made.code == 0 && made.text().starts_with("dn_"), "{new:?}: {}", made.stderr);
    }
    assert_eq!(
        token(&["list"]).text(),
        "all    read\nbuoys  read devices buoy-*\npisa   read devices hive-* with kind=scale, site=pisa\n\
         sends  send as buoy-*\nolga   operate\n"
    );
    for (wrong, reason) in [
        (&["--tag", "site=pisa"][..], "--read"),
        (&["--device", "a", "--tag", "site=pisa"], "--read"),
        (&["--operate", "--device", "a"], "cannot be used with"),
        (&["--operate", "--read"], "cannot be used with"),
        (&["--read", "--tag", "site"], "must be KEY=VALUE"),
        (&["--read", "--tag", "site=a", "--tag", "site=b"], "name each key once"),
        (&["--read", "--device", ""], "not a valid device ID"),
        (&[], "required"),
    ] {
        let refused = token(&[&["new"], wrong].concat());
        assert_eq!(refused.code, 2, "{wrong:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(reason), "{wrong:?}: {}", refused.stderr);
    }
}
