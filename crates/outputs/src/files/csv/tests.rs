use super::{
    super::tests::{message, write},
    *,
};
use crate::records::csv::{BOM, Formulas};

fn read(folder: &Path, file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = ::csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(|record| record.unwrap()).collect()
}

fn cells(records: &[HashMap<String, String>], column: &str) -> Vec<String> {
    records.iter().map(|record| record[column].clone()).collect()
}

#[test]
fn a_new_column_begins_a_part_and_no_header_changes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |messages: &[_]| write(&mut Csv::default(), folder.path(), messages).unwrap();
    write(&[message(1, 1, r#"{"t":1,"tags":["a\nb","\"c\","]}"#), message(2, 1, r#"{"t":null}"#)]);
    write(&[message(3, 1, r#"{"t":-0.0}"#), message(4, 1, r#"{"t":5,"v":{"x":true}}"#)]);
    write(&[message(5, 1, r#"{"v":{"x":false}}"#)]);
    let first = read(folder.path(), "2026-01-01.b.1.csv");
    assert_eq!(cells(&first, "/t"), ["1", ""]);
    assert_eq!(cells(&first, "/tags/0"), ["a\\nb", ""]);
    assert_eq!(cells(&first, "/tags/1"), ["\"c\",", ""]);
    let second = read(folder.path(), "2026-01-01.b.2.csv");
    assert_eq!(cells(&second, "id"), ["3", "4", "5"]);
    assert_eq!(cells(&second, "/t"), ["-0.0", "5", ""]);
    assert_eq!(cells(&second, "/v/x"), ["", "true", "false"]);
    assert_eq!(cells(&second, "value")[1], r#"{"t":5,"v":{"x":true}}"#);
    assert!(!folder.path().join("2026-01-01.b.3.csv").exists());
}

#[test]
fn no_text_is_a_formula_and_numbers_stay_numbers() {
    let values = [
        r#"{"t":"=1+1"}"#,
        r#"{"t":"+a"}"#,
        r#"{"t":"-2+3"}"#,
        r#"{"t":"@x"}"#,
        r#"{"t":"\t=1"}"#,
        r#"{"t":"\r=1"}"#,
        r#"{"t":-1.5}"#,
        r#"{"t":"-1.5"}"#,
        r#"{"t":"a=1"}"#,
    ];
    let messages: Vec<_> = values.iter().zip(1..).map(|(json, id)| message(id, 1, json)).collect();
    let cells_of = |formulas| {
        let folder = tempfile::tempdir().unwrap();
        write(&mut Csv::new(Style { formulas, bom: false }), folder.path(), &messages).unwrap();
        cells(&read(folder.path(), "2026-01-01.b.1.csv"), "/t")
    };
    let escaped = ["'=1+1", "'+a", "'-2+3", "'@x", "'\t=1", "'\\r=1", "-1.5", "-1.5", "a=1"];
    assert_eq!(cells_of(Formulas::Escape), escaped);
    let kept = ["=1+1", "+a", "-2+3", "@x", "\t=1", "\\r=1", "-1.5", "-1.5", "a=1"];
    assert_eq!(cells_of(Formulas::Keep), kept);
}

#[test]
fn a_key_with_a_line_break_is_one_column_also_for_who_opens_the_file_again() {
    let folder = tempfile::tempdir().unwrap();
    let write = |message| write(&mut Csv::default(), folder.path(), &[message]).unwrap();
    write(message(1, 1, r#"{"t":1,"a\nb\r":2,"v":3}"#));
    write(message(2, 1, r#"{"v":4}"#));
    write(message(3, 1, r#"{"a":5}"#));
    let first = read(folder.path(), "2026-01-01.b.1.csv");
    assert_eq!(
        (cells(&first, "/a\\nb\\r"), cells(&first, "/v")),
        (vec!["2".into(), "".into()], vec!["3".into(), "4".into()])
    );
    assert_eq!(cells(&read(folder.path(), "2026-01-01.b.2.csv"), "/a"), ["5"]);
}

#[test]
fn each_schema_has_a_file_and_a_message_without_one_has_another() {
    let folder = tempfile::tempdir().unwrap();
    let named = |id, schema: &str| {
        let mut named = message(id, 1, "1");
        named.stored.schema = Some(schema.into());
        named
    };
    write(&mut Csv::default(), folder.path(), &[named(1, "a.1"), message(2, 1, "7"), named(3, "1")]).unwrap();
    for (file, id) in [("a.1.1", "1"), ("1", "2"), ("1.1", "3")] {
        let records = read(folder.path(), &format!("2026-01-01.b.{file}.csv"));
        assert_eq!(cells(&records, "id"), [id]);
    }
    assert_eq!(cells(&read(folder.path(), "2026-01-01.b.1.csv"), "(all)"), ["7"]);
}

#[test]
fn messages_whose_keys_are_never_the_same_stop_making_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = Csv::default();
    for id in 1..=i64::from(PARTS) + 20 {
        write(&mut csv, folder.path(), &[message(id, 1, &format!("{{\"k{id}\":1}}"))]).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count() as u32, PARTS);
    let last = read(folder.path(), &format!("2026-01-01.b.{PARTS}.csv"));
    assert_eq!(last.len(), 21);
    assert_eq!(last[20]["value"], "{\"k120\":1}");
}

#[test]
fn what_was_torn_is_written_again_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<_> = (1..=6).map(|id| message(id, 1, &format!("{{\"t{}\":\"a,\\\"b\"}}", id / 4))).collect();
    let mut csv = Csv::default();
    write(&mut csv, folder.path(), &all[..3]).unwrap();
    write(&mut csv, folder.path(), &all[3..]).unwrap();
    let whole = |part: u32| std::fs::read(folder.path().join(format!("2026-01-01.b.{part}.csv"))).unwrap();
    let (first, second) = (whole(1), whole(2));
    for torn in 0..=second.len() {
        std::fs::write(folder.path().join("2026-01-01.b.2.csv"), &second[..torn]).unwrap();
        write(&mut Csv::default(), folder.path(), &all).unwrap();
        assert_eq!((&whole(1), &whole(2)), (&first, &second), "{torn}");
    }
    for torn in 0..=first.len() {
        std::fs::remove_file(folder.path().join("2026-01-01.b.2.csv")).unwrap();
        std::fs::write(folder.path().join("2026-01-01.b.1.csv"), &first[..torn]).unwrap();
        let mut csv = Csv::default();
        write(&mut csv, folder.path(), &all[..3]).unwrap();
        write(&mut csv, folder.path(), &all[3..]).unwrap();
        assert_eq!((&whole(1), &whole(2)), (&first, &second), "{torn}");
    }
}

#[test]
fn a_byte_order_mark_is_at_the_head_of_every_part_and_of_no_column_wherever_a_file_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<_> = (1..=4).map(|id| message(id, 1, &format!("{{\"t{}\":\"é\"}}", id / 3))).collect();
    let write = |messages: &[_]| {
        let style = Style { bom: true, ..Style::default() };
        write(&mut Csv::new(style), folder.path(), messages).unwrap();
    };
    write(&all[..2]);
    write(&all);
    let whole = |part: u32| std::fs::read(folder.path().join(format!("2026-01-01.b.{part}.csv"))).unwrap();
    let (first, second) = (whole(1), whole(2));
    for (part, ids) in [(1, ["1", "2"]), (2, ["3", "4"])] {
        let bytes = whole(part);
        assert!(bytes.starts_with(&[BOM, b"name,id,"].concat()));
        assert_eq!(bytes.windows(BOM.len()).filter(|at| *at == BOM).count(), 1);
        assert_eq!(cells(&read(folder.path(), &format!("2026-01-01.b.{part}.csv")), "id"), ids);
    }
    for torn in 0..=second.len() {
        std::fs::write(folder.path().join("2026-01-01.b.2.csv"), &second[..torn]).unwrap();
        write(&all);
        assert_eq!((&whole(1), &whole(2)), (&first, &second), "{torn}");
    }
    for torn in 0..=first.len() {
        std::fs::remove_file(folder.path().join("2026-01-01.b.2.csv")).unwrap();
        std::fs::write(folder.path().join("2026-01-01.b.1.csv"), &first[..torn]).unwrap();
        write(&all[..2]);
        write(&all);
        assert_eq!((&whole(1), &whole(2)), (&first, &second), "{torn}");
    }
    // The setting of a file that exists does not change.
    super::super::tests::write(&mut Csv::default(), folder.path(), &[message(5, 1, "{\"t1\":\"x\"}")])
        .unwrap();
    assert_eq!(cells(&read(folder.path(), "2026-01-01.b.2.csv"), "id"), ["3", "4", "5"]);
}
