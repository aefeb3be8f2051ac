//! Servers that are down, refuse, or are killed.

use super::{Database, learn, message, open_at};
use dunnage_outputs::{Class, Failed, FailureKind, Message};
use dunnage_test_support::{certificates, postgres::Postgres, runtime, wait::wait_for};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

fn of(range: std::ops::Range<usize>) -> Vec<Message> {
    range.map(|n| message(n, "", &format!("{{\"n\":{n}}}"))).collect()
}

/// Asserts that a call failed for the receiver's sake, and returns the reason.
fn retried(result: Result<(), Failed>, expected: Class) -> String {
    let failed = result.unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), expected), "{}", failed.reason);
    failed.reason
}

#[test]
fn a_server_that_was_down_gets_the_rows_when_it_is_back() {
    let mut server = Arc::new(Postgres::start_with(&["fsync=on"]));
    let database = Database::of(Arc::clone(&server));
    let (url, name) = (server.url(&database.name), database.name.clone());
    drop(database);
    let (output, runtime) = (open_at(&url, "create = true"), runtime());
    assert_eq!(runtime.block_on(output.deliver(&of(0..100))), Ok(()));
    Arc::get_mut(&mut server).unwrap().kill();
    // What serves the connection notices a moment later.
    wait_for(|| runtime.block_on(output.deliver(&of(100..200))).is_err().then_some(()).ok_or("delivered"));
    let begun = Instant::now();
    retried(runtime.block_on(output.deliver(&of(100..200))), Class::Connection);
    assert!(begun.elapsed() < Duration::from_secs(20));
    Arc::get_mut(&mut server).unwrap().restart();
    wait_for(|| runtime.block_on(output.deliver(&of(100..200))));
    assert_eq!(server.query(&name, "SELECT count(*), count(DISTINCT _name) FROM messages"), "200|200");
}

/// The call ends at any point of the transaction, also between the commit and its answer.
#[test]
fn a_server_that_is_killed_during_calls_loses_none_and_has_none_twice() {
    let mut server = Arc::new(Postgres::start_with(&["fsync=on"]));
    let database = Database::of(Arc::clone(&server));
    let (url, name) = (server.url(&database.name), database.name.clone());
    drop(database);
    let (output, runtime) = (open_at(&url, "create = true"), runtime());
    let (mut delivered, mut cut) = (0, 0);
    for kill in 0..3 {
        let calls = runtime.spawn({
            let output = Arc::clone(&output);
            async move {
                let (mut at, mut failures) = (delivered, 0);
                while at < delivered + 60_000 {
                    match output.deliver(&of(at..at + 2000)).await {
                        Ok(()) => at += 2000,
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
    let counts = server
        .query(&name, "SELECT count(*), count(DISTINCT _name), max((_message->>'n')::int) FROM messages");
    assert_eq!(counts, format!("{delivered}|{delivered}|{}", delivered - 1));
}

#[test]
fn a_server_that_is_read_only_is_retried() {
    let database = Database::new();
    let output = database.output("create = true");
    assert_eq!(database.deliver(&output, &of(0..10)), Ok(()));
    let set = |to: &str| {
        let sql = format!("ALTER DATABASE {} SET default_transaction_read_only = {to}", database.name);
        database.server.query("postgres", &sql);
    };
    set("on");
    // The setting is that of new connections.
    let other = database.output("create = true");
    assert!(retried(database.deliver(&other, &of(10..20)), Class::Failing).contains("read-only"));
    set("off");
    assert_eq!(database.deliver(&other, &of(10..20)), Ok(()));
    // Someone else holds the table.
    database.query("ALTER TABLE messages RENAME TO gone");
    let without = database.output("");
    assert!(
        retried(database.deliver(&without, &of(20..30)), Class::Missing)
            .contains("\"messages\" does not exist")
    );
    database.query("ALTER TABLE gone RENAME TO messages");
    assert_eq!(database.deliver(&without, &of(20..30)), Ok(()));
    assert_eq!(database.query("SELECT count(*) FROM messages"), "30");
}

#[test]
fn a_connection_that_the_server_ends_is_made_again() {
    let database = Database::new();
    let output = database.output("create = true");
    assert_eq!(database.deliver(&output, &of(0..10)), Ok(()));
    database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dunnage' AND datname = current_database()");
    wait_for(|| database.deliver(&output, &of(10..20)));
    assert_eq!(database.query("SELECT count(*) FROM messages"), "20");
}

#[test]
fn without_the_right_to_write_the_output_waits() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "s", &["{\"type\":\"object\"}"]);
    assert_eq!(database.deliver(&output, &[message(1, "s", "{}")]), Ok(()));
    let role = format!("reader_{}", database.name);
    database.query(&format!("CREATE ROLE {role} LOGIN; GRANT SELECT ON s TO {role}"));
    let url = database.server.url(&database.name).replace("//acme@", &format!("//{role}@"));
    let reader = open_at(&url, "create = true");
    learn(&reader, "s", &["{\"type\":\"object\"}"]);
    assert!(
        retried(database.deliver(&reader, &[message(2, "s", "{}")]), Class::Denied)
            .contains("permission denied")
    );
}

#[test]
fn a_password_is_read_from_a_file_and_a_wrong_one_is_not_shown() {
    let server = Arc::new(Postgres::start_with(&["fsync=off"]));
    let database = Database::of(Arc::clone(&server));
    database.query("ALTER ROLE acme PASSWORD 'right'");
    std::fs::write(server.data().join("pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n").unwrap();
    database.query("SELECT pg_reload_conf()");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "wrong-secret\n").unwrap();
    let output = database.output(&format!("create = true\npassword_file = {file:?}"));
    let reason = retried(database.deliver(&output, &of(0..1)), Class::Denied);
    assert!(reason.contains("password authentication failed") && !reason.contains("secret"), "{reason}");
    std::fs::write(&file, "right\n").unwrap();
    let output = database.output(&format!("create = true\npassword_file = {file:?}"));
    assert_eq!(database.deliver(&output, &of(0..1)), Ok(()));
}

#[test]
fn a_connection_with_tls_needs_a_certificate_of_a_trusted_authority() {
    let folder = tempfile::tempdir().unwrap();
    certificates::make(folder.path());
    let mut server =
        Postgres::start_with(&["fsync=off", "ssl_cert_file=server.pem", "ssl_key_file=server.key"]);
    for name in ["server.pem", "server.key"] {
        server.add(name, &std::fs::read(folder.path().join(name)).unwrap());
    }
    server.kill();
    server.set("ssl=on");
    server.restart();
    let database = Database::of(Arc::new(server));
    let url = format!("{}?sslmode=require", database.server.url(&database.name));
    let ca = folder.path().join("ca.pem");
    let output = open_at(&url, &format!("create = true\nca_file = {ca:?}"));
    assert_eq!(database.deliver(&output, &of(0..10)), Ok(()));
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'dunnage'";
    assert_eq!(database.query(encrypted), "t");
    let other = open_at(&url, "create = true");
    assert!(retried(database.deliver(&other, &of(10..20)), Class::Connection).contains("certificate"));
}
