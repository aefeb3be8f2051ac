//! Texts of senders that are not JSON: a byte order mark, UTF-16, and NaN or infinities as the `printf` of a C library, or Arduino's
//! `print`, prints them.

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns `text` without a byte order mark at its start, which RFC 8259, 8.1, permits to ignore.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Names what is at the byte `at` in place of JSON; `None` if it is unknown.
pub(super) fn name(text: &[u8], at: usize) -> Option<(&'static str, Option<&'static str>)> {
    if is_utf_16(text) {
        return Some(("the text is UTF-16; JSON is UTF-8", None));
    }
    if text.get(at..).is_some_and(|rest| rest.starts_with(MARK)) {
        return Some(("a byte order mark (U+FEFF), which may stand only at the start", None));
    }
    let at = at.min(text.len());
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.#()_".contains(byte);
    let start = at - text[..at].iter().rev().take_while(is_part).count();
    let word = &text[start..at + text[at..].iter().take_while(is_part).count()];
    let number = not_a_number(word).filter(|length| *length == word.len());
    number.map(|_| ("JSON has no NaN and no infinities; send null", Some("lenient")))
}

/// JSON begins with an ASCII character, and most of its second characters are ASCII, too.
fn is_utf_16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0xff, ..] | [1..=0x7f, 0, ..])
}

/// Returns the length of the NaN or infinity that `text` begins with.
fn not_a_number(text: &[u8]) -> Option<usize> {
    let sign = usize::from(matches!(text, [b'+' | b'-', ..]));
    let rest = &text[sign..];
    let begins =
        |word: &&&str| rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()));
    let word = ["infinity", "inf", "nan", "ovf", "1.#"].iter().find(begins)?;
    let more = &rest[word.len()..];
    let count = |is: fn(&u8) -> bool| more.iter().take_while(|byte| is(byte)).count();
    let length = match *word {
        // `nan(ind)`, `nan(0x8000000000000)`
        "nan" if more.starts_with(b"(") => {
            let inside = count(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'(' | b'_'));
            if more.get(inside) == Some(&b')') { inside + 1 } else { 0 }
        }
        // `1.#INF`, `1.#QNAN00`
        "1.#" => Some(count(u8::is_ascii_alphanumeric)).filter(|length| *length > 0)?,
        _ => 0,
    };
    Some(sign + word.len() + length)
}

/// A JSON text with null in place of NaN and infinities.
pub(super) struct Replaced {
    pub text: Vec<u8>,
    /// Where each null is, and the length of what it replaces.
    pub nulls: Vec<(usize, usize)>,
}

const NULL: &[u8] = b"null";

impl Replaced {
    /// Replaces the NaNs and infinities among the values of `text`; `None` if it has none.
    pub fn of(text: &[u8]) -> Option<Replaced> {
        let (mut replaced, mut copied) = (Replaced { text: Vec::new(), nulls: Vec::new() }, 0);
        // The last byte before a value is an opening bracket, a comma or a colon, or the text begins with it.
        let (mut at, mut before, mut in_string) = (0, b'[', false);
        while let Some(&byte) = text.get(at) {
            match byte {
                b'\\' if in_string => at += 1,
                b'"' => in_string = !in_string,
                b'+' | b'-' | b'n' | b'N' | b'i' | b'I' | b'o' | b'O' | b'1'
                    if !in_string && matches!(before, b'[' | b',' | b':') =>
                {
                    if let Some(length) = value(&text[at..]) {
                        replaced.text.extend_from_slice(&text[copied..at]);
                        replaced.nulls.push((replaced.text.len(), length));
                        replaced.text.extend_from_slice(NULL);
                        at += length;
                        copied = at;
                        before = b'0';
                        continue;
                    }
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            at += 1;
        }
        replaced.text.extend_from_slice(&text[copied..]);
        (!replaced.nulls.is_empty()).then_some(replaced)
    }

    /// Returns where the byte `offset` of the new text is in the text that was replaced.
    pub fn original(&self, offset: usize) -> usize {
        let before = self.nulls.iter().filter(|(at, _)| at + NULL.len() <= offset);
        let (removed, added) = before.fold((0, 0), |(r, a), (_, length)| (r + length, a + NULL.len()));
        offset + removed - added
    }
}

/// Returns the length of the value that `text` begins with, if it is a NaN or an infinity.
fn value(text: &[u8]) -> Option<usize> {
    let length = not_a_number(text)?;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
    text.get(length).is_none_or(ends).then_some(length)
}
