//! Terminal tables without rules.

use anstyle::Style;
use comfy_table::{CellAlignment, Row, Table, presets};
use std::io::{self, Write};

const DIM: Style = Style::new().dimmed();

/// A column: its heading and alignment. Numbers are right-aligned.
pub type Column = (&'static str, CellAlignment);

/// A column of text.
pub const fn text(heading: &'static str) -> Column {
    (heading, CellAlignment::Left)
}

/// A column of numbers.
pub const fn number(heading: &'static str) -> Column {
    (heading, CellAlignment::Right)
}

/// Writes `rows` under the headings of `columns`, two spaces apart.
pub fn write(
    output: &mut impl Write,
    columns: &[Column],
    rows: impl IntoIterator<Item = impl Into<Row>>,
) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    table.set_header(columns.iter().map(|(heading, _)| *heading));
    table.add_rows(rows);
    for ((index, column), (_, alignment)) in table.column_iter_mut().enumerate().zip(columns) {
        column.set_padding((if index > 0 { 2 } else { 0 }, 0));
        column.set_cell_alignment(*alignment);
    }
    for (index, line) in table.lines().enumerate() {
        let style = if index == 0 { DIM } else { Style::new() };
        writeln!(output, "{style}{}{style:#}", line.trim_end())?;
    }
    Ok(())
}
