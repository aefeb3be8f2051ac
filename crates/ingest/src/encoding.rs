//! Reads the format, and the layout of a packed message, from a `Content-Type`.

use crate::{media_types::KNOWN, rejected::Rejected};
use dunnage_formats::Id;

/// How many characters of an unknown `Content-Type` an error shows.
const SHOWN: usize = 128;

/// The minimum and the maximum number of hexadecimal digits of a fingerprint.
const DIGITS: std::ops::RangeInclusive<usize> = 8..=64;

/// How a message became bytes, as its sender says.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The format.
    pub format: Id,
    /// The first hexadecimal digits of the layout's fingerprint. Only packed has layouts.
    pub layout: Option<String>,
}

impl Encoding {
    /// Returns the encoding that `content_type` names.
    pub fn of(content_type: &str) -> Result<Encoding, Rejected> {
        match Id::from_media_type(content_type) {
            Some(format) => Ok(Encoding { format, layout: layout(format, content_type)? }),
            None if content_type.is_empty() => {
                Err(Rejected::unsupported(format!("Content-Type must name the message's format: {}", *KNOWN)))
            }
            None => {
                let shown: String = content_type.chars().take(SHOWN).collect();
                Err(Rejected::unsupported(format!(
                    "the Content-Type {shown:?} is not known; known ones are {}",
                    *KNOWN
                )))
            }
        }
    }
}

/// Returns the parameter `layout` of packed. An invalid one is rejected and not ignored, because it may mean another layout.
fn layout(format: Id, content_type: &str) -> Result<Option<String>, Rejected> {
    if format != Id::Packed {
        return Ok(None);
    }
    // Parsed here because the crate `mime` rejects a space before a semicolon, which RFC 9110, 5.6.6, allows.
    let mut given = content_type
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.trim().split_once('='))
        .filter(|(name, _)| name.eq_ignore_ascii_case("layout"))
        .map(|(_, value)| value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value));
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(digits), None) if is_fingerprint(digits) => Ok(Some(digits.to_owned())),
        _ => Err(Rejected::unsupported("layout must be given once, as 8 to 64 hexadecimal digits")),
    }
}

fn is_fingerprint(digits: &str) -> bool {
    DIGITS.contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejected::Code;

    fn read(content_type: &str) -> Result<(Id, Option<String>), Code> {
        Encoding::of(content_type).map(|e| (e.format, e.layout)).map_err(|rejected| rejected.code)
    }

    #[test]
    fn a_layout_is_read_from_packed_only() {
        let packed = "application/vnd.dunnage.packed";
        let layout = |layout: &str| Ok((Id::Packed, Some(layout.to_owned())));
        for none in ["", ";", " ; charset=utf-8", ";charset=utf-8 ;"] {
            assert_eq!(read(&format!("{packed}{none}")), Ok((Id::Packed, None)), "{none}");
        }
        assert_eq!(read(&format!("{packed}; layout=0123456789AB")), layout("0123456789AB"));
        assert_eq!(read(&format!("{packed} ; layout=01234567;")), layout("01234567"));
        assert_eq!(read(&format!("{packed};charset=x;LAYOUT=\"01234567\"")), layout("01234567"));
        assert_eq!(read(&format!("{packed}; layout={}", "0".repeat(64))), layout(&"0".repeat(64)));
        for bad in ["0123456", "0123456g", "", &"0".repeat(65), "01234567;layout=01234567", "\"01234567"] {
            assert_eq!(read(&format!("{packed}; layout={bad}")), Err(Code::MediaType), "{bad}");
        }
        assert_eq!(read("application/json; layout=x"), Ok((Id::Json, None)));
    }
}
