//! Owned references to objects of the interpreter.
//!
//! Every function of this crate that touches an object runs while its thread is attached to the interpreter (holds the GIL). The module
//! declares this when it is loaded (`gil_used`), so interpreters without a GIL enable it.

use pyo3::{Bound, PyAny, PyErr, Python, ffi};
use std::ptr::NonNull;

/// The interpreter has an exception set, which the caller must pass on.
#[derive(Debug)]
pub struct Raised;

impl From<PyErr> for Raised {
    #[cold]
    fn from(error: PyErr) -> Self {
        error.restore(python());
        Raised
    }
}

/// Returns the token that proves that this thread is attached.
pub fn python<'py>() -> Python<'py> {
    // SAFETY: all entries into this crate are calls from the interpreter, whose thread is attached.
    unsafe { Python::assume_attached() }
}

/// A reference to an object that is given back when it is dropped.
#[derive(Debug)]
pub struct Owned(NonNull<ffi::PyObject>);

impl Owned {
    /// Takes over a new reference that a function of the C API returned. Null is an exception.
    ///
    /// # Safety
    /// `object` is null, with an exception set, or a reference that the caller owns.
    #[inline]
    pub unsafe fn new(object: *mut ffi::PyObject) -> Result<Owned, Raised> {
        NonNull::new(object).map(Owned).ok_or(Raised)
    }

    /// Makes a new reference to an object that someone else owns.
    ///
    /// # Safety
    /// `object` is alive.
    #[inline]
    pub unsafe fn borrowed(object: *mut ffi::PyObject) -> Owned {
        // SAFETY: a living object is not null, and its count may be raised.
        unsafe {
            ffi::Py_INCREF(object);
            Owned(NonNull::new_unchecked(object))
        }
    }

    /// Returns the object without giving up the reference.
    #[inline]
    pub fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0.as_ptr()
    }

    /// Gives the reference to the caller.
    #[inline]
    pub fn into_ptr(self) -> *mut ffi::PyObject {
        let object = self.as_ptr();
        std::mem::forget(self);
        object
    }

    /// Gives the reference to pyo3.
    pub fn into_bound<'py>(self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: the reference is owned, and ownership passes on.
        unsafe { Bound::from_owned_ptr(py, self.into_ptr()) }
    }
}

impl Drop for Owned {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is owned and given back once.
        unsafe { ffi::Py_DECREF(self.as_ptr()) }
    }
}
