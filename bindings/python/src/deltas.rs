//! `dunnage.Sender` and `dunnage.Receiver`: messages that are coded against earlier ones.

use crate::{
    error,
    input::{Input, SIZE},
    rows,
    schema::{Schema, rejected},
    value,
};
use dunnage_formats::Error;
use dunnage_packed::{Known, Layout, Reference, is_delta};
use pyo3::{prelude::*, types::PyBytes};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

/// Encodes the messages of one device, each in its shortest form, as deltas against what the receiver has acknowledged.
#[pyclass(module = "dunnage")]
pub struct Sender {
    // Dropped before the layout to which it refers.
    sender: dunnage_packed::Sender<'static>,
    layout: Arc<Layout>,
}

#[pymethods]
impl Sender {
    #[new]
    #[pyo3(signature = (schema, /, *, pending=1))]
    fn new(schema: &Bound<'_, Schema>, pending: usize) -> Self {
        let layout = Arc::clone(&schema.get().layout);
        // SAFETY: the layout stays where it is as long as `layout` keeps it, which outlives the sender; nothing else gets the reference.
        let fixed: &'static Layout = unsafe { &*Arc::as_ptr(&layout) };
        Sender { sender: dunnage_packed::Sender::new(fixed, pending), layout }
    }

    /// Encodes a message. None is what it is in Schema.encode.
    fn encode<'py>(&mut self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let encoded = rows::adapted(&self.layout, &mut value::from_python(message)?, |value| {
            let mut out = Vec::new();
            self.sender.encode(value, &mut out)?;
            Ok(out)
        });
        let out = encoded.map_err(|error: dunnage_packed::Error| error::encoding(&Error::from(error)))?;
        Ok(PyBytes::new(message.py(), &out))
    }

    /// Takes note that the receiver has the message of this name. Returns whether that was news.
    fn acknowledged(&mut self, name: u16) -> bool {
        self.sender.acknowledged(name)
    }

    /// The name of the message that was encoded last.
    #[getter]
    fn last(&self) -> Option<u16> {
        self.sender.last()
    }

    /// Forgets the reference, for example after the receiver has lost it.
    fn forget(&mut self) {
        self.sender.forget();
    }
}

/// Decodes the messages of one device in any form, and keeps the last ones as references of deltas.
#[pyclass(module = "dunnage")]
pub struct Receiver {
    layout: Arc<Layout>,
    keep: usize,
    /// The latest first.
    references: VecDeque<Reference>,
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)] // pyo3 passes what it has made.
impl Receiver {
    #[new]
    #[pyo3(signature = (schema, /, *, keep=32, references=None, device=None, known=None))]
    fn new(
        schema: &Bound<'_, Schema>,
        keep: usize,
        references: Option<Vec<Vec<u8>>>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Self> {
        let layout = Arc::clone(&schema.get().layout);
        let known = Known { device, texts: known.as_ref() };
        let restored =
            references.unwrap_or_default().into_iter().map(|plain| layout.reference_from(&plain, known));
        let references = restored.collect::<Result<_, _>>().map_err(|error| rejected(error, None))?;
        Ok(Receiver { layout, keep: keep.max(1), references })
    }

    /// Decodes a message, as Schema.decode does.
    #[pyo3(signature = (data, /, *, device=None, known=None))]
    fn decode<'py>(
        &mut self,
        data: &Bound<'py, PyAny>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = Input::of(data, SIZE)?;
        let known = Known { device, texts: known.as_ref() };
        let decoded = if is_delta(&bytes) && self.layout.has_slot_byte() {
            let delta = self.layout.decode_delta(&bytes, &self.references, [], known);
            delta.map(|delta| (delta.value, Some(delta.reference)))
        } else {
            self.layout.decode(&bytes, known).and_then(|value| {
                let reference =
                    self.layout.has_statistics().then(|| self.layout.reference(&value)).transpose()?;
                Ok((value, reference))
            })
        };
        let (value, reference) = decoded.map_err(|error| rejected(error, None))?;
        if let Some(reference) = reference {
            self.references.push_front(reference);
            self.references.truncate(self.keep);
        }
        value::to_python(data.py(), &value)
    }

    /// The name of the message that was decoded last, which acknowledges it.
    #[getter]
    fn last(&self) -> Option<u16> {
        self.references.front().map(Reference::name)
    }

    /// The plain bytes of the references, the latest first, for a receiver that is made later.
    #[getter]
    fn references<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.references.iter().map(|reference| PyBytes::new(py, reference.plain())).collect()
    }
}
