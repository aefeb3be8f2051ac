//! Fields packed back to back, as C programs and Python's `struct` do it, plain or compressed with zlib.
//!
//! `spec/formats.md`, "struct", has the layout.

mod reader;
mod writer;

use crate::{Error, Format, Kind, MAX_BYTES, Mapping, Reception, Value, limits};
use dunnage_codegen::{Enumeration, Integer, List, Mapped, Record};
use dunnage_schema::Model;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::cell::RefCell;

/// Packed fields.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, Struct};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// Struct::new(&model, Mapping::Exact).encode(&message, &mut bytes)?;
/// assert_eq!(bytes, 2350i16.to_be_bytes());
///
/// bytes.clear();
/// Struct::new(&model, Mapping::Float32).encode(&message, &mut bytes)?;
/// assert_eq!(bytes, 23.5f32.to_be_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Struct {
    mapped: Mapped,
}

impl Struct {
    /// Derives the record from `model`.
    pub fn new(model: &Model, mapping: Mapping) -> Self {
        Struct { mapped: Mapped::of(model, mapping) }
    }
}

impl Format for Struct {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let tree = self.mapped.to_record(message)?;
        limits::bounded(out, |out| writer::write(self.mapped.record(), &tree, out))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let budget = reception.budget();
        Ok(self.mapped.to_message_within(reader::read(self.mapped.record(), bytes, &budget)?, &budget)?)
    }
}

/// Packed fields compressed with zlib (RFC 1950), level 9.
///
/// ```
/// # use dunnage_formats::{Format, Kind, Mapping, Value, StructZlib};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {"celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85}},
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let message = Value::Map(vec![("celsius".into(), Value::F64(23.5))]);
/// let mut bytes = Vec::new();
/// let codec = StructZlib::new(&model, Mapping::Exact);
/// codec.encode(&message, &mut bytes)?;
/// assert_eq!(codec.decode(&bytes)?, message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StructZlib {
    inner: Struct,
}

impl StructZlib {
    /// Derives the record from `model`.
    pub fn new(model: &Model, mapping: Mapping) -> Self {
        StructZlib { inner: Struct::new(model, mapping) }
    }
}

impl Format for StructZlib {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut plain = Vec::new();
        self.inner.encode(message, &mut plain)?;
        limits::bounded(out, |out| deflate(&plain, out))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        self.inner.decode_from(&inflate(bytes)?, reception)
    }
}

fn deflate(plain: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    // deflate adds at most 5 bytes per block of 16 KiB, and zlib adds 6 bytes.
    out.reserve(plain.len() + plain.len() / 1024 + 64);
    let mut stream = Compress::new(Compression::best(), true);
    match stream.compress_vec(plain, out, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => Ok(()),
        _ => Err(Error::new(Kind::Limit, 0, "zlib did not finish")),
    }
}

thread_local! {
    /// Reused for all messages of a thread: allocating its 32 KiB window takes longer than reading a message.
    static STREAM: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// Decompresses a zlib stream, up to the maximum size of a message.
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    STREAM.with_borrow_mut(|stream| {
        stream.reset(true);
        inflate_with(stream, bytes)
    })
}

fn inflate_with(stream: &mut Decompress, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plain = Vec::with_capacity(bytes.len().saturating_mul(4).clamp(64, MAX_BYTES + 1));
    loop {
        let at = usize::try_from(stream.total_in()).unwrap_or(bytes.len());
        let before = (stream.total_in(), stream.total_out());
        let status = stream
            .decompress_vec(&bytes[at..], &mut plain, FlushDecompress::Finish)
            .map_err(|e| Error::new(Kind::Malformed, at, format!("zlib: {e}")))?;
        let at = usize::try_from(stream.total_in()).unwrap_or(bytes.len());
        match status {
            _ if plain.len() > MAX_BYTES => {
                return Err(Error::new(Kind::Limit, at, "inflates to more than 1 MiB"));
            }
            Status::StreamEnd if at < bytes.len() => {
                return Err(Error::new(Kind::Malformed, at, "bytes after the zlib stream"));
            }
            Status::StreamEnd => return Ok(plain),
            _ if plain.len() == plain.capacity() => {
                plain.reserve_exact(plain.len().min(MAX_BYTES + 1 - plain.len()));
            }
            _ if before == (stream.total_in(), stream.total_out()) => {
                return Err(Error::new(Kind::Truncated, bytes.len(), "the zlib stream does not end"));
            }
            _ => {}
        }
    }
}

/// Returns the number of presence bytes before a record: one bit per optional field, from the lowest bit of the first byte on.
fn presence_bytes(record: &Record) -> usize {
    record.fields.iter().filter(|field| field.optional).count().div_ceil(8)
}

/// Returns the integer type that carries an enumeration's index.
fn index(enumeration: &Enumeration) -> Integer {
    Integer { min: 0, max: enumeration.symbols.len().saturating_sub(1) as i128 }
}

/// How the length of a list is written.
enum Count {
    /// It is not written, because it is always the same.
    Fixed(usize),
    /// As an unsigned integer of this many bytes.
    Counted(usize),
}

fn count(list: &List) -> Count {
    match list.max {
        Some(max) if max == list.min => Count::Fixed(max as usize),
        Some(max) if max <= 0xff => Count::Counted(1),
        _ => Count::Counted(2),
    }
}
