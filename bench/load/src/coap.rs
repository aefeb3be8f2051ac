//! The part of CoAP (RFC 7252) that a client needs to send confirmable messages.

/// Method codes.
pub const GET: u8 = 1;
pub const POST: u8 = 2;
pub const PUT: u8 = 3;
/// Length of a token in bytes.
const TOKEN: usize = 4;

/// A message from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// An empty acknowledgement; the answer follows later.
    Later,
    /// An answer: class and detail of its code, such as 2 and 4 for `2.04`, and the message ID if it must be acknowledged.
    Code { class: u8, detail: u8, to_acknowledge: Option<u16> },
    /// A reset.
    Reset,
}

/// A confirmable request. [`number`] sets its message ID and token. The options are Uri-Path (11) and Content-Format (12) of RFC 7252, 5.10.
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

/// Sets the message ID and the token of `request` to `number`.
pub fn number(request: &mut [u8], number: u16) {
    let digits = number.to_be_bytes();
    request[2..4].copy_from_slice(&digits);
    request[4..6].copy_from_slice(&digits);
}

/// Parses `bytes` as an answer to the message `number`; `None` if they do not answer it.
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

/// Appends an option whose number is `delta` above that of the previous one. `delta` must be at most 12, and `value` shorter than 269 bytes.
pub fn option(bytes: &mut Vec<u8>, delta: u8, value: &[u8]) {
    match value.len() {
        short @ 0..=12 => bytes.push(delta << 4 | short as u8),
        long => bytes.extend([delta << 4 | 13, (long - 13) as u8]),
    }
    bytes.extend_from_slice(value);
}
