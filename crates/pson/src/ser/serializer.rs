//! Converts serde's data model to items.

use super::{compound::Compound, state::Serializer};
use crate::{Error, Kind, Sink, decode::too_deep, encode::Encoder, wire};
use core::fmt::{self, Display, Write};
use serde::{Serialize, ser};

impl<S: Sink> Serializer<S> {
    #[inline]
    fn open(&mut self, wire_type: u8, expected: Option<usize>) -> Result<Compound<'_, S>, Error> {
        let header = self.encoder.len();
        if self.room == 0 {
            return Err(too_deep(header));
        }
        self.room -= 1;
        match expected {
            Some(n) => self.encoder.container(wire_type, n as u64),
            None => {
                self.encoder.uncounted();
            }
        }
        Ok(Compound::new(self, wire_type, header, expected))
    }

    /// Opens the map with one entry that holds a variant with content.
    fn open_variant(&mut self, variant: &'static str) -> Result<(), Error> {
        self.open(wire::MAP, Some(1))?;
        self.encoder.text(variant);
        Ok(())
    }
}

impl<'a, S: Sink> ser::Serializer for &'a mut Serializer<S> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a, S>;
    type SerializeTuple = Compound<'a, S>;
    type SerializeTupleStruct = Compound<'a, S>;
    type SerializeTupleVariant = Compound<'a, S>;
    type SerializeMap = Compound<'a, S>;
    type SerializeStruct = Compound<'a, S>;
    type SerializeStructVariant = Compound<'a, S>;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn serialize_bool(self, v: bool) -> Result<(), Error> {
        self.encoder.bool(v);
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, v: i8) -> Result<(), Error> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i16(self, v: i16) -> Result<(), Error> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i32(self, v: i32) -> Result<(), Error> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i64(self, v: i64) -> Result<(), Error> {
        self.encoder.signed(v);
        Ok(())
    }

    fn serialize_i128(self, v: i128) -> Result<(), Error> {
        match (u64::try_from(v), i64::try_from(v)) {
            (Ok(n), _) => self.serialize_u64(n),
            (_, Ok(n)) => self.serialize_i64(n),
            _ => Err(self.error(Kind::Range, "an integer beyond -2^63 ..= 2^64-1")),
        }
    }

    #[inline]
    fn serialize_u8(self, v: u8) -> Result<(), Error> {
        self.serialize_u64(v.into())
    }

    #[inline]
    fn serialize_u16(self, v: u16) -> Result<(), Error> {
        self.serialize_u64(v.into())
    }

    #[inline]
    fn serialize_u32(self, v: u32) -> Result<(), Error> {
        self.serialize_u64(v.into())
    }

    #[inline]
    fn serialize_u64(self, v: u64) -> Result<(), Error> {
        self.encoder.unsigned(v);
        Ok(())
    }

    fn serialize_u128(self, v: u128) -> Result<(), Error> {
        match u64::try_from(v) {
            Ok(n) => self.serialize_u64(n),
            Err(_) => Err(self.error(Kind::Range, "an integer beyond -2^63 ..= 2^64-1")),
        }
    }

    #[inline]
    fn serialize_f32(self, v: f32) -> Result<(), Error> {
        self.serialize_f64(v.into())
    }

    #[inline]
    fn serialize_f64(self, v: f64) -> Result<(), Error> {
        self.encoder.float(v);
        Ok(())
    }

    fn serialize_char(self, v: char) -> Result<(), Error> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, v: &str) -> Result<(), Error> {
        self.encoder.text(v);
        Ok(())
    }

    #[inline]
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Error> {
        self.encoder.bytes(v);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Error> {
        self.encoder.null();
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.room += 1;
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'a, S>, Error> {
        self.open(wire::ARRAY, len)
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Compound<'a, S>, Error> {
        self.open(wire::ARRAY, Some(len))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'a, S>, Error> {
        self.open(wire::ARRAY, Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'a, S>, Error> {
        self.open_variant(variant)?;
        self.open(wire::ARRAY, Some(len)).map(Compound::of_variant)
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'a, S>, Error> {
        self.open(wire::MAP, len)
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Compound<'a, S>, Error> {
        self.open(wire::MAP, Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'a, S>, Error> {
        self.open_variant(variant)?;
        self.open(wire::MAP, Some(len)).map(Compound::of_variant)
    }

    /// Formats the value twice, the first time only for its length, so that no allocator is needed.
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        let mut length = Length(0);
        let counted = write!(length, "{value}");
        self.encoder.text_header(length.0);
        let start = self.encoder.len();
        let written = write!(Pieces(&mut self.encoder), "{value}");
        if counted.is_err() || written.is_err() || self.encoder.len() - start != length.0 {
            return Err(self.error(Kind::Type, "a value that cannot be formatted"));
        }
        Ok(())
    }
}

struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.0 += piece.len();
        Ok(())
    }
}

struct Pieces<'a, S>(&'a mut Encoder<S>);

impl<S: Sink> Write for Pieces<'_, S> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.0.sink.put(piece.as_bytes());
        Ok(())
    }
}
