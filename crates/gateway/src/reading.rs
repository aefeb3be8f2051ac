//! What arrived, with its raw bytes and where it came from.

use crate::slots::LayoutKey;
use axum::body::Bytes;
use dunnage_formats::Id;
use std::sync::Arc;

/// Where a message came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    /// The device's id.
    pub device: String,
    /// When its last byte arrived, in microseconds since 1970 (UTC).
    pub received_at: i64,
    /// The schema that was asked for, or that the device's profile names.
    pub schema: Option<Arc<str>>,
    /// The link it came over, as the sender says.
    pub link: Option<String>,
    /// What the sender calls this message, and no other: the same again is the same message.
    pub key: Option<String>,
    /// Whether a message without a key is the same as an earlier one of its device that has the same bytes.
    pub by_bytes: bool,
    /// What the sender, or else the gateway, calls the request; it goes with the message to the outputs and into the log.
    pub request: String,
    /// What the way it came knows of it beyond that, such as a provider's time and position: an object, as compact JSON.
    pub origin: Option<Arc<str>>,
}

/// A message that was decoded.
#[derive(Debug)]
pub struct Reading {
    /// Where it came from.
    pub provenance: Provenance,
    /// The format of its bytes.
    pub format: Id,
    /// Its bytes as they arrived.
    pub raw: Bytes,
    /// What they say, as compact JSON (`view`).
    pub json: String,
    /// The layout of its bits, if the format is packed.
    pub layout: Option<Arc<LayoutKey>>,
}

/// A message that could not be decoded, or breaks its schema.
#[derive(Debug)]
pub struct Reject {
    /// Where it came from.
    pub provenance: Provenance,
    /// Its `Content-Type`, as much of it as is kept.
    pub content_type: String,
    /// Its bytes as they arrived.
    pub raw: Bytes,
    /// What is wrong with it: a kind of error, `schema`, `media-type`, `unknown-schema` or `unknown-layout`.
    pub kind: &'static str,
    /// Where the decoder stopped, in bytes.
    pub offset: Option<usize>,
    /// Why, for people.
    pub reason: String,
}
