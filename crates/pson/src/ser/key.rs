//! Writes keys: text, or values with an obvious text form.

use super::state::Serializer;
use crate::{Error, Kind, Sink};
use core::fmt::Display;
use serde::{
    Serialize,
    ser::{self, Impossible},
};

/// Writes integers, booleans, characters and variants without content as text, like serde_json. Rejects all other types.
pub(crate) struct KeySerializer<'a, S>(pub &'a mut Serializer<S>);

impl<S: Sink> KeySerializer<'_, S> {
    #[cold]
    fn refuse<T>(self) -> Result<T, Error> {
        Err(Error::new(Kind::Type, self.0.encoder.len(), "a key that is not text"))
    }
}

macro_rules! as_text {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, v: $type) -> Result<(), Error> {
            self.collect_str(&v)
        })*
    };
}

impl<S: Sink> ser::Serializer for KeySerializer<'_, S> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn is_human_readable(&self) -> bool {
        false
    }

    as_text! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
    }

    fn serialize_str(self, v: &str) -> Result<(), Error> {
        self.0.serialize_str(v)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.0.collect_str(value)
    }

    fn serialize_f32(self, _: f32) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_f64(self, _: f64) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        self.refuse()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        self.refuse()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        self.refuse()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        self.refuse()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        self.refuse()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        self.refuse()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
        self.refuse()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        self.refuse()
    }
}
