//! Measures the sizes of a message in every format.

use dunnage_formats::{Error, Format, Id, Mapping, Protobuf, Reception, Value};
use dunnage_links::Link;
use dunnage_measure::{candidates, separators, sizes};
use dunnage_schema::Model;

/// The sizes of a message in every format.
pub struct Comparison {
    text: Vec<u8>,
    message: Value,
    /// Size of the message as given, in bytes, without the white space around it.
    pub given_bytes: usize,
    /// Size as JSON without white space, in bytes.
    pub compact_bytes: usize,
    /// Size as JSON with a space after every comma and colon, as Python's `json.dumps` writes it, in bytes.
    pub spaced_bytes: usize,
    /// Smallest first. Formats that cannot carry the message come last.
    pub rows: Vec<Row>,
    /// The links to compare with, narrowest limit first.
    pub links: Vec<&'static Link>,
    /// The fields that packed leaves out.
    pub left_out: Option<String>,
    /// Number of formats left out because they need a schema and none was given.
    pub without_schema: usize,
}

/// A format and the result of encoding the message with it.
pub struct Row {
    /// For example `protobuf` or `protobuf (float32)`.
    pub format: String,
    /// Whether the format needs the schema.
    needs_schema: bool,
    /// The sizes, or the error if the format cannot carry the message.
    pub outcome: Result<Outcome, Error>,
}

/// The message in one format.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Size of the encoded message, in bytes.
    pub bytes: usize,
    /// Size of the encoded message after gzip at level 9, in bytes.
    pub gzip_bytes: usize,
    /// Whether this message decoded to the same value, with its keys in order.
    pub came_back: bool,
    /// Whether the round trip succeeded and the mapping is exact. The `float32` mapping keeps a message only if its numbers
    /// happen to be binary32 values.
    pub lossless: bool,
}

impl Comparison {
    /// Encodes the JSON message `text` in every format. Formats that need a schema are included only if there is a `model`.
    /// Returns an error if `text` is not a JSON message.
    pub fn measure(
        text: &[u8],
        reception: &Reception<'_>,
        model: Option<&Model>,
        links: Vec<&'static Link>,
    ) -> Result<Self, Error> {
        let json = Id::Json.open(None, Mapping::Exact)?;
        let message = json.decode_from(text, reception)?;
        let mut compact = Vec::new();
        json.encode(&message, &mut compact)?;
        let mut comparison = Comparison {
            given_bytes: text.trim_ascii().len(),
            compact_bytes: compact.len(),
            spaced_bytes: compact.len() + separators(&message),
            rows: Vec::new(),
            links,
            left_out: model.and_then(dunnage_plan::left_out),
            without_schema: Id::all().filter(|id| id.needs_schema() && model.is_none()).count(),
            text: text.to_owned(),
            message,
        };
        for candidate in candidates(model) {
            let needs_schema = candidate.id.needs_schema();
            comparison.add(candidate.name, needs_schema, candidate.mapping, candidate.codec);
        }
        comparison.sort();
        Ok(comparison)
    }

    /// Adds a row for a Protobuf definition, labelled with `name`.
    pub fn add_proto(&mut self, name: &str, codec: Protobuf) {
        self.add(format!("protobuf ({name})"), false, Mapping::Exact, Ok(Box::new(codec)));
        self.sort();
    }

    /// The rows of formats that carry the message.
    pub fn measured(&self) -> impl Iterator<Item = (&str, Outcome)> {
        self.rows.iter().filter_map(|row| Some((row.format.as_str(), *row.outcome.as_ref().ok()?)))
    }

    /// The rows of formats that cannot carry the message, with the error of each.
    pub fn impossible(&self) -> impl Iterator<Item = (&str, &Error)> {
        self.rows.iter().filter_map(|row| Some((row.format.as_str(), row.outcome.as_ref().err()?)))
    }

    /// The smallest lossless format.
    pub fn smallest_lossless(&self) -> Option<(&str, Outcome)> {
        self.measured().find(|(_, outcome)| outcome.lossless)
    }

    /// The largest measured size, in bytes; 0 if no format carries the message.
    pub fn most_bytes(&self) -> usize {
        self.measured().map(|(_, outcome)| outcome.bytes).max().unwrap_or(0)
    }

    /// `bytes` as a percentage of compact JSON.
    pub fn percent(&self, bytes: usize) -> f64 {
        bytes as f64 * 100.0 / self.compact_bytes as f64
    }

    /// If none of the formats that need the schema carries the message, returns the error of the first.
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
    let sizes = sizes(format, message)?;
    Ok(Outcome {
        bytes: sizes.bytes,
        gzip_bytes: sizes.gzip_bytes,
        came_back: sizes.lossless,
        lossless: sizes.lossless && mapping == Mapping::Exact,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaced_json_has_the_length_of_pythons_output() {
        // len(json.dumps({"a": [1, 2, {}], "b": "x, y: z"})) == 33
        let comparison =
            Comparison::measure(br#"{"a":[1,2,{}],"b":"x, y: z"}"#, &Reception::default(), None, vec![])
                .unwrap();
        assert_eq!((comparison.compact_bytes, comparison.spaced_bytes), (28, 33));
    }
}
