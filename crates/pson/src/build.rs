//! Builds values of the caller's own types from a message, without a [`Value`](crate::Value) in between.

use crate::{
    DUPLICATE_KEY, Error, Item, Kind, Options,
    decode::{Decoder, malformed, too_deep},
    keys::Keys,
    number::{Number, OUT_OF_RANGE, negative},
    wire,
};

/// Makes values from the items of a message, for example the objects of another language's runtime.
///
/// [`Options::build`] calls the methods in the order of the items. An array or map that is begun is ended, or dropped after an error.
pub trait Builder<'de> {
    /// A value that is complete.
    type Value;
    /// The key of a map.
    type Key;
    /// An array to which elements are added.
    type Array;
    /// A map to which entries are added.
    type Map;
    /// The reason why the builder cannot make something.
    type Error;

    /// Makes `null`.
    fn null(&mut self) -> Result<Self::Value, Self::Error>;
    /// Makes `true` or `false`.
    fn bool(&mut self, b: bool) -> Result<Self::Value, Self::Error>;
    /// Makes an integer that is not negative.
    fn u64(&mut self, n: u64) -> Result<Self::Value, Self::Error>;
    /// Makes a negative integer.
    fn i64(&mut self, n: i64) -> Result<Self::Value, Self::Error>;
    /// Makes a float. It may be whole, because lenient decoding accepts that.
    fn f64(&mut self, f: f64) -> Result<Self::Value, Self::Error>;
    /// Makes a text.
    fn text(&mut self, text: &'de str) -> Result<Self::Value, Self::Error>;
    /// Makes a byte string.
    fn bytes(&mut self, bytes: &'de [u8]) -> Result<Self::Value, Self::Error>;

    /// Begins an array. `most` is the number of its elements, or just above what the bytes left can hold if it is larger. It must not be
    /// trusted: the arrays of a short message may announce much more than they have.
    fn array(&mut self, most: usize) -> Result<Self::Array, Self::Error>;
    /// Adds an element.
    fn element(&mut self, array: &mut Self::Array, element: Self::Value) -> Result<(), Self::Error>;
    /// Ends an array.
    fn end_array(&mut self, array: Self::Array) -> Result<Self::Value, Self::Error>;

    /// Begins a map. `most` is the number of its entries, as in [`Builder::array`].
    fn map(&mut self, most: usize) -> Result<Self::Map, Self::Error>;
    /// Makes the key of the next entry.
    fn key(&mut self, key: &'de str) -> Result<Self::Key, Self::Error>;
    /// Adds an entry. Returns false if the map has had an entry with this key before.
    fn entry(&mut self, map: &mut Self::Map, key: Self::Key, value: Self::Value)
    -> Result<bool, Self::Error>;
    /// Ends a map.
    fn end_map(&mut self, map: Self::Map) -> Result<Self::Value, Self::Error>;
}

/// Why [`Options::build`] made nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError<E> {
    /// The message is at fault.
    Message(Error),
    /// The builder failed.
    Builder(E),
}

impl<E> From<Error> for BuildError<E> {
    fn from(error: Error) -> Self {
        BuildError::Message(error)
    }
}

impl Options {
    /// Builds the value of `message`.
    ///
    /// # Errors
    /// Those of [`Value::read`](crate::Value::read), and what the builder returns. The builder may have been asked for values after a
    /// duplicate key; the error is nevertheless the first one in the message.
    pub fn build<'de, B: Builder<'de>>(
        self,
        message: &'de [u8],
        builder: &mut B,
    ) -> Result<B::Value, BuildError<B::Error>> {
        let mut decoder = Decoder::new(message, self)?;
        let built = value(&mut decoder, builder).and_then(|value| {
            decoder.end()?;
            Ok(value)
        });
        built.map_err(|fault| match fault {
            BuildError::Message(error) => self.first_fault(message).unwrap_or(error).into(),
            own => own,
        })
    }

    /// Returns the first fault of a message. Building finds duplicate keys late, because that is faster for messages without any.
    #[cold]
    fn first_fault(self, message: &[u8]) -> Option<Error> {
        let mut decoder = Decoder::new(message, self).ok()?;
        check(&mut decoder).and_then(|()| decoder.end()).err()
    }
}

fn value<'de, B: Builder<'de>>(
    decoder: &mut Decoder<'de>,
    builder: &mut B,
) -> Result<B::Value, BuildError<B::Error>> {
    let at = decoder.at;
    let header = decoder.peek()?;
    let built = match header & wire::TYPE_BITS {
        wire::UNSIGNED => builder.u64(decoder.n(at, header)?),
        wire::NEGATIVE | wire::FLOAT => match decoder.number_at(at, header)? {
            Number::Unsigned(n) => builder.u64(n),
            Number::Negative(n) => match negative(n) {
                Some(n) => builder.i64(n),
                None => return Err(Error::new(Kind::Range, at, OUT_OF_RANGE).into()),
            },
            Number::Float(f) => builder.f64(f),
        },
        wire::TEXT => builder.text(decoder.text_at(at, header)?),
        wire::BYTES => builder.bytes(decoder.span(at, header)?),
        wire::DISCRETE => {
            decoder.at += 1;
            match header {
                wire::FALSE => builder.bool(false),
                wire::TRUE => builder.bool(true),
                wire::NULL => builder.null(),
                _ => return Err(malformed(at, "no such discrete value").into()),
            }
        }
        container => {
            decoder.room = decoder.room.checked_sub(1).ok_or_else(|| too_deep(at))?;
            let n = decoder.n(at, header)?;
            let built = match container {
                wire::MAP => map(decoder, builder, n)?,
                _ => array(decoder, builder, n)?,
            };
            decoder.room += 1;
            Ok(built)
        }
    };
    built.map_err(BuildError::Builder)
}

fn array<'de, B: Builder<'de>>(
    decoder: &mut Decoder<'de>,
    builder: &mut B,
    n: u64,
) -> Result<B::Value, BuildError<B::Error>> {
    let n = decoder.items_of_array(n);
    let mut array = builder.array(n).map_err(BuildError::Builder)?;
    for _ in 0..n {
        let element = value(decoder, builder)?;
        builder.element(&mut array, element).map_err(BuildError::Builder)?;
    }
    builder.end_array(array).map_err(BuildError::Builder)
}

fn map<'de, B: Builder<'de>>(
    decoder: &mut Decoder<'de>,
    builder: &mut B,
    n: u64,
) -> Result<B::Value, BuildError<B::Error>> {
    let n = decoder.items_of_map(n) / 2;
    let mut map = builder.map(n).map_err(BuildError::Builder)?;
    for _ in 0..n {
        let at = decoder.at;
        let key = builder.key(decoder.key()?).map_err(BuildError::Builder)?;
        let value = value(decoder, builder)?;
        if !builder.entry(&mut map, key, value).map_err(BuildError::Builder)? {
            return Err(malformed(at, DUPLICATE_KEY).into());
        }
    }
    builder.end_map(map).map_err(BuildError::Builder)
}

/// Reads an item with everything in it, and reports the first fault.
fn check(decoder: &mut Decoder<'_>) -> Result<(), Error> {
    let at = decoder.at;
    match decoder.item()? {
        Item::Negative(n) if negative(n).is_none() => Err(Error::new(Kind::Range, at, OUT_OF_RANGE)),
        Item::Array(n) => {
            decoder.room -= 1;
            for _ in 0..decoder.items_of_array(n) {
                check(decoder)?;
            }
            decoder.room += 1;
            Ok(())
        }
        Item::Map(n) => {
            decoder.room -= 1;
            let mut keys = Keys::new();
            for _ in 0..decoder.items_of_map(n) / 2 {
                let at = decoder.at;
                keys.add(decoder.key()?, at)?;
                check(decoder)?;
            }
            decoder.room += 1;
            Ok(())
        }
        _ => Ok(()),
    }
}
