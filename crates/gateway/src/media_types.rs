//! The media types of messages and of batches, as errors and `Accept` list them.

use dunnage_formats::Id;
use std::sync::LazyLock;

/// The types of batches: lines, a sequence, and messages with lengths before them.
pub const BATCHES: [&str; 3] =
    ["application/x-ndjson", "application/cbor-seq", "application/vnd.dunnage.batch"];

/// All types of messages and of batches.
pub static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let types: Vec<_> = Id::all().map(Id::media_type).chain(BATCHES).collect();
    types.join(", ")
});

/// The names of all formats.
pub static NAMES: LazyLock<String> = LazyLock::new(|| Id::all().map(Id::name).collect::<Vec<_>>().join(", "));
