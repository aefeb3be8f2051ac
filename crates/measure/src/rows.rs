//! A row per format: the sizes and times of a set of messages.

use crate::{
    Candidate, Times, candidates,
    dictionary::Dictionary,
    size::{gzip_bytes, zstd_bytes},
    timing::{Task, measure},
};
use dunnage_formats::{Error, Format, Mapping, Value};
use dunnage_schema::Model;
use std::{hint::black_box, time::Duration};

/// A format and its figures.
pub struct Row {
    /// For example `protobuf` or `protobuf (float32)`.
    pub format: String,
    /// The figures, or why the format cannot carry the messages.
    pub outcome: Result<Measured, Impossible>,
}

/// The figures of a format: means over all messages.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Size of an encoded message, in bytes.
    pub bytes: f64,
    /// Size of the largest encoded message, in bytes.
    pub largest_bytes: usize,
    /// Size after gzip at level 9, in bytes.
    pub gzip_bytes: f64,
    /// Size after zstd at level 19, in bytes.
    pub zstd_bytes: f64,
    /// Size after zstd with a dictionary, in bytes. Every second message trains the dictionary, the others are compressed with it. `None` if there
    /// are fewer than 128 messages.
    pub dictionary_bytes: Option<f64>,
    /// Whether every message decodes to the same value and the mapping is exact.
    pub lossless: bool,
    /// The time to encode a message.
    pub encode: Times,
    /// The time to decode a message.
    pub decode: Times,
}

/// A message that a format cannot carry.
#[derive(Debug)]
pub struct Impossible {
    /// The index of the message.
    pub message: usize,
    /// The reason.
    pub error: Error,
}

/// The encoded messages and the sizes of one format.
struct Encoded {
    codec: Box<dyn Format>,
    messages: Vec<Vec<u8>>,
    gzip_bytes: usize,
    lossless: bool,
}

/// Messages that are encoded in every format, and can be measured.
pub struct Prepared<'a> {
    messages: &'a [Value],
    formats: Vec<(String, Result<Encoded, Impossible>)>,
}

/// Encodes `messages` in every format. Formats that need a schema are included only if there is a `model`.
pub fn prepare<'a>(messages: &'a [Value], model: Option<&Model>) -> Prepared<'a> {
    let encode = |candidate: Candidate| (candidate.name.clone(), encode(candidate, messages));
    Prepared { messages, formats: candidates(model).into_iter().map(encode).collect() }
}

impl Prepared<'_> {
    /// Returns every format, with the reason if it cannot carry the messages.
    pub fn formats(&self) -> impl Iterator<Item = (&str, Option<&Impossible>)> {
        self.formats.iter().map(|(format, encoded)| (format.as_str(), encoded.as_ref().err()))
    }

    /// Measures the formats. Returns the smallest first, and those that cannot carry the messages last. The times take about `budget`.
    /// `progress` receives the share that is done, from 0 to 1.
    pub fn measure(self, budget: Duration, progress: impl FnMut(f64)) -> Vec<Row> {
        let mut tasks = Vec::new();
        for (_, encoded) in &self.formats {
            if let Ok(encoded) = encoded {
                tasks.push(encode_task(encoded, self.messages));
                tasks.push(decode_task(encoded));
            }
        }
        let times = measure(&mut tasks, budget, progress);
        drop(tasks);
        // Each encoded format has two tasks, in this order.
        let mut times = times.chunks_exact(2);
        let mut rows = Vec::new();
        for (format, encoded) in self.formats {
            let outcome = match encoded {
                Err(impossible) => Err(impossible),
                Ok(encoded) => match times.next() {
                    Some(&[encode, decode]) => Ok(summarize(&encoded, encode, decode)),
                    _ => continue,
                },
            };
            rows.push(Row { format, outcome });
        }
        rows.sort_by(|a, b| bytes(a).total_cmp(&bytes(b)));
        rows
    }
}

fn bytes(row: &Row) -> f64 {
    row.outcome.as_ref().map_or(f64::INFINITY, |measured| measured.bytes)
}

fn encode(candidate: Candidate, messages: &[Value]) -> Result<Encoded, Impossible> {
    let codec = candidate.codec.map_err(|error| Impossible { message: 0, error })?;
    let mut encoded = Encoded {
        codec,
        messages: Vec::with_capacity(messages.len()),
        gzip_bytes: 0,
        lossless: candidate.mapping == Mapping::Exact,
    };
    for (index, message) in messages.iter().enumerate() {
        let failed = |error| Impossible { message: index, error };
        let trip = encoded.codec.round_trip(message).map_err(failed)?;
        encoded.gzip_bytes += gzip_bytes(&trip.bytes);
        encoded.lossless &= trip.lossless;
        encoded.messages.push(trip.bytes);
    }
    Ok(encoded)
}

/// Encodes the next message at each call.
fn encode_task<'a>(encoded: &'a Encoded, messages: &'a [Value]) -> Task<'a> {
    let mut messages = messages.iter().cycle();
    let mut out = Vec::with_capacity(encoded.messages.iter().map(Vec::len).max().unwrap_or(0));
    Box::new(move || {
        out.clear();
        if let Some(message) = messages.next() {
            // It was encoded before, so there is no error.
            let _ = encoded.codec.encode(black_box(message), &mut out);
            black_box(out.as_slice());
        }
    })
}

/// Decodes the next message at each call.
fn decode_task(encoded: &Encoded) -> Task<'_> {
    let mut messages = encoded.messages.iter().cycle();
    Box::new(move || {
        if let Some(bytes) = messages.next() {
            let _ = black_box(encoded.codec.decode(black_box(bytes)));
        }
    })
}

fn summarize(encoded: &Encoded, encode: Times, decode: Times) -> Measured {
    let count = encoded.messages.len() as f64;
    Measured {
        bytes: encoded.messages.iter().map(Vec::len).sum::<usize>() as f64 / count,
        largest_bytes: encoded.messages.iter().map(Vec::len).max().unwrap_or(0),
        gzip_bytes: encoded.gzip_bytes as f64 / count,
        zstd_bytes: encoded.messages.iter().map(|bytes| zstd_bytes(bytes)).sum::<usize>() as f64 / count,
        dictionary_bytes: with_dictionary(&encoded.messages),
        lossless: encoded.lossless,
        encode,
        decode,
    }
}

/// The mean size of every second message with a dictionary that was trained from the others.
fn with_dictionary(messages: &[Vec<u8>]) -> Option<f64> {
    let half = |first| messages.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
    let dictionary = Dictionary::train(&half(0))?;
    let measured = half(1);
    let total: usize = measured.iter().map(|bytes| dictionary.compressed_bytes(bytes)).sum();
    Some(total as f64 / measured.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_formats::Id;
    use dunnage_schema::bundled_named;

    fn message(json: &str) -> Value {
        let codec = Id::Json.open(None, Mapping::Exact).expect("JSON needs no schema");
        codec.decode(json.as_bytes()).expect("JSON")
    }

    #[test]
    fn every_format_has_a_row_with_times_and_the_smallest_comes_first() {
        let text = bundled_named("weather").expect("a bundled schema");
        let model = Model::compile(text).expect("a schema");
        let schema = message(text);
        let Value::Map(entries) = schema else { panic!("an object") };
        let examples = entries.into_iter().find(|(key, _)| key == "examples").expect("examples");
        let Value::Array(examples) = examples.1 else { panic!("an array") };
        let mut shares = Vec::new();
        let rows =
            prepare(&examples, Some(&model)).measure(Duration::from_millis(100), |share| shares.push(share));
        assert_eq!(rows.len(), candidates(Some(&model)).len());
        assert_eq!(rows[0].format, "packed");
        for row in &rows {
            let measured = row.outcome.as_ref().expect("every format carries the weather");
            assert!(measured.encode.median_ns > 0.0 && measured.decode.low_ns > 0.0, "{}", row.format);
            assert!(measured.largest_bytes as f64 >= measured.bytes);
            assert!(measured.dictionary_bytes.is_none());
        }
        assert_eq!(shares.last(), Some(&1.0));
    }

    #[test]
    fn a_message_that_breaks_the_schema_is_named() {
        let model = Model::compile(
            r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":9}},"required":["n"],"additionalProperties":false}"#,
        )
        .expect("a schema");
        let messages = [message(r#"{"n":1}"#), message(r#"{"n":99}"#)];
        let prepared = prepare(&messages, Some(&model));
        let (_, impossible) = prepared.formats().find(|(format, _)| *format == "packed").expect("packed");
        let impossible = impossible.expect("99 is too large");
        assert_eq!((impossible.message, impossible.error.pointer()), (1, "/n"));
    }

    #[test]
    fn many_messages_train_a_dictionary() {
        let messages: Vec<Value> = (0..200)
            .map(|n| message(&format!(r#"{{"sensor":"hold-{n}","temperature":{},"door":"open"}}"#, n % 37)))
            .collect();
        let rows = prepare(&messages, None).measure(Duration::from_millis(20), |_| ());
        let json = rows.iter().find(|row| row.format == "json").expect("a row");
        let json = json.outcome.as_ref().expect("figures");
        assert!(json.dictionary_bytes.expect("a dictionary") < json.zstd_bytes / 2.0);
    }
}
