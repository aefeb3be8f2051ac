//! Why an object was not encoded, and where it is.

use crate::{error, object::Raised, text};
use dunnage_pson::Kind;
use pyo3::{PyErr, ffi};

/// Why an object was not encoded.
#[derive(Debug)]
pub enum Failure {
    /// The object itself.
    Fault(Box<Fault>),
    /// Code that was called, such as a hook.
    Raised(Raised),
}

/// An object that PSON does not represent.
#[derive(Debug)]
pub struct Fault {
    kind: Kind,
    offset: usize,
    reason: String,
    /// The steps from the object to the message, innermost first.
    path: Vec<String>,
}

impl From<Raised> for Failure {
    fn from(raised: Raised) -> Self {
        Failure::Raised(raised)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error.into())
    }
}

impl Fault {
    /// Makes the fault of the value that would begin at `offset`.
    #[cold]
    pub fn failure(kind: Kind, offset: usize, reason: String) -> Failure {
        Failure::Fault(Box::new(Fault { kind, offset, reason, path: Vec::new() }))
    }
}

impl Failure {
    /// Adds that the object is in an array, at this index.
    #[cold]
    pub fn at_index(self, index: usize) -> Self {
        self.at(|| index.to_string())
    }

    /// Adds that the object is in a map, under `key`, which must be a `str`.
    #[cold]
    pub fn under(self, key: *mut ffi::PyObject) -> Self {
        // SAFETY: the callers keep the key alive, and have checked its type.
        self.at(|| unsafe { text::from_python(key) }.unwrap_or("").to_owned())
    }

    fn at(mut self, step: impl FnOnce() -> String) -> Self {
        if let Failure::Fault(fault) = &mut self {
            fault.path.push(step());
        }
        self
    }

    /// Sets the exception.
    #[cold]
    pub fn raise(self) -> Raised {
        match self {
            Failure::Raised(raised) => raised,
            Failure::Fault(fault) => {
                let steps =
                    fault.path.iter().rev().map(|step| format!("/{}", dunnage_schema::pointer::escape(step)));
                let pointer: String = steps.collect();
                let (kind, offset) = (Some(fault.kind), Some(fault.offset));
                let fault =
                    error::Fault { kind, reason: &fault.reason, offset, pointer: &pointer, index: None };
                fault.encode().into()
            }
        }
    }
}
