//! Decodes batches of messages on all cores, without the GIL.

use super::{
    ArrowTable,
    column::Columns,
    kind::Kind,
    messages::{failed, messages},
};
use crate::error;
use arrow_array::StructArray;
use dunnage_formats::Error;
use dunnage_packed::{Known, Layout, Value};
use dunnage_pson::Kind as ErrorKind;
use pyo3::{exceptions::PyValueError, prelude::*};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The rows of a batch of Arrow.
const ROWS: usize = 1 << 15;

/// The options of a batch.
pub struct Request<'a> {
    pub device: Option<&'a str>,
    pub known: Option<&'a BTreeMap<String, String>>,
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
    let kind = Kind::of_layout(layout);
    let work: Vec<&[Option<&[u8]>]> = slices.chunks(ROWS).collect();
    let batches =
        py.detach(|| in_parallel(work.len(), |at| batch(layout, &kind, work[at], at * ROWS, request)));
    let batches = batches.map_err(|Rejected { index, error }| error::decoding(&error, Some(index)))?;
    ArrowTable::new(&kind, batches).map_err(failed)
}

fn batch(
    layout: &Layout,
    kind: &Kind,
    messages: &[Option<&[u8]>],
    first: usize,
    request: &Request<'_>,
) -> Result<StructArray, Rejected> {
    let mut columns = Columns::of_messages(kind, messages.len());
    let known = Known { device: request.device, texts: request.known };
    let mut value = Value::Null;
    for (at, message) in messages.iter().enumerate() {
        let decoded = message.map(|bytes| layout.decode_into(bytes, known, &mut value));
        match decoded {
            Some(Ok(())) => match columns.push_message(&value) {
                Err(error) if !request.nulls || error.kind() == ErrorKind::Limit => {
                    return Err(Rejected { index: first + at, error });
                }
                _ => {}
            },
            Some(Err(error)) if !request.nulls => {
                return Err(Rejected { index: first + at, error: error.into() });
            }
            _ => columns.push_null(),
        }
    }
    Ok(columns.finish())
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
