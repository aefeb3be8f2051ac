//! The tables for a terminal: one per link.

use super::{Cost, Figure};
use dunnage_links::Link;

/// The numbers of hops that are shown; the records have the others, too.
const SHOWN: [u32; 4] = [1, 2, 4, 8];

/// Prints the tables.
pub fn tables(figures: &[Figure]) {
    for group in figures.chunk_by(|one, next| one.link.id == next.link.id) {
        let Some(first) = group.first() else { continue };
        println!("{}: {}", first.link.name, limits(first.link));
        let hops = SHOWN.map(|hops| format!("{hops:>9}")).concat();
        println!("{:10}{:10}{:>6}{:>8}  air time in ms, hops:{:15}  energy in mJ, hops:", "", "", "", "", "");
        println!("{:10}{:10}{:>6}{:>8}{hops}{hops}", "message", "format", "bytes", "frames");
        group.iter().for_each(row);
        println!();
    }
}

/// The limits of a link.
fn limits(link: &Link) -> String {
    let largest = link.max_payload_bytes.map_or_else(String::new, |most| format!("at most {most} B"));
    match link.standard_payload_bytes {
        Some(piece) => format!("{piece} B in {}, {largest} in several", link.ordinary()),
        None => format!("{largest} in one frame, larger messages are refused"),
    }
}

fn row(figure: &Figure) {
    let Figure { payload, format, bytes, sent, .. } = figure;
    let Some(sent) = sent else {
        return println!("{payload:10}{format:10}{bytes:>6} refused");
    };
    let shown = sent.costs.iter().filter(|cost| SHOWN.contains(&cost.hops));
    let cells = |of: fn(&Cost) -> f64| {
        shown.clone().map(|cost| format!("{:>9}", digits(1e3 * of(cost)))).collect::<String>()
    };
    let costs = cells(|cost| cost.airtime_s) + &cells(|cost| cost.joules);
    println!("{payload:10}{format:10}{bytes:>6}{:>8}{costs}", sent.frames);
}

/// A number with three significant digits, or all digits before the point.
pub fn digits(number: f64) -> String {
    match number {
        number if number >= 100.0 => format!("{number:.0}"),
        number if number >= 10.0 => format!("{number:.1}"),
        number if number >= 1.0 => format!("{number:.2}"),
        number => format!("{number:.3}"),
    }
}
