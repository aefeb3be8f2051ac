use super::*;

/// A message of the buffer `b`, received at noon of the `day`th of January 2026.
pub fn message(id: i64, day: i64, json: &str) -> Message {
    let stored = dunnage_buffer::Message {
        id,
        buffer: "b".into(),
        stable_id: format!("mb-{id}"),
        device: "d".into(),
        received_at: (1_767_268_800 + (day - 1) * 86_400) * 1_000_000 + id,
        format: "json".into(),
        request: "r".into(),
        raw: bytes::Bytes::copy_from_slice(json.as_bytes()),
        json: json.into(),
        ..Default::default()
    };
    Message { stored, ..Message::default() }
}

/// Writes messages as a process that has not delivered any.
pub fn write(archive: &mut dyn Archive, folder: &Path, messages: &[Message]) -> Result<(), Failed> {
    super::write(archive, folder, messages, &AtomicI64::new(0))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn ids(file: &Path) -> Vec<i64> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| ndjson::identify(line.as_bytes()).unwrap()).collect()
}

#[test]
fn each_day_has_a_file_in_whatever_order_days_come() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/when/missing");
    let messages: Vec<_> = [(1, 2), (2, 1), (3, 2), (4, 3), (5, 1)]
        .iter()
        .map(|(id, day)| message(*id, *day, "{\"t\":1.50}"))
        .collect();
    let mut archive = ndjson::Ndjson::default();
    write(&mut archive, &folder, &messages[..2]).unwrap();
    // All of them come again, as after a cursor that was not saved; then again in a new process.
    write(&mut archive, &folder, &messages).unwrap();
    write(&mut ndjson::Ndjson::default(), &folder, &messages).unwrap();
    assert_eq!(names(&folder), ["2026-01-01.b.ndjson", "2026-01-02.b.ndjson", "2026-01-03.b.ndjson"]);
    assert_eq!(ids(&folder.join("2026-01-01.b.ndjson")), [2, 5]);
    assert_eq!(ids(&folder.join("2026-01-02.b.ndjson")), [1, 3]);
    let line = std::fs::read_to_string(folder.join("2026-01-03.b.ndjson")).unwrap();
    assert_eq!(
        line,
        "{\"name\":\"mb-4\",\"id\":4,\"device\":\"d\",\"received_at\":\"2026-01-03T12:00:00.000004Z\",\
         \"format\":\"json\",\"schema\":null,\"link\":null,\"request\":\"r\",\"value\":{\"t\":1.50}}\n"
    );
}

#[test]
fn wherever_a_file_is_torn_messages_that_come_again_make_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<_> = (1..4).map(|id| message(id, 1, "[{},\"\\n\"]")).collect();
    write(&mut ndjson::Ndjson::default(), folder.path(), &messages).unwrap();
    let path = folder.path().join("2026-01-01.b.ndjson");
    let whole = std::fs::read(&path).unwrap();
    for torn in 0..whole.len() {
        std::fs::write(&path, &whole[..torn]).unwrap();
        write(&mut ndjson::Ndjson::default(), folder.path(), &messages).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole, "{torn}");
    }
}

/// Buffers of older versions have such times: from a clock, or from a header of a NATS message.
#[test]
fn a_time_outside_the_calendar_is_in_the_file_of_its_last_or_first_day() {
    for kind in [FileFormat::Ndjson, FileFormat::Csv, FileFormat::Parquet] {
        let folder = tempfile::tempdir().unwrap();
        let mut archive: Box<dyn Archive> = match kind {
            FileFormat::Ndjson => Box::new(ndjson::Ndjson::default()),
            FileFormat::Csv => Box::new(csv::Csv::default()),
            FileFormat::Parquet => Box::new(parquet::Parquet::new(Duration::ZERO)),
        };
        for (id, time) in [(1, i64::MAX), (2, 9_000_000_000_000_000_000), (3, i64::MIN)] {
            let mut message = message(id, 1, "1");
            message.stored.received_at = time;
            write(&mut *archive, folder.path(), &[message]).unwrap();
        }
        archive.tend(folder.path(), "b", &crate::source::NoCatalog, 0).unwrap();
        let names = names(folder.path());
        let days: Vec<_> = names.iter().map(|name| &name[..10]).collect();
        assert_eq!(days, ["1970-01-01", "9999-12-31"], "{names:?}");
        assert!(kind != FileFormat::Parquet || names.iter().all(|name| name.ends_with(".parquet")));
    }
}

/// The power failed during an append: its end is on disk, but a part before it is not, and the cursor is not saved. The redelivered
/// rows fill the hole, wherever it is.
#[test]
fn a_hole_in_an_append_is_noticed_in_every_kind_of_file() {
    type Make = fn() -> Box<dyn Archive>;
    let kinds: [(Make, &str); 3] = [
        (|| Box::new(ndjson::Ndjson::default()), "2026-01-01.b.ndjson"),
        (|| Box::new(csv::Csv::default()), "2026-01-01.b.1.csv"),
        (|| Box::new(parquet::Parquet::new(Duration::from_secs(3600))), "2026-01-01.b.open.ndjson"),
    ];
    let messages: Vec<_> = (1..=30).map(|id| message(id, 1, "{\"t\":[1.5,\"x\"]}")).collect();
    for (make, name) in kinds {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        write(&mut *make(), folder.path(), &messages[..10]).unwrap();
        let durable = std::fs::metadata(&path).unwrap().len() as usize;
        write(&mut *make(), folder.path(), &messages).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for (from, length) in (durable..whole.len()).step_by(61).flat_map(|at| [(at, 1), (at, 64), (at, 700)])
        {
            let mut torn = whole.clone();
            torn[from..].iter_mut().take(length).for_each(|byte| *byte = 0);
            std::fs::write(&path, &torn).unwrap();
            super::write(&mut *make(), folder.path(), &messages[10..], &AtomicI64::new(10)).unwrap();
            assert!(std::fs::read(&path).unwrap() == whole, "{name}: {from} {length}");
        }
        // Nothing was synchronized yet, not even the header.
        for from in (0..200).step_by(9) {
            let mut torn = whole.clone();
            torn[from..][..50].fill(0);
            std::fs::write(&path, &torn).unwrap();
            write(&mut *make(), folder.path(), &messages).unwrap();
            assert!(std::fs::read(&path).unwrap() == whole, "{name}: {from}");
        }
    }
}

/// Sealing may be the first that happens to a file after the power failed.
#[test]
fn a_hole_in_lines_comes_into_no_parquet_file() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<_> = (1..=30).map(|id| message(id, 1, "1")).collect();
    let mut archive = parquet::Parquet::new(Duration::ZERO);
    write(&mut archive, folder.path(), &messages).unwrap();
    let path = folder.path().join("2026-01-01.b.open.ndjson");
    let mut torn = std::fs::read(&path).unwrap();
    let middle = torn.len() / 2;
    torn[middle..][..300].fill(0);
    std::fs::write(&path, &torn).unwrap();
    let mut archive = parquet::Parquet::new(Duration::ZERO);
    archive.tend(folder.path(), "b", &crate::source::NoCatalog, 0).unwrap();
    write(&mut archive, folder.path(), &messages).unwrap();
    archive.tend(folder.path(), "b", &crate::source::NoCatalog, 0).unwrap();
    let names = names(folder.path());
    let [first, second] = &names[..] else { panic!("{names:?}") };
    let last: i64 = first.split(['-', '.']).rev().nth(1).unwrap().parse().unwrap();
    assert_eq!(
        (&**first, &**second),
        (&*format!("2026-01-01.b.1-{last}.parquet"), &*format!("2026-01-01.b.{}-30.parquet", last + 1))
    );
}

#[test]
fn a_file_that_was_moved_away_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = ndjson::Ndjson::default();
    let path = folder.path().join("2026-01-01.b.ndjson");
    write(&mut archive, folder.path(), &[message(1, 1, "1")]).unwrap();
    std::fs::rename(&path, folder.path().join("moved")).unwrap();
    write(&mut archive, folder.path(), &[message(2, 1, "2")]).unwrap();
    assert_eq!(ids(&path), [2]);
    assert_eq!(ids(&folder.path().join("moved")), [1]);
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_full_disk_did_not_take_is_taken_later_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("2026-01-02.b.ndjson");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let messages = [message(1, 1, "1"), message(2, 2, "2"), message(3, 3, "3")];
    let mut archive = ndjson::Ndjson::default();
    let failed = write(&mut archive, folder.path(), &messages).unwrap_err();
    assert_eq!((failed.delivered, failed.kind), (0, crate::FailureKind::Retry(None)));
    std::fs::remove_file(&path).unwrap();
    write(&mut archive, folder.path(), &messages).unwrap();
    for day in 1..4 {
        assert_eq!(ids(&folder.path().join(format!("2026-01-0{day}.b.ndjson"))), [day]);
    }
}

#[test]
fn a_message_that_no_file_can_have_is_refused_after_those_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = ndjson::Ndjson::default();
    let messages = [message(1, 1, "1"), message(2, 1, "{")];
    let failed = write(&mut archive, folder.path(), &messages).unwrap_err();
    assert_eq!((failed.delivered, failed.kind), (1, crate::FailureKind::Refused));
    assert_eq!(ids(&folder.path().join("2026-01-01.b.ndjson")), [1]);
}

#[test]
fn files_have_the_names_and_tags_of_registered_devices() {
    let record = r#"{"device":"d","name":"Hive, 7","tags":{"site":"pisa"}}"#;
    let record = dunnage_register::Record::from_json(record).unwrap();
    let message = Message { record: Some(record.into()), ..message(1, 1, "{\"t\":1}") };
    let folder = tempfile::tempdir().unwrap();
    write(&mut ndjson::Ndjson::default(), folder.path(), std::slice::from_ref(&message)).unwrap();
    let line = std::fs::read_to_string(folder.path().join("2026-01-01.b.ndjson")).unwrap();
    assert!(
        line.contains(r#""device":"d","device_name":"Hive, 7","tags":{"site":"pisa"},"received_at""#),
        "{line}"
    );
}

#[test]
fn a_dead_letter_with_later_messages_in_the_file_is_refused_and_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let late = Message { is_dead_letter: true, ..message(2, 1, "2") };
    let mut archive = ndjson::Ndjson::default();
    let durable_to = AtomicI64::new(0);
    let mut write = |messages: &[Message]| super::write(&mut archive, folder.path(), messages, &durable_to);
    write(&[message(1, 1, "1"), message(3, 1, "3")]).unwrap();
    let failed = write(&[late, message(4, 1, "4")]).unwrap_err();
    assert_eq!((failed.kind, failed.delivered), (crate::FailureKind::Refused, 0));
    assert!(failed.reason.contains("later messages"), "{}", failed.reason);
    write(&[message(4, 1, "4")]).unwrap();
    assert_eq!(ids(&folder.path().join("2026-01-01.b.ndjson")), [1, 3, 4]);
}
