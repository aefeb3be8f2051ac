//! Sizes of an encoded message.

use dunnage_formats::{Error, Format, Value};
use flate2::{Compression, write::GzEncoder};
use std::io::{self, Write};
use zstd::bulk::Compressor;

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
pub(crate) fn gzip_bytes(bytes: &[u8]) -> usize {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    gzip.write_all(bytes).and_then(|()| gzip.finish()).map_or(0, |compressed| compressed.len())
}

/// Compresses with zstd at level 19, without a checksum. Creating it costs more than compressing a message.
pub(crate) struct Zstd(Compressor<'static>);

impl Zstd {
    /// Fails only if memory cannot be allocated.
    pub fn new() -> io::Result<Zstd> {
        Compressor::new(ZSTD_LEVEL).map(Zstd)
    }

    /// With a dictionary.
    pub fn with_dictionary(dictionary: &[u8]) -> io::Result<Zstd> {
        Compressor::with_dictionary(ZSTD_LEVEL, dictionary).map(Zstd)
    }

    /// Returns the size of `bytes` after compression. Compressing in memory does not fail.
    pub fn bytes(&mut self, bytes: &[u8]) -> usize {
        self.0.compress(bytes).map_or(0, |compressed| compressed.len())
    }
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
        let mut zstd = Zstd::new().expect("memory");
        let first = zstd.bytes(&[7; 1000]);
        assert!(first < 30);
        assert_eq!(zstd.bytes(&[7; 1000]), first, "messages are compressed independently");
    }
}
