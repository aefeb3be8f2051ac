//! Records of CSV (RFC 4180), each in one line: the columns of every message, and then those of its parts.

use super::{
    columns::{Columns, FIRST, cost},
    row::Row,
};
use crate::leaves::{Leaf, flatten};
use ::csv::{Terminator, Writer, WriterBuilder};
use dunnage_base::clock;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    io::{self, Write},
};

/// The byte order mark of UTF-8. Spreadsheets that find none take a file for one in the encoding of their country.
pub const BOM: &[u8] = "\u{feff}".as_bytes();
/// How many bytes the parts of rows may take that are written at a time.
const AT_A_TIME: usize = 4 << 20;

/// The treatment of texts that look like a formula.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Formulas {
    /// An apostrophe is put before them.
    #[default]
    Escape,
    /// They are not changed.
    Keep,
}

/// How CSV is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// What to do with texts that look like a formula.
    pub formulas: Formulas,
    /// Whether a byte order mark is before the header.
    pub bom: bool,
}

/// The parts of a message.
pub type Leaves = Vec<(String, Leaf)>;

/// Takes the parts of the first of `rows`, as many as may be in memory at a time. Returns those of at least one row, unless there is none.
pub fn some_leaves(rows: &[&Row<'_>]) -> io::Result<Vec<Leaves>> {
    let (mut leaves, mut taken) = (Vec::new(), 0);
    while taken < AT_A_TIME
        && let Some(row) = rows.get(leaves.len())
    {
        let found = leaves_of(row)?;
        taken += cost(&found);
        leaves.push(found);
    }
    Ok(leaves)
}

/// Writes the header of a file with these columns.
pub fn write_header(to: &mut dyn Write, columns: &Columns, style: Style) -> io::Result<()> {
    if style.bom {
        to.write_all(BOM)?;
    }
    let mut lines = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(to);
    lines.write_record(FIRST.into_iter().chain(columns.names().iter().map(|name| column(name))))?;
    lines.flush()
}

/// Writes a record for each of `rows`, whose parts are `leaves`.
pub fn write_records(
    to: &mut dyn Write,
    rows: &[&Row<'_>],
    leaves: Vec<Leaves>,
    columns: &Columns,
    style: Style,
) -> io::Result<()> {
    let mut lines = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(to);
    for (row, leaves) in rows.iter().zip(leaves) {
        record(&mut lines, row, columns, (leaves, style.formulas))?;
    }
    lines.flush()
}

/// Returns the name of a column in the header. A message that is a single value has the empty pointer.
pub fn column(pointer: &str) -> &str {
    if pointer.is_empty() { "(all)" } else { pointer }
}

fn record(
    lines: &mut Writer<&mut dyn Write>,
    row: &Row<'_>,
    columns: &Columns,
    (leaves, formulas): (Leaves, Formulas),
) -> io::Result<()> {
    let message = row.message;
    let cells: HashMap<String, String> =
        leaves.into_iter().map(|(pointer, leaf)| (pointer, cell(leaf, formulas))).collect();
    let id = message.id.to_string();
    let device = cell(Leaf::Text(message.device.clone()), formulas);
    let text = |text: Option<String>| text.map_or_else(String::new, |text| cell(Leaf::Text(text), formulas));
    let device_name = text(message.device_name().map(str::to_owned));
    let tags = text(message.tags_json());
    let received_at = clock::rfc3339_micros(message.received_at);
    let first = [
        &*message.stable_id,
        &id,
        &device,
        &device_name,
        &tags,
        &received_at,
        &message.format,
        message.schema.as_deref().unwrap_or_default(),
        message.link.as_deref().unwrap_or_default(),
        &message.request,
        message.origin.as_deref().unwrap_or_default(),
        row.value.get(),
    ];
    let others = columns.names().iter().map(|name| cells.get(name).map_or("", String::as_str));
    lines.write_record(first.into_iter().chain(others))?;
    Ok(())
}

/// Returns the parts of a message. Their pointers are made to fit in one line, like the cells.
pub fn leaves_of(row: &Row<'_>) -> io::Result<Leaves> {
    let leaves = flatten(row.value)?.into_iter();
    Ok(leaves.map(|(pointer, leaf)| (one_line(pointer), leaf)).collect())
}

fn cell(leaf: Leaf, formulas: Formulas) -> String {
    match leaf {
        Leaf::Null => String::new(),
        Leaf::Bool(bool) => bool.to_string(),
        Leaf::Number(text) | Leaf::Empty(text) => text,
        Leaf::Text(text) => one_line(if formulas == Formulas::Escape { harmless(text) } else { text }),
    }
}

/// Escapes line breaks as JSON does. Each record is one line, so that line-based programs can read the file.
fn one_line(text: String) -> String {
    match text.contains(['\n', '\r']) {
        true => text.replace('\n', "\\n").replace('\r', "\\r"),
        false => text,
    }
}

/// Puts an apostrophe before a text that a spreadsheet would take for a formula. A number in a text stays as it is.
fn harmless(text: String) -> String {
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let number = || serde_json::from_str::<serde_json::Number>(&text).is_ok();
    match begins && !number() {
        true => format!("'{text}"),
        false => text,
    }
}
