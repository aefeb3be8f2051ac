//! Bytes as hexadecimal digits.

use std::fmt::Write;

/// Formats each byte as two lower-case digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Parses an even number of digits, in either case. Returns `None` for anything else.
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    plain.then(|| (0..digits.len()).step_by(2).map(pair).collect()).flatten()
}
