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
