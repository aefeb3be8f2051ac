//! Brokers that want a password or TLS, or accept only a part of what MQTT has.

use super::{Bench, message, open_at, refused, retried};
use dunnage_outputs::Class;
use dunnage_test_support::{certificates, subscriber::Subscriber};
use std::{fs, path::Path, process::Command};

fn passwords(folder: &Path) {
    let file = folder.join("passwords");
    let made = Command::new("mosquitto_passwd").args(["-b", "-c"]).arg(&file).args(["u", "right"]).status();
    assert!(made.unwrap().success());
    fs::write(folder.join("rights"), "user u\ntopic write open/#\n").unwrap();
}

#[test]
fn a_password_that_changes_on_disk_is_used_at_the_next_connection() {
    let bench = Bench::with("allow_anonymous false\npassword_file FOLDER/passwords", passwords);
    let file = bench.folder.path().join("password");
    for (version, denied) in [("5", "NotAuthorized"), ("3.1.1", "NotAuthorized")] {
        fs::write(&file, "wrong-secret\n").unwrap();
        let settings = format!("version = '{version}'\nuser = 'u'\npassword_file = {file:?}\n");
        let output = bench.output(&settings);
        let reason = retried(bench.deliver(&output, &message("d", "1")), Class::Denied);
        assert!(reason.contains(denied) && !reason.contains("secret"), "{reason}");
        let _ = fs::remove_file(&file);
        retried(bench.deliver(&output, &message("d", "1")), Class::Denied);
        fs::write(&file, "right\n").unwrap();
        assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));
    }
    retried(bench.deliver(&bench.output(""), &message("d", "1")), Class::Denied);
}

#[test]
fn a_topic_without_the_right_to_write_is_retried_as_denied() {
    let settings = "allow_anonymous false\npassword_file FOLDER/passwords\nacl_file FOLDER/rights";
    let bench = Bench::with(settings, passwords);
    let file = bench.folder.path().join("password");
    fs::write(&file, "right").unwrap();
    let login = format!("user = 'u'\npassword_file = {file:?}\n");
    let output = bench.output(&format!("{login}topic = '{{schema}}/{{device}}'"));
    let mut message = message("d", "1");
    message.stored.schema = Some("closed".into());
    let reason = retried(bench.deliver(&output, &message), Class::Denied);
    assert!(reason.contains("closed/d") && reason.contains("NotAuthorized"), "{reason}");
    message.stored.schema = Some("open".into());
    assert_eq!(bench.deliver(&output, &message), Ok(()));
}

#[test]
fn tls_needs_a_certificate_of_a_trusted_authority() {
    let settings = "cafile FOLDER/ca.pem\ncertfile FOLDER/server.pem\nkeyfile FOLDER/server.key";
    let bench = Bench::with(settings, certificates::make);
    let ca = bench.folder.path().join("ca.pem");
    let url = format!("mqtts://127.0.0.1:{}", bench.broker.port);
    for version in ["5", "3.1.1"] {
        let output = open_at(&url, &format!("version = '{version}'\nca_file = {ca:?}")).unwrap();
        assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));
    }
    let other = tempfile::tempdir().unwrap();
    certificates::make(other.path());
    let output = open_at(&url, &format!("ca_file = {:?}", other.path().join("ca.pem"))).unwrap();
    let reason = retried(bench.deliver(&output, &message("d", "1")), Class::Connection);
    assert!(reason.contains("certificate"), "{reason}");
}

#[test]
fn limits_of_the_broker_lead_to_clear_errors() {
    let large = message("d", &format!("\"{}\"", "x".repeat(2000)));
    let bench = Bench::new("max_packet_size 1000");
    let output = bench.output("");
    let reason = refused(bench.deliver(&output, &large));
    assert!(reason.contains("the broker accepts 1000 at most"), "{reason}");
    assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));

    let bench = Bench::new("message_size_limit 1000");
    let output = bench.output("");
    let reason = refused(bench.deliver(&output, &large));
    assert!(reason.contains("dunnage/d: PacketTooLarge"), "{reason}");
    assert_eq!(bench.deliver(&output, &message("d", "1")), Ok(()));

    let bench = Bench::new("retain_available false");
    let reason = retried(bench.deliver(&bench.output("retain = true"), &large), Class::Other);
    assert!(reason.contains("retains no messages"), "{reason}");
    assert_eq!(bench.deliver(&bench.output(""), &large), Ok(()));

    let bench = Bench::new("max_qos 0");
    let reason = retried(bench.deliver(&bench.output(""), &large), Class::Other);
    assert!(reason.contains("QoS 0 only"), "{reason}");
}

#[test]
fn no_more_messages_are_in_flight_than_the_broker_receives() {
    let bench = Bench::new("max_inflight_messages 1");
    let (output, subscriber) = (bench.output("payload = 'fields'"), Subscriber::new(bench.broker.port));
    let json = format!("[{}0]", "0,".repeat(499));
    let calls: Vec<_> = (0..4)
        .map(|n| {
            let (output, message) = (std::sync::Arc::clone(&output), message(&n.to_string(), &json));
            bench.runtime.spawn(async move { output.deliver(&[message]).await })
        })
        .collect();
    for call in calls {
        assert_eq!(bench.runtime.block_on(call).unwrap(), Ok(()));
    }
    assert_eq!(subscriber.wait(2000).len(), 2000);
}

#[test]
fn settings_that_cannot_work_are_named() {
    for (settings, key) in [
        ("topic = 'a'", "topic"),
        ("topic = 'a/#/{device}'", "topic"),
        ("topic = '{divice}'", "topic"),
        ("timeout_seconds = 0", "timeout_seconds"),
        ("client_id = ''", "client_id"),
        ("user = 'u'", "password_file"),
        ("password_file = '/nowhere/x'", "user"),
        ("user = 'u'\npassword_file = '/nowhere/x'", "password_file"),
        ("ca_file = '/nowhere/x'", "ca_file"),
    ] {
        let error = open_at("mqtt://127.0.0.1", settings).err().unwrap();
        assert!(error.contains(&format!(": {key}: ")), "{settings}: {error}");
    }
    for url in ["http://h", "mqtt:", "mqtt://u:p@h", "h"] {
        let error = open_at(url, "").err().unwrap();
        assert!(error.contains(": url: ") && !error.contains("panicked"), "{error}");
    }
    assert!(open_at("mqtt://127.0.0.1", "topic = 'all'\npayload = 'envelope'").is_ok());
    assert!(open_at("mqtt://127.0.0.1", "version = '4'").err().unwrap().contains("unknown variant"));
}
