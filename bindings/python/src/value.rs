//! Messages of the other formats from and to objects.

use crate::{
    input::SIZE,
    keys,
    object::{Owned, Raised},
    pson::{self, NESTING, Settings},
    text,
};
use dunnage_pson::{Error, ItemType, Options, Reader, Value};
use pyo3::{ffi, prelude::*};
use std::{cell::Cell, ptr};

/// A message that an object represents.
pub struct Message {
    pub value: Value,
    /// Whether there are datetimes with a time zone: bytes that begin with [`pson::TIME`], until [`crate::rows`] makes texts of them.
    pub has_times: bool,
}

/// Returns the message that an object represents, as `dunnage.pson.dumps` does but for datetimes. Whole floats are integers.
pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Message> {
    read(object, false)
}

/// Returns the same with whole floats as floats, as JSON tells 35.0 from 35.
pub fn from_python_exactly(object: &Bound<'_, PyAny>) -> PyResult<Message> {
    read(object, true)
}

fn read(object: &Bound<'_, PyAny>, keep_floats: bool) -> PyResult<Message> {
    // A float that is kept takes 9 bytes, and 1 byte otherwise; the limit is for messages, not for this detour.
    let size = if keep_floats { 9 * SIZE } else { SIZE };
    let times = Cell::new(false);
    let settings = Settings {
        default: ptr::null_mut(),
        times: &raw const times,
        single_precision: false,
        keep_floats,
        nesting: NESTING,
        size,
    };
    let mut bytes = Vec::new();
    // SAFETY: the borrow keeps the object alive.
    unsafe { pson::encode(object.as_ptr(), settings, &mut bytes) }.map_err(|failure| {
        failure.raise();
        PyErr::fetch(object.py())
    })?;
    let options = Options::new().max_size(size);
    let read = match keep_floats {
        true => options.reader(&bytes).and_then(|mut reader| with_floats(&mut reader)),
        false => options.from_slice(&bytes),
    };
    let value = read.map_err(|error| crate::error::of_pson(&error))?;
    Ok(Message { value, has_times: times.get() })
}

/// Reads the next value. `Value::read` would make integers of whole floats.
fn with_floats(reader: &mut Reader<'_>) -> Result<Value, Error> {
    Ok(match reader.peek()? {
        ItemType::Float => Value::F64(reader.f64()?),
        ItemType::Array => {
            reader.enter_array()?;
            let mut items = Vec::new();
            while reader.more() {
                items.push(with_floats(reader)?);
            }
            reader.leave()?;
            Value::Array(items)
        }
        ItemType::Map => {
            reader.enter_map()?;
            let mut entries = Vec::new();
            while reader.more() {
                entries.push((reader.key()?.to_owned(), with_floats(reader)?));
            }
            reader.leave()?;
            Value::Map(entries)
        }
        _ => Value::read(reader)?,
    })
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
