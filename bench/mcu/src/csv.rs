//! The figures as CSV.

use crate::{
    Failure,
    figures::{Figures, Payload},
    payloads::Group,
    results::Record,
    sizes::Sizes,
};
use serde_json::Value;
use std::{io::Write, path::Path};

/// The fields of [`Record`].
const COLUMNS: [&str; 18] = [
    "record",
    "suite",
    "target",
    "payload",
    "format",
    "library",
    "version",
    "operation",
    "metric",
    "value",
    "unit",
    "repetitions",
    "environment",
    "options",
    "floats",
    "source",
    "reference",
    "note",
];

/// Writes every row, measured or quoted, to `path`.
pub fn write(rows: &[Record], path: &Path) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_path(path)?;
    writer.write_record(COLUMNS)?;
    for row in rows {
        let fields = serde_json::to_value(row)?;
        let text = |name: &str| match &fields[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        writer.write_record(COLUMNS.map(text))?;
    }
    Ok(writer.flush()?)
}

/// Writes the essential figures with a line per payload: the bytes in each format, and our library's counts on `target`.
pub fn summary(
    figures: &Figures,
    groups: &[Group],
    target: &str,
    counts: &str,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "name,target,unit,encode,decode,bind,bytesPson,bytesMsgPack,bytesCbor,bytesJson")?;
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        let Some(Sizes { pson, msgpack, cbor, json }) = Sizes::of(&payload.value) else { continue };
        let [encode, decode, bind] = ["encode", "decode", "bind"].map(|operation| {
            let ours = figures.ours_and_best(target, operation, counts, Payload::One(&payload.name)).0;
            ours.map_or(String::new(), |count| count.to_string())
        });
        let name = &payload.name;
        writeln!(out, "{name},{target},{counts},{encode},{decode},{bind},{pson},{msgpack},{cbor},{json}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{figures::tests::row, payloads::Payload as Message};

    #[test]
    fn a_line_has_the_bytes_and_the_measured_cycles() {
        let rows = [row("dunnage", "door", "encode", 20.0), row("dunnage", "door", "bind", 40.0)];
        let value = serde_json::from_str(r#"{"open":true}"#).expect("it is JSON");
        let groups = [Group { name: "door".into(), payloads: vec![Message { name: "door".into(), value }] }];
        let mut out = Vec::new();
        summary(&Figures::new(&rows), &groups, "atmega328p", "cycles", &mut out)
            .expect("a vector takes everything");
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(text.lines().nth(1), Some("door,atmega328p,cycles,20,,40,7,7,7,13"));
    }

    #[test]
    fn rows_read_back_equal_the_written_rows() {
        let folder = std::env::temp_dir().join(format!("dunnage-bench-mcu-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a place for temporary files");
        let path = folder.join("rows.csv");
        let rows = vec![row("a", "Test05", "encode", 2.5), row("dunnage", "x, y", "decode", 3.0)];
        write(&rows, &path).expect("it can be written");
        let read: Vec<Record> = csv::Reader::from_path(&path)
            .and_then(|mut reader| reader.deserialize().collect())
            .expect("it can be read");
        std::fs::remove_dir_all(&folder).expect("it is ours");
        assert_eq!(read, rows);
    }
}
