//! MessagePack, item by item (<https://github.com/msgpack/msgpack/blob/master/spec.md>).

use super::{
    Cursor, Item, Sink, Stop,
    item::{counted, quoted},
};
use dunnage_formats::{DUPLICATE_KEY, Error, Kind};
use std::collections::HashSet;

/// Reports every item of the message at the cursor.
pub fn walk(cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    Walk { cursor, sink }.item(Place { start: 0, depth: 0, nesting: 0, suffix: "" })
}

struct Walk<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    sink: &'c mut dyn Sink,
}

/// The position of an item.
#[derive(Clone, Copy)]
struct Place {
    /// Offset of the first byte.
    start: usize,
    /// Indentation in the view.
    depth: usize,
    /// Number of containers around the item.
    nesting: usize,
    /// `:` after keys.
    suffix: &'static str,
}

impl Walk<'_, '_> {
    fn item(&mut self, place: Place) -> Result<(), Stop> {
        let first = self.cursor.byte()?;
        match first {
            0x00..=0x7f => self.report(place, first.to_string(), "unsigned".into(), None),
            0x80..=0x8f => self.map(place, u64::from(first & 15), 0),
            0x90..=0x9f => self.array(place, u64::from(first & 15), 0),
            0xa0..=0xbf => self.text(place, u64::from(first & 31), 0),
            0xc0 => self.report(place, "null".into(), String::new(), None),
            0xc1 => Err(Stop::Error(Error::new(Kind::Malformed, place.start, "c1 is reserved"))),
            0xc2 => self.report(place, "false".into(), String::new(), None),
            0xc3 => self.report(place, "true".into(), String::new(), None),
            0xc4..=0xc6 => {
                let n = self.unsigned(first - 0xc4)?;
                let least = [0, 1 << 8, 1 << 16][usize::from(first - 0xc4)];
                self.bytes(place, n, longer(n < least))
            }
            0xc7..=0xc9 => {
                let n = self.unsigned(first - 0xc7)?;
                self.extension(place, n)
            }
            0xca | 0xcb => self.float(place, first == 0xcb),
            0xcc..=0xcf => {
                let n = self.unsigned(first - 0xcc)?;
                let least = [0x80, 1 << 8, 1 << 16, 1 << 32][usize::from(first - 0xcc)];
                self.report(place, n.to_string(), "unsigned".into(), longer(n < least))
            }
            0xd0..=0xd3 => self.signed(place, first - 0xd0),
            0xd4..=0xd8 => self.extension(place, 1 << (first - 0xd4)),
            0xd9..=0xdb => {
                let n = self.unsigned(first - 0xd9)?;
                self.text(place, n, [32, 1 << 8, 1 << 16][usize::from(first - 0xd9)])
            }
            0xdc | 0xdd => {
                let n = self.unsigned(first - 0xdb)?;
                self.array(place, n, if first == 0xdc { 16 } else { 1 << 16 })
            }
            0xde | 0xdf => {
                let n = self.unsigned(first - 0xdd)?;
                self.map(place, n, if first == 0xde { 16 } else { 1 << 16 })
            }
            0xe0..=0xff => self.report(place, (first as i8).to_string(), "negative".into(), None),
        }
    }

    /// Reads a big-endian number of 2^`power` bytes.
    fn unsigned(&mut self, power: u8) -> Result<u64, Error> {
        Ok(match power {
            0 => u64::from(self.cursor.byte()?),
            1 => u64::from(u16::from_be_bytes(self.cursor.array()?)),
            2 => u64::from(u32::from_be_bytes(self.cursor.array()?)),
            _ => u64::from_be_bytes(self.cursor.array()?),
        })
    }

    fn signed(&mut self, place: Place, power: u8) -> Result<(), Stop> {
        let n = match power {
            0 => i64::from(i8::from_be_bytes(self.cursor.array()?)),
            1 => i64::from(i16::from_be_bytes(self.cursor.array()?)),
            2 => i64::from(i32::from_be_bytes(self.cursor.array()?)),
            _ => i64::from_be_bytes(self.cursor.array()?),
        };
        // The smallest number of the next narrower signed form. Non-negative numbers have unsigned forms, which are compared
        // below.
        let narrower =
            [-32, i64::from(i8::MIN), i64::from(i16::MIN), i64::from(i32::MIN)][usize::from(power)];
        let unsigned = [i64::from(i8::MAX), i64::from(u8::MAX), i64::from(u16::MAX), i64::from(u32::MAX)];
        let needless = n >= narrower && n <= unsigned[usize::from(power)];
        self.report(place, n.to_string(), "signed".into(), longer(needless))
    }

    fn float(&mut self, place: Place, double: bool) -> Result<(), Stop> {
        if !double {
            let float = f32::from_be_bytes(self.cursor.array()?);
            return self.report(place, format!("{float:?}"), "binary32".into(), None);
        }
        let float = f64::from_be_bytes(self.cursor.array()?);
        let note = (f64::from(float as f32) == float).then(|| "fits binary32".to_owned());
        self.report(place, format!("{float:?}"), "binary64".into(), note)
    }

    fn text(&mut self, place: Place, length: u64, least: u64) -> Result<(), Stop> {
        let text = quoted(self.cursor.text(length, place.start)?);
        self.report(place, text, format!("text of {length}"), longer(length < least))
    }

    fn bytes(&mut self, place: Place, length: u64, note: Option<String>) -> Result<(), Stop> {
        self.cursor.take(length)?;
        self.report(place, counted(length, "byte", "bytes"), String::new(), note)
    }

    /// Reports an extension: a type, then `length` bytes.
    fn extension(&mut self, place: Place, length: u64) -> Result<(), Stop> {
        let kind = i8::from_be_bytes(self.cursor.array()?);
        let data = self.cursor.take(length)?;
        let meaning = match kind {
            -1 => timestamp(data).unwrap_or_else(|| "timestamp of an unknown form".into()),
            _ => format!("extension {kind}"),
        };
        self.report(place, meaning, counted(length, "byte", "bytes"), None)
    }

    fn array(&mut self, place: Place, elements: u64, least: u64) -> Result<(), Stop> {
        let nesting = self.cursor.enter(place.nesting, place.start)?;
        let about = counted(elements, "element", "elements");
        self.report(place, "array".into(), about, longer(elements < least))?;
        for _ in 0..elements {
            let start = self.cursor.at();
            self.item(Place { start, depth: place.depth + 1, nesting, suffix: "" })?;
        }
        Ok(())
    }

    fn map(&mut self, place: Place, entries: u64, least: u64) -> Result<(), Stop> {
        let nesting = self.cursor.enter(place.nesting, place.start)?;
        self.report(place, "map".into(), counted(entries, "entry", "entries"), longer(entries < least))?;
        let mut keys = HashSet::new();
        for _ in 0..entries {
            let key = self.cursor.at();
            self.item(Place { start: key, depth: place.depth + 1, nesting, suffix: ":" })?;
            if !keys.insert(self.cursor.since(key)) {
                return Err(Stop::Error(Error::new(Kind::Malformed, key, DUPLICATE_KEY)));
            }
            let start = self.cursor.at();
            self.item(Place { start, depth: place.depth + 2, nesting, suffix: "" })?;
        }
        Ok(())
    }

    fn report(
        &mut self,
        place: Place,
        meaning: String,
        about: String,
        note: Option<String>,
    ) -> Result<(), Stop> {
        let bytes = self.cursor.since(place.start);
        let meaning = meaning + place.suffix;
        Ok(self.sink.item(&Item { offset: place.start, depth: place.depth, bytes, meaning, about, note })?)
    }
}

fn longer(needless: bool) -> Option<String> {
    needless.then(|| "fits a shorter form".to_owned())
}

/// The time of an extension of type -1, in seconds since 1970. `None` if its form is unknown.
fn timestamp(data: &[u8]) -> Option<String> {
    let (seconds, nanoseconds) = match *data {
        [a, b, c, d] => (i64::from(u32::from_be_bytes([a, b, c, d])), 0),
        [_, _, _, _, _, _, _, _] => {
            let both = u64::from_be_bytes(data.try_into().ok()?);
            ((both & 0x3_ffff_ffff) as i64, (both >> 34) as u32)
        }
        [a, b, c, d, ref seconds @ ..] => {
            (i64::from_be_bytes(seconds.try_into().ok()?), u32::from_be_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    Some(format!("timestamp {seconds} s {nanoseconds} ns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_three_forms() {
        assert_eq!(timestamp(&[0, 0, 0, 1]).unwrap(), "timestamp 1 s 0 ns");
        assert_eq!(timestamp(&[0, 0, 0, 8, 0, 0, 0, 3]).unwrap(), "timestamp 3 s 2 ns");
        assert_eq!(
            timestamp(&[0, 0, 0, 5, 255, 255, 255, 255, 255, 255, 255, 255]).unwrap(),
            "timestamp -1 s 5 ns"
        );
        assert_eq!(timestamp(&[1, 2]), None);
    }
}
