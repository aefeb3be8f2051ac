//! Media types of messages and batches, for errors and `Accept`.

use dunnage_formats::Id;
use std::sync::LazyLock;

/// The media types of batches: lines, a sequence, and length-prefixed messages.
pub const BATCHES: [&str; 3] =
    ["application/x-ndjson", "application/cbor-seq", "application/vnd.dunnage.batch"];

/// All media types of messages and batches.
pub static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let types: Vec<_> = Id::all().map(Id::media_type).chain(BATCHES).collect();
    types.join(", ")
});

/// The names of all formats.
pub static NAMES: LazyLock<String> = LazyLock::new(|| Id::all().map(Id::name).collect::<Vec<_>>().join(", "));
