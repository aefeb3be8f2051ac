//! Reads a message item by item, in place.

use crate::{
    Error, Item, ItemType, Kind, Options,
    decode::{Decoder, malformed},
    levels::{Level, Levels},
    number::{Number, OUT_OF_RANGE},
    skip::skip,
    wire,
};

/// Reads a message from a slice, one item at a time, without copying and without an allocator.
///
/// A method that fails does not move the reader, except [`find`](Reader::find) and [`leave`](Reader::leave): an item of an unexpected type can
/// still be read as another type or skipped. The end of a map or array is not an item: [`more`](Reader::more) detects it, and [`leave`](Reader::leave)
/// steps out. A reader does not detect duplicate keys.
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
    /// Creates a reader of `message` with these options.
    ///
    /// # Errors
    /// `limit` if the message is larger than [`max_size`](Options::max_size).
    pub fn reader(self, message: &[u8]) -> Result<Reader<'_>, Error> {
        Ok(Reader { decoder: Decoder::new(message, self)?, levels: Levels::new(self.nesting) })
    }
}

impl<'de> Reader<'de> {
    /// Creates a reader of `message` with the default [`Options`].
    ///
    /// # Errors
    /// `limit` if the message is larger than the options allow.
    pub fn new(message: &'de [u8]) -> Result<Self, Error> {
        Options::new().reader(message)
    }

    /// Returns the offset of the next item, in bytes from the start of the message.
    pub fn offset(&self) -> usize {
        self.decoder.at
    }

    /// Returns whether the innermost open map or array has more items, or, outside all of them, whether the message is unread.
    pub fn more(&self) -> bool {
        self.levels.current.left > 0
    }

    /// Returns the type of the next item without reading it.
    ///
    /// # Errors
    /// `truncated` at the end of the bytes, `type` at the end of a map or array, `malformed` if no item begins with this byte.
    pub fn peek(&self) -> Result<ItemType, Error> {
        self.check_more()?;
        Ok(match self.decoder.peek()? {
            header if header & wire::TYPE_BITS != wire::DISCRETE => match header & wire::TYPE_BITS {
                wire::UNSIGNED => ItemType::Unsigned,
                wire::NEGATIVE => ItemType::Negative,
                wire::FLOAT => ItemType::Float,
                wire::TEXT => ItemType::Text,
                wire::BYTES => ItemType::Bytes,
                wire::MAP => ItemType::Map,
                _ => ItemType::Array,
            },
            wire::FALSE | wire::TRUE => ItemType::Bool,
            wire::NULL => ItemType::Null,
            _ => return Err(malformed(self.decoder.at, "no such discrete value")),
        })
    }

    /// Reads the next item of any type. Enters a map or array, as [`enter_map`](Reader::enter_map) and
    /// [`enter_array`](Reader::enter_array) do.
    ///
    /// # Errors
    /// Those of [`peek`](Reader::peek); `malformed` or `truncated` for a damaged item, `range` for an integer beyond 64 bits, `limit` if maps and
    /// arrays are nested too deeply.
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

    /// Reads the next key of the innermost open map.
    ///
    /// # Errors
    /// `type` if no key is next: the reader is not in a map, at its end, or at a value.
    pub fn key(&mut self) -> Result<&'de str, Error> {
        if !self.levels.current.at_key() {
            return Err(self.misplaced("a key is not allowed here"));
        }
        self.take(Decoder::key)
    }

    /// Reads an integer from 0 to 2^64-1, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it does not fit in a `u64`, and those of [`item`](Reader::item).
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.number(Number::to_u64)
    }

    /// Reads an integer from 0 to 2^32-1, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `u32`, and those of [`item`](Reader::item).
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// Reads an integer from 0 to 65,535, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `u16`, and those of [`item`](Reader::item).
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// Reads an integer from 0 to 255, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `u8`, and those of [`item`](Reader::item).
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.number(|n| n.to_u64()?.try_into().ok())
    }

    /// Reads an integer from -2^63 to 2^63-1, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `i64`, and those of [`item`](Reader::item).
    pub fn i64(&mut self) -> Result<i64, Error> {
        self.number(Number::to_i64)
    }

    /// Reads an integer from -2^31 to 2^31-1, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `i32`, and those of [`item`](Reader::item).
    pub fn i32(&mut self) -> Result<i32, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// Reads an integer from -32,768 to 32,767, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `i16`, and those of [`item`](Reader::item).
    pub fn i16(&mut self) -> Result<i16, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// Reads an integer from -128 to 127, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `i8`, and those of [`item`](Reader::item).
    pub fn i8(&mut self) -> Result<i8, Error> {
        self.number(|n| n.to_i64()?.try_into().ok())
    }

    /// Reads any integer that a message can carry, -2^63 to 2^64-1, or a float that equals one.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if it is no `i128`, and those of [`item`](Reader::item).
    pub fn i128(&mut self) -> Result<i128, Error> {
        self.number(Number::to_i128)
    }

    /// Reads a float, or an integer that binary64 holds exactly.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if a binary64 does not hold it exactly, and those of [`item`](Reader::item).
    pub fn f64(&mut self) -> Result<f64, Error> {
        self.number(Number::to_f64)
    }

    /// Reads a float or integer that binary32 holds exactly.
    ///
    /// # Errors
    /// `type` if the item is not a number, `range` if a binary32 does not hold it exactly, and those of [`item`](Reader::item).
    pub fn f32(&mut self) -> Result<f32, Error> {
        self.number(Number::to_f32)
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// `type` if the item is another one, and those of [`item`](Reader::item).
    pub fn bool(&mut self) -> Result<bool, Error> {
        self.take(Decoder::bool)
    }

    /// Reads `null`. Use [`peek`](Reader::peek) where the item may have another type.
    ///
    /// # Errors
    /// `type` if the item is another one, and those of [`item`](Reader::item).
    pub fn null(&mut self) -> Result<(), Error> {
        self.take(Decoder::null)
    }

    /// Reads a string, borrowed from the message.
    ///
    /// # Errors
    /// `type` if the item is another one, and those of [`item`](Reader::item).
    pub fn text(&mut self) -> Result<&'de str, Error> {
        self.take(Decoder::text)
    }

    /// Reads a byte string, borrowed from the message.
    ///
    /// # Errors
    /// `type` if the item is another one, and those of [`item`](Reader::item).
    pub fn bytes(&mut self) -> Result<&'de [u8], Error> {
        self.take(Decoder::bytes)
    }

    /// Enters a map. While there are [`more`](Reader::more) items, read a [`key`](Reader::key) and a value.
    ///
    /// # Errors
    /// `type` if the item is not a map, `limit` if maps and arrays are nested too deeply, and those of [`item`](Reader::item).
    pub fn enter_map(&mut self) -> Result<(), Error> {
        let header = self.decoder.at;
        let left = self.take(|decoder| decoder.container(wire::MAP))?;
        self.enter(header, left, true);
        Ok(())
    }

    /// Enters an array. While there are [`more`](Reader::more) items, read an element.
    ///
    /// # Errors
    /// `type` if the item is not an array, `limit` if maps and arrays are nested too deeply, and those of [`item`](Reader::item).
    pub fn enter_array(&mut self) -> Result<(), Error> {
        let header = self.decoder.at;
        let left = self.take(|decoder| decoder.container(wire::ARRAY))?;
        self.enter(header, left, false);
        Ok(())
    }

    /// Leaves the innermost open map or array, and skips the rest of it.
    ///
    /// # Errors
    /// `type` if no map or array is open, and those of [`item`](Reader::item) in the rest.
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

    /// Skips the next item with everything in it. The skipped bytes are checked.
    ///
    /// # Errors
    /// Those of [`item`](Reader::item).
    pub fn skip(&mut self) -> Result<(), Error> {
        self.take(skip)
    }

    /// Searches the innermost open map for `key`, from its start. Returns true and stops at the value, or returns false
    /// and stops at the end of the map. Keys can be looked up in any order.
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
    ///
    /// # Errors
    /// `type` if no map is open, and those of [`item`](Reader::item) in what is skipped.
    pub fn find(&mut self, key: &str) -> Result<bool, Error> {
        let level = self.levels.current;
        if !level.is_map {
            return Err(self.misplaced("no map is open"));
        }
        // The room is that inside the map. Reading the map's own header again needs one level more.
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

    /// Checks that the message is read completely and ends here.
    ///
    /// # Errors
    /// `malformed` if bytes follow the message, `type` if a part of it is unread.
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

    /// Reads an item and counts it. After an error, the reader has not moved.
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

    /// Returns the error for a call that is wrong at this place of the message.
    #[cold]
    fn misplaced(&self, reason: &'static str) -> Error {
        Error::new(Kind::Type, self.decoder.at, reason)
    }
}
