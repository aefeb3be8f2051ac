//! The comparison as a terminal table, 80 columns wide.

use super::{Comparison, Outcome};
use crate::{
    link_id::limit_text,
    output::{WIDTH, bar, fill},
};
use anstyle::{AnsiColor, Style};
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use dunnage_links::Link;
use std::fmt::Write;

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();

/// Renders the table with ANSI colours.
pub fn render(comparison: &Comparison) -> String {
    let mut out = String::new();
    let Comparison { compact_bytes, spaced_bytes, .. } = comparison;
    let _ = writeln!(
        out,
        "{BOLD}{compact_bytes} B{BOLD:#} as compact JSON {DIM}({spaced_bytes} B with spaces after commas and colons){DIM:#}\n"
    );
    for (index, line) in table(comparison).lines().enumerate() {
        // The heading is two lines high.
        let style = if index < 2 { DIM } else { Style::new() };
        let _ = writeln!(out, "{style}{}{style:#}", line.trim_end());
    }
    impossible(comparison, &mut out);
    legend(comparison, &mut out);
    summary(comparison, &mut out);
    out
}

fn table(comparison: &Comparison) -> Table {
    let names = comparison.measured().map(|(format, _)| format.chars().count()).max().unwrap_or(0).max(6);
    // One column between cells. Bytes, percent, gzip and lossless are five columns wide each.
    let fixed = names + 4 * 6 + comparison.links.iter().map(|link| 1 + heading(link).len()).sum::<usize>();
    let bar_width = WIDTH.saturating_sub(fixed + 1).clamp(6, 24);

    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    let mut header = vec!["\nformat".into(), String::new()];
    header.extend(["\nbytes", "% of\nJSON", "\ngzip", "loss-\nless"].map(str::to_owned));
    for (index, link) in comparison.links.iter().enumerate() {
        header.push(format!("{}\n{}", if index == 0 { "fits" } else { "" }, heading(link)));
    }
    table.set_header(header);
    for (format, outcome) in comparison.measured() {
        table.add_row(row(comparison, format, outcome, bar_width));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((u16::from(index > 0), 0));
        if index > 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn row(comparison: &Comparison, format: &str, outcome: Outcome, bar_width: usize) -> Vec<Cell> {
    let Outcome { bytes, gzip_bytes, .. } = outcome;
    let best = comparison.smallest_lossless().is_some_and(|(smallest, _)| smallest == format);
    let strong = |cell: Cell| if best { cell.add_attribute(Attribute::Bold) } else { cell };
    let bar = bar(bytes as f64 / comparison.most_bytes() as f64, bar_width);
    let mut cells = vec![
        strong(Cell::new(format)),
        Cell::new(bar).fg(if outcome.lossless { Color::DarkCyan } else { Color::DarkYellow }),
        strong(Cell::new(bytes)),
        Cell::new(format!("{:.1}", comparison.percent(bytes))),
        Cell::new(gzip_bytes),
        match outcome.lossless {
            true => Cell::new("yes"),
            false => Cell::new(if outcome.came_back { "some" } else { "no" }).fg(Color::DarkYellow),
        },
    ];
    cells.extend(comparison.links.iter().map(|link| match (link.has_limit(), link.fits(bytes)) {
        (false, _) => Cell::new("?").add_attribute(Attribute::Dim),
        (true, true) => Cell::new("✓").fg(Color::DarkGreen),
        (true, false) => Cell::new("·").add_attribute(Attribute::Dim),
    }));
    cells
}

/// The heading of a link's column: its limit in bytes, `any`, or `?` if it is not published.
fn heading(link: &Link) -> String {
    format!("{:>3}", limit_text(link))
}

/// Lists the formats that cannot carry the message, with the reason in place of the sizes.
fn impossible(comparison: &Comparison, out: &mut String) {
    for (format, error) in comparison.impossible() {
        let reason = error.to_string();
        for line in fill(&format!("{format} -"), " ", reason.split(' ').map(str::to_owned), WIDTH) {
            let _ = writeln!(out, "{DIM}{line}{DIM:#}");
        }
    }
}

/// Explains the columns of the links.
fn legend(comparison: &Comparison, out: &mut String) {
    let links = comparison.links.iter().map(|link| {
        let limit = link.max_payload_bytes.map_or_else(|| limit_text(link), |limit| format!("{limit} B"));
        let ended = link.ended.as_ref().map_or_else(String::new, |date| format!(" (ended {date})"));
        format!("{limit} {}{ended}", link.name)
    });
    out.push('\n');
    for line in fill("limits:", ", ", links, WIDTH) {
        let _ = writeln!(out, "{DIM}{line}{DIM:#}");
    }
    if comparison.measured().any(|(_, outcome)| outcome.came_back && !outcome.lossless) {
        let _ = writeln!(
            out,
            "{DIM}lossless, some: preserves this message, not others (binary32 has 7 digits){DIM:#}"
        );
    }
    if let Some(text) = &comparison.left_out {
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        for line in fill(first, " ", rest.split(' ').map(str::to_owned), WIDTH) {
            let _ = writeln!(out, "{DIM}{line}{DIM:#}");
        }
    }
    if comparison.without_schema > 0 {
        let more = comparison.without_schema;
        let _ = writeln!(out, "{DIM}{more} more formats need a schema: --schema FILE or NAME{DIM:#}");
    }
}

/// The smallest lossless format, the narrowest link that carries it, and the next narrower link.
fn summary(comparison: &Comparison, out: &mut String) {
    let Some((format, Outcome { bytes, .. })) = comparison.smallest_lossless() else { return };
    let name = |link: &Link| match link.max_payload_bytes {
        Some(limit) => format!("{} ({limit} B)", link.name),
        None => link.name.clone(),
    };
    let open = |link: &&&Link| link.ended.is_none() && link.has_limit();
    // They are sorted by their limits, so the first that fits is the narrowest.
    let links: Vec<&Link> = comparison.links.iter().filter(open).copied().collect();
    let carried = links.iter().position(|link| link.fits(bytes));
    let narrowest = carried.map(|index| format!("fits {}", name(links[index])));
    let refused = carried.unwrap_or(links.len()).checked_sub(1);
    let next = refused.map(|index| format!("not {}", name(links[index])));
    let winner = format!("{format} {bytes} B");
    let parts = [Some(winner.clone()), narrowest, next].into_iter().flatten();
    for line in fill("smallest lossless:", ", ", parts, WIDTH) {
        let _ = writeln!(out, "{}", line.replacen(&winner, &format!("{GOOD}{winner}{GOOD:#}"), 1));
    }
}
