//! Builds objects of the interpreter from a message, directly.

use crate::{
    keys,
    object::{Owned, Raised},
    text,
};
use dunnage_pson::{BuildError, Builder, Options};
use pyo3::ffi;

/// The most elements of a list that are reserved before they are there. Nested lists that only announce elements are bounded by the nesting limit.
const RESERVED: usize = 1024;

/// Decodes a message. The errors of the message are raised, too.
#[inline]
pub fn decode(message: &[u8], options: Options) -> Result<Owned, Raised> {
    options.build(message, &mut Objects).map_err(|fault| match fault {
        BuildError::Message(error) => crate::error::raise(crate::error::of_pson(&error)),
        BuildError::Builder(raised) => raised,
    })
}

/// The builder of objects.
struct Objects;

/// A list that is being filled.
struct List {
    list: Owned,
    reserved: usize,
    filled: usize,
}

impl<'de> Builder<'de> for Objects {
    type Value = Owned;
    type Key = Owned;
    type Array = List;
    type Map = Owned;
    type Error = Raised;

    #[inline]
    fn null(&mut self) -> Result<Owned, Raised> {
        // SAFETY: None is alive.
        Ok(unsafe { Owned::borrowed(ffi::Py_None()) })
    }

    #[inline]
    fn bool(&mut self, b: bool) -> Result<Owned, Raised> {
        // SAFETY: True and False are alive.
        Ok(unsafe { Owned::borrowed(if b { ffi::Py_True() } else { ffi::Py_False() }) })
    }

    #[inline]
    fn u64(&mut self, n: u64) -> Result<Owned, Raised> {
        // SAFETY: the result is a new reference or null. The signed function is the faster one.
        unsafe {
            match i64::try_from(n) {
                Ok(n) => Owned::new(ffi::PyLong_FromLongLong(n)),
                Err(_) => Owned::new(ffi::PyLong_FromUnsignedLongLong(n)),
            }
        }
    }

    #[inline]
    fn i64(&mut self, n: i64) -> Result<Owned, Raised> {
        // SAFETY: the result is a new reference or null.
        unsafe { Owned::new(ffi::PyLong_FromLongLong(n)) }
    }

    #[inline]
    fn f64(&mut self, f: f64) -> Result<Owned, Raised> {
        // SAFETY: the result is a new reference or null.
        unsafe { Owned::new(ffi::PyFloat_FromDouble(f)) }
    }

    #[inline]
    fn text(&mut self, text: &'de str) -> Result<Owned, Raised> {
        text::to_python(text)
    }

    #[inline]
    fn bytes(&mut self, bytes: &'de [u8]) -> Result<Owned, Raised> {
        // SAFETY: the pointer and the length are those of a slice; the result is a new reference or null.
        unsafe {
            Owned::new(ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t))
        }
    }

    #[inline]
    fn array(&mut self, most: usize) -> Result<List, Raised> {
        let reserved = most.min(RESERVED);
        // SAFETY: the result is a new reference or null. Empty places of a list are null, which the interpreter tolerates.
        let list = unsafe { Owned::new(ffi::PyList_New(reserved as ffi::Py_ssize_t))? };
        Ok(List { list, reserved, filled: 0 })
    }

    #[inline]
    fn element(&mut self, array: &mut List, element: Owned) -> Result<(), Raised> {
        let list = array.list.as_ptr();
        if array.filled >= array.reserved {
            // SAFETY: both are alive; the list takes a reference of its own.
            return if unsafe { ffi::PyList_Append(list, element.as_ptr()) } == 0 {
                Ok(())
            } else {
                Err(Raised)
            };
        }
        let at = array.filled as ffi::Py_ssize_t;
        array.filled += 1;
        // SAFETY: the place exists and is empty, and takes over the reference.
        unsafe {
            #[cfg(not(feature = "abi3"))]
            ffi::PyList_SET_ITEM(list, at, element.into_ptr());
            #[cfg(feature = "abi3")]
            ffi::PyList_SetItem(list, at, element.into_ptr());
        }
        Ok(())
    }

    #[inline]
    fn end_array(&mut self, array: List) -> Result<Owned, Raised> {
        Ok(array.list)
    }

    #[inline]
    fn map(&mut self, _: usize) -> Result<Owned, Raised> {
        // SAFETY: the result is a new reference or null.
        unsafe { Owned::new(ffi::PyDict_New()) }
    }

    #[inline]
    fn key(&mut self, key: &'de str) -> Result<Owned, Raised> {
        keys::key(key)
    }

    #[inline]
    fn entry(&mut self, map: &mut Owned, key: Owned, value: Owned) -> Result<bool, Raised> {
        let dict = map.as_ptr();
        let before = length(dict);
        // SAFETY: all are alive; the dict takes references of its own. Comparing keys of type str runs no other code.
        if unsafe { ffi::PyDict_SetItem(dict, key.as_ptr(), value.as_ptr()) } != 0 {
            return Err(Raised);
        }
        Ok(length(dict) > before)
    }

    #[inline]
    fn end_map(&mut self, map: Owned) -> Result<Owned, Raised> {
        Ok(map)
    }
}

/// Returns the number of entries of a dict.
#[inline]
fn length(dict: *mut ffi::PyObject) -> ffi::Py_ssize_t {
    // SAFETY: callers pass a living dict.
    unsafe {
        #[cfg(not(feature = "abi3"))]
        return (*dict.cast::<ffi::PyDictObject>()).ma_used;
        #[cfg(feature = "abi3")]
        return ffi::PyDict_Size(dict);
    }
}
