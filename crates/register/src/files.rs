//! Records as files: CSV with a header, and NDJSON.
//!
//! The columns of CSV are the fields of a record. A tag has a column `tag.KEY`. External IDs have columns `external_id`, `external_id.2`,
//! and so on. An empty cell is a field that is not set.

use crate::{Edit, Record, Register};
use serde::Serialize;
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};
use utoipa::ToSchema;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// Comma-separated values with a header.
    Csv,
    /// A JSON object on each line.
    Ndjson,
}

/// A mistake in a file. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct FileError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, with the field where one is.
    pub message: String,
}

fn error(line: u64, message: impl Into<String>) -> FileError {
    FileError { line, message: message.into() }
}

/// Reads the records of a file.
///
/// # Errors
///
/// The first line that is not a valid record, that repeats a device, or whose device claims an ID of another one, in the file or in
/// `register`.
pub fn read(bytes: &[u8], format: FileFormat, register: &Register) -> Result<Vec<Edit>, FileError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let records = match format {
        FileFormat::Csv => read_csv(bytes)?,
        FileFormat::Ndjson => read_ndjson(bytes)?,
    };
    let mut first: HashMap<&str, u64> = HashMap::with_capacity(records.len());
    for (line, record) in &records {
        if let Some(before) = first.insert(&record.device, *line) {
            return Err(error(*line, format!("device: {:?} is in line {before} already", record.device)));
        }
    }
    drop(first);
    let (lines, edits): (Vec<_>, Vec<_>) =
        records.into_iter().map(|(line, record)| (line, Edit::set(record))).unzip();
    register.check(&edits).map_err(|conflict| error(lines[conflict.edit], conflict.to_string()))?;
    Ok(edits)
}

fn read_ndjson(bytes: &[u8]) -> Result<Vec<(u64, Record)>, FileError> {
    let mut records = Vec::new();
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let text = std::str::from_utf8(text).map_err(|_| error(line, "the text is not UTF-8"))?;
        if !text.trim().is_empty() {
            records.push((line, Record::from_json(text).map_err(|e| error(line, e))?));
        }
    }
    Ok(records)
}

/// The meaning of a column.
enum Column {
    Field(&'static str),
    Tag(String),
    ExternalId,
}

/// The columns of a file of CSV, besides those of tags and external IDs.
const FIELDS: [&str; 8] =
    ["device", "name", "profile", "latitude", "longitude", "interval_seconds", "notes", "disabled"];

fn column(name: &str) -> Option<Column> {
    if let Some(field) = FIELDS.iter().find(|field| **field == name) {
        return Some(Column::Field(field));
    }
    if let Some(key) = name.strip_prefix("tag.") {
        return Some(Column::Tag(key.into()));
    }
    let rest = name.strip_prefix("external_id")?;
    let is_numbered = |rest: &str| rest.strip_prefix('.').is_some_and(|n| n.parse::<u8>().is_ok());
    (rest.is_empty() || is_numbered(rest)).then_some(Column::ExternalId)
}

fn read_csv(bytes: &[u8]) -> Result<Vec<(u64, Record)>, FileError> {
    let mut rows = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let wrong = |e: csv::Error| {
        let line = e.position().map_or(1, csv::Position::line);
        match e.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                error(line, format!("{len} cells; the header has {expected_len}"))
            }
            csv::ErrorKind::Utf8 { .. } => error(line, "the text is not UTF-8"),
            _ => error(line, e.to_string()),
        }
    };
    let names: Vec<String> = rows.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    let columns = columns(&names)?;
    let mut records = Vec::new();
    let mut row = csv::StringRecord::new();
    while rows.read_record(&mut row).map_err(wrong)? {
        let line = row.position().map_or(0, |position| line_of(bytes, position));
        records.push((line, read_row(&row, &names, &columns).map_err(|message| error(line, message))?));
    }
    Ok(records)
}

/// Returns the line of a row. The position of a row is before the empty lines above it.
fn line_of(bytes: &[u8], position: &csv::Position) -> u64 {
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX).min(bytes.len());
    let ends = bytes[from..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + ends.filter(|byte| **byte == b'\n').count() as u64
}

fn columns(names: &[String]) -> Result<Vec<Column>, FileError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(error(1, format!("the column {name:?} is there twice")));
        }
    }
    if !names.iter().any(|name| name == "device") {
        return Err(error(1, "the header has no column \"device\""));
    }
    let known = |name: &String| {
        column(name).ok_or_else(|| {
            let all = FIELDS.join(", ");
            error(
                1,
                format!(
                    "unknown column {name:?}; columns are {all}, external_id, external_id.2, …, and tag.KEY"
                ),
            )
        })
    };
    names.iter().map(known).collect()
}

fn read_row(row: &csv::StringRecord, names: &[String], columns: &[Column]) -> Result<Record, String> {
    let mut record = Record::default();
    for ((cell, name), column) in row.iter().zip(names).zip(columns).filter(|((cell, _), _)| !cell.is_empty())
    {
        match column {
            Column::Tag(key) => drop(record.tags.insert(key.clone(), cell.into())),
            Column::ExternalId => record.external_ids.push(cell.into()),
            Column::Field(field) => {
                set(&mut record, field, cell)
                    .map_err(|wanted| format!("{name}: {cell:?} is not {wanted}"))?;
            }
        }
    }
    record.check().map_err(|e| e.to_string())?;
    Ok(record)
}

/// Sets a field from its cell. An error says what the cell should be.
fn set(record: &mut Record, field: &str, cell: &str) -> Result<(), &'static str> {
    let number = || cell.parse::<f64>().map(Some).map_err(|_| "a number");
    match field {
        "device" => record.device = cell.into(),
        "name" => record.name = Some(cell.into()),
        "profile" => record.profile = Some(cell.into()),
        "latitude" => record.latitude = number()?,
        "longitude" => record.longitude = number()?,
        "interval_seconds" => {
            record.interval_seconds = Some(cell.parse().map_err(|_| "a whole number")?);
        }
        "notes" => record.notes = Some(cell.into()),
        _ => record.disabled = cell.parse().map_err(|_| "true or false")?,
    }
    Ok(())
}

/// Writes `records` as a file. [`read`] reads the same records from it.
///
/// # Errors
///
/// The writer of CSV fails.
pub fn write(records: &[Arc<Record>], format: FileFormat) -> Result<Vec<u8>, csv::Error> {
    if format == FileFormat::Ndjson {
        return Ok(records.iter().map(|record| record.to_json() + "\n").collect::<String>().into_bytes());
    }
    let keys: BTreeSet<&str> =
        records.iter().flat_map(|record| record.tags.iter().map(|(key, _)| key)).collect();
    let ids = records.iter().map(|record| record.external_ids.len()).max().unwrap_or_default();
    let mut rows = csv::Writer::from_writer(Vec::new());
    let id_name =
        |at: usize| if at == 0 { "external_id".to_owned() } else { format!("external_id.{}", at + 1) };
    let names = FIELDS.iter().map(|field| (*field).to_owned());
    let names = names.chain((0..ids).map(id_name)).chain(keys.iter().map(|key| format!("tag.{key}")));
    rows.write_record(names)?;
    for record in records {
        rows.write_record(cells(record, ids, &keys))?;
    }
    rows.into_inner().map_err(|e| e.into_error().into())
}

fn cells(record: &Record, ids: usize, keys: &BTreeSet<&str>) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let mut cells = vec![
        record.device.clone(),
        text(&record.name),
        text(&record.profile),
        number(record.latitude),
        number(record.longitude),
        record.interval_seconds.map_or_else(String::new, |seconds| seconds.to_string()),
        text(&record.notes),
        if record.disabled { "true".into() } else { String::new() },
    ];
    cells.extend((0..ids).map(|at| record.external_ids.get(at).cloned().unwrap_or_default()));
    cells.extend(keys.iter().map(|key| record.tags.get(key).unwrap_or_default().to_owned()));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_new(text: &str, format: FileFormat) -> Result<Vec<Edit>, String> {
        read(text.as_bytes(), format, &Register::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_written_is_read_again_as_both_formats() {
        let csv = "\u{feff}device,name,external_id,external_id.2,latitude,longitude,interval_seconds,disabled,tag.site,tag.kind,notes,profile\n\
            hive 7,\"Hive, seven\",70b3d57ed0000001,868,43.7,-10.25,900,true,pisa,soil,\"a\nb\",hives\n\
            \"a;b\",,,,,,,,,,,\n";
        let register = Register::default();
        let edits = read(csv.as_bytes(), FileFormat::Csv, &register).unwrap();
        let first = edits[0].record.as_ref().unwrap();
        assert_eq!((first.tags.get("site"), first.external_ids.len()), (Some("pisa"), 2));
        register.apply(edits);
        for format in [FileFormat::Csv, FileFormat::Ndjson] {
            let written = write(&register.all(), format).unwrap();
            let again = Register::default();
            again.apply(read(&written, format, &again).unwrap());
            assert_eq!(
                write(&again.all(), FileFormat::Ndjson).unwrap(),
                write(&register.all(), FileFormat::Ndjson).unwrap()
            );
            // Records that are there already may be imported again.
            assert_eq!(read(&written, format, &register).unwrap().len(), 2);
        }
    }

    #[test]
    fn a_mistake_names_its_line_and_field() {
        for (text, error) in [
            ("", "line 1: the header has no column \"device\""),
            ("id,name\nx,y\n", "line 1: the header has no column \"device\""),
            ("device,naem\nx,y\n", "line 1: unknown column \"naem\"; columns are device, name"),
            ("device,name,name\nx,y,z\n", "line 1: the column \"name\" is there twice"),
            ("device,name\na,b\nc\n", "line 3: 1 cells; the header has 2"),
            ("device,latitude,longitude\na,north,1\n", "line 2: latitude: \"north\" is not a number"),
            ("device,latitude\na,1\n", "line 2: longitude: missing beside latitude"),
            ("device,disabled\na,yes\n", "line 2: disabled: \"yes\" is not true or false"),
            ("device\na\nb\n\r\n\na\n", "line 6: device: \"a\" is in line 2 already"),
            (
                "device,external_id\na,1\nb,1\n",
                "line 3: external_ids: \"1\" of the device \"b\" belongs to the device \"a\"",
            ),
            ("device,name\n,b\n", "line 2: device: \"\" must be 1 to 128 bytes"),
        ] {
            let found = read_new(text, FileFormat::Csv).unwrap_err();
            assert!(found.starts_with(error), "{text:?}: {found}");
        }
        for (text, error) in [
            ("{\"device\":\"a\"}\n{\"device\":\"b\"", "line 2: EOF while parsing"),
            ("{\"device\":\"a\"}\n\n{\"device\":\"a\"}\n", "line 3: device: \"a\" is in line 1 already"),
            ("{\"name\":\"a\"}", "line 1: missing field `device`"),
        ] {
            let found = read_new(text, FileFormat::Ndjson).unwrap_err();
            assert!(found.starts_with(error), "{text:?}: {found}");
        }
    }
}
