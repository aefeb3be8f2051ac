//! Arrays and scalars of NumPy, if it is loaded.

use super::Writer;
use crate::{object::python, pson::fault::Failure};
use dunnage_pson::Kind;
use pyo3::{ffi, intern, prelude::*, sync::PyOnceLock};
use std::{ffi::CStr, mem::MaybeUninit, slice};

/// The types of NumPy, once it is loaded.
struct Numpy {
    array: Py<PyAny>,
    scalar: Py<PyAny>,
    time_text: Py<PyAny>,
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// Returns the types of NumPy, unless nobody has imported it: then there are no such objects.
fn numpy(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    if let Some(numpy) = NUMPY.get(py) {
        return Ok(Some(numpy));
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(numpy) = modules.get_item("numpy") else { return Ok(None) };
    let class = |name: &str| Ok::<_, PyErr>(numpy.getattr(name)?.unbind());
    let load = || {
        Ok(Numpy {
            array: class("ndarray")?,
            scalar: class("generic")?,
            time_text: class("datetime_as_string")?,
        })
    };
    NUMPY.get_or_try_init(py, load).map(Some)
}

/// Writes an array or a scalar of NumPy. Returns false for other objects.
///
/// # Safety
/// `object` is alive.
pub unsafe fn write(writer: &mut Writer<'_>, object: *mut ffi::PyObject) -> Result<bool, Failure> {
    let py = python();
    let Some(numpy) = numpy(py)? else { return Ok(false) };
    // SAFETY: `object` is alive.
    let object = unsafe { Bound::from_borrowed_ptr(py, object) };
    let is_array = object.is_instance(numpy.array.bind(py))?;
    if !is_array && !object.is_instance(numpy.scalar.bind(py))? {
        return Ok(false);
    }
    let dtype = object.getattr(intern!(py, "dtype"))?;
    let kind: char = dtype.getattr(intern!(py, "kind"))?.extract()?;
    let plain = match kind {
        'b' | 'i' | 'u' | 'f' | 'U' | 'S' | 'O' => {
            if is_array && !writer.settings.keep_floats && buffer(writer, &object)? {
                return Ok(true);
            }
            object.call_method0(intern!(py, "tolist"))?
        }
        'M' => numpy.time_text.bind(py).call1((&object,))?.call_method0(intern!(py, "tolist"))?,
        _ => return Err(unknown(writer, &dtype)),
    };
    // `tolist` returns a longdouble, and an array that holds itself, unchanged.
    if plain.is_instance(numpy.scalar.bind(py))? || plain.is_instance(numpy.array.bind(py))? {
        return Err(unknown(writer, &dtype));
    }
    // SAFETY: the object is alive until the call returns.
    unsafe { writer.value(plain.as_ptr())? };
    Ok(true)
}

fn unknown(writer: &Writer<'_>, dtype: &Bound<'_, PyAny>) -> Failure {
    writer.fault(Kind::Type, &format!("a NumPy object of the type {dtype} has no representation in PSON"))
}

/// Writes the elements of an array from its memory. Returns false, with nothing written, if they are not numbers side by side.
fn buffer(writer: &mut Writer<'_>, array: &Bound<'_, PyAny>) -> Result<bool, Failure> {
    let mut view = MaybeUninit::<ffi::Py_buffer>::zeroed();
    // SAFETY: the array is alive. The view is filled by GetBuffer, read while it is held, and released once.
    unsafe {
        let flags = ffi::PyBUF_C_CONTIGUOUS | ffi::PyBUF_FORMAT;
        if ffi::PyObject_GetBuffer(array.as_ptr(), view.as_mut_ptr(), flags) != 0 {
            ffi::PyErr_Clear();
            return Ok(false);
        }
        let mut view = view.assume_init();
        let written = elements(writer, &view);
        ffi::PyBuffer_Release(&raw mut view);
        written
    }
}

/// # Safety
/// `view` is held, contiguous, and has a shape and a format.
unsafe fn elements(writer: &mut Writer<'_>, view: &ffi::Py_buffer) -> Result<bool, Failure> {
    // SAFETY: the shape has `ndim` numbers, and the format is a text.
    let (shape, format) = unsafe {
        if view.ndim == 0 || view.shape.is_null() || view.format.is_null() {
            return Ok(false);
        }
        (slice::from_raw_parts(view.shape, view.ndim as usize), CStr::from_ptr(view.format))
    };
    let code = match format.to_bytes() {
        [code] => *code,
        _ => return Ok(false),
    };
    /// Walks over elements of a type.
    macro_rules! of {
        ($type:ty, $one:expr) => {{
            if view.itemsize as usize != size_of::<$type>() {
                return Ok(false);
            }
            let mut next = view.buf.cast_const().cast::<$type>();
            rows(writer, shape, &mut |writer| {
                // SAFETY: `rows` asks for as many elements as the shape has; the memory holds them, though perhaps not aligned.
                let element = unsafe {
                    let element = next.read_unaligned();
                    next = next.add(1);
                    element
                };
                #[allow(clippy::redundant_closure_call)]
                ($one)(&mut writer.out, element);
            })?;
        }};
    }
    match code {
        b'?' => of!(u8, |out: &mut Out<'_>, b: u8| out.bool(b != 0)),
        b'b' => of!(i8, |out: &mut Out<'_>, n: i8| out.signed(n.into())),
        b'B' => of!(u8, |out: &mut Out<'_>, n: u8| out.unsigned(n.into())),
        b'h' => of!(i16, |out: &mut Out<'_>, n: i16| out.signed(n.into())),
        b'H' => of!(u16, |out: &mut Out<'_>, n: u16| out.unsigned(n.into())),
        b'i' => of!(i32, |out: &mut Out<'_>, n: i32| out.signed(n.into())),
        b'I' => of!(u32, |out: &mut Out<'_>, n: u32| out.unsigned(n.into())),
        b'l' | b'q' => of!(i64, |out: &mut Out<'_>, n: i64| out.signed(n)),
        b'L' | b'Q' => of!(u64, |out: &mut Out<'_>, n: u64| out.unsigned(n)),
        b'f' => of!(f32, |out: &mut Out<'_>, f: f32| out.float(f.into())),
        b'd' => of!(f64, |out: &mut Out<'_>, f: f64| out.float(f)),
        _ => return Ok(false),
    }
    Ok(true)
}

type Out<'a> = dunnage_pson::Encoder<dunnage_pson::Append<'a>>;

/// Writes arrays of the lengths in `shape`, and calls `one` for each element.
fn rows<'w>(
    writer: &mut Writer<'w>,
    shape: &[ffi::Py_ssize_t],
    one: &mut dyn FnMut(&mut Writer<'w>),
) -> Result<(), Failure> {
    let [length, inner @ ..] = shape else { return Ok(()) };
    writer.begin_array(*length as usize)?;
    for _ in 0..*length {
        match inner {
            [] => one(writer),
            _ => rows(writer, inner, one)?,
        }
        writer.check_size()?;
    }
    writer.end(true)
}
