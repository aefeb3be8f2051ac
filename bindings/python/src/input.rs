//! The bytes of messages: `bytes`, `bytearray`, `memoryview` and other objects with a buffer.

use crate::object::{Owned, Raised};
use pyo3::{exceptions::PyTypeError, ffi, prelude::*};
use std::{borrow::Cow, mem::MaybeUninit, ops::Deref, slice};

/// The most bytes of a message, by default (`spec/pson.md`) and in packed.
pub const SIZE: usize = 1 << 20;

/// The bytes of a message. Those that someone could change meanwhile are a copy.
pub enum Input<'a> {
    /// The content of an object of type `bytes`, which never changes, and a reference that keeps it if only a view of it was given.
    Borrowed(&'a [u8], #[allow(dead_code)] Option<Owned>),
    /// A copy.
    Copied(Vec<u8>),
}

impl Deref for Input<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Input::Borrowed(bytes, _) => bytes,
            Input::Copied(bytes) => bytes,
        }
    }
}

impl<'a> Input<'a> {
    /// Returns the bytes of `object`. Of buffers with more than `most` bytes that must be copied, only the first `most` + 1 are, which
    /// suffices to see that they are too many.
    ///
    /// # Safety
    /// `object` lives as long as the result.
    #[inline]
    pub unsafe fn new(object: *mut ffi::PyObject, most: usize) -> Result<Input<'a>, Raised> {
        // SAFETY: `object` is alive.
        unsafe {
            if ffi::PyBytes_CheckExact(object) != 0 {
                return Ok(Input::Borrowed(content(object), None));
            }
            Input::of_buffer(object, most)
        }
    }

    /// Copies the buffer of `object`.
    ///
    /// # Safety
    /// As in [`Input::new`].
    #[cold]
    unsafe fn of_buffer(object: *mut ffi::PyObject, most: usize) -> Result<Input<'a>, Raised> {
        // SAFETY: `object` is alive. The view is filled by GetBuffer, read while it is held, and released once. A view of a `bytes` keeps it
        // alive; here a reference of its own does.
        unsafe {
            if ffi::PyObject_CheckBuffer(object) == 0 {
                return Err(unfit(object).into());
            }
            let mut view = MaybeUninit::<ffi::Py_buffer>::zeroed();
            if ffi::PyObject_GetBuffer(object, view.as_mut_ptr(), ffi::PyBUF_SIMPLE) != 0 {
                return Err(Raised);
            }
            let mut view = view.assume_init();
            let owner = view.obj;
            let input = if !owner.is_null() && ffi::PyBytes_CheckExact(owner) != 0 {
                Input::Borrowed(
                    slice::from_raw_parts(view.buf.cast(), view.len as usize),
                    Some(Owned::borrowed(owner)),
                )
            } else if view.len == 0 {
                Input::Copied(Vec::new())
            } else {
                let length = (view.len as usize).min(most.saturating_add(1));
                Input::Copied(slice::from_raw_parts(view.buf.cast::<u8>(), length).to_vec())
            };
            ffi::PyBuffer_Release(&raw mut view);
            Ok(input)
        }
    }

    /// Returns the bytes of an object of pyo3.
    pub fn of(object: &'a Bound<'_, PyAny>, most: usize) -> PyResult<Input<'a>> {
        // SAFETY: the borrow keeps the object alive.
        unsafe { Input::new(object.as_ptr(), most) }.map_err(|Raised| PyErr::fetch(object.py()))
    }
}

/// Returns the bytes of an object whose type is `bytes`.
///
/// # Safety
/// `object` is of type `bytes` and outlives the result.
#[inline]
unsafe fn content<'a>(object: *mut ffi::PyObject) -> &'a [u8] {
    // SAFETY: it is a `bytes`, whose content is never null and never changes.
    unsafe {
        #[cfg(not(feature = "abi3"))]
        let (data, length) = (ffi::PyBytes_AS_STRING(object), (*object.cast::<ffi::PyVarObject>()).ob_size);
        #[cfg(feature = "abi3")]
        let (data, length) = (ffi::PyBytes_AsString(object), ffi::PyBytes_Size(object));
        slice::from_raw_parts(data.cast(), length as usize)
    }
}

#[cold]
unsafe fn unfit(object: *mut ffi::PyObject) -> PyErr {
    // SAFETY: the caller keeps the object alive.
    let object = unsafe { Bound::from_borrowed_ptr(crate::object::python(), object) };
    let name = object.get_type().name().map_or(Cow::Borrowed("object"), |name| name.to_string().into());
    PyTypeError::new_err(format!("a message is bytes, bytearray or memoryview, not {name}"))
}
