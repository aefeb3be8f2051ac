//! A cache of the keys of maps: messages have few different ones, and a `str` that exists knows its hash.

use crate::{
    object::{Owned, Raised},
    text,
};
use pyo3::ffi;
use std::{cell::UnsafeCell, ptr};

/// The longest key in the cache, in bytes.
const LONGEST: usize = 48;
/// The number of places, a power of two.
const PLACES: usize = 2048;

struct Place {
    key: *mut ffi::PyObject,
    length: u8,
    bytes: [u8; LONGEST],
}

struct Cache(UnsafeCell<[Place; PLACES]>);

// SAFETY: the cache is used by attached threads only, one at a time, and no other code runs while it is.
unsafe impl Sync for Cache {}

static CACHE: Cache = Cache(UnsafeCell::new(
    [const { Place { key: ptr::null_mut(), length: 0, bytes: [0; LONGEST] } }; PLACES],
));

/// Returns the `str` of a key.
#[inline]
pub fn key(key: &str) -> Result<Owned, Raised> {
    if key.len() > LONGEST {
        return text::to_python(key);
    }
    // SAFETY: see `Cache`; the reference ends before anything else runs.
    let place = unsafe { &mut (*CACHE.0.get())[place(key.as_bytes())] };
    if usize::from(place.length) == key.len()
        && &place.bytes[..key.len()] == key.as_bytes()
        && !place.key.is_null()
    {
        // SAFETY: the cache owns the string, so it is alive.
        return Ok(unsafe { Owned::borrowed(place.key) });
    }
    replace(place, key)
}

#[cold]
fn replace(place: &mut Place, key: &str) -> Result<Owned, Raised> {
    let string = text::to_python(key)?;
    // SAFETY: hashing a new str runs no code of others. The cache owns one reference, and gives back the one of the str that it drops;
    // dropping a str runs no code either.
    unsafe {
        ffi::PyObject_Hash(string.as_ptr());
        ffi::Py_XDECREF(place.key);
        ffi::Py_INCREF(string.as_ptr());
    }
    place.key = string.as_ptr();
    place.length = key.len() as u8;
    place.bytes[..key.len()].copy_from_slice(key.as_bytes());
    Ok(string)
}

/// Returns the place of a key, from its length and the bytes at its ends.
#[inline]
fn place(key: &[u8]) -> usize {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (first, last) = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => (word(first), word(last)),
        _ => (short(key), 0),
    };
    let mixed = (first ^ last.rotate_left(29) ^ (key.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - PLACES.trailing_zeros())) as usize
}

/// Returns up to 7 bytes as a number.
#[inline]
fn short(key: &[u8]) -> u64 {
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    match (key.first_chunk(), key.last_chunk(), key) {
        (Some(first), Some(last), _) => half(first) << 32 | half(last),
        (_, _, [first, .., last]) => {
            u64::from(key[key.len() / 2]) << 16 | u64::from(*first) << 8 | u64::from(*last)
        }
        (_, _, [only]) => u64::from(*only),
        _ => 0,
    }
}
