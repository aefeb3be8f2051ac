//! `dunnage.Schema`: packed messages.

use crate::{
    arrow::{self, ArrowTable, Devices, Texts},
    error::{self, Fault},
    explain,
    fit::Fit,
    input::{Input, SIZE},
    rows, value,
};
use dunnage_formats::Error;
use dunnage_packed::{Known, Layout};
use dunnage_pson::Kind;
use dunnage_schema::{Model, Options, SchemaError, alike, bundled, bundled_named};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyString},
};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A JSON Schema, and the layout of its packed messages.
///
/// The source is the schema as a dict, its JSON text, a file, or the name of a bundled schema such as "weather". Formats of text, such as
/// "date-time", are asserted if the caller asks for it.
#[pyclass(module = "dunnage", frozen, subclass)]
pub struct Schema {
    pub layout: Arc<Layout>,
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)] // pyo3 passes what it has made.
impl Schema {
    #[new]
    #[pyo3(signature = (source, /, *, assert_formats=false))]
    fn new(source: &Bound<'_, PyAny>, assert_formats: bool) -> PyResult<Self> {
        let text = text(source)?;
        let layout = source.py().detach(|| {
            let model = Model::compile_with(&text, Options { assert_formats, ..Options::default() })?;
            Layout::new(&model)
        });
        Ok(Schema { layout: Arc::new(layout.map_err(|error| refused(&error))?) })
    }

    /// The title of the schema, or the name derived from it.
    #[getter]
    fn name(&self) -> &str {
        self.layout.name()
    }

    /// The slot of the messages, 1 to 63.
    #[getter]
    fn slot(&self) -> u8 {
        self.layout.slot()
    }

    /// The SHA-256 of the layout, in hex. Two layouts with one fingerprint read each other's messages.
    #[getter]
    fn fingerprint(&self) -> String {
        self.layout.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The canonical text of the layout, of which the fingerprint is the hash.
    #[getter]
    fn canonical(&self) -> String {
        self.layout.canonical()
    }

    /// The size of the smallest plain message, in bytes.
    #[getter]
    fn min_size(&self) -> u64 {
        self.layout.min_bytes()
    }

    /// The size of the largest plain message, in bytes; None if it has no bound.
    #[getter]
    fn max_size(&self) -> Option<u64> {
        self.layout.max_bytes()
    }

    /// Whether messages have a plain form, whose parts have bits of their own.
    #[getter]
    fn is_plain(&self) -> bool {
        self.layout.is_plain()
    }

    /// Whether the schema has statistics, so that messages have shorter forms.
    #[getter]
    fn has_statistics(&self) -> bool {
        self.layout.has_statistics()
    }

    /// Encodes a message in the shortest form that needs no other message; plain=True does not use statistics. A property that is None is left
    /// out if it is optional and the schema does not allow null. A datetime with a time zone is written in the notation of x-dunnage-time.
    #[pyo3(signature = (message, /, *, plain=false))]
    fn encode<'py>(&self, message: &Bound<'py, PyAny>, plain: bool) -> PyResult<Bound<'py, PyBytes>> {
        let out = self.bytes(message, plain)?;
        Ok(PyBytes::new(message.py(), &out))
    }

    /// Encodes as much of a message as `limit` bytes hold: all of it, or else the first readings of its series (x-dunnage-series), as many as fit.
    /// Only if not even one fits, properties with x-dunnage-drop are left out, those of the highest rank first.
    #[pyo3(signature = (message, limit, /))]
    fn encode_fit(&self, message: &Bound<'_, PyAny>, limit: usize) -> PyResult<Fit> {
        Fit::of(&self.layout, message, |value, out| self.layout.encode_fit(value, limit, out))
    }

    /// The paths of the properties with x-dunnage-drop that a message, or one of its readings, does not have.
    #[pyo3(signature = (message, /))]
    fn left_out(&self, message: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(self.layout.left_out(&value::from_python(message)?.value))
    }

    /// Decodes a message. `device` is the ID of its sender, `known` its other texts by their names; both replace what the message leaves out.
    #[pyo3(signature = (data, /, *, device=None, known=None))]
    fn decode<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = Known { device, texts: known.as_ref() };
        let decoded = self.layout.decode(&Input::of(data, SIZE)?, known);
        value::to_python(data.py(), &decoded.map_err(error::without_receiver)?)
    }

    /// Decodes many messages into columns: a sequence of bytes, or a binary array of Arrow, polars or pandas. `device` is the ID of the sender, or a
    /// column with that of each message; then `known` may have the texts of each device by its ID. `errors` says what becomes of a message at
    /// fault: "raise" (DecodeError, with its index) or "null" (a row of nulls; a null for a value that its column does not hold).
    #[pyo3(signature = (messages, /, *, device=None, known=None, errors="raise"))]
    fn decode_arrow(
        &self,
        messages: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
        known: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<ArrowTable> {
        let nulls = match errors {
            "raise" => false,
            "null" => true,
            other => {
                return Err(PyValueError::new_err(format!("errors is \"raise\" or \"null\", not {other:?}")));
            }
        };
        let (devices, texts) = (&Devices::of(device)?, known.map(Texts::of).transpose()?);
        arrow::decode(&self.layout, messages, &arrow::Request { devices, texts: texts.as_ref(), nulls })
    }

    /// Without a message: the parts of all messages, where they are, how many bits they take, and why. With the bytes of a message, or with a
    /// message to encode: the parts of this one with their bits, bytes and values, as `dunnage inspect` shows them. A table.
    #[pyo3(signature = (message=None, /, *, device=None, known=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        message: Option<&Bound<'py, PyAny>>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(message) = message {
            let known = Known { device, texts: known.as_ref() };
            return match explain::is_bytes(message) {
                true => explain::message(py, &self.layout, &Input::of(message, SIZE)?, known, None),
                false => explain::message(py, &self.layout, &self.bytes(message, false)?, known, None),
            };
        }
        let rows = self.layout.explain().into_iter();
        let rows: Vec<_> = rows
            .map(|row| {
                (row.path, row.offset, row.kind, row.bits.min, row.bits.max, row.range, row.step, row.why)
            })
            .collect();
        py.import("dunnage._table")?.getattr("parts")?.call1((rows,))
    }

    fn __repr__(&self) -> String {
        let size =
            self.layout.max_bytes().map_or("any size".to_owned(), |max| format!("at most {max} bytes"));
        format!("<Schema {}: slot {}, {size}>", self.layout.name(), self.layout.slot())
    }
}

impl Schema {
    /// Encodes a message.
    fn bytes(&self, message: &Bound<'_, PyAny>, plain: bool) -> PyResult<Vec<u8>> {
        let encoded = rows::adapted(&self.layout, &mut value::from_python(message)?, |value| {
            let mut out = Vec::new();
            match plain {
                true => self.layout.encode_without_statistics(value, &mut out)?,
                false => self.layout.encode(value, &mut out)?,
            }
            Ok(out)
        });
        encoded.map_err(|error: dunnage_packed::Error| error::encoding(&Error::from(error)))
    }
}

/// Returns the text of a schema.
fn text(source: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = source.py();
    if source.is_instance_of::<PyDict>() || source.is_instance_of::<PyBool>() {
        return py.import("json")?.getattr("dumps")?.call1((source,))?.extract();
    }
    if let Ok(text) = source.cast::<PyString>() {
        let text = text.to_cow()?;
        if text.trim_start().starts_with('{') {
            return Ok(text.into_owned());
        }
        if let Some(bundled) = bundled_named(&text) {
            return Ok(bundled.to_owned());
        }
    }
    let path: PathBuf = source.extract().map_err(|_| {
        PyTypeError::new_err("a schema is a dict, a JSON text, a path, or the name of a bundled schema")
    })?;
    fs::read_to_string(&path).map_err(|error| no_schema(&path, &error))
}

/// Makes the exception of a file that cannot be read, of the class that Python has for the reason.
fn no_schema(path: &Path, error: &io::Error) -> PyErr {
    let name = path.display().to_string();
    let bundled: Vec<_> = bundled().iter().map(|(name, _)| *name).collect();
    let meant = match alike(&name, bundled.iter().copied()) {
        Some(meant) => format!("; did you mean {meant}?"),
        None => String::new(),
    };
    let reason = format!("schema {name}: {error}{meant} (bundled schemas: {})", bundled.join(", "));
    io::Error::new(error.kind(), reason).into()
}

/// Makes the exception of a schema that has no layout.
fn refused(error: &SchemaError) -> PyErr {
    let reason = format!("not a schema that dunnage supports: {}", error.message());
    Fault { kind: Some(Kind::Malformed), reason: &reason, pointer: error.pointer(), ..Fault::default() }
        .decode()
}
