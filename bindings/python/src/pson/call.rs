//! The functions `dumps` and `loads`, with the calling convention of the interpreter: for small messages, parsing arguments takes longer than
//! the codec.

use super::{NESTING, Settings, decode, encode};
use crate::{
    input::{Input, SIZE},
    object::{Owned, Raised, python},
};
use dunnage_pson::Options;
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    ffi,
    prelude::*,
};
use std::{
    cell::Cell,
    ffi::CStr,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

const DUMPS: &CStr =
    c"dumps(obj, /, *, default=None, single_precision=False, max_nesting=32, max_size=1048576)
--

Encode an object as PSON and return bytes.

Raises EncodeError, with kind, pointer and offset, for what PSON does not represent.";

const LOADS: &CStr = c"loads(data, /, *, strict=False, max_nesting=32, max_size=1048576)
--

Decode a PSON message from bytes, bytearray or memoryview.

Raises DecodeError, with kind and offset, unless the data is exactly one valid message.";

/// A buffer that is larger than this is not kept for the next message.
const KEPT: usize = 1 << 16;

thread_local! {
    /// The buffer of the last message. A hook that encodes, too, finds it taken and gets a new one.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Adds the functions to a module.
pub fn add_functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for (name, function, doc) in
        [(c"dumps", dumps as ffi::PyCFunctionFastWithKeywords, DUMPS), (c"loads", loads, LOADS)]
    {
        // The interpreter keeps the definition as long as the function, which is never freed.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: doc.as_ptr(),
        }));
        let module_name = module.name()?;
        // SAFETY: the definition is complete, its function has the convention that its flags say, and the result is a new reference or null.
        let function = unsafe {
            let function = ffi::PyCFunction_NewEx(definition, ptr::null_mut(), module_name.as_ptr());
            Bound::from_owned_ptr_or_err(module.py(), function)?
        };
        module.add(function.getattr("__name__")?.extract::<String>()?.as_str(), function)?;
    }
    Ok(())
}

unsafe extern "C" fn dumps(
    _: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|| {
        let default = ptr::null_mut();
        let mut settings = Settings {
            default,
            times: ptr::null(),
            single_precision: false,
            keep_floats: false,
            nesting: NESTING,
            size: SIZE,
        };
        // SAFETY: the interpreter passes `count` arguments, then one for each name, and keeps them alive during the call.
        unsafe {
            let object = arguments_of("dumps", arguments, count, names, |name, value| {
                match name {
                    "default" if value.is_none() => {}
                    "default" => settings.default = value.as_ptr(),
                    "single_precision" => settings.single_precision = value.is_truthy()?,
                    "max_nesting" => settings.nesting = nesting(value.extract()?)?,
                    "max_size" => settings.size = value.extract()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            let mut buffer = BUFFER.take();
            buffer.clear();
            let encoded = encode(object, settings, &mut buffer);
            let bytes = encoded.map_err(super::fault::Failure::raise).and_then(|()| {
                Owned::new(ffi::PyBytes_FromStringAndSize(
                    buffer.as_ptr().cast(),
                    buffer.len() as ffi::Py_ssize_t,
                ))
            });
            if buffer.capacity() <= KEPT {
                BUFFER.set(buffer);
            }
            bytes
        }
    })
}

unsafe extern "C" fn loads(
    _: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|| {
        let (mut options, mut size) = (Options::new(), SIZE);
        // SAFETY: as in `dumps`.
        unsafe {
            let data = arguments_of("loads", arguments, count, names, |name, value| {
                match name {
                    "strict" => options = options.strict(value.is_truthy()?),
                    "max_nesting" => options = options.max_nesting(nesting(value.extract()?)?),
                    "max_size" => size = value.extract()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            decode(&Input::new(data, size)?, options.max_size(size))
        }
    })
}

/// Returns the limit of nesting, at most 64.
pub fn nesting(most: usize) -> PyResult<usize> {
    if most > 64 {
        return Err(pyo3::exceptions::PyValueError::new_err("max_nesting is at most 64"));
    }
    Ok(most)
}

/// Returns the only positional argument, and passes the others to `keyword`, which returns false for names that it does not know.
///
/// # Safety
/// `arguments` has `count` objects, and one for each of `names`, which is a tuple of `str` or null.
#[inline]
unsafe fn arguments_of(
    function: &str,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
    keyword: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<bool>,
) -> Result<*mut ffi::PyObject, Raised> {
    if count != 1 {
        let message = format!("{function}() takes exactly one positional argument ({count} given)");
        return Err(PyTypeError::new_err(message).into());
    }
    // SAFETY: there is one argument, and those of `names`.
    unsafe {
        if !names.is_null() {
            keywords(function, arguments.add(1), names, keyword)?;
        }
        Ok(*arguments)
    }
}

#[cold]
unsafe fn keywords(
    function: &str,
    values: *const *mut ffi::PyObject,
    names: *mut ffi::PyObject,
    mut keyword: impl FnMut(&str, &Bound<'_, PyAny>) -> PyResult<bool>,
) -> Result<(), Raised> {
    let py = python();
    // SAFETY: `names` is a tuple of str, and there is a value for each.
    unsafe {
        for at in 0..ffi::PyTuple_Size(names) {
            let name: String = Bound::from_borrowed_ptr(py, ffi::PyTuple_GetItem(names, at)).extract()?;
            let value = Bound::from_borrowed_ptr(py, *values.offset(at));
            if !keyword(&name, &value)? {
                let message = format!("{function}() got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(message).into());
            }
        }
    }
    Ok(())
}

/// Runs `call`, and turns a panic, which would end the process, into an exception.
#[inline]
fn guarded(call: impl FnOnce() -> Result<Owned, Raised>) -> *mut ffi::PyObject {
    let result = catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(PyRuntimeError::new_err("dunnage has a fault; please report it").into()));
    result.map_or(ptr::null_mut(), Owned::into_ptr)
}
