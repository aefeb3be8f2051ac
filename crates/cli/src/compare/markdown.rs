//! The comparison as a Markdown table.

use super::Comparison;
use std::fmt::Write;

/// Renders the table, with one column per link.
pub fn render(comparison: &Comparison) -> String {
    let mut out = String::from("| format | bytes | % of JSON | gzip | lossless |");
    for link in &comparison.links {
        match link.max_payload_bytes {
            Some(limit) => _ = write!(out, " {}, {limit} B |", link.name),
            None => _ = write!(out, " {} |", link.name),
        }
    }
    out.push_str("\n|---|--:|--:|--:|:-:|");
    out.push_str(&":-:|".repeat(comparison.links.len()));
    out.push('\n');
    for (format, outcome) in comparison.measured() {
        let percent = comparison.percent(outcome.bytes);
        let lossless = match (outcome.lossless, outcome.came_back) {
            (true, _) => "yes",
            (false, true) => "some",
            (false, false) => "no",
        };
        let _ = write!(
            out,
            "| {format} | {} | {percent:.1} | {} | {lossless} |",
            outcome.bytes, outcome.gzip_bytes
        );
        for link in &comparison.links {
            out.push_str(match (link.has_limit(), link.fits(outcome.bytes)) {
                (false, _) => " ? |",
                (true, true) => " ✓ |",
                (true, false) => "  |",
            });
        }
        out.push('\n');
    }
    for (format, error) in comparison.impossible() {
        let reason = error.to_string().replace('|', "\\|");
        let _ = writeln!(out, "| {format} | {reason} |{}", " |".repeat(3 + comparison.links.len()));
    }
    out
}
