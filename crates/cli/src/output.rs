//! Standard output for people, with colours where they are wanted.

use anstream::AutoStream;
use dunnage_explain::commands_terminal;
pub use dunnage_plan::numbers::bytes;
use std::io::{self, BufWriter, Write};

/// A count and what it counts: `1 message`, `2 messages`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Opens standard output. Colours are kept on a terminal and removed elsewhere, unless `NO_COLOR` or
/// `CLICOLOR_FORCE` says otherwise. The stream is buffered: call `flush`, or the end of the output is lost.
pub fn stdout() -> AutoStream<Box<dyn Write>> {
    let choice = AutoStream::choice(&io::stdout());
    // The buffer is below the colour filter, because the filter writes each run of text between two colours
    // separately.
    AutoStream::new(Box::new(BufWriter::new(io::stdout().lock())), choice)
}

/// Width of tables in columns.
pub const WIDTH: usize = 80;

/// A bar `share` of `width` columns long, in eighths of a column. At least one eighth is drawn.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share * (8 * width) as f64).round() as usize).clamp(1, 8 * width);
    let bar = "█".repeat(eighths / 8) + PARTS[eighths % 8];
    // Padded to the full width, so that the column keeps its width.
    format!("{bar:width$}")
}

/// Joins `first` and the parts with `between`, in lines of at most `width` columns.
pub fn fill(first: &str, between: &str, parts: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut separator = " ";
    for part in parts {
        let last = lines.len() - 1;
        if lines[last].chars().count() + separator.len() + part.chars().count() >= width {
            lines[last].push_str(separator.trim_end());
            lines.push(format!("  {part}"));
        } else {
            lines[last].push_str(separator);
            lines[last].push_str(&part);
        }
        separator = between;
    }
    lines
}

/// Escapes the characters of `text` that could control a terminal. Names and reasons come from messages, so
/// anybody can choose them.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if commands_terminal(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_in_eighths() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 3), "█▌ ");
        assert_eq!(bar(0.0, 2), "▏ ");
    }

    #[test]
    fn lines_are_filled_to_the_width() {
        for width in [40, WIDTH] {
            let lines = fill("links:", ", ", (0..9).map(|n| format!("{n} {}", "x".repeat(18))), width);
            assert!(lines.len() > 1);
            assert!(lines.iter().all(|line| line.chars().count() <= width));
        }
    }

    #[test]
    fn whole_sizes_have_no_decimals() {
        assert_eq!((bytes(27.0), bytes(27.25)), ("27".into(), "27.2".into()));
    }
}
