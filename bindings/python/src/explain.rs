//! `Schema.explain` of one message: which bits belong to which value.

use crate::error;
use dunnage_explain::{Bits, Stop};
use dunnage_packed::{Known, Layout};
use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyMemoryView},
};
use std::{io, ops::Range};

/// The path, the first bit, the number of bits, the bytes that have them, and the meaning.
type Row<'py> = (String, Option<usize>, Option<f64>, Bound<'py, PyBytes>, String);

/// Whether an object is the bytes of a message, not a message: no packed message is a byte string.
pub fn is_bytes(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
}

/// Returns the table of a message.
pub fn message<'py>(
    py: Python<'py>,
    layout: &Layout,
    bytes: &[u8],
    known: Known<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut rows = Rows { py, bytes, rows: Vec::new() };
    match dunnage_explain::packed(layout, bytes, known, &mut rows) {
        Ok(()) => py.import("dunnage._table")?.getattr("message_parts")?.call1((rows.rows,)),
        Err(Stop::Error(error)) => Err(error::decoding(&error, None)),
        Err(Stop::Output(error)) => Err(error.into()),
    }
}

/// Keeps the rows.
struct Rows<'py, 'b> {
    py: Python<'py>,
    bytes: &'b [u8],
    rows: Vec<Row<'py>>,
}

impl Bits for Rows<'_, '_> {
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()> {
        let holders = if bits.is_empty() { 0..0 } else { bits.start / 8..bits.end.div_ceil(8) };
        let holders = PyBytes::new(self.py, &self.bytes[holders]);
        self.rows.push((
            path.to_owned(),
            Some(bits.start),
            Some(bits.len() as f64),
            holders,
            meaning.to_owned(),
        ));
        Ok(())
    }

    fn share(&mut self, bits: Option<f64>, path: &str, meaning: &str) -> io::Result<()> {
        self.rows.push((path.to_owned(), None, bits, PyBytes::new(self.py, b""), meaning.to_owned()));
        Ok(())
    }
}
