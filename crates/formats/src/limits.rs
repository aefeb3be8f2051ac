//! The limits that every format enforces when reading and writing.

use crate::{Error, Kind};

/// Maximum nesting depth of maps and arrays.
pub const MAX_DEPTH: usize = 32;

/// Maximum length of a message, in bytes: 1 MiB.
pub const MAX_BYTES: usize = 1 << 20;

/// How many elements a length in a message may reserve memory for. More memory is allocated only as elements arrive.
pub(crate) const MAX_RESERVE: usize = 16;

/// Rejects a message that is too long, before any other check.
pub(crate) fn check_size(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::new(Kind::Limit, MAX_BYTES, "the message is longer than 1 MiB"));
    }
    Ok(())
}

/// Returns the bytes of a textual format as UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|e| match e.error_len() {
        Some(_) => Error::new(Kind::Malformed, e.valid_up_to(), "text that is not UTF-8"),
        None => Error::new(Kind::Truncated, bytes.len(), "the text ends within a character"),
    })
}

/// Returns the depth inside a map or array at `offset` that is nested in `depth` others, or a `limit` error.
pub(crate) fn deeper(depth: usize, offset: usize) -> Result<usize, Error> {
    if depth >= MAX_DEPTH {
        return Err(Error::new(Kind::Limit, offset, "maps and arrays are nested deeper than 32"));
    }
    Ok(depth + 1)
}

/// Runs `write` on the end of `out`. If it fails or writes more than [`MAX_BYTES`], `out` is restored.
pub(crate) fn bounded(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = out.len();
    let written = write(out).and_then(|()| check_size(&out[start..]));
    if written.is_err() {
        out.truncate(start);
    }
    written.map_err(Error::without_offset)
}
