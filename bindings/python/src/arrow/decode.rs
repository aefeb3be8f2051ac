//! Decodes batches of messages on all cores, without the GIL.

use super::{
    ArrowTable,
    column::Columns,
    kind::Kind,
    messages::{failed, messages},
    senders::{Devices, Senders, Texts},
};
use crate::error::{self, with_remedy};
use arrow_array::StructArray;
use dunnage_formats::Error;
use dunnage_packed::{Layout, Receiver, Value, is_delta};
use dunnage_pson::Kind as ErrorKind;
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The number of messages of a device that can be references of its deltas, as in a Receiver by default.
const KEPT: usize = 32;

/// The rows of a batch of Arrow.
const ROWS: usize = 1 << 15;

/// The options of a batch.
pub struct Request<'a> {
    pub devices: &'a Devices,
    pub texts: Option<&'a Texts>,
    /// Whether messages at fault become rows of nulls, and values that their columns do not hold become nulls.
    pub nulls: bool,
}

/// A message at fault.
struct Rejected {
    index: usize,
    error: Error,
}

/// Decodes messages into columns.
pub fn decode(layout: &Layout, object: &Bound<'_, PyAny>, request: &Request<'_>) -> PyResult<ArrowTable> {
    let py = object.py();
    let mut tuple = None;
    let messages = messages(object, &mut tuple)?;
    let slices = messages.slices()?;
    if slices.iter().any(Option::is_none) && !request.nulls {
        return Err(PyValueError::new_err("some messages are null; errors=\"null\" keeps them so"));
    }
    let senders = request.devices.senders(slices.len(), request.texts)?;
    let job = Job { layout, kind: Kind::of_layout(layout), senders, nulls: request.nulls };
    let batches = py.detach(|| job.batches(&slices));
    let batches = batches.map_err(|Rejected { index, error }| error::decoding(&error, Some(index)))?;
    ArrowTable::new(&job.kind, batches).map_err(failed)
}

/// The inputs that all batches of a table share.
struct Job<'a> {
    layout: &'a Layout,
    kind: Kind,
    senders: Senders<'a>,
    nulls: bool,
}

impl Job<'_> {
    fn batches(&self, messages: &[Option<&[u8]>]) -> Result<Vec<StructArray>, Rejected> {
        let work: Vec<_> = messages.chunks(ROWS).collect();
        if self.layout.has_statistics() && messages.iter().flatten().any(|bytes| is_delta(bytes)) {
            return self.in_order(&work);
        }
        let decode = |at, bytes: &[u8], value: &mut Value| {
            self.layout.decode_into(bytes, self.senders.known(at), value).map_err(Error::from)
        };
        in_parallel(work.len(), |at| self.batch(work[at], at * ROWS, decode))
    }

    /// Decodes batches with deltas. A delta needs earlier messages of its device, which may be in another batch.
    fn in_order(&self, work: &[&[Option<&[u8]>]]) -> Result<Vec<StructArray>, Rejected> {
        let mut receivers: HashMap<&str, Receiver<&Layout>> = HashMap::new();
        let mut decode = |at, bytes: &[u8], value: &mut Value| {
            let known = self.senders.known(at);
            if let Some(device) = known.device {
                let new = || Receiver::new(self.layout, KEPT);
                *value = receivers.entry(device).or_insert_with(new).decode(bytes, known)?;
                return Ok(());
            }
            let decoded = self.layout.decode_into(bytes, known, value);
            decoded.map_err(|error| with_remedy(error, "decode_arrow needs its device="))
        };
        let batches = work.iter().enumerate();
        batches.map(|(at, messages)| self.batch(messages, at * ROWS, &mut decode)).collect()
    }

    /// Decodes messages, the first of which has the index `first`. `decode` gets the index of each.
    fn batch(
        &self,
        messages: &[Option<&[u8]>],
        first: usize,
        mut decode: impl FnMut(usize, &[u8], &mut Value) -> Result<(), Error>,
    ) -> Result<StructArray, Rejected> {
        let mut columns = Columns::of_messages(&self.kind, messages.len());
        let mut value = Value::Null;
        for (index, message) in (first..).zip(messages) {
            let decoded = message.map(|bytes| decode(index, bytes, &mut value));
            match decoded {
                Some(Ok(())) => match columns.push_message(&value) {
                    Err(error) if !self.nulls || error.kind() == ErrorKind::Limit => {
                        return Err(Rejected { index, error });
                    }
                    _ => {}
                },
                Some(Err(error)) if !self.nulls => {
                    return Err(Rejected { index, error });
                }
                _ => columns.push_null(),
            }
        }
        Ok(columns.finish())
    }
}

/// Calls `one` with the numbers below `count` on all cores. Returns the results in their order, or the first error of them.
fn in_parallel<T: Send, E: Send>(
    count: usize,
    one: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let cores = thread::available_parallelism().map_or(1, usize::from).min(count);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return done;
            }
            let result = one(at);
            if result.is_err() {
                // Later ones need not be begun; earlier ones are.
                next.store(count, Ordering::Relaxed);
            }
            done.push((at, result));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            // A panic goes on in this thread, where pyo3 makes an exception of it.
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
