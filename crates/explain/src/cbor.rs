//! CBOR (RFC 8949), item by item.

use super::{
    Cursor, Item, Sink, Stop,
    item::{counted, quoted},
};
use dunnage_formats::{DUPLICATE_KEY, Error, Kind};
use std::collections::HashSet;

/// Reports every item of the message at the cursor.
pub fn walk(cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    Walk { cursor, sink }.item(Place { depth: 0, nesting: 0, suffix: "" })
}

struct Walk<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    sink: &'c mut dyn Sink,
}

/// The position of an item.
#[derive(Clone, Copy)]
struct Place {
    /// Indentation in the view.
    depth: usize,
    /// Number of containers and tags around the item.
    nesting: usize,
    /// `:` after keys.
    suffix: &'static str,
}

/// The head of an item (RFC 8949, section 3).
struct Head {
    start: usize,
    major: u8,
    /// `None` for an indefinite length and for `break`.
    argument: Option<u64>,
    /// Number of bytes that carry the argument.
    size: usize,
    note: Option<String>,
}

const BREAK: u8 = 0xff;

impl Walk<'_, '_> {
    fn item(&mut self, place: Place) -> Result<(), Stop> {
        let head = self.head()?;
        match (head.major, head.argument) {
            (0, Some(n)) => self.report(head, place, n.to_string(), "unsigned".into()),
            (1, Some(n)) => self.report(head, place, (-1 - i128::from(n)).to_string(), "negative".into()),
            (2, Some(n)) => {
                self.cursor.take(n)?;
                self.report(head, place, counted(n, "byte", "bytes"), String::new())
            }
            (3, Some(n)) => {
                let text = quoted(self.cursor.text(n, head.start)?);
                self.report(head, place, text, format!("text of {n}"))
            }
            (2 | 3, None) => self.chunks(head, place),
            (4, _) => self.array(head, place),
            (5, _) => self.map(head, place),
            (6, Some(tag)) => self.tag(head, place, tag),
            (7, Some(argument)) => self.simple_or_float(head, place, argument),
            (7, None) => Err(malformed(head.start, "a break outside an indefinite length")),
            _ => Err(malformed(head.start, "an indefinite length for a number or a tag")),
        }
    }

    fn head(&mut self) -> Result<Head, Stop> {
        let start = self.cursor.at();
        let first = self.cursor.byte()?;
        let (argument, size, shortest) = match first & 31 {
            n @ 0..=23 => (Some(u64::from(n)), 0, 0),
            24 => (Some(u64::from(self.cursor.byte()?)), 1, 24),
            25 => (Some(u64::from(u16::from_be_bytes(self.cursor.array()?))), 2, 1 << 8),
            26 => (Some(u64::from(u32::from_be_bytes(self.cursor.array()?))), 4, 1 << 16),
            27 => (Some(u64::from_be_bytes(self.cursor.array()?)), 8, 1 << 32),
            31 => (None, 0, 0),
            _ => return Err(malformed(start, "additional information 28, 29 and 30 are reserved")),
        };
        let major = first >> 5;
        let longer = major != 7 && argument.is_some_and(|n| n < shortest);
        let note = longer.then(|| "not preferred: fits a shorter head".to_owned());
        Ok(Head { start, major, argument, size, note })
    }

    /// Reports a string of indefinite length: definite chunks of the same type, then a break.
    fn chunks(&mut self, head: Head, place: Place) -> Result<(), Stop> {
        let (major, start) = (head.major, head.start);
        let meaning = if major == 2 { "bytes in chunks" } else { "text in chunks" };
        self.report(head, place, meaning.into(), String::new())?;
        while self.cursor.peek()? != BREAK {
            let chunk = self.cursor.at();
            let byte = self.cursor.peek()?;
            if byte >> 5 != major || byte & 31 == 31 {
                return Err(malformed(chunk, "a chunk of another type"));
            }
            // Chunks of definite length contain no other items, so they are not a level of nesting.
            self.item(Place { depth: place.depth + 1, suffix: "", ..place })?;
        }
        self.end(start, place)
    }

    fn array(&mut self, head: Head, place: Place) -> Result<(), Stop> {
        let nesting = self.cursor.enter(place.nesting, head.start)?;
        let (start, elements) = (head.start, head.argument);
        let about = elements.map_or("indefinite".into(), |n| counted(n, "element", "elements"));
        self.report(head, place, "array".into(), about)?;
        let mut left = elements;
        while self.more(&mut left)? {
            self.item(Place { depth: place.depth + 1, nesting, suffix: "" })?;
        }
        if elements.is_none() { self.end(start, place) } else { Ok(()) }
    }

    fn map(&mut self, head: Head, place: Place) -> Result<(), Stop> {
        let nesting = self.cursor.enter(place.nesting, head.start)?;
        let (start, entries) = (head.start, head.argument);
        let about = entries.map_or("indefinite".into(), |n| counted(n, "entry", "entries"));
        self.report(head, place, "map".into(), about)?;
        let (mut left, mut keys) = (entries, HashSet::new());
        while self.more(&mut left)? {
            let key = self.cursor.at();
            self.item(Place { depth: place.depth + 1, nesting, suffix: ":" })?;
            if !keys.insert(self.cursor.since(key)) {
                return Err(malformed(key, DUPLICATE_KEY));
            }
            self.item(Place { depth: place.depth + 2, nesting, suffix: "" })?;
        }
        if entries.is_none() { self.end(start, place) } else { Ok(()) }
    }

    /// Whether another element or entry follows. `left` counts the remaining ones of a definite length.
    fn more(&self, left: &mut Option<u64>) -> Result<bool, Error> {
        match left {
            None => Ok(self.cursor.peek()? != BREAK),
            Some(0) => Ok(false),
            Some(n) => {
                *n -= 1;
                Ok(true)
            }
        }
    }

    /// Reports the break of the item that began at `start`.
    fn end(&mut self, start: usize, place: Place) -> Result<(), Stop> {
        let head = self.head()?;
        self.report(head, place, "break".into(), format!("ends byte {start}"))
    }

    fn tag(&mut self, head: Head, place: Place, tag: u64) -> Result<(), Stop> {
        let nesting = self.cursor.enter(place.nesting, head.start)?;
        let known = match tag {
            0 => "date and time as text",
            1 => "seconds since 1970",
            2 => "big number",
            3 => "negative big number",
            4 => "decimal fraction",
            5 => "big float",
            24 => "CBOR in bytes",
            32 => "URI",
            37 => "UUID",
            55799 => "this is CBOR",
            _ => "",
        };
        self.report(head, place, format!("tag {tag}"), known.into())?;
        self.item(Place { depth: place.depth + 1, nesting, suffix: place.suffix })
    }

    fn simple_or_float(&mut self, mut head: Head, place: Place, argument: u64) -> Result<(), Stop> {
        let (float, about) = match head.size {
            0 => return self.simple(head, place, argument),
            1 if argument < 32 => return Err(malformed(head.start, "a simple value below 32 in two bytes")),
            1 => return self.simple(head, place, argument),
            2 => (binary16(argument as u16), "binary16"),
            4 => (f64::from(f32::from_bits(argument as u32)), "binary32"),
            _ => (f64::from_bits(argument), "binary64"),
        };
        head.note = if head.size > 2 && fits_binary16(float) {
            Some("not preferred: fits binary16".into())
        } else if head.size > 4 && f64::from(float as f32) == float {
            Some("not preferred: fits binary32".into())
        } else {
            None
        };
        let meaning = if about == "binary32" { format!("{:?}", float as f32) } else { format!("{float:?}") };
        self.report(head, place, meaning, about.into())
    }

    fn simple(&mut self, head: Head, place: Place, value: u64) -> Result<(), Stop> {
        let meaning = match value {
            20 => "false".into(),
            21 => "true".into(),
            22 => "null".into(),
            23 => "undefined".into(),
            n => format!("simple({n})"),
        };
        self.report(head, place, meaning, String::new())
    }

    fn report(&mut self, head: Head, place: Place, meaning: String, about: String) -> Result<(), Stop> {
        let bytes = self.cursor.since(head.start);
        let meaning = meaning + place.suffix;
        let (offset, depth, note) = (head.start, place.depth, head.note);
        Ok(self.sink.item(&Item { offset, depth, bytes, meaning, about, note })?)
    }
}

/// Converts a binary16 (RFC 8949, appendix D).
fn binary16(bits: u16) -> f64 {
    let (exponent, mantissa) = ((bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + mantissa) * 2f64.powi(i32::from(e) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// Whether a binary16 holds `float` exactly.
fn fits_binary16(float: f64) -> bool {
    let magnitude = float.abs();
    // binary16 has steps of 2^-24 below 2^-14, and eleven significant bits above, up to 65504.
    let step = (magnitude.log2().floor() - 10.0).max(-24.0).exp2();
    magnitude == 0.0 || !magnitude.is_finite() || (magnitude <= 65504.0 && (magnitude / step).fract() == 0.0)
}

fn malformed(offset: usize, reason: &str) -> Stop {
    Stop::Error(Error::new(Kind::Malformed, offset, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary16_fits_and_its_neighbours_do_not() {
        for bits in 0..=u16::MAX {
            let number = binary16(bits);
            assert!(fits_binary16(number), "{bits:04x}");
            if number.is_finite() && number != 0.0 {
                assert!(!fits_binary16(number.next_up()), "{bits:04x}");
            }
        }
    }

    #[test]
    fn binary16_has_the_values_of_rfc_8949_appendix_a() {
        let table = [(0x3c00, 1.0), (0x7bff, 65504.0), (0x0001, 5.960464477539063e-8), (0xc400, -4.0)];
        for (bits, value) in table {
            assert_eq!(binary16(bits), value);
        }
    }
}
