//! The benchmark as a terminal table.

use super::{Outcome, advice, numbers::time};
use crate::output::{WIDTH, bar, bytes, fill, printable};
use anstyle::Style;
use comfy_table::{Cell, CellAlignment, Color, Table, presets};
use dunnage_measure::Measured;
use std::fmt::Write;

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
/// Width of the bars in columns.
const BAR: usize = 8;

/// Renders the table with ANSI colours.
pub fn render(outcome: &Outcome) -> String {
    let mut out = String::new();
    let messages = match outcome.messages.values.len() {
        1 => String::new(),
        many => format!(" on average, {many} messages"),
    };
    let _ = writeln!(out, "{BOLD}{} B{BOLD:#} as compact JSON{messages}\n", bytes(outcome.json_bytes));
    for (index, line) in table(outcome).lines().enumerate() {
        // The heading is two lines high.
        let style = if index < 2 { DIM } else { Style::new() };
        let _ = writeln!(out, "{style}{}{style:#}", line.trim_end());
    }
    for row in &outcome.rows {
        if let Err(impossible) = &row.outcome {
            let place = outcome.messages.place(impossible.message);
            let reason = printable(&format!("{place}: {}", impossible.error));
            for line in fill(&format!("{} -", row.format), " ", reason.split(' ').map(str::to_owned), WIDTH) {
                let _ = writeln!(out, "{DIM}{line}{DIM:#}");
            }
        }
    }
    out.push('\n');
    for sentence in advice::sentences(outcome) {
        let mut words = sentence.split(' ').map(str::to_owned);
        let first = words.next().unwrap_or_default();
        for line in fill(&first, " ", words, WIDTH) {
            let _ = writeln!(out, "{}", line.trim_start());
        }
    }
    out
}

fn table(outcome: &Outcome) -> Table {
    let measured = || outcome.rows.iter().filter_map(|row| Some((&row.format, row.outcome.as_ref().ok()?)));
    let has_dictionary = measured().any(|(_, measured)| measured.dictionary_bytes.is_some());
    let most = measured().map(|(_, measured)| measured.bytes).fold(1.0, f64::max);
    let slowest = measured().map(|(_, measured)| total_ns(measured)).fold(1.0, f64::max);

    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    let mut header: Vec<String> =
        ["\nformat", "\nbytes", "\nsize", "\ngzip", "\nzstd"].map(str::to_owned).into();
    if has_dictionary {
        header.push("zstd,\ndict.".to_owned());
    }
    header.extend(["\nencode", "\ndecode", "\ntime", "loss-\nless"].map(str::to_owned));
    table.set_header(header);
    for (format, measured) in measured() {
        let mut cells = vec![
            Cell::new(format),
            Cell::new(bytes(measured.bytes)),
            Cell::new(bar(measured.bytes / most, BAR)).fg(Color::DarkCyan),
            Cell::new(bytes(measured.gzip_bytes)),
            Cell::new(bytes(measured.zstd_bytes)),
        ];
        if has_dictionary {
            cells.push(Cell::new(measured.dictionary_bytes.map(bytes).unwrap_or_default()));
        }
        cells.extend([
            Cell::new(time(measured.encode)),
            Cell::new(time(measured.decode)),
            Cell::new(bar(total_ns(measured) / slowest, BAR)).fg(Color::DarkYellow),
            Cell::new(if measured.lossless { "yes" } else { "no" }),
        ]);
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), 0));
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    // Bars begin at the left.
    for bars in [2, table.column_count() - 2] {
        if let Some(column) = table.column_mut(bars) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    table
}

fn total_ns(measured: &Measured) -> f64 {
    measured.encode.median_ns + measured.decode.median_ns
}
