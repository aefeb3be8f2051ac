//! Tables that are divided by time.

use super::{Database, learn, message};
use dunnage_outputs::{Class, FailureKind, Message};

const SCHEMA: &str = r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#;
const DAY: i64 = 86_400_000_000;

fn messages() -> Vec<Message> {
    (0..90)
        .map(|n| {
            let mut message = message(n, "s", &format!("{{\"n\":{n}}}"));
            message.stored.received_at += i64::try_from(n).unwrap() * DAY;
            message
        })
        .collect()
}

#[test]
fn partitions_are_made_when_a_message_needs_them() {
    for (period, partitions) in [("month", 3), ("day", 90)] {
        let database = Database::new();
        let output = database.output(&format!("create = true\npartitions = '{period}'"));
        learn(&output, "s", &[SCHEMA]);
        assert_eq!(database.deliver(&output, &messages()), Ok(()));
        assert_eq!(database.deliver(&output, &messages()), Ok(()));
        assert_eq!(output.duplicates(), 90);
        assert_eq!(database.query("SELECT count(*), count(DISTINCT _name), sum(n) FROM s"), "90|90|4005");
        let count = "SELECT count(*) FROM pg_inherits WHERE inhparent = 's'::regclass";
        assert_eq!(database.query(count), partitions.to_string());
    }
}

#[test]
fn a_missing_partition_is_no_fault_of_a_message() {
    let database = Database::new();
    let output = database.output("create = true\npartitions = 'month'");
    learn(&output, "s", &[SCHEMA]);
    assert_eq!(database.deliver(&output, &messages()[..10]), Ok(()));
    let other = database.output("partitions = 'month'");
    learn(&other, "s", &[SCHEMA]);
    let failed = database.deliver(&other, &messages()).unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), Class::Missing), "{}", failed.reason);
    assert!(failed.reason.contains("no partition"), "{}", failed.reason);
}

/// TimescaleDB is not a package of Debian. These functions have the parameters of its own (2.x), so the calls are read as it reads them, and
/// the key is checked as a hypertable's must be. Its compression is not tried.
#[test]
fn a_hypertable_is_made_with_a_key_that_has_the_time() {
    let database = Database::new();
    database.query(
        "CREATE TABLE called (name text, relation regclass, column_name name, span interval);
         CREATE FUNCTION create_hypertable(relation regclass, time_column_name name, partitioning_column name = NULL,
             number_partitions int = NULL, chunk_time_interval interval = NULL, if_not_exists boolean = FALSE) RETURNS void LANGUAGE sql
             AS $$ INSERT INTO called VALUES ('create_hypertable', $1, $2, $5) $$;
         CREATE FUNCTION add_retention_policy(relation regclass, drop_after interval, if_not_exists boolean = FALSE) RETURNS void
             LANGUAGE sql AS $$ INSERT INTO called VALUES ('add_retention_policy', $1, NULL, $2) $$",
    );
    let output = database.output("create = true\n[timescale]\nchunk_days = 7\ndrop_after_days = 90");
    learn(&output, "s", &[SCHEMA]);
    assert_eq!(database.deliver(&output, &messages()), Ok(()));
    assert_eq!(database.deliver(&output, &messages()), Ok(()));
    assert_eq!(database.query("SELECT count(*) FROM s"), "90");
    assert_eq!(
        database.query("SELECT * FROM called"),
        "create_hypertable|s|_received_at|7 days\nadd_retention_policy|s||90 days"
    );
    let key = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 's'::regclass AND contype = 'p'";
    assert_eq!(database.query(key), "PRIMARY KEY (_name, _received_at)");
}

#[test]
fn without_the_extension_nothing_is_made_and_the_reason_names_its_function() {
    let database = Database::new();
    let output = database.output("create = true\n[timescale]");
    learn(&output, "s", &[SCHEMA]);
    let failed = database.deliver(&output, &messages()).unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), Class::Missing), "{}", failed.reason);
    assert!(failed.reason.contains("create_hypertable"), "{}", failed.reason);
    assert_eq!(database.query("SELECT to_regclass('s') IS NULL"), "t");
}
