//! Reading a message item by item, in place.

use crate::{
    Error, Item, Kind, Options,
    decode::{Decoder, malformed},
    levels::{Level, Levels},
    number::{Number, OUT_OF_RANGE},
    skip::skip,
    wire,
};

/// The type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number without a sign.
    Unsigned,
    /// A negative integer.
    Negative,
    /// A floating-point number.
    Float,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// A string.
    Text,
    /// Bytes.
    Bytes,
    /// A map.
    Map,
    /// An array.
    Array,
}

/// Reads a message from a slice, an item at a time, without copying and without an allocator.
///
/// A method that fails leaves the reader where it stood, so an item of an unexpected type can still be read as another
/// or skipped. The end of a map or array is not an item: [`more`](Reader::more) tells, and [`leave`](Reader::leave)
/// steps out. A reader does not see that a key stands twice.
///
/// ```
/// use dunnage_pson::Reader;
///
/// # fn main() -> Result<(), dunnage_pson::Error> {
/// let message = b"\xc2\x84name\x83gps\x84data\xe2\x18\x40\x00\x00\x43\x42"; // {"name":"gps","data":[24,48.75]}
/// let mut reader = Reader::new(message)?;
/// let (mut name, mut sum) = ("", 0.0);
/// reader.enter_map()?;
/// while reader.more() {
///     match reader.key()? {
///         "name" => name = reader.text()?,
///         "data" => {
///             reader.enter_array()?;
///             while reader.more() {
///                 sum += reader.f64()?;
///             }
///             reader.leave()?;
///         }
///         _ => reader.skip()?,
///     }
/// }
/// reader.leave()?;
/// reader.finish()?;
/// assert_eq!((name, sum), ("gps", 72.75));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Reader<'de> {
    decoder: Decoder<'de>,
    levels: Levels,
}

impl Options {
    /// A reader of `message`.
    ///
    /// # Errors
    /// `limit` when it is larger than [`max_size`](Options::max_size).
    pub fn reader(self, message: &[u8]) -> Result<Reader<'_>, Error> {
        Ok(Reader { decoder: Decoder::new(message, self)?, levels: Levels::new(self.nesting) })
    }
}

impl<'de> Reader<'de> {
    /// Reads `message` with the default [`Options`].
    ///
    /// # Errors
    /// `limit` when it is larger than the options allow.
    pub fn new(message: &'de [u8]) -> Result<Self, Error> {
        Options::new().reader(message)
    }

    /// The offset of the next item, in bytes from the start of the message.
    pub fn offset(&self) -> usize {
        self.decoder.at
    }

    /// Whether the map or array that was entered last holds more items; outside of all, whether the message is still to be read.
    pub fn more(&self) -> bool {
        self.levels.current.left > 0
    }

    /// The type of the next item.
    ///
    /// # Errors
    /// `truncated` at the end of the bytes, `type` at the end of a map or array.
    pub fn peek(&self) -> Result<Type, Error> {
        self.check_more()?;
        Ok(match self.decoder.peek()? {
            header if header & wire::TYPE_BITS != wire::DISCRETE => match header & wire::TYPE_BITS {
                wire::UNSIGNED => Type::Unsigned,
                wire::NEGATIVE => Type::Negative,
                wire::FLOAT => Type::Float,
                wire::TEXT => Type::Text,
                wire::BYTES => Type::Bytes,
                wire::MAP => Type::Map,
                _ => Type::Array,
            },
            wire::FALSE | wire::TRUE => Type::Bool,
            wire::NULL => Type::Null,
            _ => return Err(malformed(self.decoder.at, "no such discrete value")),
        })
    }

    /// The next item, whatever it is. A map or array is entered, as by [`enter_map`](Reader::enter_map) and
    /// [`enter_array`](Reader::enter_array).
    pub fn item(&mut self) -> Result<Item<'de>, Error> {
        let header = self.decoder.at;
        let item = self.take(Decoder::item)?;
        match item {
            Item::Map(n) => self.enter(header, self.decoder.items_of_map(n), true),
            Item::Array(n) => self.enter(header, self.decoder.items_of_array(n), false),
            _ => {}
        }
        Ok(item)
    }

    /// The next key of the map that was entered last.
    pub fn key(&mut self) -> Result<&'de str, Error> {
        if !self.levels.current.at_key() {
            return Err(self.misplaced("no key stands here"));
        }
        self.take(Decoder::key)
    }

    /// An integer from 0 to 2^64-1; also a float that is one.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.number(Number::to_u64)
    }

    /// An integer from 0 to 2^32-1; also a float that is one.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// An integer from 0 to 65,535; also a float that is one.
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// An integer from 0 to 255; also a float that is one.
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// An integer from -2^63 to 2^63-1; also a float that is one.
    pub fn i64(&mut self) -> Result<i64, Error> {
        self.number(Number::to_i64)
    }

    /// An integer from -2^31 to 2^31-1; also a float that is one.
    pub fn i32(&mut self) -> Result<i32, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// An integer from -32,768 to 32,767; also a float that is one.
    pub fn i16(&mut self) -> Result<i16, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// An integer from -128 to 127; also a float that is one.
    pub fn i8(&mut self) -> Result<i8, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// Any integer that a message can carry, -2^63 to 2^64-1; also a float that is one.
    pub fn i128(&mut self) -> Result<i128, Error> {
        self.number(Number::to_i128)
    }

    /// A float; also an integer that binary64 holds exactly.
    pub fn f64(&mut self) -> Result<f64, Error> {
        self.number(Number::to_f64)
    }

    /// A float or integer that binary32 holds exactly.
    pub fn f32(&mut self) -> Result<f32, Error> {
        self.number(Number::to_f32)
    }

    /// `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, Error> {
        self.take(Decoder::bool)
    }

    /// `null`. Where something else may stand, [`peek`](Reader::peek) tells.
    pub fn null(&mut self) -> Result<(), Error> {
        self.take(Decoder::null)
    }

    /// A string, in the bytes of the message.
    pub fn text(&mut self) -> Result<&'de str, Error> {
        self.take(Decoder::text)
    }

    /// Bytes, in the bytes of the message.
    pub fn bytes(&mut self) -> Result<&'de [u8], Error> {
        self.take(Decoder::bytes)
    }

    /// Steps into a map. While there is [`more`](Reader::more), read a [`key`](Reader::key) and a value.
    ///
    /// # Errors
    /// `limit` when maps and arrays are nested too deeply.
    pub fn enter_map(&mut self) -> Result<(), Error> {
        let header = self.decoder.at;
        let left = self.take(|decoder| decoder.container(wire::MAP))?;
        self.enter(header, left, true);
        Ok(())
    }

    /// Steps into an array. While there is [`more`](Reader::more), read an element.
    ///
    /// # Errors
    /// `limit` when maps and arrays are nested too deeply.
    pub fn enter_array(&mut self) -> Result<(), Error> {
        let header = self.decoder.at;
        let left = self.take(|decoder| decoder.container(wire::ARRAY))?;
        self.enter(header, left, false);
        Ok(())
    }

    /// Steps out of the map or array that was entered last, past what is left of it.
    pub fn leave(&mut self) -> Result<(), Error> {
        while self.more() {
            self.skip()?;
        }
        if !self.levels.pop() {
            return Err(self.misplaced("no map or array is open"));
        }
        self.decoder.room = self.levels.room();
        Ok(())
    }

    /// Goes past the next item and all that is in it; the bytes are checked.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.take(skip)
    }

    /// Looks for `key` from the start of the map that was entered last, and stands at its value if it is there; otherwise
    /// at the end of the map. Keys may so be asked for in any order.
    ///
    /// ```
    /// # fn main() -> Result<(), dunnage_pson::Error> {
    /// let mut reader = dunnage_pson::Reader::new(b"\xc2\x81a\x01\x81b\x02")?; // {"a":1,"b":2}
    /// reader.enter_map()?;
    /// assert!(reader.find("b")?);
    /// assert_eq!(reader.u8()?, 2);
    /// assert!(reader.find("a")?);
    /// assert_eq!(reader.u8()?, 1);
    /// assert!(!reader.find("c")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn find(&mut self, key: &str) -> Result<bool, Error> {
        let level = self.levels.current;
        if !level.is_map {
            return Err(self.misplaced("no map is open"));
        }
        // The room is that inside of the map; its own header needs a place of its own.
        self.decoder.at = level.header;
        self.decoder.room += 1;
        let left = self.decoder.container(wire::MAP);
        self.decoder.room -= 1;
        self.levels.current.left = left?;
        while self.more() {
            if self.key()? == key {
                return Ok(true);
            }
            self.skip()?;
        }
        Ok(false)
    }

    /// Ends the message.
    ///
    /// # Errors
    /// `malformed` when bytes follow it, `type` when something of it is still to be read.
    pub fn finish(self) -> Result<(), Error> {
        if self.levels.depth() > 0 || self.more() {
            return Err(self.misplaced("the message is not read to its end"));
        }
        self.decoder.end()
    }

    fn number<T>(&mut self, convert: impl Fn(Number) -> Option<T>) -> Result<T, Error> {
        self.take(|decoder| {
            let at = decoder.at;
            convert(decoder.number()?).ok_or_else(|| Error::new(Kind::Range, at, OUT_OF_RANGE))
        })
    }

    /// Reads an item and counts it, or stays where it is.
    fn take<T>(&mut self, read: impl FnOnce(&mut Decoder<'de>) -> Result<T, Error>) -> Result<T, Error> {
        self.check_more()?;
        let before = self.decoder;
        let result = if self.levels.current.at_key() && !self.decoder.at_text()? {
            self.decoder.key().and(Err(malformed(before.at, "a key that is not a string")))
        } else {
            read(&mut self.decoder)
        };
        match result {
            Ok(_) => self.levels.current.left -= 1,
            Err(_) => self.decoder = before,
        }
        result
    }

    fn enter(&mut self, header: usize, left: usize, is_map: bool) {
        self.levels.push(Level { left, header, is_map });
        self.decoder.room = self.levels.room();
    }

    fn check_more(&self) -> Result<(), Error> {
        if self.more() { Ok(()) } else { Err(self.misplaced("no item is left here")) }
    }

    /// A mistake of the caller's, who asks for what cannot be at this place.
    #[cold]
    fn misplaced(&self, reason: &'static str) -> Error {
        Error::new(Kind::Type, self.decoder.at, reason)
    }
}
