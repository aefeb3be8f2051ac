//! Sizes of an encoded message.

use dunnage_formats::{Error, Format, Value};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// The level of zstd. The levels above need more memory and rarely save a byte of a message.
const ZSTD_LEVEL: i32 = 19;

/// The sizes of a message in one format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Size of the encoded message, in bytes.
    pub bytes: usize,
    /// Size of the encoded message after gzip at level 9, in bytes.
    pub gzip_bytes: usize,
    /// Whether the message decodes to the same value, with its keys in order.
    pub lossless: bool,
}

/// Encodes `message`, decodes it, and compresses its bytes with gzip.
pub fn sizes(format: &dyn Format, message: &Value) -> Result<Sizes, Error> {
    let trip = format.round_trip(message)?;
    Ok(Sizes { bytes: trip.bytes.len(), gzip_bytes: gzip_bytes(&trip.bytes), lossless: trip.lossless })
}

/// Returns the size of `bytes` after gzip at level 9, with the header and the trailer.
pub fn gzip_bytes(bytes: &[u8]) -> usize {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    gzip.write_all(bytes).and_then(|()| gzip.finish()).map_or(0, |compressed| compressed.len())
}

/// Returns the size of `bytes` after zstd at level 19, without a checksum.
pub fn zstd_bytes(bytes: &[u8]) -> usize {
    // Compressing in memory does not fail.
    zstd::bulk::compress(bytes, ZSTD_LEVEL).map_or(0, |compressed| compressed.len())
}

/// Returns the size of `bytes` after zstd at level 19 with a trained dictionary.
pub(crate) fn zstd_bytes_with(dictionary: &[u8], bytes: &[u8]) -> usize {
    let mut compressor = match zstd::bulk::Compressor::with_dictionary(ZSTD_LEVEL, dictionary) {
        Ok(compressor) => compressor,
        Err(_) => return zstd_bytes(bytes),
    };
    compressor.compress(bytes).map_or(0, |compressed| compressed.len())
}

/// Counts the commas and colons in the JSON of `message`: the spaces that Python's `json.dumps` adds.
pub fn separators(message: &Value) -> usize {
    match message {
        Value::Array(items) => items.len().saturating_sub(1) + items.iter().map(separators).sum::<usize>(),
        Value::Map(entries) => {
            let own = (2 * entries.len()).saturating_sub(1);
            own + entries.iter().map(|(_, value)| separators(value)).sum::<usize>()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_sizes_include_the_header_and_trailer() {
        assert_eq!(gzip_bytes(b""), 20);
    }

    #[test]
    fn zstd_shrinks_repetition() {
        assert!(zstd_bytes(&[7; 1000]) < 30);
    }
}
