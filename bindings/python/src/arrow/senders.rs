//! The devices that sent the messages of a batch, and the texts that the receiver knows of each.

use super::messages::arrays;
use arrow_array::{Array, ArrayRef, cast::AsArray};
use arrow_schema::DataType;
use dunnage_packed::Known;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    pybacked::PyBackedStr,
    types::PyString,
};
use std::{collections::BTreeMap, iter};

/// The texts that are known besides the IDs of the devices, by their names.
#[derive(FromPyObject)]
pub enum Texts {
    /// Those of all devices.
    All(BTreeMap<String, String>),
    /// Those of each, by its ID.
    Each(BTreeMap<String, BTreeMap<String, String>>),
}

impl Texts {
    /// Reads the texts from a Python object.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Texts> {
        let reason = "known is a dict of texts by their names, or of such dicts by the IDs of the devices";
        object.extract().map_err(|_| PyTypeError::new_err(reason))
    }
}

/// The IDs of the devices: one for all messages, or one for each. They stay where they are while no thread is attached.
pub enum Devices {
    All(Option<PyBackedStr>),
    Objects(Vec<Option<PyBackedStr>>),
    Arrays(Vec<ArrayRef>),
}

impl Devices {
    /// Reads the IDs from a Python object: a text, an Arrow array, or a sequence.
    pub fn of(object: Option<&Bound<'_, PyAny>>) -> PyResult<Devices> {
        let Some(object) = object else { return Ok(Devices::All(None)) };
        if object.is_instance_of::<PyString>() {
            return Ok(Devices::All(Some(object.extract()?)));
        }
        if let Some(arrays) = arrays(object)? {
            return Ok(Devices::Arrays(arrays));
        }
        let unfit = |object: &Bound<'_, PyAny>| {
            object.get_type().name().map_or_else(|error| error, |name| unfit(&name))
        };
        let items = object.try_iter().map_err(|_| unfit(object))?;
        let names = items.map(|item| item.and_then(|item| item.extract().map_err(|_| unfit(&item))));
        names.collect::<PyResult<_>>().map(Devices::Objects)
    }

    /// Returns the senders of `count` messages.
    pub fn senders<'a>(&'a self, count: usize, texts: Option<&'a Texts>) -> PyResult<Senders<'a>> {
        let mut names = Vec::new();
        match self {
            Devices::All(name) => return Ok(Senders { names: Names::All(name.as_deref()), texts }),
            Devices::Objects(objects) => names.extend(objects.iter().map(Option::as_deref)),
            Devices::Arrays(arrays) => arrays.iter().try_for_each(|array| add(&mut names, array))?,
        }
        if names.len() != count {
            let reason = format!("device has {} names for {count} messages", names.len());
            return Err(PyValueError::new_err(reason));
        }
        Ok(Senders { names: Names::Each(names), texts })
    }
}

enum Names<'a> {
    All(Option<&'a str>),
    Each(Vec<Option<&'a str>>),
}

/// The senders of the messages of a batch.
pub struct Senders<'a> {
    names: Names<'a>,
    texts: Option<&'a Texts>,
}

impl<'a> Senders<'a> {
    /// Returns the ID of the device that sent the message at `index`.
    pub fn device(&self, index: usize) -> Option<&'a str> {
        match &self.names {
            Names::All(name) => *name,
            Names::Each(names) => names[index],
        }
    }

    /// Returns the known texts of the device that sent the message at `index`.
    pub fn known(&self, index: usize) -> Known<'a> {
        let device = self.device(index);
        let texts = match self.texts {
            Some(Texts::All(texts)) => Some(texts),
            Some(Texts::Each(texts)) => device.and_then(|device| texts.get(device)),
            None => None,
        };
        Known { device, texts }
    }
}

/// Appends the names of an array. Categories of pandas and polars are dictionaries.
fn add<'a>(names: &mut Vec<Option<&'a str>>, array: &'a dyn Array) -> PyResult<()> {
    match array.data_type() {
        // Libraries give an empty column any type.
        _ if array.is_empty() => {}
        DataType::Utf8 => names.extend(array.as_string::<i32>()),
        DataType::LargeUtf8 => names.extend(array.as_string::<i64>()),
        DataType::Utf8View => names.extend(array.as_string_view()),
        DataType::Null => names.extend(iter::repeat_n(None, array.len())),
        DataType::Dictionary(..) => {
            let (mut values, array) = (Vec::new(), array.as_any_dictionary());
            add(&mut values, array.values())?;
            // An array of nulls may have no values, to which keys could be normalized.
            let keys = if values.is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
            let name =
                |(at, key): (usize, usize)| values.get(key).copied().flatten().filter(|_| array.is_valid(at));
            names.extend(keys.into_iter().enumerate().map(name));
        }
        // A table or a record batch of one column.
        DataType::Struct(fields) if fields.len() == 1 => add(names, array.as_struct().column(0))?,
        other => return Err(unfit(other)),
    }
    Ok(())
}

fn unfit(found: &dyn std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!(
        "device is a text, or a column with a text or None for each message, not {found}"
    ))
}
