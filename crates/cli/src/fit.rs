//! Checks whether every message of a layout fits a link, and lists the fields to shrink if not.

use crate::failure::{Failure, complain};
use anstyle::Style;
use comfy_table::{Cell, CellAlignment, Table, presets};
use dunnage_codegen::c::{Share, shares};
use dunnage_links::Link;
use dunnage_packed::Layout;
use std::io::Write;

const DIM: Style = Style::new().dimmed();

/// Returns an error if the largest message of `layout` exceeds the limit of `link`, or if `link` has no published limit. In the first case,
/// prints the fields to standard output, largest first. With `smallest`, it is the largest message that cannot be made smaller.
pub fn check(layout: &Layout, link: &Link, smallest: bool) -> Result<(), Failure> {
    if !link.has_limit() {
        return Err(Failure::Failed(format!(
            "{} has no published limit, so nothing can be checked against it",
            link.name
        )));
    }
    if !layout.has_slot_byte() && !link.has_port() {
        complain(format_args!(
            "warning: {} has no port, and x-dunnage-slot-from leaves the slot to it: the receiver has to know the schema of each message",
            link.name
        ));
    }
    let (Some(largest), Some(limit)) = (layout.max_bytes(), link.max_payload_bytes) else { return Ok(()) };
    let limit = limit as u64;
    if largest <= limit {
        return Ok(());
    }
    if smallest {
        return match layout.fit_bytes() {
            Some(left) if left > limit => Err(Failure::Failed(format!(
                "{} needs up to {left} bytes with the fewest readings and without the properties with x-dunnage-drop, and {} carries {limit}: \
                 give more properties x-dunnage-drop, or run without --fit to see which take most",
                layout.name(),
                link.name
            ))),
            _ => Ok(()),
        };
    }
    let shares = shares(layout);
    let mut output = crate::output::stdout();
    for (index, line) in table(&shares, 8 * largest).lines().enumerate() {
        let style = if index == 0 { DIM } else { Style::new() };
        writeln!(output, "{style}{}{style:#}", line.trim_end())?;
    }
    output.flush()?;
    let bits: u64 = shares.iter().map(|share| share.bits).sum();
    complain(format_args!(
        "{} needs up to {largest} bytes, {} carries {limit}: reduce it by {} bits. `dunnage schema shrink SCHEMA --messages FILE \
         --link {}` does it for messages like those of FILE: what they do not have is rejected later",
        layout.name(),
        link.name,
        bits - 8 * limit,
        link.id
    ));
    Err(Failure::Reported)
}

fn table(shares: &[Share], bits: u64) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["field", "bits", "share", "how to shrink it"]);
    for share in shares {
        let percent = 100.0 * share.bits as f64 / bits as f64;
        table.add_row([
            Cell::new(crate::output::printable(&share.field)),
            Cell::new(share.bits).set_alignment(CellAlignment::Right),
            Cell::new(format!("{percent:.1} %")).set_alignment(CellAlignment::Right),
            Cell::new(crate::output::printable(&share.advice)),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index > 0 { 2 } else { 0 }, 0));
    }
    table
}
