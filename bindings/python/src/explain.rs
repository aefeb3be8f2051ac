//! `Schema.explain` and `Receiver.explain` of one message: which bits belong to which value.

use crate::error;
use dunnage_explain::{Bits, Stop};
use dunnage_packed::{Known, Layout, Reference};
use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyMemoryView},
};
use std::{io, ops::Range, slice};

/// The path, the first bit, the number of bits, the bytes that have them, and the meaning. The numbers of bits are floats in all rows, so that
/// they are one type of column.
type Row<'py> = (String, Option<usize>, Option<f64>, Bound<'py, PyBytes>, String);

/// Whether an object is the bytes of a message, not a message: no packed message is a byte string.
pub fn is_bytes(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>()
}

/// Returns the table of a message, or of a delta if there is its reference.
pub fn message<'py>(
    py: Python<'py>,
    layout: &Layout,
    bytes: &[u8],
    known: Known<'_>,
    reference: Option<&Reference>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut rows = Rows { py, bytes, rows: Vec::new(), body: 0 };
    let walked = match reference {
        Some(reference) => {
            dunnage_explain::delta(layout, bytes, slice::from_ref(reference), known, &mut rows)
        }
        None => dunnage_explain::packed(layout, bytes, known, &mut rows),
    };
    match walked {
        Ok(()) => py.import("dunnage._table")?.getattr("message_parts")?.call1((rows.rows,)),
        Err(Stop::Error(error)) => Err(error::without_receiver(error)),
        Err(Stop::Output(error)) => Err(error.into()),
    }
}

/// Keeps the rows.
struct Rows<'py, 'b> {
    py: Python<'py>,
    bytes: &'b [u8],
    rows: Vec<Row<'py>>,
    /// The index of the last row with bits of its own: the body, if values share its bits.
    body: usize,
}

impl Bits for Rows<'_, '_> {
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()> {
        let holders = if bits.is_empty() { 0..0 } else { bits.start / 8..bits.end.div_ceil(8) };
        let holders = PyBytes::new(self.py, &self.bytes[holders]);
        if !bits.is_empty() {
            self.body = self.rows.len();
        }
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
        // The row of the body keeps what its values leave, so that no bit counts twice.
        if let Some(bits) = bits
            && let Some((_, _, Some(left), ..)) = self.rows.get_mut(self.body)
        {
            *left -= bits;
        }
        self.rows.push((path.to_owned(), None, bits, PyBytes::new(self.py, b""), meaning.to_owned()));
        Ok(())
    }
}
