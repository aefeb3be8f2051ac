//! Bodies that come compressed, as `Content-Encoding` says: gzip (RFC 1952) and zstd (RFC 8878). What is stored is what they hold.
//!
//! A few bytes can hold gigabytes. What comes out is bounded, grows as it comes, and whatever a body announces of itself is not
//! believed; a few at a time are expanded, away from other requests.

use crate::{problem::Problem, shared::Shared};
use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
};
use dunnage_buffer::Reservation;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};
use std::{io::Read, sync::Arc};

/// Largest window of zstd, which every receiver takes and no sender exceeds (RFC 9659).
const WINDOW: u64 = 8 << 20;
/// How much is expanded until the bound is looked at again.
const STEP: usize = 64 << 10;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Zstd,
}

enum Failure {
    TooLarge,
    Broken(String),
}

/// How the body that comes with `headers` is compressed, if it is.
pub fn coding(headers: &HeaderMap) -> Result<Option<Coding>, Problem> {
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
                return Err(unsupported("a body may be compressed once"));
            }
        }
    }
    Ok(found)
}

/// What `bytes` hold: as many bytes as a message may have, which are taken from `room`.
pub async fn expand(
    shared: &Arc<Shared>,
    coding: Coding,
    bytes: Bytes,
    room: &mut Reservation,
) -> Result<Bytes, Problem> {
    let limit = shared.http.body_limit_bytes;
    let _turn = shared.large.acquire().await;
    let expanded = tokio::task::spawn_blocking(move || match coding {
        Coding::Gzip => gzip(&bytes, limit),
        Coding::Zstd => zstd(&bytes, limit),
    });
    // The only error is that the decoder failed, which says nothing good of the body.
    let expanded = expanded.await.unwrap_or_else(|_| Err(Failure::Broken("it cannot be expanded".into())));
    let expanded = expanded.map_err(|failure| match failure {
        Failure::TooLarge => Problem::too_large(limit),
        Failure::Broken(reason) => {
            let detail = format!("the body is not what its Content-Encoding says: {reason}");
            Problem::new(StatusCode::BAD_REQUEST, "body", "Body not readable", detail)
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

/// All frames of `bytes`. At most a window beyond `limit` is held for a moment.
fn zstd(mut bytes: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let broken = |e: FrameDecoderError| Failure::Broken(e.to_string());
    let mut expanded = Vec::new();
    if bytes.is_empty() {
        return Err(Failure::Broken("it is empty".into()));
    }
    while !bytes.is_empty() {
        // A decoder that is used again would make room for the window that the next frame announces.
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        match decoder.init(&mut bytes) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let rest = usize::try_from(length).ok().and_then(|length| bytes.get(length..));
                bytes = rest.ok_or_else(|| Failure::Broken("a frame is cut off".into()))?;
                continue;
            }
            Err(e) => return Err(broken(e)),
        }
        while !decoder.is_finished() {
            decoder.decode_blocks(&mut bytes, BlockDecodingStrategy::UptoBytes(STEP)).map_err(broken)?;
            // Until a frame is finished, its last window stays in the decoder.
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

/// What holds for any bytes that are said to be compressed; the first one selects how.
#[cfg(any(test, feature = "fuzzing"))]
pub fn check(bytes: &[u8]) {
    const LIMIT: usize = 64 << 10;
    let Some((selector, bytes)) = bytes.split_first() else { return };
    let expanded = if selector & 1 == 0 { gzip(bytes, LIMIT) } else { zstd(bytes, LIMIT) };
    assert!(expanded.map_or(0, |expanded| expanded.len()) <= LIMIT);
}

fn unsupported(detail: impl Into<String>) -> Problem {
    let title = "Unsupported content encoding";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Problem::CONTENT_ENCODING, title, detail)
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
