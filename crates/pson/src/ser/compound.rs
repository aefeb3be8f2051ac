//! Writes maps and arrays.

use super::{key::KeySerializer, state::Serializer};
use crate::{Error, Kind, Sink};
use serde::{Serialize, ser};

/// A map or array that is being written.
pub(crate) struct Compound<'a, S> {
    serializer: &'a mut Serializer<S>,
    wire_type: u8,
    header: usize,
    /// The number of entries in the header, if it is known.
    expected: Option<usize>,
    /// The number of entries so far.
    count: usize,
    /// The number of levels that end with this one.
    levels: u8,
}

impl<'a, S: Sink> Compound<'a, S> {
    #[inline]
    pub fn new(
        serializer: &'a mut Serializer<S>,
        wire_type: u8,
        header: usize,
        expected: Option<usize>,
    ) -> Self {
        Compound { serializer, wire_type, header, expected, count: 0, levels: 1 }
    }

    /// Marks this as the content of a variant, whose map of one entry ends with it.
    pub fn of_variant(self) -> Self {
        Compound { levels: 2, ..self }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.count += 1;
        value.serialize(&mut *self.serializer)
    }

    #[inline(always)]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.serializer.encoder.name(key);
        self.element(value)
    }

    #[inline]
    fn close(self) -> Result<(), Error> {
        self.serializer.room += self.levels;
        match self.expected {
            Some(n) if n == self.count => Ok(()),
            Some(_) => {
                Err(Error::new(Kind::Type, self.header, "another number of entries than was announced"))
            }
            None => {
                self.serializer.encoder.counted(self.header, self.wire_type, self.count as u64);
                Ok(())
            }
        }
    }
}

impl<S: Sink> ser::SerializeSeq for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeTuple for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeTupleStruct for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeTupleVariant for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeMap for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(KeySerializer(self.serializer))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeStruct for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.field(key, value)
    }

    #[inline]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl<S: Sink> ser::SerializeStructVariant for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}
