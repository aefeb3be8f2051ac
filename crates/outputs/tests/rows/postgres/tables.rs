//! Tables that lack something.

use super::{Database, learn, message};
use dunnage_outputs::{Class, Failed, FailureKind, Output};
use std::sync::Arc;

const ONE: &str = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}, "state": {"enum": ["on", "off"]}}}"#;

/// Delivers a message, and returns the reason for which the output waits. The message would be delivered once that is mended.
fn waits(database: &Database, output: &Arc<dyn Output>, json: &str) -> String {
    let messages = [message(900, "", "1"), message(901, "s", json)];
    let Err(Failed { delivered, kind, class, reason }) = database.deliver(output, &messages) else {
        panic!("{json} was delivered")
    };
    // Messages before the one whose table is at fault are delivered.
    assert_eq!((delivered, kind, class), (1, FailureKind::Retry(None), Class::Missing), "{reason}");
    reason
}

/// Runs the SQL in a reason.
fn mend(database: &Database, reason: &str) {
    let (_, sql) = reason.split_once("; run: ").unwrap_or_else(|| panic!("{reason}"));
    database.query(sql);
}

#[test]
fn without_create_the_output_waits_until_the_sql_in_the_reason_was_run() {
    let database = Database::new();
    let maker = database.output("create = true");
    let output = database.output("");
    assert_eq!(database.deliver(&maker, &[message(0, "", "1")]), Ok(()));
    learn(&output, "s", &[ONE]);
    let reason = waits(&database, &output, "{}");
    assert!(reason.contains("\"s\" does not exist; set create = true"), "{reason}");
    learn(&maker, "s", &[ONE]);
    assert_eq!(database.deliver(&maker, &[message(1, "s", r#"{"n":1,"state":"on"}"#)]), Ok(()));
    assert_eq!(database.deliver(&output, &[message(1, "s", r#"{"n":1,"state":"on"}"#)]), Ok(()));
    assert_eq!(output.duplicates(), 1);

    let two = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}, "t": {"type": "boolean"}}}"#;
    learn(&output, "s", &[two]);
    let reason = waits(&database, &output, r#"{"t":true}"#);
    assert!(reason.contains("\"s\" has no column \"t\""), "{reason}");
    mend(&database, &reason);
    assert_eq!(database.deliver(&output, &[message(2, "s", r#"{"t":true}"#)]), Ok(()));

    database.query("ALTER TABLE s DROP COLUMN t");
    let failed = database.deliver(&output, &[message(901, "s", r#"{"t":false}"#)]).unwrap_err();
    assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), Class::Missing), "{}", failed.reason);
    assert!(failed.reason.contains("column \"t\""), "{}", failed.reason);
    // The table is looked at again after the failure.
    mend(&database, &waits(&database, &output, r#"{"t":false}"#));
    assert_eq!(database.deliver(&output, &[message(3, "s", r#"{"t":false}"#)]), Ok(()));
    assert_eq!(database.query("SELECT count(*), count(t) FROM s"), "3|1");
}

#[test]
fn create_adds_what_a_changed_schema_needs_and_loses_nothing() {
    let database = Database::new();
    let output = database.output("create = true\nschema = 'tele metry'\ntable = 'd_{schema}'");
    learn(&output, "s", &[ONE]);
    assert_eq!(database.deliver(&output, &[message(1, "s", r#"{"n":1,"state":"on"}"#)]), Ok(()));
    let two = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9},
        "state": {"enum": ["off", "broken"]}, "level": {"enum": ["low", "high"]}, "position": {"type": "object", "properties": {"lat": {"type": "number"}}}}}"#;
    learn(&output, "s", &[two]);
    let later = [
        message(2, "s", r#"{"state":"broken","level":"low","position":{"lat":1.5}}"#),
        message(1, "s", r#"{"n":1,"state":"on"}"#),
    ];
    let refused = database.deliver_all(&output, &later);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("state_in_"), "{refused:?}");
    // Both versions.
    learn(&output, "s", &[two, ONE]);
    assert_eq!(
        database.deliver(
            &output,
            &[message(1, "s", r#"{"n":1,"state":"on"}"#), message(3, "s", r#"{"state":"on"}"#)]
        ),
        Ok(())
    );
    let rows = database.query("SELECT n, state, level, position__lat FROM \"tele metry\".d_s ORDER BY _name");
    assert_eq!(rows, "1|on||\n|broken|low|1.5\n|on||");
    assert_eq!(database.query("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'state_in_%'"), "1");
}

#[test]
fn a_column_that_cannot_hold_the_schemas_values_holds_up_its_table_alone() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "s", &[ONE]);
    assert_eq!(database.deliver(&output, &[message(1, "s", r#"{"n":1}"#), message(2, "", "2")]), Ok(()));
    let wide =
        r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 99999}}}"#;
    learn(&output, "s", &[wide]);
    let reason = waits(&database, &output, r#"{"n":70000}"#);
    assert!(reason.contains("has the column \"n\" as smallint, which cannot hold integer"), "{reason}");
    mend(&database, &reason);
    assert_eq!(database.deliver(&output, &[message(3, "s", r#"{"n":70000}"#)]), Ok(()));
    // A wider column is as good, and holds what a narrower one could not.
    database.query("ALTER TABLE s ALTER COLUMN n TYPE numeric");
    let other = database.output("");
    learn(&other, "s", &[wide]);
    assert_eq!(database.deliver(&other, &[message(4, "s", r#"{"n":12345678901234567890}"#)]), Ok(()));
    assert_eq!(
        database.query("SELECT string_agg(n::text, ' ' ORDER BY _name) FROM s"),
        "1 70000 12345678901234567890"
    );
}

#[test]
fn a_table_without_the_key_or_with_a_column_that_must_have_a_value_waits() {
    let database = Database::new();
    let output = database.output("create = true");
    learn(&output, "s", &[ONE]);
    assert_eq!(database.deliver(&output, &[message(1, "s", "{}"), message(2, "", "2")]), Ok(()));
    database.query("ALTER TABLE s DROP CONSTRAINT s_pkey, ADD COLUMN site text NOT NULL DEFAULT 'x'");
    let other = database.output("create = true");
    learn(&other, "s", &[ONE]);
    let reason = waits(&database, &other, "{}");
    assert!(reason.contains("has no unique key"), "{reason}");
    mend(&database, &reason);
    assert_eq!(database.deliver(&other, &[message(3, "s", "{}")]), Ok(()));
    database.query("ALTER TABLE s ALTER COLUMN site DROP DEFAULT");
    let other = database.output("create = true");
    learn(&other, "s", &[ONE]);
    let reason = waits(&database, &other, "{}");
    assert!(reason.contains("\"site\" that must have a value"), "{reason}");
    mend(&database, &reason);
    assert_eq!(database.deliver(&other, &[message(4, "s", "{}")]), Ok(()));
}
