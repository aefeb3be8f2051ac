//! Servers that are down, refuse, or are killed.

use super::{Database, deliver, open_at, retried};
use crate::postgres::message;
use dunnage_outputs::{Class, FailureKind, Message};
use dunnage_test_support::{agent, certificates, influx::Influx, runtime, wait::wait_for};
use std::{sync::Arc, time::Duration};

fn of(range: std::ops::Range<usize>) -> Vec<Message> {
    range.map(|n| message(n, "", &format!("{{\"n\":{n}}}"))).collect()
}

/// A call ends at any point of a write, also between the write and its answer.
#[test]
fn a_server_that_is_killed_during_calls_loses_none_and_has_none_twice() {
    let mut server = Arc::new(Influx::start());
    let database = Database::of(Arc::clone(&server));
    let (output, runtime, name) = (database.output(), runtime(), database.name.clone());
    drop(database);
    let (mut delivered, mut cut) = (0, 0);
    for kill in 0..3 {
        let calls = runtime.spawn({
            let output = Arc::clone(&output);
            async move {
                let (mut at, mut failures) = (delivered, 0);
                while at < delivered + 30_000 {
                    match output.deliver(&of(at..at + 1000)).await {
                        Ok(()) => at += 1000,
                        Err(failed) => {
                            assert!(matches!(failed.kind, FailureKind::Retry(_)), "{failed:?}");
                            failures += 1;
                            tokio::time::sleep(Duration::from_millis(50)).await;
                        }
                    }
                }
                (at, failures)
            }
        });
        std::thread::sleep(Duration::from_millis(150 + 70 * kill));
        Arc::get_mut(&mut server).unwrap().kill();
        Arc::get_mut(&mut server).unwrap().restart();
        let (at, failures) = runtime.block_on(calls).unwrap();
        delivered = at;
        cut += failures;
    }
    assert!(cut >= 3, "{cut} calls failed");
    let rows = server.query(&name, "SELECT count(n), sum(n), max(n) FROM messages");
    let expected = serde_json::json!([0, delivered, delivered * (delivered - 1) / 2, delivered - 1]);
    assert_eq!(serde_json::Value::from(rows[0].clone()), expected);
}

#[test]
fn a_database_that_is_missing_is_waited_for() {
    let database = Database::new();
    let output = open_at(&database.server.url("/write?db=later"), "").unwrap();
    let reason = retried(deliver(&output, &of(0..10)), Class::Missing);
    assert!(reason.contains("database not found"), "{reason}");
    database.query("CREATE DATABASE later");
    assert_eq!(deliver(&output, &of(0..10)), Ok(()));
}

#[test]
fn a_point_older_than_the_database_keeps_is_refused_alone() {
    let database = Database::new();
    let name = &database.name;
    database.query(&format!("CREATE RETENTION POLICY short ON {name} DURATION 1h REPLICATION 1 DEFAULT"));
    let mut messages = of(0..100);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    for (n, message) in messages.iter_mut().enumerate().filter(|(n, _)| *n != 37) {
        message.stored.received_at = i64::try_from(now.as_micros()).unwrap() + i64::try_from(n).unwrap();
    }
    let output = database.output();
    let failed = deliver(&output, &messages).unwrap_err();
    assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, 37));
    assert!(failed.reason.contains("retention policy"), "{}", failed.reason);
    assert_eq!(deliver(&output, &messages[38..]), Ok(()));
    assert_eq!(database.server.query(name, "SELECT count(n) FROM messages")[0][1], 99);
}

#[test]
fn a_password_is_read_from_a_file_and_a_wrong_one_is_not_shown() {
    let server = Influx::start_with_users();
    let created = "CREATE USER root WITH PASSWORD 'right' WITH ALL PRIVILEGES";
    server.ask("", created).unwrap();
    let mut login = agent().post(server.url("/query")).query("u", "root").query("p", "right");
    login = login.query("q", "CREATE DATABASE kept");
    assert_eq!(login.send_empty().unwrap().status(), 200);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let open = || open_at(&server.url("/write?db=kept"), &format!("token_file = {file:?}")).unwrap();
    std::fs::write(&file, "root:wrong-secret\n").unwrap();
    let reason = retried(deliver(&open(), &of(0..1)), Class::Denied);
    assert!(!reason.contains("secret"), "{reason}");
    std::fs::write(&file, "root:right\n").unwrap();
    assert_eq!(deliver(&open(), &of(0..1)), Ok(()));
    retried(deliver(&open_at(&server.url("/write?db=kept"), "").unwrap(), &of(0..1)), Class::Denied);
}

#[test]
fn a_connection_with_tls_needs_a_certificate_of_a_trusted_authority() {
    let folder = tempfile::tempdir().unwrap();
    certificates::make(folder.path());
    let server = Influx::start_with_tls(folder.path());
    let url = server.url("/write?db=missing");
    let ca = folder.path().join("ca.pem");
    let output = open_at(&url, &format!("ca_file = {ca:?}")).unwrap();
    wait_for(|| {
        let reason = deliver(&output, &of(0..1)).unwrap_err().reason;
        if reason.contains("database not found") { Ok(()) } else { Err(reason) }
    });
    let other = open_at(&url, "").unwrap();
    let reason = retried(deliver(&other, &of(0..1)), Class::Connection);
    assert!(reason.contains("certificate"), "{reason}");
    // A server with TLS answers 400 to a client without it: no message is refused.
    let plain = open_at(&url.replace("https", "http"), "").unwrap();
    assert!(retried(deliver(&plain, &of(0..1)), Class::Other).contains("HTTPS"));
}
