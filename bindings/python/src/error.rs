//! The exceptions of the package, which `dunnage/_errors.py` defines.

use crate::object::{Raised, python};
use dunnage_pson::Kind;
use pyo3::{prelude::*, sync::PyOnceLock, types::PyDict};

static DECODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static ENCODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns a class of `dunnage._errors`.
fn class<'py>(py: Python<'py>, cell: &PyOnceLock<Py<PyAny>>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let load = || Ok::<_, PyErr>(py.import("dunnage._errors")?.getattr(name)?.unbind());
    Ok(cell.get_or_try_init(py, load)?.bind(py).clone())
}

/// The fault of a message or value, as an exception tells it.
#[derive(Debug, Default)]
pub struct Fault<'a> {
    /// Kind, such as `truncated`.
    pub kind: Option<Kind>,
    /// For people.
    pub reason: &'a str,
    /// In bytes from the start of the message.
    pub offset: Option<usize>,
    /// JSON pointer to the value.
    pub pointer: &'a str,
    /// The index of the message in a batch.
    pub index: Option<usize>,
}

impl Fault<'_> {
    fn make(&self, cell: &PyOnceLock<Py<PyAny>>, name: &str) -> PyErr {
        let py = python();
        let made = class(py, cell, name).and_then(|class| {
            let fields = PyDict::new(py);
            fields.set_item("kind", self.kind.map_or("malformed", Kind::as_str))?;
            fields.set_item("offset", self.offset)?;
            fields.set_item("pointer", self.pointer)?;
            if self.index.is_some() {
                fields.set_item("index", self.index)?;
            }
            class.call((self.reason,), Some(&fields))
        });
        made.map_or_else(|error| error, PyErr::from_value)
    }

    /// Makes a `DecodeError`.
    #[cold]
    pub fn decode(&self) -> PyErr {
        self.make(&DECODE, "DecodeError")
    }

    /// Makes an `EncodeError`.
    #[cold]
    pub fn encode(&self) -> PyErr {
        self.make(&ENCODE, "EncodeError")
    }
}

/// Makes the exception of a message that the codec of PSON rejects.
#[cold]
pub fn of_pson(error: &dunnage_pson::Error) -> PyErr {
    Fault {
        kind: Some(error.kind()),
        reason: error.reason(),
        offset: Some(error.offset()),
        ..Fault::default()
    }
    .decode()
}

/// Makes the exception of a message that a format rejects.
#[cold]
pub fn decoding(error: &dunnage_formats::Error, index: Option<usize>) -> PyErr {
    let (reason, offset) = (error.message(), error.offset());
    Fault { kind: Some(error.kind()), reason, offset, pointer: error.pointer(), index }.decode()
}

/// Makes the exception of a value that a format does not represent.
#[cold]
pub fn encoding(error: &dunnage_formats::Error) -> PyErr {
    let (reason, pointer) = (error.message(), error.pointer());
    Fault { kind: Some(error.kind()), reason, pointer, ..Fault::default() }.encode()
}

/// Passes an exception on to the interpreter.
#[cold]
pub fn raise(error: PyErr) -> Raised {
    error.into()
}

/// Adds advice for the caller to the error of a delta without its reference.
pub fn with_remedy(error: impl Into<dunnage_formats::Error>, remedy: &str) -> dunnage_formats::Error {
    let error = error.into();
    match error.kind() {
        Kind::Reference => {
            dunnage_formats::Error::new(Kind::Reference, 0, format!("{}: {remedy}", error.message()))
        }
        _ => error,
    }
}

/// Makes the exception of a message that was read with a schema alone.
pub fn without_receiver(error: impl Into<dunnage_formats::Error>) -> PyErr {
    decoding(&with_remedy(error, "use the Receiver of its device"), None)
}

/// Makes the exception of a message that the layout rejects.
pub fn rejected(error: dunnage_packed::Error) -> PyErr {
    decoding(&error.into(), None)
}
