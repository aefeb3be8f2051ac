//! `dunnage.Fit`: the part of a message that fits.

use crate::{error, rows, value};
use dunnage_formats::Error;
use dunnage_packed::{Layout, Value};
use pyo3::{prelude::*, types::PyBytes};

/// The part of a message that `encode_fit` wrote.
#[pyclass(module = "dunnage", frozen, get_all)]
pub struct Fit {
    /// The message.
    data: Py<PyBytes>,
    /// The number of readings in it, the first ones of the longest series; 0 for a message without a series.
    readings: usize,
    /// The paths of the properties that were left out.
    left_out: Vec<String>,
}

impl Fit {
    /// Returns what `encode` writes of a message.
    pub fn of(
        layout: &Layout,
        message: &Bound<'_, PyAny>,
        mut encode: impl FnMut(&Value, &mut Vec<u8>) -> Result<dunnage_packed::Fit, dunnage_packed::Error>,
    ) -> PyResult<Fit> {
        let encoded = rows::adapted(layout, &mut value::from_python(message)?, |value| {
            let mut out = Vec::new();
            let fit = encode(value, &mut out)?;
            Ok((out, fit))
        });
        let (out, fit) =
            encoded.map_err(|error: dunnage_packed::Error| error::encoding(&Error::from(error)))?;
        let data = PyBytes::new(message.py(), &out).unbind();
        Ok(Fit { data, readings: fit.readings, left_out: fit.left_out })
    }
}

#[pymethods]
impl Fit {
    fn __repr__(&self, py: Python<'_>) -> String {
        let bytes = self.data.bind(py).as_bytes().len();
        format!("<Fit: {bytes} bytes, {} readings, left out: [{}]>", self.readings, self.left_out.join(", "))
    }
}
