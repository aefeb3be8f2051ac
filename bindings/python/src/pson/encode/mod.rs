//! Encodes objects of the interpreter, directly.

mod numpy;
mod special;

use super::fault::{Failure, Fault};
use crate::{
    object::{Owned, Raised},
    text,
};
use dunnage_pson::{Append, DUPLICATE_KEY, Encoder, Floats, Kind, Options};
use pyo3::ffi;
use std::{cell::Cell, collections::HashSet};

/// How often hooks and enumerations may return another object that needs them.
const MOST_DETOURS: u8 = 250;

/// The prefix of a datetime whose notation a schema decides. The text of `isoformat()` follows.
pub const TIME: &[u8] = b"\0datetime\0";

/// The parameters of `dumps` besides the object.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The function that returns a replacement for an unknown object, or null.
    pub default: *mut ffi::PyObject,
    /// Set if a datetime with a time zone was written; such datetimes are then bytes that begin with [`TIME`]. Null if they are text.
    pub times: *const Cell<bool>,
    /// Whether numbers that are not integers are rounded to binary32.
    pub single_precision: bool,
    /// Whether whole floats stay floats. They have no canonical form in PSON, so this is only for messages of other formats.
    pub keep_floats: bool,
    /// The limit of nested maps and arrays.
    pub nesting: usize,
    /// The limit of bytes.
    pub size: usize,
}

/// Writes one message.
pub struct Writer<'a> {
    /// Where the items go.
    pub out: Encoder<Append<'a>>,
    /// The caller's parameters.
    pub settings: Settings,
    /// How many maps and arrays may still be opened here.
    room: usize,
    detours: u8,
}

/// Appends the message of `object` to `out`, which must be empty.
///
/// # Safety
/// `object` is alive.
#[inline]
pub unsafe fn encode(
    object: *mut ffi::PyObject,
    settings: Settings,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let floats = if settings.single_precision { Floats::Single } else { Floats::Lossless };
    let out = Encoder::with_vec(out, Options::new().floats(floats));
    let mut writer = Writer { out, settings, room: settings.nesting, detours: 0 };
    // SAFETY: `object` is alive.
    unsafe { writer.value(object)? };
    writer.check_size()
}

impl Writer<'_> {
    /// Writes an object.
    ///
    /// # Safety
    /// `object` is alive until the call returns.
    #[inline]
    pub unsafe fn value(&mut self, object: *mut ffi::PyObject) -> Result<(), Failure> {
        self.check_size()?;
        // SAFETY: `object` is alive, and is of the type that each branch finds.
        unsafe {
            let class = ffi::Py_TYPE(object);
            if class == &raw mut ffi::PyUnicode_Type {
                self.text(object)
            } else if class == &raw mut ffi::PyLong_Type {
                self.integer(object)
            } else if class == &raw mut ffi::PyFloat_Type {
                self.float(object);
                Ok(())
            } else if class == &raw mut ffi::PyDict_Type {
                self.dict(object)
            } else if class == &raw mut ffi::PyList_Type {
                self.list(object)
            } else if object == ffi::Py_True() || object == ffi::Py_False() {
                self.out.bool(object == ffi::Py_True());
                Ok(())
            } else if object == ffi::Py_None() {
                self.out.null();
                Ok(())
            } else {
                self.other(object)
            }
        }
    }

    /// Writes an object of any other type.
    ///
    /// # Safety
    /// As in [`Writer::value`].
    #[cold]
    #[inline(never)]
    unsafe fn other(&mut self, object: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: `object` is alive, and of a subclass of the class that each branch takes.
        unsafe {
            if ffi::PyTuple_Check(object) != 0 {
                return self.tuple(object);
            }
            if ffi::PyBytes_Check(object) != 0 || special::is_buffer(object) {
                let bytes = special::content(object, self.settings.size)?;
                self.out.bytes(&bytes);
                return self.check_size();
            }
            if special::is_enum(object)? {
                return self.detour(object, |object| special::attribute(object, c"value"));
            }
            if ffi::PyUnicode_Check(object) != 0 {
                self.text(object)
            } else if ffi::PyLong_Check(object) != 0 {
                self.integer(object)
            } else if ffi::PyFloat_Check(object) != 0 {
                self.float(object);
                Ok(())
            } else if ffi::PyDict_Check(object) != 0 {
                self.dict(object)
            } else if ffi::PyList_Check(object) != 0 {
                self.list(object)
            } else if numpy::write(self, object)? || special::write(self, object)? {
                Ok(())
            } else if self.settings.default.is_null() {
                Err(self.unknown(object))
            } else {
                let hook = self.settings.default;
                // The function that takes one argument is not in the stable ABI.
                let end = std::ptr::null_mut::<ffi::PyObject>();
                self.detour(object, |object| Owned::new(ffi::PyObject_CallFunctionObjArgs(hook, object, end)))
            }
        }
    }

    /// Writes what `instead` returns for `object`.
    unsafe fn detour(
        &mut self,
        object: *mut ffi::PyObject,
        instead: impl FnOnce(*mut ffi::PyObject) -> Result<Owned, Raised>,
    ) -> Result<(), Failure> {
        if self.detours == MOST_DETOURS {
            return Err(self.fault(Kind::Limit, "default returns objects that need it, again and again"));
        }
        let other = instead(object)?;
        self.detours += 1;
        // SAFETY: `other` is alive until the end of this function.
        unsafe { self.value(other.as_ptr())? };
        self.detours -= 1;
        Ok(())
    }

    #[inline]
    unsafe fn text(&mut self, object: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: the caller has checked the type; the text is used while `object` lives.
        match unsafe { text::from_python(object) } {
            Some(text) => {
                self.out.text(text);
                Ok(())
            }
            None => Err(self.fault(Kind::Type, "a str with lone surrogates is not Unicode text")),
        }
    }

    #[inline]
    unsafe fn integer(&mut self, object: *mut ffi::PyObject) -> Result<(), Failure> {
        let mut overflow = 0;
        // SAFETY: the caller has checked the type. Without an overflow there is no error either.
        let n = unsafe { ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow) };
        match overflow {
            0 => self.out.signed(n),
            1 => {
                // SAFETY: as above; an error is cleared.
                let n = unsafe {
                    let n = ffi::PyLong_AsUnsignedLongLong(object);
                    if n == u64::MAX && !ffi::PyErr_Occurred().is_null() {
                        ffi::PyErr_Clear();
                        return Err(self.fault(Kind::Range, "an int above 2^64-1"));
                    }
                    n
                };
                self.out.unsigned(n);
            }
            _ => return Err(self.fault(Kind::Range, "an int below -2^63")),
        }
        Ok(())
    }

    #[inline]
    unsafe fn float(&mut self, object: *mut ffi::PyObject) {
        // SAFETY: the caller has checked the type.
        #[cfg(not(feature = "abi3"))]
        let f = unsafe { ffi::PyFloat_AS_DOUBLE(object) };
        #[cfg(feature = "abi3")]
        // SAFETY: as above.
        let f = unsafe { ffi::PyFloat_AsDouble(object) };
        match self.settings.keep_floats {
            true => self.out.binary64(f),
            false => self.out.float(f),
        }
    }

    #[inline]
    unsafe fn list(&mut self, list: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: the caller has checked the type. A hook may change the list, so the length is read again for every element, and the
        // reference keeps the element alive.
        unsafe {
            let length = list_length(list);
            self.begin_array(length)?;
            for at in 0..length {
                if at >= list_length(list) {
                    break;
                }
                #[cfg(not(feature = "abi3"))]
                let item = Owned::borrowed(ffi::PyList_GET_ITEM(list, at as ffi::Py_ssize_t));
                #[cfg(feature = "abi3")]
                let item = Owned::borrowed(ffi::PyList_GetItem(list, at as ffi::Py_ssize_t));
                self.value(item.as_ptr()).map_err(|failure| failure.at_index(at))?;
            }
            self.end(length == list_length(list))
        }
    }

    unsafe fn tuple(&mut self, tuple: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: the caller has checked the type. A tuple never changes and keeps its elements alive.
        unsafe {
            let length = ffi::PyTuple_Size(tuple) as usize;
            self.begin_array(length)?;
            for at in 0..length {
                let item = ffi::PyTuple_GetItem(tuple, at as ffi::Py_ssize_t);
                self.value(item).map_err(|failure| failure.at_index(at))?;
            }
            self.end(true)
        }
    }

    #[inline]
    unsafe fn dict(&mut self, dict: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: the caller has checked the type. A hook may change the dict: PyDict_Next then still returns entries of it or none, the
        // references keep them alive, and the numbers are compared.
        unsafe {
            let length = ffi::PyDict_Size(dict) as usize;
            self.begin_map(length)?;
            let (mut position, mut written, mut exact) = (0, 0, true);
            let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
            while ffi::PyDict_Next(dict, &raw mut position, &raw mut key, &raw mut value) != 0 {
                let (key, value) = (Owned::borrowed(key), Owned::borrowed(value));
                exact &= ffi::PyUnicode_CheckExact(key.as_ptr()) != 0;
                self.key(key.as_ptr())?;
                self.value(value.as_ptr()).map_err(|failure| failure.under(key.as_ptr()))?;
                written += 1;
            }
            // Keys of a subclass of str may differ as objects and be equal as text.
            if !exact {
                self.check_keys(dict)?;
            }
            self.end(written == length)
        }
    }

    /// Writes the key of a map.
    ///
    /// # Safety
    /// `key` is alive.
    #[inline]
    pub unsafe fn key(&mut self, key: *mut ffi::PyObject) -> Result<(), Failure> {
        // SAFETY: `key` is alive, and a str where it is used as one.
        unsafe {
            if ffi::PyUnicode_Check(key) == 0 {
                return Err(self
                    .fault(Kind::Type, &format!("a key of type {}; keys are str", special::type_name(key))));
            }
            self.text(key)
        }
    }

    #[cold]
    unsafe fn check_keys(&mut self, dict: *mut ffi::PyObject) -> Result<(), Failure> {
        let mut keys = HashSet::new();
        let (mut position, mut key) = (0, std::ptr::null_mut());
        // SAFETY: no other code runs during this loop, so the dict and its keys stay.
        unsafe {
            while ffi::PyDict_Next(dict, &raw mut position, &raw mut key, std::ptr::null_mut()) != 0 {
                if text::from_python(key).is_some_and(|key| !keys.insert(key)) {
                    return Err(self.fault(Kind::Type, DUPLICATE_KEY).under(key));
                }
            }
        }
        Ok(())
    }

    /// Begins an array of `length` elements, which must follow.
    #[inline]
    pub fn begin_array(&mut self, length: usize) -> Result<(), Failure> {
        self.open()?;
        self.out.array(length);
        Ok(())
    }

    /// Begins a map of `length` entries, which must follow.
    #[inline]
    pub fn begin_map(&mut self, length: usize) -> Result<(), Failure> {
        self.open()?;
        self.out.map(length);
        Ok(())
    }

    #[inline]
    fn open(&mut self) -> Result<(), Failure> {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(self.fault(Kind::Limit, "maps and arrays are nested too deeply, or in a circle")),
        }
    }

    /// Ends an array or map. It must have been `whole`.
    #[inline]
    pub fn end(&mut self, whole: bool) -> Result<(), Failure> {
        self.room += 1;
        if whole { Ok(()) } else { Err(self.fault(Kind::Type, "the container changed while it was encoded")) }
    }

    /// Checks the limit of bytes.
    #[inline]
    pub fn check_size(&self) -> Result<(), Failure> {
        if self.out.len() <= self.settings.size { Ok(()) } else { Err(self.too_large()) }
    }

    #[cold]
    fn too_large(&self) -> Failure {
        Fault::failure(
            Kind::Limit,
            self.settings.size,
            format!("the message is larger than {} bytes", self.settings.size),
        )
    }

    #[cold]
    fn unknown(&self, object: *mut ffi::PyObject) -> Failure {
        // SAFETY: callers keep the object alive.
        let name = unsafe { special::type_name(object) };
        self.fault(Kind::Type, &format!("{name} has no representation in PSON; convert it, or pass default="))
    }

    /// Makes the error of the value that would be written next.
    #[cold]
    pub fn fault(&self, kind: Kind, reason: &str) -> Failure {
        if self.out.len() > self.settings.size {
            self.too_large()
        } else {
            Fault::failure(kind, self.out.len(), reason.into())
        }
    }
}

#[inline]
fn list_length(list: *mut ffi::PyObject) -> usize {
    // SAFETY: callers pass a living list.
    unsafe {
        #[cfg(not(feature = "abi3"))]
        return ffi::PyList_GET_SIZE(list) as usize;
        #[cfg(feature = "abi3")]
        return ffi::PyList_Size(list) as usize;
    }
}
