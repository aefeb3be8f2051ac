//! Messages of the other formats from and to objects.

use crate::{
    input::SIZE,
    keys,
    object::{Owned, Raised},
    pson::{self, NESTING, Settings},
    text,
};
use dunnage_pson::{Options, Value};
use pyo3::{ffi, prelude::*};
use std::ptr;

/// Returns the message that an object represents, as `dunnage.pson.dumps` does.
pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let settings =
        Settings { default: ptr::null_mut(), single_precision: false, nesting: NESTING, size: SIZE };
    let mut bytes = Vec::new();
    // SAFETY: the borrow keeps the object alive.
    unsafe { pson::encode(object.as_ptr(), settings, &mut bytes) }.map_err(|failure| {
        failure.raise();
        PyErr::fetch(object.py())
    })?;
    Options::new().from_slice(&bytes).map_err(|error| crate::error::of_pson(&error))
}

/// Makes the object of a message.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    object(value).map(|object| object.into_bound(py)).map_err(|Raised| PyErr::fetch(py))
}

fn object(value: &Value) -> Result<Owned, Raised> {
    // SAFETY: every call returns a new reference or null; lists and dicts take references of their own to living objects.
    unsafe {
        match value {
            Value::Null => Ok(Owned::borrowed(ffi::Py_None())),
            Value::Bool(b) => Ok(Owned::borrowed(if *b { ffi::Py_True() } else { ffi::Py_False() })),
            Value::U64(n) => Owned::new(ffi::PyLong_FromUnsignedLongLong(*n)),
            Value::I64(n) => Owned::new(ffi::PyLong_FromLongLong(*n)),
            Value::F64(f) => Owned::new(ffi::PyFloat_FromDouble(*f)),
            Value::Text(text) => text::to_python(text),
            Value::Bytes(bytes) => Owned::new(ffi::PyBytes_FromStringAndSize(
                bytes.as_ptr().cast(),
                bytes.len() as ffi::Py_ssize_t,
            )),
            Value::Array(elements) => {
                let list = Owned::new(ffi::PyList_New(elements.len() as ffi::Py_ssize_t))?;
                for (at, element) in elements.iter().enumerate() {
                    // The list takes over the reference, also after an error.
                    let element = object(element)?.into_ptr();
                    if ffi::PyList_SetItem(list.as_ptr(), at as ffi::Py_ssize_t, element) != 0 {
                        return Err(Raised);
                    }
                }
                Ok(list)
            }
            Value::Map(entries) => {
                let dict = Owned::new(ffi::PyDict_New())?;
                for (key, value) in entries {
                    let (key, value) = (keys::key(key)?, object(value)?);
                    if ffi::PyDict_SetItem(dict.as_ptr(), key.as_ptr(), value.as_ptr()) != 0 {
                        return Err(Raised);
                    }
                }
                Ok(dict)
            }
        }
    }
}
