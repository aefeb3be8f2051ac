//! As much of CoAP (RFC 7252) as a client needs that only sends confirmable messages.

/// Methods.
pub const GET: u8 = 1;
pub const POST: u8 = 2;
pub const PUT: u8 = 3;
/// Bytes of a token.
const TOKEN: usize = 4;

/// What a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// An acknowledgement without an answer, which follows later.
    Later,
    /// An answer: its code as in `2.04`, and the message id if it has to be acknowledged.
    Code { class: u8, detail: u8, to_acknowledge: Option<u16> },
    /// A reset.
    Reset,
}

/// A confirmable request, in which [`number`] sets the message id and the token. Options are those of RFC 7252, 5.10:
/// Uri-Path (11) and Content-Format (12).
pub fn request(method: u8, path: &[&str], content_format: Option<u16>, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x40 | TOKEN as u8, method, 0, 0];
    bytes.extend([0; TOKEN]);
    let mut before = 0;
    for segment in path {
        option(&mut bytes, 11 - before, segment.as_bytes());
        before = 11;
    }
    if let Some(format) = content_format {
        let digits = format.to_be_bytes();
        let shortest = digits.iter().position(|byte| *byte != 0).unwrap_or(digits.len());
        option(&mut bytes, 12 - before, &digits[shortest..]);
    }
    bytes.push(0xff);
    bytes.extend_from_slice(payload);
    bytes
}

/// Makes it the message `number` of its sender.
pub fn number(request: &mut [u8], number: u16) {
    let digits = number.to_be_bytes();
    request[2..4].copy_from_slice(&digits);
    request[4..6].copy_from_slice(&digits);
}

/// What `bytes` answer to the message `number`; `None` if they answer another.
pub fn answer(bytes: &[u8], number: u16) -> Option<Answer> {
    let (head, rest) = bytes.split_at_checked(4)?;
    let (kind, length) = (head[0] >> 4 & 3, usize::from(head[0] & 15));
    let id = u16::from_be_bytes([head[2], head[3]]);
    match (kind, head[1]) {
        (2, 0) => (id == number).then_some(Answer::Later),
        (3, _) => (id == number).then_some(Answer::Reset),
        (_, code) => {
            let ours = length == TOKEN && rest.get(..2)? == number.to_be_bytes();
            let to_acknowledge = (kind == 0).then_some(id);
            ours.then_some(Answer::Code { class: code >> 5, detail: code & 31, to_acknowledge })
        }
    }
}

/// An empty acknowledgement of the message `id`.
pub fn acknowledgement(id: u16) -> [u8; 4] {
    let [high, low] = id.to_be_bytes();
    [0x60, 0, high, low]
}

/// Adds an option, whose number is `delta` above that of the one before: at most 12. Values here are below 269 bytes.
pub fn option(bytes: &mut Vec<u8>, delta: u8, value: &[u8]) {
    match value.len() {
        short @ 0..=12 => bytes.push(delta << 4 | short as u8),
        long => bytes.extend([delta << 4 | 13, (long - 13) as u8]),
    }
    bytes.extend_from_slice(value);
}
