//! Encodes types that implement serde's `Serialize`.

mod compound;
mod key;
mod serializer;
mod state;

#[cfg(feature = "alloc")]
use crate::sink::Append;
use crate::{Buffer, Count, Error, Options, Sink};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use serde::Serialize;
use state::Serializer;

/// Encodes `value` and returns its bytes.
///
/// # Errors
/// `type` if a key is neither text nor an integer, or if the value's own `Serialize` fails, `range` for an integer outside -2^63 ..= 2^64-1, `limit` if the nesting or size is above the limit.
#[cfg(feature = "alloc")]
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    Options::new().to_vec(value)
}

/// Appends the bytes of `value` to `out`, so that a buffer can be reused. After an error, `out` is unchanged.
///
/// # Errors
/// Those of [`to_vec`].
#[cfg(feature = "alloc")]
pub fn append<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    Options::new().append(value, out)
}

/// Writes the bytes of `value` to the start of `buffer` and returns their number.
///
/// # Errors
/// Those of [`to_vec`]; `truncated` at the buffer's size, if it is too small.
pub fn to_slice<T: Serialize + ?Sized>(value: &T, buffer: &mut [u8]) -> Result<usize, Error> {
    Options::new().to_slice(value, buffer)
}

/// Returns the number of bytes that [`to_vec`] would return.
///
/// # Errors
/// Those of [`to_vec`].
pub fn measure<T: Serialize + ?Sized>(value: &T) -> Result<usize, Error> {
    Options::new().measure(value)
}

/// Writes the bytes of `value` to `writer` in one call.
///
/// # Errors
/// Those of the writer; those of [`to_vec`] as [`InvalidData`](std::io::ErrorKind::InvalidData).
#[cfg(feature = "std")]
pub fn to_writer<W: std::io::Write, T: Serialize + ?Sized>(mut writer: W, value: &T) -> std::io::Result<()> {
    let bytes = to_vec(value).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
    writer.write_all(&bytes)
}

impl Options {
    /// Does the same as [`to_vec`] with these options.
    ///
    /// # Errors
    /// Those of [`to_vec`].
    #[cfg(feature = "alloc")]
    pub fn to_vec<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, Error> {
        let mut out = Vec::with_capacity(128);
        self.serialize(value, Append::new(&mut out))?;
        Ok(out)
    }

    /// Does the same as [`append`] with these options.
    ///
    /// # Errors
    /// Those of [`append`].
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn append<T: Serialize + ?Sized>(self, value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        match self.serialize(value, Append::new(out)) {
            Ok(_) => Ok(()),
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
        }
    }

    /// Does the same as [`to_slice`] with these options.
    ///
    /// # Errors
    /// Those of [`to_slice`].
    pub fn to_slice<T: Serialize + ?Sized>(self, value: &T, buffer: &mut [u8]) -> Result<usize, Error> {
        self.serialize(value, Buffer::new(buffer))
    }

    /// Does the same as [`measure`] with these options.
    ///
    /// # Errors
    /// Those of [`measure`].
    pub fn measure<T: Serialize + ?Sized>(self, value: &T) -> Result<usize, Error> {
        self.serialize(value, Count::default())
    }

    #[inline(always)]
    fn serialize<T: Serialize + ?Sized, S: Sink>(self, value: &T, sink: S) -> Result<usize, Error> {
        let mut serializer = Serializer::new(sink, self);
        match value.serialize(&mut serializer) {
            Ok(()) if serializer.encoder.fits() => Ok(serializer.encoder.len()),
            result => {
                let len = serializer.encoder.len();
                Err(serializer.encoder.fault(result.err().map(|error| error.or_at(len))))
            }
        }
    }
}
