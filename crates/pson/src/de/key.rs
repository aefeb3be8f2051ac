//! Reads keys, and variants without content: text, or values with an obvious text form.

use crate::Error;
use serde::{
    de::{self, DeserializeSeed, Visitor},
    forward_to_deserialize_any,
};

/// Reads text, and integers and booleans in the form in which they are written as keys.
pub(crate) struct KeyDeserializer<'de>(pub &'de str);

impl KeyDeserializer<'_> {
    /// Parses this key as an integer. Accepts only the shortest form, because `"7"` and `"07"` are two keys of the
    /// message, but would be the same integer.
    fn integer<T: TryFrom<i128>>(&self) -> Result<T, Error> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let shortest = match digits.as_bytes() {
            [b'0'] => digits.len() == self.0.len(),
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if !shortest {
            return Err(de::Error::invalid_type(de::Unexpected::Str(self.0), &"an integer as a key"));
        }
        let number = self.0.parse::<i128>().ok().and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| {
            de::Error::invalid_value(de::Unexpected::Str(self.0), &"a smaller integer as a key")
        })
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident,)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.integer()?)
        })*
    };
}

impl<'de> de::Deserializer<'de> for KeyDeserializer<'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    integers! {
        deserialize_i8 visit_i8,
        deserialize_i16 visit_i16,
        deserialize_i32 visit_i32,
        deserialize_i64 visit_i64,
        deserialize_i128 visit_i128,
        deserialize_u8 visit_u8,
        deserialize_u16 visit_u16,
        deserialize_u32 visit_u32,
        deserialize_u64 visit_u64,
        deserialize_u128 visit_u128,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(de::Error::invalid_type(de::Unexpected::Str(other), &"a boolean as a key")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(Unit(self.0))
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant without content, which is a string.
pub(crate) struct Unit<'de>(pub &'de str);

impl<'de> de::EnumAccess<'de> for Unit<'de> {
    type Error = Error;
    type Variant = NoContent;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, NoContent), Error> {
        seed.deserialize(KeyDeserializer(self.0)).map(|variant| (variant, NoContent))
    }
}

pub(crate) struct NoContent;

impl NoContent {
    #[cold]
    fn refuse<T>(self) -> Result<T, Error> {
        Err(de::Error::custom("the variant has content"))
    }
}

impl<'de> de::VariantAccess<'de> for NoContent {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Error> {
        self.refuse()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        self.refuse()
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Error> {
        self.refuse()
    }
}
