//! Finds the value that a JSON pointer names in a text.

use super::foreign::{self, Replaced};
use jiter::{Jiter, JiterError, Peek};

/// Returns the byte offset of the value that `pointer` (RFC 6901) names in the JSON `text`, or that of the innermost enclosing value if it
/// does not exist. Returns `None` if `text` is not valid JSON up to there, apart from NaN and infinities.
///
/// ```
/// use dunnage_formats::json_offset;
/// assert_eq!(json_offset(br#"{"t": [1, 2]}"#, "/t/1"), Some(10));
/// assert_eq!(json_offset(br#"{"t": [1, 2]}"#, "/u"), Some(0)); // that of the object
/// ```
pub fn offset_of(text: &[u8], pointer: &str) -> Option<usize> {
    let json = foreign::without_mark(text);
    let found = offset_in(json, pointer).or_else(|| {
        let replaced = Replaced::of(json)?;
        offset_in(&replaced.text, pointer).map(|offset| replaced.original(offset))
    });
    found.map(|offset| text.len() - json.len() + offset)
}

fn offset_in(text: &[u8], pointer: &str) -> Option<usize> {
    let mut jiter = Jiter::new(text);
    let mut found = jiter.peek().ok()?;
    for token in pointer.split('/').skip(1) {
        let around = jiter.current_index();
        let next = match found {
            Peek::Array => element(&mut jiter, token),
            Peek::Object => entry(&mut jiter, &dunnage_schema::pointer::unescape(token)),
            _ => Ok(None),
        };
        match next.ok()? {
            Some(next) => found = next,
            None => return Some(around),
        }
    }
    Some(jiter.current_index())
}

/// Advances to the element at the index `token` of the array; `None` if there is no such element.
fn element(jiter: &mut Jiter<'_>, token: &str) -> Result<Option<Peek>, JiterError> {
    let Ok(index) = token.parse::<usize>() else { return Ok(None) };
    let mut next = jiter.known_array()?;
    for _ in 0..index {
        let Some(skipped) = next else { return Ok(None) };
        jiter.known_skip(skipped)?;
        next = jiter.array_step()?;
    }
    Ok(next)
}

/// Advances to the value of `key` in the object; `None` if there is no such key.
fn entry(jiter: &mut Jiter<'_>, key: &str) -> Result<Option<Peek>, JiterError> {
    let mut next = jiter.known_object()?.map(|this| this == key);
    while let Some(found) = next {
        if found {
            return jiter.peek().map(Some);
        }
        jiter.next_skip()?;
        next = jiter.next_key()?.map(|this| this == key);
    }
    Ok(None)
}
