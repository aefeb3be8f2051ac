//! Standard output for people, with colours where they are wanted.

use anstream::AutoStream;
use std::io::{self, BufWriter, Write};

/// Opens standard output. Colours are kept on a terminal and removed elsewhere, unless `NO_COLOR` or `CLICOLOR_FORCE` says
/// otherwise. The stream is buffered: call `flush`, or the end of the output is lost.
pub fn stdout() -> AutoStream<Box<dyn Write>> {
    let choice = AutoStream::choice(&io::stdout());
    // The buffer is below the colour filter, because the filter writes each run of text between two colours separately.
    AutoStream::new(Box::new(BufWriter::new(io::stdout().lock())), choice)
}

/// Escapes the characters of `text` that could control a terminal. Names and reasons come from messages, so anybody can choose
/// them.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if commands_terminal(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Whether `c` could move a terminal's cursor or reverse its text: control characters, line separators, and the marks that change
/// the direction of text.
pub fn commands_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
