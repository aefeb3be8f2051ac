//! Text between Rust and the interpreter.

use crate::object::{Owned, Raised};
use pyo3::ffi;
use std::{slice, str};

/// Makes a `str`.
#[cfg(not(feature = "abi3"))]
#[inline]
pub fn to_python(text: &str) -> Result<Owned, Raised> {
    if !text.is_ascii() {
        return decode(text);
    }
    // SAFETY: a new string of this length in ASCII is compact, and nobody else has seen it yet, so its bytes may be written.
    unsafe {
        let string = Owned::new(ffi::PyUnicode_New(text.len() as ffi::Py_ssize_t, 127))?;
        let data = string.as_ptr().cast::<ffi::PyASCIIObject>().add(1).cast::<u8>();
        std::ptr::copy_nonoverlapping(text.as_ptr(), data, text.len());
        Ok(string)
    }
}

/// Makes a `str`.
#[cfg(feature = "abi3")]
#[inline]
pub fn to_python(text: &str) -> Result<Owned, Raised> {
    decode(text)
}

fn decode(text: &str) -> Result<Owned, Raised> {
    // SAFETY: the pointer and the length are those of a slice; the result is a new reference or null.
    unsafe {
        Owned::new(ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as ffi::Py_ssize_t))
    }
}

/// Returns the text of a `str`, or `None` if it has lone surrogates.
///
/// # Safety
/// `string` is a `str` or of a subclass, and outlives the result.
#[inline]
pub unsafe fn from_python<'a>(string: *mut ffi::PyObject) -> Option<&'a str> {
    #[cfg(not(feature = "abi3"))]
    {
        // SAFETY: `string` is a str. The bytes of a compact ASCII string follow its header and are ASCII.
        unsafe {
            let header = string.cast::<ffi::PyASCIIObject>();
            if ffi::PyUnicode_IS_COMPACT_ASCII(string) != 0 {
                let bytes = slice::from_raw_parts(header.add(1).cast::<u8>(), (*header).length as usize);
                return Some(str::from_utf8_unchecked(bytes));
            }
        }
    }
    let mut length = 0;
    // SAFETY: `string` is a str. It keeps its UTF-8, which is valid, as long as it lives.
    unsafe {
        let data = ffi::PyUnicode_AsUTF8AndSize(string, &raw mut length);
        if data.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(str::from_utf8_unchecked(slice::from_raw_parts(data.cast::<u8>(), length as usize)))
    }
}
