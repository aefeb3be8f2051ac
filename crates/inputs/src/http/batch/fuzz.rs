//! Invariants of dividing a batch, for any bytes.

use super::framing::Framing;
use axum::body::Bytes;

/// The capacity of the queue.
const CAPACITY: usize = 100;

/// Divides a body and checks the pieces. The first byte of `bytes` selects the framing.
pub fn check(bytes: &[u8]) {
    let Some((selector, body)) = bytes.split_first() else { return };
    let content_type = match selector % 3 {
        0 => "application/x-ndjson",
        1 => "application/cbor-seq",
        _ => "application/vnd.dunnage.batch; format=pson",
    };
    let Ok(Some(framing)) = Framing::of(content_type) else { panic!("{content_type} is no batch") };
    let body = Bytes::copy_from_slice(body);
    let Ok(pieces) = framing.split(&body, CAPACITY) else { return };
    assert!((1..=CAPACITY).contains(&pieces.len()));
    let mut end = 0;
    for piece in pieces {
        assert!(piece.offset >= end, "{} begins before {end}", piece.offset);
        end = piece.offset + piece.raw.len();
        assert_eq!(body.get(piece.offset..end), Some(&piece.raw[..]));
    }
}
