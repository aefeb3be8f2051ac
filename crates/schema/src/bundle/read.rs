//! Reads the texts of schemas.

use crate::parse::{MAX_BYTES, Node};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Reads the schema in the file at `path`; returns it and its length in bytes.
pub(super) fn read(path: &Path) -> Result<(Node, usize), String> {
    let text =
        File::open(path).and_then(read_text).map_err(|error| format!("{}: {error}", path.display()))?;
    let node = Node::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((node, text.len()))
}

/// Reads the text of a schema or of another definition, without a byte order mark. A text longer than 1 MiB is an error and is not read to its end.
///
/// # Errors
/// Those of `source`, and `InvalidData` if the text is not UTF-8, `Other` if it has more than 1 MiB.
pub fn read_text(source: impl Read) -> io::Result<String> {
    let mut text = String::new();
    source.take(MAX_BYTES as u64 + 1).read_to_string(&mut text)?;
    match text.len() <= MAX_BYTES {
        // Editors of Windows write a byte order mark.
        true => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        false => Err(io::Error::other(format!("more than {MAX_BYTES} bytes, which is the limit"))),
    }
}
