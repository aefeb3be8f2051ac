//! Objects of the standard library that have a natural representation.

use super::{TIME, Writer};
use crate::{
    input::Input,
    object::{Owned, Raised, python},
    pson::fault::Failure,
};
use dunnage_pson::Kind;
use pyo3::{
    ffi, intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyString, PyTuple},
};
use std::{borrow::Cow, ffi::CStr};

/// The types and functions of the standard library, imported once.
struct Library {
    enumeration: Py<PyAny>,
    dates: Py<PyAny>,
    uuid: Py<PyAny>,
    decimal: Py<PyAny>,
    fields: Py<PyAny>,
}

static LIBRARY: PyOnceLock<Library> = PyOnceLock::new();

fn library(py: Python<'_>) -> PyResult<&'static Library> {
    LIBRARY.get_or_try_init(py, || {
        let class = |module: &str, name: &str| py.import(module)?.getattr(name);
        let dates = ["datetime", "date", "time"].map(|name| class("datetime", name));
        let [first, second, third] = dates;
        Ok(Library {
            enumeration: class("enum", "Enum")?.unbind(),
            dates: PyTuple::new(py, [first?, second?, third?])?.into_any().unbind(),
            uuid: class("uuid", "UUID")?.unbind(),
            decimal: class("decimal", "Decimal")?.unbind(),
            fields: class("dataclasses", "fields")?.unbind(),
        })
    })
}

/// Returns whether an object is a member of an enumeration.
///
/// # Safety
/// `object` is alive.
pub unsafe fn is_enum(object: *mut ffi::PyObject) -> Result<bool, Raised> {
    let py = python();
    // SAFETY: `object` is alive.
    Ok(unsafe { Bound::from_borrowed_ptr(py, object) }.is_instance(library(py)?.enumeration.bind(py))?)
}

/// Returns whether an object is a `bytearray` or `memoryview`.
///
/// # Safety
/// `object` is alive.
pub unsafe fn is_buffer(object: *mut ffi::PyObject) -> bool {
    // SAFETY: `object` is alive.
    unsafe { ffi::PyByteArray_Check(object) != 0 || ffi::PyMemoryView_Check(object) != 0 }
}

/// Returns the bytes of an object with a buffer, truncated just above `most` bytes.
///
/// # Safety
/// `object` is alive and outlives the result.
pub unsafe fn content<'a>(object: *mut ffi::PyObject, most: usize) -> Result<Input<'a>, Raised> {
    // SAFETY: that of the caller.
    unsafe { Input::new(object, most) }
}

/// Returns an attribute of an object.
///
/// # Safety
/// `object` is alive.
pub unsafe fn attribute(object: *mut ffi::PyObject, name: &CStr) -> Result<Owned, Raised> {
    // SAFETY: the result is a new reference or null.
    unsafe { Owned::new(ffi::PyObject_GetAttrString(object, name.as_ptr())) }
}

/// Returns the name of the type of an object.
///
/// # Safety
/// `object` is alive.
pub unsafe fn type_name(object: *mut ffi::PyObject) -> String {
    // SAFETY: `object` is alive.
    let class = unsafe { Bound::from_borrowed_ptr(python(), object) }.get_type();
    class.fully_qualified_name().map_or(Cow::Borrowed("object"), |name| name.to_string().into()).into_owned()
}

/// Writes a date, time, UUID, decimal or dataclass. Returns false for other objects.
///
/// # Safety
/// `object` is alive.
pub unsafe fn write(writer: &mut Writer<'_>, object: *mut ffi::PyObject) -> Result<bool, Failure> {
    let py = python();
    let library = library(py)?;
    // SAFETY: `object` is alive.
    let object = unsafe { Bound::from_borrowed_ptr(py, object) };
    if object.is_instance(library.dates.bind(py))? {
        let iso = object.call_method0(intern!(py, "isoformat"))?;
        // SAFETY: if it is not null, `times` is alive during the call.
        match unsafe { writer.settings.times.as_ref() } {
            Some(times) if is_aware(&object)? => {
                times.set(true);
                let iso = iso.cast::<PyString>().map_err(PyErr::from)?;
                writer.out.bytes(&[TIME, iso.to_cow()?.as_bytes()].concat());
            }
            _ => text(writer, &iso)?,
        }
    } else if object.is_instance(library.uuid.bind(py))? {
        text(writer, object.str()?.as_any())?;
    } else if object.is_instance(library.decimal.bind(py))? {
        decimal(writer, &object)?;
    } else if object.hasattr(intern!(py, "__dataclass_fields__"))?
        && !object.is_instance_of::<pyo3::types::PyType>()
    {
        dataclass(writer, &object, library.fields.bind(py))?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Whether a date or time has a time zone and a date.
fn is_aware(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let is_datetime = object.hasattr(intern!(py, "year"))? && object.hasattr(intern!(py, "hour"))?;
    // That of pandas.NaT raises.
    Ok(is_datetime && object.call_method0(intern!(py, "utcoffset")).is_ok_and(|offset| !offset.is_none()))
}

fn text(writer: &mut Writer<'_>, text: &Bound<'_, PyAny>) -> Result<(), Failure> {
    writer.out.text(text.cast::<PyString>().map_err(PyErr::from)?.to_cow()?.as_ref());
    Ok(())
}

/// Writes a decimal as the number with the same shortest decimal text, if there is one.
fn decimal(writer: &mut Writer<'_>, decimal: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let py = decimal.py();
    let float: f64 = decimal.call_method0(intern!(py, "__float__"))?.extract()?;
    let finite: bool = decimal.call_method0(intern!(py, "is_finite"))?.extract()?;
    if !finite {
        writer.out.float(float);
        return Ok(());
    }
    // The bounds come first, because converting 1E+1000000 to an int takes long.
    if float.abs() < 2e19
        && decimal.eq(decimal.call_method0(intern!(py, "to_integral_value"))?)?
        && !(float == 0.0 && float.is_sign_negative())
    {
        let integer = decimal.call_method0(intern!(py, "__int__"))?;
        // A larger one may be a float: 2^64.
        if (-(1 << 63)..1i128 << 64).contains(&integer.extract()?) {
            // SAFETY: the integer is alive until the call returns.
            return unsafe { writer.value(integer.as_ptr()) };
        }
    }
    let again = decimal.get_type().call1((pyo3::types::PyFloat::new(py, float).repr()?,))?;
    if !float.is_finite() || !again.eq(decimal)? {
        return Err(writer.fault(
            Kind::Range,
            "a Decimal with more digits than a binary64 keeps; round it, or encode it as text",
        ));
    }
    writer.out.float(float);
    Ok(())
}

/// Writes the fields of a dataclass as a map, but for those whose names begin with an underscore.
fn dataclass(
    writer: &mut Writer<'_>,
    object: &Bound<'_, PyAny>,
    fields: &Bound<'_, PyAny>,
) -> Result<(), Failure> {
    let py = object.py();
    let mut names = Vec::new();
    for field in fields.call1((object,))?.try_iter()? {
        let name = field?.getattr(intern!(py, "name"))?.cast_into::<PyString>().map_err(PyErr::from)?;
        if !name.to_cow()?.starts_with('_') {
            names.push(name);
        }
    }
    writer.begin_map(names.len())?;
    for name in names {
        let value = object.getattr(&name)?;
        // SAFETY: the name and the value are alive until the calls return.
        unsafe {
            writer.key(name.as_ptr())?;
            writer.value(value.as_ptr()).map_err(|failure| failure.under(name.as_ptr()))?;
        }
    }
    writer.end(true)
}
