//! Splits the body of a batch into messages: lines, a CBOR sequence, or messages with length prefixes.

use bytes::Bytes;
use dunnage_formats::{Id, UnknownName};
use dunnage_ingest::{
    Code, Rejected,
    media_types::{LENGTHS, LINES, NAMES, SEQUENCE, SEQUENCE_SUFFIX},
};
use minicbor::Decoder;

/// The maximum number of messages in a batch.
const MESSAGES: usize = 1024;
/// The maximum size of a length prefix: its 28 bits hold more than the size limit of a body.
const LENGTH_BYTES: usize = 4;

/// The break code, which ends an item of indefinite length and is not an item itself (RFC 8949, 3.2.1).
const BREAK: u8 = 0xff;

/// How a body is divided into messages.
#[derive(Debug, PartialEq)]
pub struct Framing {
    kind: FramingKind,
    /// The `Content-Type` that each message would have alone.
    pub content_type: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum FramingKind {
    /// One message per line.
    Lines,
    /// One CBOR item per message.
    Sequence,
    /// A length prefix before each message.
    Lengths,
}

/// A message of a batch.
#[derive(Debug, PartialEq)]
pub struct Piece {
    /// Where its bytes begin in the body.
    pub offset: usize,
    /// Its bytes.
    pub raw: Bytes,
    /// Why the rest of the body, which is this piece, cannot be divided.
    pub bad: Option<Rejected>,
}

impl Framing {
    /// Returns the framing that `content_type` names, or `None` if such a body is a single message.
    pub fn of(content_type: &str) -> Result<Option<Framing>, Rejected> {
        let (media_type, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let media_type = media_type.trim().to_ascii_lowercase();
        let framing =
            |kind, content_type: &str| Ok(Some(Framing { kind, content_type: content_type.into() }));
        match () {
            () if LINES.contains(&&*media_type) => framing(FramingKind::Lines, Id::Json.media_type()),
            () if media_type == SEQUENCE || media_type.ends_with(SEQUENCE_SUFFIX) => {
                framing(FramingKind::Sequence, Id::Cbor.media_type())
            }
            () if media_type == LENGTHS => framing(FramingKind::Lengths, &format_of(parameters)?),
            () => Ok(None),
        }
    }

    /// Divides `body` into messages: at least one, and at most as many as fit in the queue, which is `capacity`.
    pub fn split(&self, body: &Bytes, capacity: usize) -> Result<Vec<Piece>, Rejected> {
        let most = MESSAGES.min(capacity);
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < body.len() {
            let (piece, next) = match self.kind {
                FramingKind::Lines => line(body, at),
                FramingKind::Sequence => item(body, at),
                FramingKind::Lengths => counted(body, at),
            };
            at = next;
            pieces.extend(piece);
            if pieces.len() > most {
                return Err(too_many(most));
            }
        }
        if pieces.is_empty() {
            pieces.push(Piece { offset: 0, raw: Bytes::new(), bad: None });
        }
        Ok(pieces)
    }
}

/// Returns the `Content-Type` of messages with length prefixes: that of the format in the parameter `format`, with the other parameters.
fn format_of(parameters: &str) -> Result<String, Rejected> {
    let missing = || {
        Rejected::unsupported("format= must name the format of the batch's messages")
            .with_choice(format!(": {}", *NAMES))
    };
    let mut format = None;
    let mut others = String::new();
    for parameter in parameters.split(';').map(str::trim).filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("format") => {
                let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
                let id: Id =
                    value.parse().map_err(|error: UnknownName| Rejected::unsupported(error.to_string()))?;
                if format.replace(id).is_some() {
                    return Err(missing());
                }
            }
            _ => others = format!("{others}; {parameter}"),
        }
    }
    Ok(format!("{}{others}", format.ok_or_else(missing)?.media_type()))
}

/// Returns the line at `at`, unless it is blank, and where the next one begins.
fn line(body: &Bytes, at: usize) -> (Option<Piece>, usize) {
    let end = body[at..].iter().position(|byte| *byte == b'\n').map_or(body.len(), |length| at + length);
    let line = &body[at..end];
    let length = line.strip_suffix(b"\r").unwrap_or(line).len();
    let piece = || Piece { offset: at, raw: body.slice(at..at + length), bad: None };
    ((!line.trim_ascii().is_empty()).then(piece), end + 1)
}

/// Returns the CBOR item at `at` (RFC 8742), and its end. If the item is incomplete, returns the rest, which the decoder then rejects.
fn item(body: &Bytes, at: usize) -> (Option<Piece>, usize) {
    let mut decoder = Decoder::new(&body[at..]);
    let end = match decoder.skip() {
        Ok(()) if body[at] != BREAK => at + decoder.position(),
        _ => body.len(),
    };
    (Some(Piece { offset: at, raw: body.slice(at..end), bad: None }), end)
}

/// Returns the message after the length prefix at `at`. If the prefix is wrong, the rest is one bad piece, because the next boundary is
/// unknown.
fn counted(body: &Bytes, at: usize) -> (Option<Piece>, usize) {
    let rest = &body[at..];
    let cut = || ("truncated", "the message or its length is truncated");
    let fault = match length(rest) {
        Ok((length, prefix)) if rest.len() - prefix >= length => {
            let (begin, end) = (at + prefix, at + prefix + length);
            return (Some(Piece { offset: begin, raw: body.slice(begin..end), bad: None }), end);
        }
        Ok(_) => cut(),
        Err(None) => cut(),
        Err(Some(reason)) => ("malformed", reason),
    };
    let bad = Some(Rejected::new(Code::Malformed, fault.1).at(fault.0, 0));
    (Some(Piece { offset: at, raw: body.slice(at..), bad }), body.len())
}

/// Reads a length prefix of 7 bits a byte, the lowest first. Returns the length and the size of the prefix. `Err(None)` is a truncated
/// prefix.
fn length(bytes: &[u8]) -> Result<(usize, usize), Option<&'static str>> {
    let mut length = 0;
    for (at, byte) in bytes.iter().take(LENGTH_BYTES).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok((length, at + 1));
        }
    }
    Err((bytes.len() >= LENGTH_BYTES).then_some("a length must have at most 4 bytes"))
}

fn too_many(most: usize) -> Rejected {
    let detail = format!("a batch must have at most {most} messages");
    Rejected { kind: Some("limit"), ..Rejected::new(Code::TooLarge, detail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(content_type: &str) -> Framing {
        Framing::of(content_type).unwrap().unwrap()
    }

    fn pieces(content_type: &str, body: &[u8]) -> Vec<(usize, Vec<u8>, bool)> {
        let pieces = framing(content_type).split(&Bytes::copy_from_slice(body), 9999).unwrap();
        pieces.into_iter().map(|piece| (piece.offset, piece.raw.to_vec(), piece.bad.is_none())).collect()
    }

    const LENGTHS: &str = "application/vnd.dunnage.batch; format=packed";

    #[test]
    fn a_content_type_says_what_the_messages_are() {
        let of = |content_type: &str| framing(content_type).content_type;
        assert_eq!(of("application/x-ndjson; charset=utf-8"), "application/json");
        assert_eq!(of("Application/CBOR-seq"), "application/cbor");
        assert_eq!(of(LENGTHS), "application/vnd.dunnage.packed");
        let layout = "application/vnd.dunnage.batch ;layout=01234567; FORMAT=\"packed\"";
        assert_eq!(of(layout), "application/vnd.dunnage.packed; layout=01234567");
        assert_eq!(Framing::of("application/json"), Ok(None));
        for bad in ["", ";format", ";format=x", ";format=json;format=json"] {
            assert!(Framing::of(&format!("application/vnd.dunnage.batch{bad}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines_end_with_or_without_a_return_and_blank_ones_are_none() {
        let found = pieces("application/x-ndjson", b"{}\n\r\n [1] \r\n\n2");
        assert_eq!(
            found,
            [(0, b"{}".to_vec(), true), (5, b" [1] ".to_vec(), true), (13, b"2".to_vec(), true)]
        );
        assert_eq!(pieces("application/x-ndjson", b"\n\n"), [(0, vec![], true)]);
    }

    #[test]
    fn items_follow_each_other_and_what_is_none_is_one_piece() {
        let found = pieces("application/cbor-seq", b"\x01\xa1\x61t\x02\x82\x01");
        assert_eq!(
            found,
            [
                (0, b"\x01".to_vec(), true),
                (1, b"\xa1\x61t\x02".to_vec(), true),
                (5, b"\x82\x01".to_vec(), true)
            ]
        );
        assert_eq!(pieces("application/cbor-seq", b"\xff\x01"), [(0, b"\xff\x01".to_vec(), true)]);
    }

    #[test]
    fn lengths_are_read_and_a_wrong_one_ends_the_batch() {
        let long = [&[0xc8, 0x01][..], &[7; 200]].concat();
        assert_eq!(pieces(LENGTHS, &long), [(2, vec![7; 200], true)]);
        assert_eq!(
            pieces(LENGTHS, b"\x01a\x00\x02bc"),
            [(1, b"a".to_vec(), true), (3, vec![], true), (4, b"bc".to_vec(), true)]
        );
        for bad in [&b"\x01a\x05b"[..], b"\x01a\x80", b"\x01a\xff\xff\xff\xff\x01", b"\x01a\xff\xff\xff\x7f"]
        {
            let found = pieces(LENGTHS, bad);
            assert_eq!(found.len(), 2);
            assert_eq!(found[1], (2, bad[2..].to_vec(), false));
        }
    }

    #[test]
    fn a_batch_has_so_many_messages_and_no_more() {
        let most = "1\n".repeat(MESSAGES);
        assert_eq!(pieces("application/x-ndjson", most.as_bytes()).len(), MESSAGES);
        let more = Bytes::from(most + "1");
        assert_eq!(framing("application/x-ndjson").split(&more, 9999).unwrap_err().code, Code::TooLarge);
        assert!(framing("application/x-ndjson").split(&Bytes::from("1\n2"), 1).is_err());
    }
}
