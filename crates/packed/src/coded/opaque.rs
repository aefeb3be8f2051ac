//! Parts without statistics of their own: sized numbers, floats and texts. They take the same bits as in a plain body.

use super::coder::Coder;
use super::table::equally;
use crate::Error;
use dunnage_pson::Kind;

/// The size of a sized number that has all of its 64 bits.
const FULL: u64 = 63;

/// Codes a sized number.
pub(super) fn sized<C: Coder>(coder: &mut C, value: u64) -> Result<u64, Error> {
    let offset = coder.offset();
    let significant = u64::from(u64::BITS - value.leading_zeros()).min(FULL);
    match coder.bits(significant, 6)? {
        0 => Ok(0),
        FULL => match coder.bits(value, 64)? {
            full if full >> (FULL - 1) > 0 => Ok(full),
            _ => Err(Error::new(Kind::Malformed, offset, "a number with more bits than it needs")),
        },
        size => {
            let rest = size as u32 - 1;
            Ok(1 << rest | coder.bits(value, rest)?)
        }
    }
}

/// Codes text of `min` to `max` code points.
pub(super) fn text<C: Coder>(
    coder: &mut C,
    known: &str,
    min: u32,
    max: Option<u32>,
) -> Result<String, Error> {
    let above = (known.chars().count() as u64).saturating_sub(min.into());
    let length = u64::from(min)
        + match max {
            Some(max) => equally(coder, above, u64::from(max - min) + 1)?,
            None => sized(coder, above)?,
        };
    if length == 0 {
        return Ok(String::new());
    }
    let form = coder.offset();
    let ascii = coder.bits(u64::from(!known.is_ascii()), 1)? == 0;
    let (mut text, mut chars) = (String::new(), known.chars());
    for _ in 0..length {
        let known = chars.next().unwrap_or_default();
        text.push(if ascii { coder.bits(known.into(), 7)? as u8 as char } else { character(coder, known)? });
    }
    if !ascii && text.is_ascii() {
        return Err(Error::new(Kind::Malformed, form, "ASCII text in more than 7 bits a character"));
    }
    Ok(text)
}

/// Codes a character as the bytes of its UTF-8.
fn character<C: Coder>(coder: &mut C, known: char) -> Result<char, Error> {
    let offset = coder.offset();
    let mut bytes = [0; 4];
    known.encode_utf8(&mut bytes);
    bytes[0] = coder.bits(bytes[0].into(), 8)? as u8;
    let size = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    for byte in &mut bytes[1..size] {
        *byte = coder.bits((*byte).into(), 8)? as u8;
    }
    let read = std::str::from_utf8(&bytes[..size]).ok().and_then(|text| text.chars().next());
    read.ok_or_else(|| Error::new(Kind::Malformed, offset, "text that is not UTF-8"))
}
