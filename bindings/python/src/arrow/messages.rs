//! The messages of a batch: bytes that stay where they are while no thread is attached.

use crate::input::{Input, SIZE};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray,
    cast::AsArray,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi},
    ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream},
    make_array,
};
use arrow_schema::{ArrowError, DataType};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyCapsule, PyTuple},
};
use std::iter;

/// The messages of a batch.
pub enum Messages<'t> {
    /// Objects, which the tuple keeps alive.
    Objects(Vec<Input<'t>>),
    /// Arrays of Arrow, which are read in place.
    Arrays(Vec<ArrayRef>),
}

/// The bytes of the messages, or `None` for nulls.
pub type Slices<'a> = Vec<Option<&'a [u8]>>;

/// Returns the arrays that an object of an Arrow library has, or `None` for other objects.
pub fn arrays(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if object.hasattr("__arrow_c_stream__")? {
        return of_stream(object).map(Some);
    }
    if object.hasattr("__arrow_c_array__")? {
        return of_array(object).map(|array| Some(vec![array]));
    }
    Ok(None)
}

/// Returns the messages that an object has. `tuple` keeps those of a sequence.
pub fn messages<'t, 'py>(
    object: &Bound<'py, PyAny>,
    tuple: &'t mut Option<Bound<'py, PyTuple>>,
) -> PyResult<Messages<'t>> {
    if let Some(arrays) = arrays(object)? {
        return Ok(Messages::Arrays(arrays));
    }
    let items: Vec<_> = object.try_iter()?.collect::<PyResult<_>>()?;
    let tuple = tuple.insert(PyTuple::new(object.py(), items)?);
    let inputs = (0..tuple.len()).map(|at| {
        let item = tuple.get_borrowed_item(at)?;
        // SAFETY: the tuple, which never changes, keeps the item alive as long as it is borrowed.
        unsafe { Input::new(item.as_ptr(), SIZE) }.map_err(|_| PyErr::fetch(item.py()))
    });
    inputs.collect::<PyResult<_>>().map(Messages::Objects)
}

impl Messages<'_> {
    /// Returns the bytes of the messages.
    pub fn slices(&self) -> PyResult<Slices<'_>> {
        match self {
            Messages::Objects(inputs) => Ok(inputs.iter().map(|input| Some(&**input)).collect()),
            Messages::Arrays(arrays) => {
                let mut slices = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
                arrays.iter().try_for_each(|array| add(&mut slices, array))?;
                Ok(slices)
            }
        }
    }
}

fn add<'a>(slices: &mut Slices<'a>, array: &'a ArrayRef) -> PyResult<()> {
    match array.data_type() {
        // Libraries give an empty column any type.
        _ if array.is_empty() => {}
        DataType::Binary => slices.extend(array.as_any().downcast_ref::<BinaryArray>().into_iter().flatten()),
        DataType::LargeBinary => {
            slices.extend(array.as_any().downcast_ref::<LargeBinaryArray>().into_iter().flatten());
        }
        DataType::BinaryView => {
            slices.extend(array.as_any().downcast_ref::<BinaryViewArray>().into_iter().flatten());
        }
        DataType::Null => slices.extend(iter::repeat_n(None, array.len())),
        // A table or a record batch of one column.
        DataType::Struct(fields) if fields.len() == 1 => add(slices, array.as_struct().column(0))?,
        other => return Err(PyTypeError::new_err(format!("messages are binary, not {other}"))),
    }
    Ok(())
}

fn of_stream(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name has such a stream. It is moved out, so that the capsule does not release it.
    let reader = unsafe {
        let stream = FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast());
        ArrayStreamReader::try_new(stream).map_err(failed)?
    };
    object.py().detach(|| reader.collect::<Result<_, _>>()).map_err(failed)
}

fn of_array(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    let (schema, array) =
        (pair.get_item(0)?.cast_into::<PyCapsule>()?, pair.get_item(1)?.cast_into::<PyCapsule>()?);
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names have such structures. The array is moved out, the schema only read while its capsule lives.
    let data = unsafe {
        let array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        from_ffi(array, schema.cast::<FFI_ArrowSchema>().as_ref())
    };
    data.map(make_array).map_err(failed)
}

/// Makes the exception for data that is not an Arrow array.
#[allow(clippy::needless_pass_by_value)]
pub fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
