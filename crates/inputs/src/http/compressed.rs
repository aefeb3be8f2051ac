//! Expands compressed bodies as `Content-Encoding` says: gzip (RFC 1952) and zstd (RFC 8878). The expanded bytes are stored.
//!
//! A few bytes can expand to gigabytes. Therefore the output is bounded and grows step by step, the sizes that a body announces are
//! ignored, and only a few bodies are expanded at a time, on blocking threads.

use axum::{
    body::Bytes,
    http::{HeaderMap, header},
};
use dunnage_buffer::Reservation;
use dunnage_ingest::{Code, Ingest, Rejected};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};
use std::io::Read;

/// The maximum window of zstd, in bytes. Every receiver supports it and no sender exceeds it (RFC 9659).
const WINDOW: u64 = 8 << 20;
/// How many bytes are expanded before the limit is checked again.
const STEP: usize = 64 << 10;

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Zstd,
}

enum Failure {
    TooLarge,
    Broken(String),
}

/// Returns the coding of a body with `headers`. Rejects unknown codings and more than one.
pub fn coding(headers: &HeaderMap) -> Result<Option<Coding>, Rejected> {
    let mut found = None;
    for value in headers.get_all(header::CONTENT_ENCODING) {
        for name in value.to_str().unwrap_or("?").split(',').map(str::trim) {
            let coding = match name.to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "zstd" => Coding::Zstd,
                _ => return Err(unsupported(format!("the Content-Encoding {name:?} is not supported"))),
            };
            if found.replace(coding).is_some() {
                return Err(unsupported("a body must be compressed at most once"));
            }
        }
    }
    Ok(found)
}

/// Expands `bytes` to at most the size limit of a body, and reserves memory for the result in `room`.
pub async fn expand(
    ingest: &Ingest,
    coding: Coding,
    bytes: Bytes,
    room: &mut Reservation,
) -> Result<Bytes, Rejected> {
    let limit = ingest.message_limit_bytes();
    let _turn = ingest.turns.one().await;
    let expanded = tokio::task::spawn_blocking(move || match coding {
        Coding::Gzip => gzip(&bytes, limit),
        Coding::Zstd => zstd(&bytes, limit),
    });
    // The only error is a panic of the decoder, for which the body is to blame.
    let expanded =
        expanded.await.unwrap_or_else(|_| Err(Failure::Broken("it cannot be decompressed".into())));
    let expanded = expanded.map_err(|failure| match failure {
        Failure::TooLarge => Rejected::too_large(limit),
        Failure::Broken(reason) => {
            let detail = format!("the body does not match its Content-Encoding: {reason}");
            Rejected::new(Code::Body, detail)
        }
    })?;
    room.grow(expanded.len())?;
    Ok(expanded.into())
}

fn gzip(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let mut expanded = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(limit as u64 + 1);
    reader.read_to_end(&mut expanded).map_err(|e| Failure::Broken(e.to_string()))?;
    if expanded.len() > limit { Err(Failure::TooLarge) } else { Ok(expanded) }
}

/// Expands all frames of `bytes`. Holds at most one window more than `limit`.
fn zstd(mut bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let broken = |e: FrameDecoderError| Failure::Broken(e.to_string());
    let mut expanded = Vec::new();
    if bytes.is_empty() {
        return Err(Failure::Broken("it is empty".into()));
    }
    while !bytes.is_empty() {
        // A reused decoder would allocate the window that the next frame announces.
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        match decoder.init(&mut bytes) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let rest = usize::try_from(length).ok().and_then(|length| bytes.get(length..));
                bytes = rest.ok_or_else(|| Failure::Broken("a frame is truncated".into()))?;
                continue;
            }
            Err(e) => return Err(broken(e)),
        }
        while !decoder.is_finished() {
            decoder.decode_blocks(&mut bytes, BlockDecodingStrategy::UptoBytes(STEP)).map_err(broken)?;
            // The last window stays in the decoder until the frame is finished.
            decoder.collect_to_writer(&mut expanded).map_err(|e| Failure::Broken(e.to_string()))?;
            if expanded.len() > limit {
                return Err(Failure::TooLarge);
            }
        }
        decoder.collect_to_writer(&mut expanded).map_err(|e| Failure::Broken(e.to_string()))?;
        if expanded.len() > limit {
            return Err(Failure::TooLarge);
        }
        let sums = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        if sums.0.is_some() && sums.0 != sums.1 {
            return Err(Failure::Broken("its checksum is wrong".into()));
        }
    }
    Ok(expanded)
}

/// Checks that the output is bounded, for any bytes; the first one selects the coding.
#[cfg(any(test, feature = "fuzzing"))]
pub fn check(bytes: &[u8]) {
    const LIMIT: usize = 64 << 10;
    let Some((selector, bytes)) = bytes.split_first() else { return };
    let expanded = if selector & 1 == 0 { gzip(bytes, LIMIT) } else { zstd(bytes, LIMIT) };
    assert!(expanded.map_or(0, |expanded| expanded.len()) <= LIMIT);
}

fn unsupported(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::ContentEncoding, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(values: &[&str]) -> Result<Option<Coding>, ()> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CONTENT_ENCODING, value.parse().unwrap());
        }
        coding(&headers).map_err(drop)
    }

    #[test]
    fn one_coding_is_taken() {
        for none in [&[][..], &["identity"], &["Identity, identity"], &[""]] {
            assert_eq!(coded(none), Ok(None), "{none:?}");
        }
        for gzip in [&["gzip"][..], &["X-GZIP"], &["identity", "gzip"], &[" gzip , identity"]] {
            assert_eq!(coded(gzip), Ok(Some(Coding::Gzip)), "{gzip:?}");
        }
        assert_eq!(coded(&["zstd"]), Ok(Some(Coding::Zstd)));
        for bad in [&["br"][..], &["gzip, gzip"], &["gzip", "zstd"], &["deflate"], &["gzip;q=1"], &["\u{e9}"]]
        {
            assert_eq!(coded(bad), Err(()), "{bad:?}");
        }
    }
}
