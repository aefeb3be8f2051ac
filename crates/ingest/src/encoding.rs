//! Reads the format, and the layout and the slot of a packed message, from a `Content-Type`.

use crate::{
    media_types::{SUFFIXES, USUAL, is_relayed, is_unnamed},
    rejected::Rejected,
};
use dunnage_formats::Id;
use std::ops::RangeInclusive;

/// How many characters of an unknown `Content-Type` an error shows.
const SHOWN: usize = 128;

/// The minimum and the maximum number of hexadecimal digits of a fingerprint.
const DIGITS: RangeInclusive<usize> = 8..=64;

/// The slots of packed messages, and the ports of links.
const SLOTS: RangeInclusive<u8> = 1..=63;
const PORTS: RangeInclusive<u8> = 1..=255;

/// The slot of a packed message as known from outside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// Its slot, which is not in the message.
    Slot(u8),
    /// The port of the link, which may be its slot.
    Port(u8),
}

/// How a message became bytes, as its sender says.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The format.
    pub format: Id,
    /// The first hexadecimal digits of the layout's fingerprint. Only packed has layouts.
    pub layout: Option<String>,
    /// The slot, if it is known. Only packed has slots.
    pub stated: Option<Stated>,
}

/// How a message is decoded.
#[derive(Debug, Clone)]
pub enum Decoding {
    /// By its format.
    Format(Encoding),
    /// By the vendor's codec of its device's profile, with the port of its link, if that is known.
    Codec(Option<u8>),
}

/// The name of messages that a vendor's codec decoded, where others have the name of their format.
pub const CODEC: &str = "codec";

/// Returns the names of all formats that a stored message may have.
pub fn stored_formats() -> impl Iterator<Item = &'static str> {
    Id::readable().map(Id::name).chain([CODEC])
}

impl Decoding {
    /// Returns the name of the format, as it is stored.
    pub fn name(&self) -> &'static str {
        match self {
            Decoding::Format(encoding) => encoding.format.name(),
            Decoding::Codec(_) => CODEC,
        }
    }

    /// Returns the decoding by a codec of a message with `content_type`, which names no format.
    pub fn by_codec(content_type: &str) -> Result<Decoding, Rejected> {
        match stated(content_type)? {
            Some(Stated::Slot(_)) => Err(Rejected::unsupported("slot: only a packed message has one")),
            Some(Stated::Port(port)) => Ok(Decoding::Codec(Some(port))),
            None => Ok(Decoding::Codec(None)),
        }
    }
}

impl Encoding {
    /// Returns the encoding that `content_type` names; if it names none, `unnamed` is the format.
    pub fn of(content_type: &str, unnamed: Option<Id>) -> Result<Encoding, Rejected> {
        let format = match is_unnamed(content_type) {
            true => unnamed,
            false => Id::from_media_type(content_type),
        };
        match format {
            Some(format @ Id::Packed) => {
                let (layout, stated) = (layout(content_type)?, stated(content_type)?);
                Ok(Encoding { format, layout, stated })
            }
            Some(format) => Ok(Encoding { format, layout: None, stated: None }),
            None => {
                let detail = match is_unnamed(content_type) {
                    true => "Content-Type must name the message's format, as no profile gives this device a single one".into(),
                    false => {
                        let shown: String = content_type.chars().take(SHOWN).collect();
                        match is_relayed(content_type) {
                            true => "a relay's batch needs a profile with relay".into(),
                            false => format!("the Content-Type {shown:?} is not known"),
                        }
                    }
                };
                let known = format!("; use one of {}, or any that ends in {}", *USUAL, *SUFFIXES);
                Err(Rejected::unsupported(detail).with_choice(known))
            }
        }
    }
}

/// Returns the parameter `layout`. An invalid one is rejected and not ignored, because it may mean another layout.
fn layout(content_type: &str) -> Result<Option<String>, Rejected> {
    match parameter(content_type, "layout") {
        Ok(Some(digits)) if is_fingerprint(digits) => Ok(Some(digits.to_owned())),
        Ok(None) => Ok(None),
        _ => Err(Rejected::unsupported("layout must be given once, as 8 to 64 hexadecimal digits")),
    }
}

/// Returns the parameter `slot` or `port`.
fn stated(content_type: &str) -> Result<Option<Stated>, Rejected> {
    let read = |name: &str, range: RangeInclusive<u8>| {
        let number = |text: &str| text.parse().ok().filter(|number| range.contains(number)).ok_or(());
        parameter(content_type, name).and_then(|text| text.map(number).transpose()).map_err(|()| {
            let (first, last) = (range.start(), range.end());
            Rejected::unsupported(format!("{name} must be given once, as a number from {first} to {last}"))
        })
    };
    match (read("slot", SLOTS)?, read("port", PORTS)?) {
        (Some(_), Some(_)) => Err(Rejected::unsupported("slot and port: only one may be given")),
        (slot, port) => Ok(slot.map(Stated::Slot).or(port.map(Stated::Port))),
    }
}

/// Returns the port that `content_type` states.
pub fn port(content_type: &str) -> Option<u8> {
    match stated(content_type) {
        Ok(Some(Stated::Port(port))) => Some(port),
        _ => None,
    }
}

/// Returns the value of a parameter. Fails if it is given twice.
fn parameter<'t>(content_type: &'t str, name: &str) -> Result<Option<&'t str>, ()> {
    // Parsed here because the crate `mime` rejects a space before a semicolon, which RFC 9110, 5.6.6, allows.
    let mut given = content_type
        .split(';')
        .skip(1)
        .filter_map(|parameter| parameter.trim().split_once('='))
        .filter(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value));
    match (given.next(), given.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
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
        Encoding::of(content_type, None).map(|e| (e.format, e.layout)).map_err(|rejected| rejected.code)
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

    #[test]
    fn a_slot_or_a_port_is_read_from_packed_only() {
        let read = |parameters: &str| {
            let encoding = Encoding::of(&format!("application/vnd.dunnage.packed{parameters}"), None);
            encoding.map(|encoding| encoding.stated).map_err(|rejected| rejected.code)
        };
        assert_eq!(read("; layout=01234567"), Ok(None));
        assert_eq!(read("; slot=63; layout=01234567"), Ok(Some(Stated::Slot(63))));
        assert_eq!(read(" ;Slot=\"7\""), Ok(Some(Stated::Slot(7))));
        assert_eq!(read("; port=223"), Ok(Some(Stated::Port(223))));
        for bad in [
            "slot=0",
            "slot=64",
            "slot=",
            "slot=x",
            "slot=-1",
            "slot=1;slot=1",
            "port=0",
            "port=256",
            "slot=1;port=1",
        ] {
            assert_eq!(read(&format!("; {bad}")), Err(Code::MediaType), "{bad}");
        }
        let json = Encoding::of("application/json; slot=x", None).ok().unwrap();
        assert_eq!((json.format, json.stated), (Id::Json, None));
    }
}
