//! PSON wire v2, item by item (`spec/pson.md`).

use super::{
    Cursor, Item, Sink, Stop,
    item::{counted, quoted},
};
use dunnage_formats::{DUPLICATE_KEY, Error, Kind};
use std::collections::HashSet;

/// Reports every item of the message at the cursor.
pub fn walk(cursor: &mut Cursor<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
    Walk { cursor, sink }.item(0, 0)
}

struct Walk<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    sink: &'c mut dyn Sink,
}

/// A header: its offset, wire type and payload.
#[derive(Clone, Copy)]
struct Header {
    start: usize,
    wire_type: u8,
    payload: u8,
}

impl<'a> Walk<'_, 'a> {
    fn header(&mut self) -> Result<Header, Error> {
        let start = self.cursor.at();
        let byte = self.cursor.byte()?;
        Ok(Header { start, wire_type: byte >> 5, payload: byte & 31 })
    }

    /// Reports an item at indentation `depth`, inside `nesting` containers.
    fn item(&mut self, depth: usize, nesting: usize) -> Result<(), Stop> {
        let header = self.header()?;
        match header.wire_type {
            0 | 1 => self.integer(header, depth),
            2 => self.float(header, depth),
            3 => self.discrete(header, depth),
            4 => self.text(header, depth),
            5 => self.bytes(header, depth),
            6 => self.map(header, depth, nesting),
            _ => self.array(header, depth, nesting),
        }
    }

    fn integer(&mut self, header: Header, depth: usize) -> Result<(), Stop> {
        let (n, note) = self.number(header)?;
        let (meaning, about, note) = match header.wire_type {
            0 => (n.to_string(), "unsigned", note),
            _ if n == 0 => ("0".into(), "negative", Some("not canonical: 0 is 00".into())),
            _ if n > 1 << 63 => (format!("-{n}"), "negative", Some("below the 64-bit range".into())),
            _ => (format!("-{n}"), "negative", note),
        };
        self.report(header, depth, meaning, about.into(), note)
    }

    fn float(&mut self, header: Header, depth: usize) -> Result<(), Stop> {
        let (f, meaning, about) = match header.payload {
            0 => {
                let narrow = f32::from_le_bytes(self.cursor.array()?);
                (f64::from(narrow), format!("{narrow:?}"), "binary32")
            }
            1 => {
                let f = f64::from_le_bytes(self.cursor.array()?);
                (f, format!("{f:?}"), "binary64")
            }
            _ => return Err(malformed(header, "a floating-point payload must be 0 or 1")),
        };
        let canonical_nan = self.cursor.since(header.start) == [0x40, 0, 0, 0xc0, 0x7f];
        let note = match dunnage_formats::Value::F64(f).as_integer() {
            Some(n) => Some(format!("not canonical: the integer {n}")),
            None if f.is_nan() && canonical_nan => None,
            None if f.is_nan() => Some("not canonical: NaN is 40 00 00 c0 7f".into()),
            None if header.payload == 1 && f64::from(f as f32) == f => {
                Some("not canonical: fits binary32".into())
            }
            None => None,
        };
        self.report(header, depth, meaning, about.into(), note)
    }

    fn discrete(&mut self, header: Header, depth: usize) -> Result<(), Stop> {
        let meaning = match header.payload {
            0 => "false",
            1 => "true",
            2 => "null",
            _ => return Err(malformed(header, "a discrete payload must be 0, 1 or 2")),
        };
        self.report(header, depth, meaning.into(), String::new(), None)
    }

    fn text(&mut self, header: Header, depth: usize) -> Result<(), Stop> {
        let (length, note) = self.number(header)?;
        let text = self.cursor.text(length, header.start)?;
        self.report(header, depth, quoted(text), format!("text of {length}"), note)
    }

    /// Reports the key of an entry. Returns an error if `keys` already contains it.
    fn key(&mut self, depth: usize, keys: &mut HashSet<&'a str>) -> Result<(), Stop> {
        let header = self.header()?;
        if header.wire_type != 4 {
            return Err(malformed(header, "a key must be text"));
        }
        let (length, note) = self.number(header)?;
        let text = self.cursor.text(length, header.start)?;
        if !keys.insert(text) {
            return Err(malformed(header, DUPLICATE_KEY));
        }
        self.report(header, depth, quoted(text) + ":", format!("text of {length}"), note)
    }

    fn bytes(&mut self, header: Header, depth: usize) -> Result<(), Stop> {
        let (length, note) = self.number(header)?;
        self.cursor.take(length)?;
        self.report(header, depth, counted(length, "byte", "bytes"), String::new(), note)
    }

    fn map(&mut self, header: Header, depth: usize, nesting: usize) -> Result<(), Stop> {
        let nesting = self.cursor.enter(nesting, header.start)?;
        let (entries, note) = self.number(header)?;
        self.report(header, depth, "map".into(), counted(entries, "entry", "entries"), note)?;
        let mut keys = HashSet::new();
        for _ in 0..entries {
            self.key(depth + 1, &mut keys)?;
            self.item(depth + 2, nesting)?;
        }
        Ok(())
    }

    fn array(&mut self, header: Header, depth: usize, nesting: usize) -> Result<(), Stop> {
        let nesting = self.cursor.enter(nesting, header.start)?;
        let (elements, note) = self.number(header)?;
        self.report(header, depth, "array".into(), counted(elements, "element", "elements"), note)?;
        for _ in 0..elements {
            self.item(depth + 1, nesting)?;
        }
        Ok(())
    }

    /// Reads the header's N. The note describes how its encoding deviates from canonical form.
    fn number(&mut self, header: Header) -> Result<(u64, Option<String>), Error> {
        if header.payload < 31 {
            return Ok((u64::from(header.payload), None));
        }
        let first = self.cursor.at();
        let mut n = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.cursor.byte()?;
            if shift == 63 && byte > 1 {
                return Err(Error::new(Kind::Malformed, header.start, "the varint is over 64 bits"));
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let needless = self.cursor.at() - first > 1 && self.cursor.since(first).last() == Some(&0);
        let note = match n {
            0..=30 => Some("not canonical: fits the header".into()),
            _ if needless => Some("not canonical: the varint has needless bytes".into()),
            _ => None,
        };
        Ok((n, note))
    }

    fn report(
        &mut self,
        header: Header,
        depth: usize,
        meaning: String,
        about: String,
        note: Option<String>,
    ) -> Result<(), Stop> {
        let bytes = self.cursor.since(header.start);
        Ok(self.sink.item(&Item { offset: header.start, depth, bytes, meaning, about, note })?)
    }
}

fn malformed(header: Header, reason: &str) -> Stop {
    Stop::Error(Error::new(Kind::Malformed, header.start, reason))
}
