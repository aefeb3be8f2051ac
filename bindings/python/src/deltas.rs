//! `dunnage.Sender` and `dunnage.Receiver`: messages that are coded against earlier ones.

use crate::{
    error::{self, rejected},
    explain,
    fit::Fit,
    input::{Input, SIZE},
    rows,
    schema::Schema,
    value,
};
use dunnage_formats::Error;
use dunnage_packed::{Known, Layout, Reference, is_delta};
use pyo3::{prelude::*, types::PyBytes};
use std::{collections::BTreeMap, sync::Arc};

/// Encodes the messages of one device, each in its shortest form, as deltas against a message that the receiver has acknowledged.
#[pyclass(module = "dunnage")]
pub struct Sender {
    sender: dunnage_packed::Sender<Arc<Layout>>,
    layout: Arc<Layout>,
}

#[pymethods]
impl Sender {
    #[new]
    #[pyo3(signature = (schema, /, *, pending=1))]
    fn new(schema: &Bound<'_, Schema>, pending: usize) -> Self {
        let layout = Arc::clone(&schema.get().layout);
        Sender { sender: dunnage_packed::Sender::new(Arc::clone(&layout), pending), layout }
    }

    /// Encodes a message. None has the same meaning as in Schema.encode.
    fn encode<'py>(&mut self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let encoded = rows::adapted(&self.layout, &mut value::from_python(message)?, |value| {
            let mut out = Vec::new();
            self.sender.encode(value, &mut out)?;
            Ok(out)
        });
        let out = encoded.map_err(|error: dunnage_packed::Error| error::encoding(&Error::from(error)))?;
        Ok(PyBytes::new(message.py(), &out))
    }

    /// Encodes as much of a message as `limit` bytes hold, see Schema.encode_fit.
    fn encode_fit(&mut self, message: &Bound<'_, PyAny>, limit: usize) -> PyResult<Fit> {
        let layout = Arc::clone(&self.layout);
        Fit::of(&layout, message, |value, out| self.sender.encode_fit(value, limit, out))
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
    receiver: dunnage_packed::Receiver<Arc<Layout>>,
    device: Option<String>,
    known: Option<BTreeMap<String, String>>,
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
        let texts = Known { device, texts: known.as_ref() };
        let mut receiver = dunnage_packed::Receiver::new(Arc::clone(&layout), keep);
        for plain in references.unwrap_or_default().iter().rev() {
            receiver.keep(layout.reference_from(plain, texts).map_err(rejected)?);
        }
        Ok(Receiver { layout, receiver, device: device.map(str::to_owned), known })
    }

    /// Decodes a message, as Schema.decode does. `device` and `known` are those of the constructor unless they are given.
    #[pyo3(signature = (data, /, *, device=None, known=None))]
    fn decode<'py>(
        &mut self,
        data: &Bound<'py, PyAny>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = Known {
            device: device.or(self.device.as_deref()),
            texts: known.as_ref().or(self.known.as_ref()),
        };
        let decoded = self.receiver.decode(&Input::of(data, SIZE)?, known);
        value::to_python(data.py(), &decoded.map_err(rejected)?)
    }

    /// Explains the bytes of a message, as Schema.explain does, and deltas too, as long as the receiver has the message that they refer to. It
    /// does not keep the message.
    #[pyo3(signature = (data, /, *, device=None, known=None))]
    fn explain<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        device: Option<&str>,
        known: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = Known {
            device: device.or(self.device.as_deref()),
            texts: known.as_ref().or(self.known.as_ref()),
        };
        let bytes = Input::of(data, SIZE)?;
        if !(self.layout.has_statistics() && is_delta(&bytes)) {
            return explain::message(data.py(), &self.layout, &bytes, known, None);
        }
        let reference = self.receiver.reference_of(&bytes, known).map_err(rejected)?;
        explain::message(data.py(), &self.layout, &bytes, known, Some(reference))
    }

    /// The name of the message that was decoded last, which acknowledges it.
    #[getter]
    fn last(&self) -> Option<u16> {
        self.receiver.last().map(Reference::name)
    }

    /// The plain bytes of the references, the latest first, for a receiver that is made later.
    #[getter]
    fn references<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.receiver.references().map(|reference| PyBytes::new(py, reference.plain())).collect()
    }
}
