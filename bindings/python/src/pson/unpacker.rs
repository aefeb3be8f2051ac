//! Messages from a stream of bytes.

use super::{NESTING, call::nesting, decode};
use crate::{
    error,
    input::{Input, SIZE},
};
use dunnage_pson::{Item, Kind, Options, Reader};
use pyo3::prelude::*;

/// Returns messages from a stream of bytes that arrives in pieces.
///
/// It keeps the bytes of messages that the caller has not read yet. Of an incomplete message it keeps at most the limit.
#[pyclass(module = "dunnage.pson")]
pub struct Unpacker {
    options: Options,
    size: usize,
    buffer: Vec<u8>,
    /// Where the next message begins.
    start: usize,
    /// How far the next message has been examined, from its start.
    examined: usize,
    /// The number of items that are still missing in each open map or array of the next message.
    missing: Vec<u64>,
}

/// The state of the next message.
enum Next {
    /// Its length.
    Complete(usize),
    /// Bytes are missing.
    Incomplete,
    /// It is at fault.
    Faulty,
}

#[pymethods]
impl Unpacker {
    #[new]
    #[pyo3(signature = (*, strict=false, max_nesting=32, max_size=1048576))]
    fn new(strict: bool, max_nesting: usize, max_size: usize) -> PyResult<Self> {
        let options = Options::new().strict(strict).max_nesting(nesting(max_nesting)?).max_size(max_size);
        Ok(Unpacker { options, size: max_size, buffer: Vec::new(), start: 0, examined: 0, missing: vec![1] })
    }

    /// Appends bytes.
    fn feed(&mut self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Input::of(data, usize::MAX - 1)?;
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(&data);
        Ok(())
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Returns the next message. Ends where more bytes are needed, and continues after they were fed.
    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.start == self.buffer.len() {
            return Ok(None);
        }
        let length = match self.examine() {
            Next::Complete(length) => length,
            Next::Incomplete => return Ok(None),
            // Decoding all of it finds the fault again.
            Next::Faulty => self.buffer.len() - self.start,
        };
        let message = &self.buffer[self.start..self.start + length];
        let message = &message[..length.min(self.size.saturating_add(1))];
        let value = decode(message, self.options).map_err(|_| PyErr::fetch(py))?;
        self.start += length;
        self.examined = 0;
        self.missing = vec![1];
        Ok(Some(value.into_bound(py)))
    }

    /// The number of bytes that were fed and not returned as messages.
    #[getter]
    fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Raises DecodeError if the stream ends within a message.
    fn finish(&self) -> PyResult<()> {
        if self.pending() == 0 {
            return Ok(());
        }
        let reason = "the stream ends within a message";
        Err(error::of_pson(&dunnage_pson::Error::new(Kind::Truncated, self.pending(), reason)))
    }
}

impl Unpacker {
    /// Continues where the last call stopped, so that each byte is examined once, however small the pieces are.
    fn examine(&mut self) -> Next {
        let message = &self.buffer[self.start..];
        while let Some(missing) = self.missing.last_mut() {
            if *missing == 0 {
                self.missing.pop();
                continue;
            }
            let (length, item) = match header(&message[self.examined..]) {
                Ok(Some(found)) => found,
                Ok(None) if message.len() > self.size => return Next::Faulty,
                Ok(None) => return Next::Incomplete,
                Err(()) => return Next::Faulty,
            };
            *missing -= 1;
            self.examined += length;
            match item {
                Item::Map(n) => self.missing.push(n.saturating_mul(2)),
                Item::Array(n) => self.missing.push(n),
                _ => {}
            }
            if self.examined > self.size || self.missing.len() > NESTING.max(64) + 1 {
                return Next::Faulty;
            }
        }
        Next::Complete(self.examined)
    }
}

/// Returns the length of the first item, and the item, which for maps and arrays is only the header. `None` if bytes are missing.
fn header(bytes: &[u8]) -> Result<Option<(usize, Item<'_>)>, ()> {
    // The size is checked by the caller: an item may end in a later piece.
    let mut reader: Reader<'_> = Options::new().max_size(usize::MAX).reader(bytes).map_err(drop)?;
    match reader.item() {
        Ok(item) => Ok(Some((reader.offset(), item))),
        Err(error) if error.kind() == Kind::Truncated => Ok(None),
        Err(_) => Err(()),
    }
}

const _: () = assert!(SIZE == 1_048_576, "the signature of new repeats it");
