//! Converts items to serde's data model.

use super::{
    access::{Content, Elements, Entries, Fields},
    key::Unit,
    state::Deserializer,
};
use crate::{
    Error, Item, Kind,
    number::{Number, OUT_OF_RANGE, negative},
    skip::skip,
    wire,
};
use serde::de::{self, Visitor};

impl<'de> Deserializer<'de> {
    /// Reads a number and converts it with `convert`. Returns it with its offset.
    #[inline]
    fn number<T>(&mut self, convert: impl Fn(Number) -> Option<T>) -> Result<(T, usize), Error> {
        let at = self.decoder.at;
        match convert(self.decoder.number()?) {
            Some(number) => Ok((number, at)),
            None => Err(Error::new(Kind::Range, at, OUT_OF_RANGE)),
        }
    }

    /// Passes the elements of the array at `header` to the visitor, which must read all of them.
    #[inline]
    fn array<V: Visitor<'de>>(&mut self, header: usize, left: usize, visitor: V) -> Result<V::Value, Error> {
        self.decoder.room -= 1;
        let mut elements = Elements { deserializer: self, left };
        let value = visitor.visit_seq(&mut elements).map_err(|error| error.or_at(header))?;
        let left = elements.left;
        self.close(header, left)?;
        Ok(value)
    }

    /// Passes the entries of the map at `header` to the visitor, which must read all of them.
    #[inline]
    fn map<V: Visitor<'de>>(&mut self, header: usize, left: usize, visitor: V) -> Result<V::Value, Error> {
        self.decoder.room -= 1;
        let mut entries = Entries::new(self, left);
        let value = visitor.visit_map(&mut entries).map_err(|error| error.or_at(header))?;
        let left = entries.left;
        self.close(header, left)?;
        Ok(value)
    }

    #[inline]
    fn close(&mut self, header: usize, left: usize) -> Result<(), Error> {
        self.decoder.room += 1;
        if left > 0 {
            return Err(Error::new(Kind::Type, header, "more elements than the type has"));
        }
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $to:ident $type:ty,)*) => {
        $(#[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let (n, at) = self.number(|n| <$type>::try_from(n.$to()?).ok())?;
            visitor.$visit(n).map_err(|error: Error| error.or_at(at))
        })*
    };
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        let result = match self.decoder.item()? {
            Item::Unsigned(n) => visitor.visit_u64(n),
            Item::Negative(n) => match negative(n) {
                Some(n) => visitor.visit_i64(n),
                None => Err(Error::new(Kind::Range, at, OUT_OF_RANGE)),
            },
            Item::Float(f) => visitor.visit_f64(f),
            Item::Bool(b) => visitor.visit_bool(b),
            Item::Null => visitor.visit_unit(),
            Item::Text(text) => visitor.visit_borrowed_str(text),
            Item::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Item::Map(n) => self.map(at, self.decoder.items_of_map(n), visitor),
            Item::Array(n) => self.array(at, self.decoder.items_of_array(n), visitor),
        };
        result.map_err(|error| error.or_at(at))
    }

    integers! {
        deserialize_i8 visit_i8 to_i64 i8,
        deserialize_i16 visit_i16 to_i64 i16,
        deserialize_i32 visit_i32 to_i64 i32,
        deserialize_i64 visit_i64 to_i64 i64,
        deserialize_i128 visit_i128 to_i128 i128,
        deserialize_u8 visit_u8 to_u64 u8,
        deserialize_u16 visit_u16 to_u64 u16,
        deserialize_u32 visit_u32 to_u64 u32,
        deserialize_u64 visit_u64 to_u64 u64,
        deserialize_u128 visit_u128 to_u64 u128,
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let (f, at) = self.number(Number::to_f32)?;
        visitor.visit_f32(f).map_err(|error: Error| error.or_at(at))
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        let f = match self.decoder.take_float() {
            Some(f) => f,
            None => self.number(Number::to_f64)?.0,
        };
        visitor.visit_f64(f).map_err(|error: Error| error.or_at(at))
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        visitor.visit_bool(self.decoder.bool()?).map_err(|error: Error| error.or_at(at))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        visitor.visit_borrowed_str(self.decoder.text()?).map_err(|error: Error| error.or_at(at))
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        visitor.visit_borrowed_bytes(self.decoder.bytes()?).map_err(|error: Error| error.or_at(at))
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.decoder.peek()? == wire::NULL {
            self.decoder.at += 1;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        self.decoder.null()?;
        visitor.visit_unit().map_err(|error: Error| error.or_at(at))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let at = self.decoder.at;
        visitor.visit_newtype_struct(self).map_err(|error| error.or_at(at))
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let header = self.decoder.at;
        let left = self.decoder.container(wire::ARRAY)?;
        self.array(header, left, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let header = self.decoder.at;
        let left = self.decoder.container(wire::MAP)?;
        self.map(header, left, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let header = self.decoder.at;
        let left = self.decoder.container(wire::MAP)?;
        self.decoder.room -= 1;
        let mut fields = Fields::new(self, left, names);
        let result = visitor.visit_map(&mut fields);
        let (left, key_at) = (fields.left, fields.key_at);
        let value = result.map_err(|error| error.or_at_key(key_at).or_at(header))?;
        self.close(header, left)?;
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let header = self.decoder.at;
        if self.decoder.at_text()? {
            let variant = self.decoder.text()?;
            return visitor.visit_enum(Unit(variant)).map_err(|error: Error| error.or_at(header));
        }
        if self.decoder.container(wire::MAP)? != 2 {
            return Err(Error::new(Kind::Type, header, "a variant is a string or a map of one entry"));
        }
        self.decoder.room -= 1;
        let value = visitor.visit_enum(Content(self)).map_err(|error| error.or_at(header))?;
        self.decoder.room += 1;
        Ok(value)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        skip(&mut self.decoder)?;
        visitor.visit_unit()
    }
}
