//! The content of an object, from its messages. They are in memory, and an object is written once, so it needs no lines on disk before it and
//! no parts after it, as the files of the output to files do.

use super::about::About;
use crate::{
    Catalog, Message,
    records::{
        FileFormat,
        columns::Columns,
        csv::{self, Style, some_leaves, write_header, write_records},
        ndjson,
        parquet::Table,
        row::{Row, rows},
    },
};
use dunnage_base::hex::hex;
use sha2::{Digest, Sha256};
use std::io;

/// An object that is not stored yet.
pub struct Object {
    pub bytes: Vec<u8>,
    pub about: About,
    /// Values that do not fit the types of the schema.
    pub misfits: u64,
}

/// Writes `messages` as an object. There is at least one, all have one schema, and their IDs ascend.
pub fn encode(
    messages: &[Message],
    kind: FileFormat,
    style: Style,
    catalog: &dyn Catalog,
) -> io::Result<Object> {
    let (rows, end) = rows(messages);
    end.map_err(|failed| io::Error::other(failed.reason))?;
    let rows: Vec<&Row<'_>> = rows.iter().collect();
    let (bytes, misfits) = match kind {
        FileFormat::Ndjson => (lines(&rows)?, 0),
        FileFormat::Csv => (table(&rows, style)?, 0),
        FileFormat::Parquet => parquet(&rows, catalog)?,
    };
    let id = |row: Option<&&Row<'_>>| row.map_or(0, |row| row.message.id);
    let about = About {
        rows: rows.len() as u64,
        first: id(rows.first()),
        last: id(rows.last()),
        bytes: bytes.len() as u64,
        sha256: hex(&Sha256::digest(&bytes)),
    };
    Ok(Object { bytes, about, misfits })
}

fn lines(rows: &[&Row<'_>]) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    ndjson::write(rows, &mut lines)?;
    Ok(lines)
}

/// Writes CSV with a column for every part of any of `rows`, as far as there may be columns.
fn table(mut rows: &[&Row<'_>], style: Style) -> io::Result<Vec<u8>> {
    let (mut columns, mut bytes) = (Columns::default(), Vec::new());
    for row in rows {
        csv::leaves_of(row)?.iter().for_each(|(pointer, _)| columns.add(pointer));
    }
    write_header(&mut bytes, &columns, style)?;
    while !rows.is_empty() {
        let leaves = some_leaves(rows)?;
        let (some, rest) = rows.split_at(leaves.len());
        write_records(&mut bytes, some, leaves, &columns, style)?;
        rows = rest;
    }
    Ok(bytes)
}

/// Writes Parquet, and returns the number of values that do not fit the types of the schema.
fn parquet(rows: &[&Row<'_>], catalog: &dyn Catalog) -> io::Result<(Vec<u8>, u64)> {
    let lines = lines(rows)?;
    let table = Table::survey(|| Ok(&lines[..]), 0, catalog)?;
    let table = table.ok_or_else(|| io::Error::other("there are no messages"))?;
    Ok((table.write(&lines[..], Vec::new())?, table.misfits))
}
