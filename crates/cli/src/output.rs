//! Standard output for people: colours where they are wanted.

use anstream::AutoStream;
use std::io::{self, BufWriter, Write};

/// Standard output. Colours are kept on a terminal and left out elsewhere, as `NO_COLOR` and `CLICOLOR_FORCE` say.
/// It is buffered: flush it, or the end is lost.
pub fn stdout() -> AutoStream<Box<dyn Write>> {
    let choice = AutoStream::choice(&io::stdout());
    // The buffer is below, since each run of text between two colours is a write of its own.
    AutoStream::new(Box::new(BufWriter::new(io::stdout().lock())), choice)
}

/// `text` without what could command a terminal, which is escaped: names and reasons come from messages, and so from anybody.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if commands_terminal(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Whether `c` could move a terminal's cursor or turn its text around: control characters, line separators, and the marks that change
/// the direction of text.
pub fn commands_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
