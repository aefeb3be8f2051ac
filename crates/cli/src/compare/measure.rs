//! The figures of a comparison.

use dunnage_formats::{Error, Format, Id, Mapping, Protobuf, Value};
use dunnage_links::Link;
use dunnage_schema::Model;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// A message in every format.
pub struct Comparison {
    text: Vec<u8>,
    message: Value,
    /// Bytes of the message as it was given, without the white space around it.
    pub given_bytes: usize,
    /// Bytes as JSON without white space.
    pub compact_bytes: usize,
    /// Bytes as JSON with a space after every comma and colon, as Python's `json.dumps` writes it.
    pub spaced_bytes: usize,
    /// Smallest first; formats that cannot carry the message are last.
    pub rows: Vec<Row>,
    /// The links to carry it, the narrowest first.
    pub links: Vec<&'static Link>,
    /// How many formats were left out because they need a schema.
    pub without_schema: usize,
}

/// A format and what became of the message in it.
pub struct Row {
    /// `protobuf`, `protobuf (float32)`
    pub format: String,
    /// Whether it needs the schema.
    needs_schema: bool,
    /// The figures, or why there are none.
    pub outcome: Result<Outcome, Error>,
}

/// The message in one format.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Bytes of the encoded message.
    pub bytes: usize,
    /// Bytes of the encoded message after gzip, level 9.
    pub gzip_bytes: usize,
    /// Whether decoding gave this message back, keys in order.
    pub came_back: bool,
    /// Whether it did so because the format keeps every message, and not by the luck of its digits.
    pub lossless: bool,
}

/// The formats that have a second mapping, [`Mapping::Float32`].
const BY_HAND: [Id; 3] = [Id::Protobuf, Id::Struct, Id::StructZlib];

impl Comparison {
    /// Encodes the JSON message `text` in every format; in those that need a schema if there is a `model`.
    pub fn measure(text: &[u8], model: Option<&Model>, links: Vec<&'static Link>) -> Result<Self, Error> {
        let json = Id::Json.open(None, Mapping::Exact)?;
        let message = json.decode(text)?;
        let mut compact = Vec::new();
        json.encode(&message, &mut compact)?;
        let mut comparison = Comparison {
            given_bytes: text.trim_ascii().len(),
            compact_bytes: compact.len(),
            spaced_bytes: compact.len() + separators(&message),
            rows: Vec::new(),
            links,
            without_schema: Id::all().filter(|id| id.needs_schema() && model.is_none()).count(),
            text: text.to_owned(),
            message,
        };
        for id in Id::all().filter(|id| model.is_some() || !id.needs_schema()) {
            let exact = id.open(model, Mapping::Exact);
            comparison.add(id.name().to_owned(), id.needs_schema(), Mapping::Exact, exact);
            if BY_HAND.contains(&id) {
                let by_hand = id.open(model, Mapping::Float32);
                comparison.add(format!("{id} (float32)"), true, Mapping::Float32, by_hand);
            }
        }
        comparison.sort();
        Ok(comparison)
    }

    /// Adds the row of a Protobuf definition, called `name`.
    pub fn add_proto(&mut self, name: &str, source: &str, model: Option<&Model>) -> Result<(), Error> {
        let format = Protobuf::from_proto(source, model)?;
        self.add(format!("protobuf ({name})"), false, Mapping::Exact, Ok(Box::new(format)));
        self.sort();
        Ok(())
    }

    /// The rows with figures.
    pub fn measured(&self) -> impl Iterator<Item = (&str, Outcome)> {
        self.rows.iter().filter_map(|row| Some((row.format.as_str(), *row.outcome.as_ref().ok()?)))
    }

    /// The rows without, and why.
    pub fn impossible(&self) -> impl Iterator<Item = (&str, &Error)> {
        self.rows.iter().filter_map(|row| Some((row.format.as_str(), row.outcome.as_ref().err()?)))
    }

    /// The smallest format that gives the message back.
    pub fn smallest_lossless(&self) -> Option<(&str, Outcome)> {
        self.measured().find(|(_, outcome)| outcome.lossless)
    }

    /// Bytes of the largest format that carries the message.
    pub fn most_bytes(&self) -> usize {
        self.measured().map(|(_, outcome)| outcome.bytes).max().unwrap_or(0)
    }

    /// `bytes` in percent of compact JSON.
    pub fn percent(&self, bytes: usize) -> f64 {
        bytes as f64 * 100.0 / self.compact_bytes as f64
    }

    /// Why no format that needs the schema carries the message, if none does.
    pub fn refused_by_schema(&self) -> Option<&Error> {
        let mut rows = self.rows.iter().filter(|row| row.needs_schema);
        let first = rows.next()?.outcome.as_ref().err()?;
        rows.all(|row| row.outcome.is_err()).then_some(first)
    }

    fn add(
        &mut self,
        format: String,
        needs_schema: bool,
        mapping: Mapping,
        codec: Result<Box<dyn Format>, Error>,
    ) {
        let outcome = codec.and_then(|codec| measure(&self.message, mapping, codec.as_ref()));
        let outcome = outcome.map_err(|e| e.in_json(&self.text));
        self.rows.push(Row { format, needs_schema, outcome });
    }

    fn sort(&mut self) {
        self.rows.sort_by_key(|row| match &row.outcome {
            Ok(outcome) => (outcome.bytes, !outcome.lossless),
            Err(_) => (usize::MAX, true),
        });
    }
}

fn measure(message: &Value, mapping: Mapping, format: &dyn Format) -> Result<Outcome, Error> {
    let trip = format.round_trip(message)?;
    Ok(Outcome {
        bytes: trip.bytes.len(),
        gzip_bytes: gzip_bytes(&trip.bytes),
        came_back: trip.lossless,
        lossless: trip.lossless && mapping == Mapping::Exact,
    })
}

fn gzip_bytes(bytes: &[u8]) -> usize {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    gzip.write_all(bytes).and_then(|()| gzip.finish()).map_or(0, |compressed| compressed.len())
}

/// The commas and colons between the parts of a message.
fn separators(message: &Value) -> usize {
    match message {
        Value::Array(items) => items.len().saturating_sub(1) + items.iter().map(separators).sum::<usize>(),
        Value::Map(entries) => {
            let own = (2 * entries.len()).saturating_sub(1);
            own + entries.iter().map(|(_, value)| separators(value)).sum::<usize>()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaced_json_is_as_long_as_python_writes_it() {
        // len(json.dumps({"a": [1, 2, {}], "b": "x, y: z"})) == 35
        let comparison = Comparison::measure(br#"{"a":[1,2,{}],"b":"x, y: z"}"#, None, vec![]).unwrap();
        assert_eq!((comparison.compact_bytes, comparison.spaced_bytes), (28, 33));
    }

    #[test]
    fn gzip_has_its_18_bytes_of_frame() {
        assert_eq!(gzip_bytes(b""), 20);
    }
}
