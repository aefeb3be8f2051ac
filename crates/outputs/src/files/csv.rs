//! CSV files: one for each day and schema, `2026-01-31.BUFFER.SCHEMA.1.csv`.
//!
//! The header of a file never changes. When a message has columns that are not in it, the next part (`.2.csv`) begins, with all columns so
//! far and the new ones. In the last part, values without a column are in `value` alone.

use super::{
    Archive,
    growing::{Growing, Lines},
    new_rows,
};
use crate::records::{
    columns::{Columns, FIRST},
    csv::{Leaves, Style, column, some_leaves, write_header, write_records},
    row::{Row, group},
};
use ::csv::{ReaderBuilder, StringRecord};
use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

/// Largest number of parts. Without a limit, messages whose keys never repeat would make a file each.
const PARTS: u32 = 100;
/// Largest number of files whose state is cached.
const REMEMBERED: usize = 256;

/// The archive, with the cached last part of each file, by the path without the part.
#[derive(Default)]
pub struct Csv {
    parts: HashMap<PathBuf, Part>,
    style: Style,
}

/// The last part of a file.
struct Part {
    number: u32,
    file: Growing,
    /// The value columns. Empty until the header is written.
    columns: Columns,
    last_id: i64,
}

impl Csv {
    /// Creates an archive that writes in the style `style`.
    pub fn new(style: Style) -> Csv {
        Csv { parts: HashMap::new(), style }
    }
}

impl Archive for Csv {
    fn write(&mut self, folder: &Path, rows: &[Row<'_>], durable_to: i64) -> io::Result<()> {
        let key = |row: &Row<'_>| {
            let schema = row.message.schema.as_ref().map_or(String::new(), |schema| format!(".{schema}"));
            folder.join(format!("{}.{}{schema}", row.day, row.message.buffer))
        };
        for (stem, rows) in group(rows, key) {
            if self.parts.len() > REMEMBERED {
                self.parts.retain(|_, part| part.file.is_torn());
            }
            let part = match self.parts.remove(&stem).filter(|part| part.file.is_as_left()) {
                Some(part) => part,
                None => Part::last(&stem, durable_to)?,
            };
            self.parts.entry(stem.clone()).or_insert(part).write(&stem, &rows, self.style)?;
        }
        Ok(())
    }
}

impl Part {
    /// Opens the last part, or the first if no part exists.
    fn last(stem: &Path, durable_to: i64) -> io::Result<Part> {
        let last = (1..PARTS).take_while(|n| path(stem, n + 1).exists()).count() as u32 + 1;
        let mut part = Part::open(stem, last, durable_to)?;
        let mut earlier = last;
        // A part may be empty if the process ended when it was begun.
        while part.last_id == 0 && earlier > 1 {
            earlier -= 1;
            let before = Part::open(stem, earlier, durable_to)?;
            part.last_id = before.last_id;
            if part.columns.names().is_empty() {
                part.columns = before.columns;
            }
        }
        Ok(part)
    }

    /// Opens a part, whose records up to the ID `durable_to` were synchronized.
    fn open(stem: &Path, number: u32, durable_to: i64) -> io::Result<Part> {
        let path = path(stem, number);
        let width =
            first_line(&path)?.filter(|line| is_header(line)).and_then(|line| Some(fields(&line)?.len()));
        // Without records that were synchronized, the header may not have been either.
        let id_of = |line: &[u8]| if is_header(line) { Some(i64::MAX) } else { identify(line) };
        // A hole is zeros. A text may have some, too; its record is then written once more.
        let is_whole =
            |line: &[u8]| !line.contains(&0) && fields(line).map(|fields| fields.len()) == width.or(Some(0));
        let whole = |line: &[u8]| {
            let id = if is_header(line) { Some(0) } else { identify(line) };
            id.filter(|_| is_whole(line))
        };
        let (file, last) = Growing::open(path, &Lines { durable_to, id_of, whole })?;
        let columns = if file.len() == 0 { Columns::default() } else { header(file.path())? };
        Ok(Part { number, file, columns, last_id: last.unwrap_or_default() })
    }

    fn write(&mut self, stem: &Path, rows: &[&Row<'_>], style: Style) -> io::Result<()> {
        let mut rows = new_rows(rows, self.last_id, self.file.path());
        while !rows.is_empty() {
            let leaves = some_leaves(rows)?;
            let (first, rest) = rows.split_at(leaves.len());
            self.append(stem, first, leaves, style)?;
            rows = rest;
        }
        Ok(())
    }

    /// Appends `rows`, of which there is at least one, with their columns. Begins the next part if there are new columns.
    fn append(
        &mut self,
        stem: &Path,
        rows: &[&Row<'_>],
        leaves: Vec<Leaves>,
        style: Style,
    ) -> io::Result<()> {
        let mut columns = self.columns.clone();
        leaves.iter().flatten().for_each(|(pointer, _)| columns.add(pointer));
        if self.file.len() > 0 && columns.names().len() > self.columns.names().len() {
            if self.number < PARTS {
                let none = |_: &[u8]| None;
                let lines = Lines { durable_to: 0, id_of: none, whole: none };
                let (file, _) = Growing::open(path(stem, self.number + 1), &lines)?;
                (self.number, self.file) = (self.number + 1, file);
            } else {
                columns = self.columns.clone();
            }
        }
        let is_new = self.file.len() == 0;
        self.file.append(|to| {
            if is_new {
                write_header(to, &columns, style)?;
            }
            write_records(to, rows, leaves, &columns, style)
        })?;
        self.last_id = rows.last().map_or(self.last_id, |last| last.message.id);
        self.columns = columns;
        Ok(())
    }
}

fn path(stem: &Path, part: u32) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(format!(".{part}.csv"));
    path.into()
}

/// Returns the message ID of a line, or `None` if it is not a complete record.
fn identify(line: &[u8]) -> Option<i64> {
    let record = fields(line)?;
    // A truncated record has too few fields, or incomplete JSON.
    serde_json::from_str::<serde::de::IgnoredAny>(record.get(FIRST.len() - 1)?).ok()?;
    record.get(1)?.parse().ok()
}

fn is_header(line: &[u8]) -> bool {
    fields(line).is_some_and(|fields| fields.iter().take(FIRST.len()).eq(FIRST))
}

fn fields(line: &[u8]) -> Option<StringRecord> {
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line);
    let mut record = StringRecord::new();
    reader.read_record(&mut record).ok()?.then_some(record)
}

/// Returns the value columns in the header of a file.
fn header(file: &Path) -> io::Result<Columns> {
    let fields = first_line(file)?.and_then(|line| fields(&line)).unwrap_or_default();
    let pointer = |name| if name == column("") { "" } else { name };
    Ok(Columns::of(fields.iter().skip(FIRST.len()).map(pointer)))
}

/// Returns the first line of a file; `None` if the file does not exist.
fn first_line(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    Ok(Some(line))
}

#[cfg(test)]
mod tests;
