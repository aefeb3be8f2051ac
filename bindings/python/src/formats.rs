//! `dunnage.convert` and `dunnage.compare`: all formats.

use crate::{
    error::{self, Fault},
    input::Input,
    rows,
    schema::Schema,
    value,
};
use dunnage_formats::{Format, Id, Known, MAX_BYTES, Mapping, Reception};
use dunnage_measure::{candidates, sizes};
use dunnage_pson::Kind;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use std::collections::BTreeMap;

/// A format, bytes, percent of compact JSON, bytes after gzip, whether it is lossless, and why it cannot carry the message.
type Row = (String, Option<usize>, Option<f64>, Option<usize>, bool, Option<String>);

/// Returns the codec of a format.
fn open(format: &str, schema: Option<&Bound<'_, Schema>>) -> PyResult<Box<dyn Format>> {
    let id: Id = format
        .parse()
        .map_err(|error: dunnage_formats::UnknownName| PyValueError::new_err(error.to_string()))?;
    let model = schema.map(|schema| schema.get().layout.model());
    id.open(model, Mapping::Exact).map_err(|error| PyValueError::new_err(error.reason()))
}

/// Converts a message from one format to another. Both are names such as "json", "cbor" or "packed".
#[pyfunction]
#[pyo3(signature = (data, from_format, to_format, /, *, schema=None, device=None, known=None))]
#[allow(clippy::needless_pass_by_value)]
pub fn convert<'py>(
    data: &Bound<'py, PyAny>,
    from_format: &str,
    to_format: &str,
    schema: Option<&Bound<'py, Schema>>,
    device: Option<&str>,
    known: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (from, to) = (open(from_format, schema)?, open(to_format, schema)?);
    let input;
    let bytes = match data.extract::<&str>() {
        Ok(text) => text.as_bytes(),
        Err(_) => {
            input = Input::of(data, MAX_BYTES)?;
            &input
        }
    };
    let converted = data.py().detach(|| {
        let reception = Reception { known: Known { device, texts: known.as_ref() }, ..Reception::default() };
        let message = from.decode_from(bytes, &reception).map_err(|error| (true, error))?;
        let mut out = Vec::new();
        to.encode(&message, &mut out).map_err(|error| (false, error))?;
        Ok(out)
    });
    match converted {
        Ok(out) => Ok(PyBytes::new(data.py(), &out)),
        Err((true, error)) => Err(error::decoding(&error, None)),
        Err((false, error)) => Err(error::encoding(&error)),
    }
}

/// Compares the sizes of a message in all formats. A table. The figures are those of `dunnage compare` for the same message as JSON: 35.0 is
/// not 35. With a schema, a property that is None is left out if it is optional and the schema does not allow null.
#[pyfunction]
#[pyo3(signature = (message, schema=None, /))]
pub fn compare<'py>(
    message: &Bound<'py, PyAny>,
    schema: Option<&Bound<'py, Schema>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut given = value::from_python_exactly(message)?;
    let layout = schema.map(|schema| &schema.get().layout);
    let valid = layout
        .map_or(Ok(()), |layout| rows::adapted(layout, &mut given, |value| layout.model().validate(value)));
    rows::with_texts(&mut given);
    let value = given.value;
    if let Err(violation) = valid {
        let kind = if violation.is_unknown_field() { Kind::Type } else { Kind::Range };
        let (reason, pointer) = (violation.message(), violation.pointer());
        return Err(Fault { kind: Some(kind), reason, pointer, ..Fault::default() }.encode());
    }
    let mut rows = message.py().detach(|| {
        let mut json = None;
        let mut rows: Vec<Row> = Vec::new();
        for candidate in candidates(layout.map(|layout| layout.model())) {
            let measured = candidate.codec.and_then(|codec| sizes(&*codec, &value));
            let exact = candidate.mapping == Mapping::Exact;
            let (bytes, gzip, lossless, reason) = match measured {
                Ok(sizes) => (Some(sizes.bytes), Some(sizes.gzip_bytes), sizes.lossless && exact, None),
                Err(error) => (None, None, false, Some(error.reason())),
            };
            // JSON is the first of them.
            json = json.or(bytes);
            let percent = bytes.zip(json).map(|(bytes, json)| 100.0 * bytes as f64 / json as f64);
            rows.push((candidate.name, bytes, percent, gzip, lossless, reason));
        }
        rows
    });
    rows.sort_by_key(|row| row.1.unwrap_or(usize::MAX));
    message.py().import("dunnage._table")?.getattr("comparison")?.call1((rows,))
}

/// Returns the names of all formats that convert reads.
#[pyfunction]
pub fn formats() -> Vec<&'static str> {
    Id::readable().map(Id::name).collect()
}
