//! A row per format: the sizes and times of a set of messages.

use crate::{
    Candidate, Times, candidates, dictionary,
    size::{Zstd, gzip_bytes},
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
    /// Size after zstd with a dictionary, in bytes. Each half of the messages trains the dictionary of the other. `None` if there are fewer than
    /// 128 messages.
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

/// The most messages that are timed, and their most bytes as JSON: a pass over all of them is repeated 21 times in 17 formats.
const TIMED: (usize, usize) = (64, 4 << 20);

/// The encoded messages and the sizes of one format.
struct Encoded {
    codec: Box<dyn Format>,
    messages: Vec<Vec<u8>>,
    gzip_bytes: usize,
    zstd_bytes: usize,
    dictionary_bytes: Option<f64>,
    lossless: bool,
}

/// Messages that are encoded in every format, and can be measured.
pub struct Prepared<'a> {
    messages: &'a [Value],
    /// The indices of the messages that are timed.
    timed: Vec<usize>,
    formats: Vec<(String, Result<Encoded, Impossible>)>,
}

/// Encodes and compresses `messages` in every format. Formats that need a schema are included only if there is a `model`.
pub fn prepare<'a>(messages: &'a [Value], model: Option<&Model>) -> Prepared<'a> {
    let encode = |candidate: Candidate| (candidate.name.clone(), encode(candidate, messages));
    let formats: Vec<_> = candidates(model).into_iter().map(encode).collect();
    let json = formats.iter().find_map(|(_, encoded)| encoded.as_ref().ok());
    let timed = json.map_or_else(Vec::new, |encoded| sample(&encoded.messages));
    Prepared { messages, timed, formats }
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
                tasks.push(encode_task(encoded, self.messages, &self.timed));
                tasks.push(decode_task(encoded, &self.timed));
            }
        }
        let times = measure(&mut tasks, budget, progress);
        drop(tasks);
        // A task is a pass over all timed messages.
        let times: Vec<Times> = times.into_iter().map(|times| times.divided_by(self.timed.len())).collect();
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
        zstd_bytes: 0,
        dictionary_bytes: None,
        lossless: candidate.mapping == Mapping::Exact,
    };
    // Without memory for it, its sizes are 0.
    let mut zstd = Zstd::new().ok();
    for (index, message) in messages.iter().enumerate() {
        let failed = |error| Impossible { message: index, error };
        let trip = encoded.codec.round_trip(message).map_err(failed)?;
        encoded.gzip_bytes += gzip_bytes(&trip.bytes);
        encoded.zstd_bytes += zstd.as_mut().map_or(0, |zstd| zstd.bytes(&trip.bytes));
        encoded.lossless &= trip.lossless;
        encoded.messages.push(trip.bytes);
    }
    encoded.dictionary_bytes = dictionary::mean_bytes(&encoded.messages);
    Ok(encoded)
}

/// Evenly spaced messages within the limits of [`TIMED`], at least one.
fn sample(messages: &[Vec<u8>]) -> Vec<usize> {
    let (most, most_bytes) = TIMED;
    let mut count = messages.len().min(most);
    loop {
        let indices: Vec<usize> = (0..count).map(|n| n * messages.len() / count).collect();
        let bytes: usize = indices.iter().map(|&index| messages[index].len()).sum();
        if count <= 1 || bytes <= most_bytes {
            return indices;
        }
        count /= 2;
    }
}

/// Encodes the messages with these indices.
fn encode_task<'a>(encoded: &'a Encoded, messages: &'a [Value], indices: &'a [usize]) -> Task<'a> {
    let mut out = Vec::with_capacity(encoded.messages.iter().map(Vec::len).max().unwrap_or(0));
    Box::new(move || {
        for &index in indices {
            out.clear();
            // It was encoded before, so there is no error.
            let _ = encoded.codec.encode(black_box(&messages[index]), &mut out);
            black_box(out.as_slice());
        }
    })
}

/// Decodes the messages with these indices.
fn decode_task<'a>(encoded: &'a Encoded, indices: &'a [usize]) -> Task<'a> {
    Box::new(move || {
        for &index in indices {
            let _ = black_box(encoded.codec.decode(black_box(&encoded.messages[index])));
        }
    })
}

fn summarize(encoded: &Encoded, encode: Times, decode: Times) -> Measured {
    let count = encoded.messages.len() as f64;
    Measured {
        bytes: encoded.messages.iter().map(Vec::len).sum::<usize>() as f64 / count,
        largest_bytes: encoded.messages.iter().map(Vec::len).max().unwrap_or(0),
        gzip_bytes: encoded.gzip_bytes as f64 / count,
        zstd_bytes: encoded.zstd_bytes as f64 / count,
        dictionary_bytes: encoded.dictionary_bytes,
        lossless: encoded.lossless,
        encode,
        decode,
    }
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
    fn times_do_not_depend_on_the_order_of_the_messages() {
        let long = format!("[{}1]", "1,".repeat(2_000));
        let decode = |messages: [Value; 2]| {
            let rows = prepare(&messages, None).measure(Duration::from_millis(200), |_| ());
            let json = rows.iter().find(|row| row.format == "json").expect("a row");
            json.outcome.as_ref().expect("figures").decode.median_ns
        };
        let (first, second) =
            (decode([message(&long), message("[1]")]), decode([message("[1]"), message(&long)]));
        assert!((0.2..5.0).contains(&(first / second)), "{first} {second}");
    }

    #[test]
    fn a_sample_is_spread_over_all_messages_and_bounded() {
        let small = vec![vec![0; 10]; 1000];
        let indices = sample(&small);
        assert_eq!((indices.len(), indices[0], indices[63]), (64, 0, 984));
        assert_eq!(sample(&vec![vec![0; 3 << 20]; 8]), [0]);
        assert_eq!(sample(&small[..3]), [0, 1, 2]);
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
