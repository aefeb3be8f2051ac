//! Each message is in one object, whatever happens.

use super::{Bucket, message, messages};
use dunnage_outputs::{FailureKind, Output};
use dunnage_test_support::{faulty::Fault, tools::tool};
use std::collections::BTreeMap;

#[test]
fn each_schema_and_day_has_objects_of_its_own_in_every_kind() {
    for kind in ["ndjson", "csv", "parquet"] {
        let bucket = Bucket::new();
        let output = bucket.output(kind, 0);
        let sent: Vec<_> =
            (1..=12).map(|id| message(id, ["", "s", "a/b"][id as usize % 3], id / 7)).collect();
        assert_eq!(bucket.deliver(&output, &sent), Ok(()));
        let none = "schema=__HIVE_DEFAULT_PARTITION__";
        let expected = [
            (format!("{none}/date=2026-01-01/b-3.{kind}"), vec![3, 6]),
            (format!("{none}/date=2026-01-02/b-9.{kind}"), vec![9, 12]),
            (format!("schema=a%2Fb/date=2026-01-01/b-2.{kind}"), vec![2, 5]),
            (format!("schema=a%2Fb/date=2026-01-02/b-8.{kind}"), vec![8, 11]),
            (format!("schema=s/date=2026-01-01/b-1.{kind}"), vec![1, 4]),
            (format!("schema=s/date=2026-01-02/b-7.{kind}"), vec![7, 10]),
        ];
        assert_eq!(bucket.ids(), BTreeMap::from(expected), "{kind}");
        let before = bucket.objects();
        // Everything comes again, in this process and in the next one.
        assert_eq!(bucket.deliver(&output, &sent), Ok(()));
        assert_eq!(bucket.deliver(&bucket.output(kind, 0), &sent), Ok(()));
        assert_eq!(bucket.objects(), before);
        assert_eq!(output.duplicates(), 12);
    }
}

/// A request or its answer is lost at each step. Then the process ends or not, and the messages come again in a batch of another size.
#[test]
fn whatever_step_is_interrupted_each_message_is_in_one_object() {
    let faults = [Fault::Lost, Fault::Unanswered, Fault::Half, Fault::Answer("503 Service Unavailable", "")];
    let mut interrupted = 0;
    for step in 0..7 {
        for fault in &faults {
            for (ends, next, skipped) in
                [(true, 5, 0), (true, 3, 0), (true, 9, 0), (false, 9, 0), (true, 9, 2), (false, 9, 2)]
            {
                let bucket = Bucket::new();
                let mut output = bucket.output("ndjson", 0);
                let fault = fault.clone();
                bucket.proxy.set(move |_, n| if n == step { fault.clone() } else { Fault::None });
                let failed = bucket.deliver(&output, &messages(1..=5));
                interrupted += usize::from(failed.is_err());
                bucket.proxy.set(|_, _| Fault::None);
                // An operator may have discarded the first messages.
                if ends {
                    output = bucket.output("ndjson", skipped);
                }
                assert_eq!(bucket.deliver(&output, &messages(skipped + 1..=next)), Ok(()));
                assert_eq!(bucket.deliver(&output, &messages(next + 1..=12)), Ok(()));
                let found = bucket.all_ids();
                let first = found[0];
                assert!(first == 1 || first == skipped + 1, "{found:?}");
                assert_eq!(found, (first..=12).collect::<Vec<_>>(), "{step} {ends} {next} {skipped}");
            }
        }
    }
    // The list, the object, its metadata, the manifest and the test of the condition: five requests, each with four faults.
    assert_eq!(interrupted, 5 * faults.len() * 6);
}

/// The server executes a request long after the client has given up, and after the next attempt.
#[test]
fn a_request_that_is_executed_late_changes_nothing() {
    let bucket = Bucket::new();
    let output = bucket.output("parquet", 0);
    assert_eq!(bucket.deliver(&output, &messages(1..=3)), Ok(()));
    bucket.proxy.set(|line, n| if n == 0 && line.starts_with("PUT") { Fault::Late } else { Fault::None });
    assert!(bucket.deliver(&output, &messages(4..=5)).is_err());
    assert_eq!(bucket.deliver(&output, &messages(4..=9)), Ok(()));
    let before = bucket.objects();
    bucket.proxy.release(1);
    assert_eq!(bucket.objects(), before);
    assert_eq!(bucket.all_ids(), (1..=9).collect::<Vec<_>>());
}

/// An earlier attempt with fewer messages is executed between the list and the object of the next attempt.
#[test]
fn a_key_that_is_taken_is_continued_after_its_last_message() {
    let bucket = Bucket::new();
    let (first, second) = (bucket.output("csv", 0), bucket.output("csv", 0));
    // Both know the end of the sequence.
    assert_eq!(bucket.deliver(&first, &messages(1..=3)), Ok(()));
    assert_eq!(bucket.deliver(&second, &messages(1..=3)), Ok(()));
    assert_eq!(bucket.deliver(&first, &messages(4..=5)), Ok(()));
    assert_eq!(bucket.deliver(&second, &messages(4..=9)), Ok(()));
    assert_eq!(bucket.ids().into_values().collect::<Vec<_>>(), [vec![1, 2, 3], vec![4, 5], vec![6, 7, 8, 9]]);
}

#[test]
fn a_message_that_no_object_can_have_is_refused_after_those_before_it() {
    let bucket = Bucket::new();
    let output = bucket.output("ndjson", 0);
    let mut sent = messages(1..=3);
    sent[1].stored.json = "{".into();
    let failed = bucket.deliver(&output, &sent).unwrap_err();
    assert_eq!((failed.delivered, failed.kind), (1, FailureKind::Refused));
    assert_eq!(bucket.deliver(&output, &sent[2..]), Ok(()));
    assert_eq!(bucket.all_ids(), [1, 3]);
}

/// They are those of an output with another kind that had this name.
#[test]
fn a_dead_letter_that_is_retried_is_stored_once_though_later_messages_are() {
    let bucket = Bucket::new();
    let output = bucket.output("ndjson", 10);
    assert_eq!(bucket.deliver(&output, &messages(11..=13)), Ok(()));
    for output in [output, bucket.output("ndjson", 13)] {
        let with_letter = [messages(7..=7), messages(14..=15)].concat();
        assert_eq!(bucket.deliver(&output, &with_letter), Ok(()));
        assert_eq!(bucket.all_ids(), [7, 11, 12, 13, 14, 15]);
    }
}

#[test]
fn several_buffers_share_a_prefix() {
    let bucket = Bucket::new();
    let output = bucket.output("ndjson", 0);
    let mut sent = messages(1..=3);
    assert_eq!(bucket.deliver(&output, &sent), Ok(()));
    for name in ["b-1", "B", "b/..", "é\0#?+", &"x".repeat(150)] {
        sent.iter_mut().for_each(|message| message.stored.buffer = name.into());
        assert_eq!(bucket.deliver(&bucket.output("ndjson", 0), &sent), Ok(()), "{name}");
        assert_eq!(bucket.deliver(&bucket.output("ndjson", 0), &sent), Ok(()), "{name}");
    }
    assert_eq!(bucket.ids().len(), 6);
    assert_eq!(bucket.all_ids().len(), 18);
}

/// It reads the server's files, because its extension for S3 is not a part of it.
#[test]
fn duckdb_reads_the_partitions_as_schema_and_day() {
    let bucket = Bucket::new();
    let names = ["", "s", "a b/%", "__HIVE_DEFAULT_PARTITION__"];
    let sent: Vec<_> = (1..=40).map(|id| message(id, names[id as usize % 4], id / 21)).collect();
    assert_eq!(bucket.deliver(&bucket.output("parquet", 0), &sent), Ok(()));
    let sql = format!(
        "SELECT schema, date, typeof(date), count(*), sum(\"/n\") FROM read_parquet('{}/pre/fix/**/*.parquet', \
         hive_partitioning = true, union_by_name = true) GROUP BY ALL ORDER BY ALL",
        bucket.server.bucket(&bucket.name).display()
    );
    let program = "import duckdb, sys\nfor row in duckdb.sql(sys.argv[1]).fetchall(): print(*row, sep='|')";
    let mut python = std::process::Command::new(tool("venv/bin/python"));
    let found = python.args(["-c", program, &sql]).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let found = String::from_utf8(found.stdout).unwrap();
    let lines: Vec<_> = found.lines().collect();
    assert_eq!(
        lines,
        [
            "__HIVE_DEFAULT_PARTITION__|2026-01-01|DATE|5|55",
            "__HIVE_DEFAULT_PARTITION__|2026-01-02|DATE|5|155",
            "a b/%|2026-01-01|DATE|5|50",
            "a b/%|2026-01-02|DATE|5|150",
            "s|2026-01-01|DATE|5|45",
            "s|2026-01-02|DATE|5|145",
            // NULL: they have no schema.
            "None|2026-01-01|DATE|5|60",
            "None|2026-01-02|DATE|5|160",
        ]
    );
}

#[test]
fn csv_begins_with_a_byte_order_mark_if_it_is_wanted_and_has_all_columns() {
    let bucket = Bucket::new();
    let output = bucket.output_with("kind = 'csv'\nbom = true", 0);
    let mut sent = messages(1..=2);
    sent[1].stored.json = "{\"t\":\"=1\"}".into();
    assert_eq!(bucket.deliver(&output, &sent), Ok(()));
    let objects = bucket.objects();
    let text = String::from_utf8(objects.into_values().next().unwrap()).unwrap();
    assert!(text.starts_with("\u{feff}name,id,"), "{text}");
    assert!(text.contains(",value,/n,/note,/t\r\n") && text.ends_with(",,,'=1\r\n"), "{text}");
    assert_eq!(bucket.all_ids(), [1, 2]);
}
