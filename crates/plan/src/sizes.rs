//! The messages, and their sizes in every format.

use dunnage_formats::{Error, Format, Json, Mapping, Value};
use dunnage_measure::{Candidate, candidates};
use dunnage_packed::Layout;
use dunnage_schema::Model;

/// A message of the fleet.
pub struct Message {
    /// For people: its file, its line, or its place among the schema's examples.
    pub name: String,
    /// The message.
    pub value: Value,
    /// It as compact JSON.
    pub text: Vec<u8>,
}

impl Message {
    /// Names `value`.
    ///
    /// # Errors
    /// JSON cannot carry the value.
    pub fn new(name: String, value: Value) -> Result<Message, Error> {
        let mut text = Vec::new();
        Json.encode(&value, &mut text)?;
        Ok(Message { name, value, text })
    }
}

/// The formats that carry all messages, smallest first, and those that do not.
pub struct Sizes {
    /// The formats that carry all messages.
    pub formats: Vec<FormatSizes>,
    /// Formats that cannot carry some message, each with the reason.
    pub refused: Vec<(String, String)>,
    /// The reasons besides its bits why packed is smaller than the others: see [`left_out`].
    pub left_out: Option<String>,
}

/// The sizes of the messages in one format.
pub struct FormatSizes {
    /// For example `protobuf` or `protobuf (float32)`.
    pub format: String,
    /// The bytes of each message.
    pub bytes: Vec<usize>,
    /// Whether every message decodes to the same value.
    pub lossless: bool,
    /// The bytes of the largest message that the schema allows, where they can be computed.
    pub schema_max: Option<usize>,
}

impl Sizes {
    /// Encodes the messages in every format; formats that need a schema are included only if there is a `model`.
    pub fn measure(model: Option<&Model>, messages: &[Message]) -> Sizes {
        let packed_max = model.and_then(|model| Layout::untrained(model).max_bytes());
        let packed_max = packed_max.and_then(|bytes| usize::try_from(bytes).ok());
        let left_out = model.and_then(left_out);
        let mut sizes = Sizes { formats: Vec::new(), refused: Vec::new(), left_out };
        for candidate in candidates(model) {
            match encode(&candidate, messages) {
                Ok((bytes, lossless)) => {
                    let schema_max = packed_max.filter(|_| candidate.name.starts_with("packed"));
                    sizes.formats.push(FormatSizes { format: candidate.name, bytes, lossless, schema_max });
                }
                Err(reason) => sizes.refused.push((candidate.name, reason)),
            }
        }
        sizes.formats.sort_by(|a, b| {
            let by_mean = a.mean().total_cmp(&b.mean()).then_with(|| b.lossless.cmp(&a.lossless));
            by_mean.then_with(|| a.bytes.cmp(&b.bytes))
        });
        sizes
    }

    /// The sizes in the format of this name.
    pub fn of(&self, format: &str) -> Option<&FormatSizes> {
        self.formats.iter().find(|sizes| sizes.format == format)
    }
}

/// Says which fields packed messages of a schema leave out (`x-dunnage-known`) while the other formats carry them; `None` without such fields.
pub fn left_out(model: &Model) -> Option<String> {
    let rows = Layout::untrained(model).explain().into_iter().filter(|row| row.kind == "known");
    let fields: Vec<String> = rows.map(|row| row.path).collect();
    let which = if fields.len() == 1 { "it" } else { "them" };
    let text = || {
        format!(
            "packed leaves out {}, which the receiver knows; the other formats carry {which}",
            fields.join(", ")
        )
    };
    (!fields.is_empty()).then(text)
}

/// Returns the bytes of each message and whether all are lossless, or why the format cannot carry one of them.
fn encode(candidate: &Candidate, messages: &[Message]) -> Result<(Vec<usize>, bool), String> {
    let (mut bytes, mut lossless) = (Vec::with_capacity(messages.len()), candidate.mapping == Mapping::Exact);
    for message in messages {
        let trip = candidate.codec.as_ref().map_err(Clone::clone);
        match trip.and_then(|codec| codec.round_trip(&message.value)) {
            Ok(trip) => {
                bytes.push(trip.bytes.len());
                lossless &= trip.lossless;
            }
            Err(error) => return Err(format!("{}: {}", message.name, error.in_json(&message.text))),
        }
    }
    Ok((bytes, lossless))
}

impl FormatSizes {
    /// The mean of the messages, in bytes.
    pub fn mean(&self) -> f64 {
        self.bytes.iter().sum::<usize>() as f64 / self.bytes.len().max(1) as f64
    }

    /// The largest of the messages, in bytes.
    pub fn largest(&self) -> usize {
        self.bytes.iter().copied().max().unwrap_or(0)
    }
}
