//! Accesses the contents of arrays, maps and variants.

use super::{key::KeyDeserializer, state::Deserializer};
use crate::{Error, keys::Keys};
use serde::{
    Deserializer as _,
    de::{self, DeserializeSeed, Visitor},
};

/// The maximum number of elements for which a type may reserve room in advance.
const RESERVED: usize = 16;

/// The elements of an array.
pub(crate) struct Elements<'a, 'de> {
    pub deserializer: &'a mut Deserializer<'de>,
    pub left: usize,
}

impl<'de> de::SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.deserializer).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.min(RESERVED))
    }
}

/// The entries of a map with arbitrary keys. Duplicates are rejected, whatever the type does with the keys.
pub(crate) struct Entries<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    /// The number of keys and values that are left.
    pub left: usize,
    keys: Keys<'de>,
}

impl<'a, 'de> Entries<'a, 'de> {
    #[inline]
    pub fn new(deserializer: &'a mut Deserializer<'de>, left: usize) -> Self {
        let keys = new_keys(deserializer);
        Entries { deserializer, left, keys }
    }
}

/// Creates an empty set of keys at the first entry of a map.
#[cfg_attr(feature = "alloc", allow(unused_variables))]
fn new_keys<'de>(deserializer: &Deserializer<'de>) -> Keys<'de> {
    #[cfg(feature = "alloc")]
    return Keys::new();
    #[cfg(not(feature = "alloc"))]
    Keys::new(deserializer.decoder)
}

impl<'de> de::MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let at = self.deserializer.decoder.at;
        let key = self.deserializer.decoder.key()?;
        self.keys.add(key, at)?;
        self.left -= 1;
        match seed.deserialize(KeyDeserializer(key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.or_at(at)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.left = self.left.saturating_sub(1);
        seed.deserialize(&mut *self.deserializer)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((self.left / 2).min(RESERVED))
    }
}

/// The fields of a struct.
///
/// A struct rejects a duplicate of a field that it knows, as serde's derive does, and the deserializer adds the offset.
/// The deserializer itself checks only the unknown keys.
pub(crate) struct Fields<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    /// The number of keys and values that are left.
    pub left: usize,
    /// The last key and its offset.
    key: &'de str,
    pub key_at: usize,
    /// The names of the fields behind that of the last key that was one of them. The next key is probably the first of them.
    names: &'static [&'static str],
    unknown: Option<Keys<'de>>,
}

impl<'a, 'de> Fields<'a, 'de> {
    #[inline]
    pub fn new(deserializer: &'a mut Deserializer<'de>, left: usize, names: &'static [&'static str]) -> Self {
        Fields { deserializer, left, key: "", key_at: 0, names, unknown: None }
    }

    #[inline]
    fn next_name(&mut self) -> Result<&'de str, Error> {
        match self.names {
            [name, names @ ..] if self.deserializer.decoder.take_key(name) => {
                self.names = names;
                Ok(name)
            }
            _ => self.other_key(),
        }
    }

    /// Reads a key that is not the next field's.
    fn other_key(&mut self) -> Result<&'de str, Error> {
        let key = self.deserializer.decoder.key()?;
        if let Some(at) = self.names.iter().position(|name| *name == key) {
            self.names = &self.names[at + 1..];
        }
        Ok(key)
    }

    /// Rejects a duplicate of an unknown key.
    #[cold]
    fn check_unknown(&mut self) -> Result<(), Error> {
        self.unknown.get_or_insert_with(|| new_keys(self.deserializer)).add(self.key, self.key_at)
    }
}

impl<'de> de::MapAccess<'de> for &mut Fields<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.key_at = self.deserializer.decoder.at;
        self.key = self.next_name()?;
        self.left -= 1;
        match seed.deserialize(KeyDeserializer(self.key)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error.or_at(self.key_at)),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        // The value of an unknown key is read as `IgnoredAny`, whose size is 0. Checking the keys of other types of size 0 as well
        // does no harm.
        if size_of::<V::Value>() == 0 {
            self.check_unknown()?;
        }
        self.left = self.left.saturating_sub(1);
        seed.deserialize(&mut *self.deserializer)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((self.left / 2).min(RESERVED))
    }
}

/// A variant with content, which is a map with one entry.
pub(crate) struct Content<'a, 'de>(pub &'a mut Deserializer<'de>);

impl<'de> de::EnumAccess<'de> for Content<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let at = self.0.decoder.at;
        let variant = self.0.decoder.key()?;
        match seed.deserialize(KeyDeserializer(variant)) {
            Ok(variant) => Ok((variant, self)),
            Err(error) => Err(error.or_at(at)),
        }
    }
}

impl<'de> de::VariantAccess<'de> for Content<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.decoder.null()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_struct("", fields, visitor)
    }
}
