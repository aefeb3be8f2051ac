//! Media types of messages and batches, for errors and `Accept`.

use dunnage_formats::Id;
use dunnage_relay::MEDIA_TYPE;
use std::sync::LazyLock;

/// The media types of batches of JSON, a message per line.
pub const LINES: [&str; 5] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/jsonlines",
    "application/x-jsonlines",
];
/// The media type of batches that are a CBOR sequence (RFC 8742).
pub const SEQUENCE: &str = "application/cbor-seq";
/// The suffix of other media types that are a CBOR sequence.
pub const SEQUENCE_SUFFIX: &str = "+cbor-seq";
/// The media type of batches whose messages have a length prefix.
pub const LENGTHS: &str = "application/vnd.dunnage.batch";
/// The media type of bytes whose format is not named.
pub const OCTETS: &str = "application/octet-stream";

/// The formats that HTTP accepts only where the operator asks for them, because tools send their types without meaning them.
pub const ON_REQUEST: [Id; 2] = [Id::Text, Id::Form];

/// All media types of messages and batches that can be enumerated, without those on request.
pub static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let types = Id::media_types().filter(|name| !ON_REQUEST.iter().any(|id| id.media_type() == *name));
    let types: Vec<_> = types.chain(LINES).chain([SEQUENCE, LENGTHS, MEDIA_TYPE]).collect();
    types.join(", ")
});

/// One media type of each format, for error messages: all of them are more than anyone reads.
pub static USUAL: LazyLock<String> = LazyLock::new(|| {
    let formats = Id::readable().filter(|format| !ON_REQUEST.contains(format));
    formats.map(Id::media_type).collect::<Vec<_>>().join(", ")
});

/// The suffixes that make any other media type a known one.
pub static SUFFIXES: LazyLock<String> = LazyLock::new(|| {
    let suffixes: Vec<_> = Id::media_type_suffixes().chain([SEQUENCE_SUFFIX]).collect();
    suffixes.join(", ")
});

/// The names of all formats.
pub static NAMES: LazyLock<String> =
    LazyLock::new(|| Id::readable().map(Id::name).collect::<Vec<_>>().join(", "));

/// Returns whether `content_type` is that of a relay's batch.
pub fn is_relayed(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(MEDIA_TYPE))
}

/// Returns whether `content_type` names no format: it is empty, or says only that there are bytes.
pub fn is_unnamed(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.is_empty() || media_type.eq_ignore_ascii_case(OCTETS)
}
