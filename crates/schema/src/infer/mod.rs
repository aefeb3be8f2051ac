//! Infers a schema from sample messages: what the samples have in common, with headroom for messages that were not seen.
//!
//! `docs/infer.md` describes the rules. Every guess is noted; nothing is guessed silently.

mod array;
mod guesses;
mod identifier;
mod number;
mod number_text;
mod object;
mod produced;
mod quantity;
mod range;
mod series;
pub mod shrink;
mod text;
mod time_text;
mod value;
mod words;
pub(crate) mod write;

use crate::{Model, SchemaError, parse::Node, read_nearest, read_number};
use guesses::{Guesses, counted};
use std::fmt;
// Arrays and objects contain values, so their modules call this one recursively.
use value::infer as infer_value;

/// The deepest nesting of arrays and objects, the same as for messages.
const MAX_NESTING: usize = 32;
/// The number of values from which on a common property is unlikely to be chance.
const MANY: usize = 20;

/// The result of inferring a schema from samples.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inferred {
    /// The schema's text. It compiles, and every sample obeys it except the `odd` ones.
    pub schema: String,
    /// The guesses, in the order of the schema.
    pub notes: Vec<Note>,
    /// The samples that break the schema: index, counted from 0, and violation. Each has a value that differs from all others of its field,
    /// so that allowing it would make every message larger.
    pub odd: Vec<(usize, String)>,
}

/// A guess.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The field: `position.latitude`, `readings[].value`, `counters.*`; `$` is the message itself.
    pub field: String,
    /// The observation and the conclusion.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.text)
    }
}

/// The reason why no schema was inferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferError {
    sample: Option<usize>,
    message: String,
}

impl InferError {
    /// The faulty sample, counted from 0; `None` if no single sample is at fault.
    pub fn sample(&self) -> Option<usize> {
        self.sample
    }

    /// The description, for people.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for InferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InferError {}

/// Infers a schema from messages. They are given as JSON texts, because decimals are counted in the text: `17.00` has two.
///
/// `title` becomes the schema's title.
///
/// ```
/// let inferred = dunnage_schema::infer(&[r#"{"t":17.00,"door":true}"#, r#"{"t":-3.25}"#], Some("Hold"))?;
/// assert!(inferred.schema.contains(r#""multipleOf": 0.01"#));
/// assert!(inferred.notes.iter().any(|note| note.to_string().starts_with("door: missing in 1 of 2")));
/// # Ok::<(), dunnage_schema::InferError>(())
/// ```
///
/// # Errors
/// There are no samples; a sample is not JSON, has a duplicate key, is nested more than 32 deep, is longer than 1 MiB, or has a number
/// beyond the range of binary64: [`InferError::sample`] has its index; or the samples are so diverse that the schema would break the limits of
/// [spec/schema.md](https://github.com/dunnage/dunnage/blob/main/spec/schema.md).
///
/// ```
/// use dunnage_schema::infer;
/// let error = infer(&["{}", "{"], None).unwrap_err();
/// assert_eq!(error.sample(), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn infer(samples: &[impl AsRef<str>], title: Option<&str>) -> Result<Inferred, InferError> {
    let mut guesses = Guesses::default();
    let nodes = read_all(&mut guesses, samples)?;
    if nodes.is_empty() {
        return Err(InferError { sample: None, message: "there is no sample".to_owned() });
    }
    written(guesses, &nodes, &[], title)
}

/// Infers a schema from messages that a decoder returned, and from `mutated`: what it returned for mutations of their frames.
///
/// The structure, that is properties, types and which properties are required, is that of `samples`. The ranges, steps and texts are those of
/// both: a number that changes has no headroom, because the decoder returns no others. No sample is odd.
///
/// ```
/// let mutated: Vec<String> = (0..256).map(|byte| format!(r#"{{"level":{},"test":1}}"#, f64::from(byte) / 2.0)).collect();
/// let inferred = dunnage_schema::infer_decoded(&[r#"{"level":21.5}"#], &mutated, None)?;
/// assert!(inferred.schema.contains(r#""multipleOf": 0.5, "minimum": 0, "maximum": 127.5"#));
/// assert!(inferred.notes.iter().any(|note| note.text.starts_with("only mutated frames have test: left out")));
/// # Ok::<(), dunnage_schema::InferError>(())
/// ```
///
/// # Errors
/// As those of [`infer`]; those of a mutated message have no index.
pub fn infer_decoded(
    samples: &[impl AsRef<str>],
    mutated: &[impl AsRef<str>],
    title: Option<&str>,
) -> Result<Inferred, InferError> {
    let mut guesses = Guesses::default();
    guesses.are_decoded = true;
    let nodes = read_all(&mut guesses, samples)?;
    let mutated = read_all(&mut guesses, mutated).map_err(|error| InferError { sample: None, ..error })?;
    if nodes.is_empty() {
        return Err(InferError { sample: None, message: "there is no sample".to_owned() });
    }
    written(guesses, &nodes, &mutated, title)
}

/// Parses samples, and notes how many numbers were rounded.
fn read_all(guesses: &mut Guesses, samples: &[impl AsRef<str>]) -> Result<Vec<Node>, InferError> {
    let mut rounded = 0;
    let nodes = samples.iter().enumerate().map(|(index, sample)| read(index, sample.as_ref(), &mut rounded));
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    if rounded > 0 {
        let text = format!(
            "{} with more digits than a value can hold: read as the nearest binary64",
            counted(rounded, "number")
        );
        guesses.note("", text);
    }
    Ok(nodes)
}

/// Infers the schema of `nodes`, writes and checks it.
fn written(
    mut guesses: Guesses,
    nodes: &[Node],
    mutated: &[Node],
    title: Option<&str>,
) -> Result<Inferred, InferError> {
    let values: Vec<&Node> = nodes.iter().collect();
    let mutated: Vec<&Node> = mutated.iter().collect();
    let kind = infer_value(&mut guesses, "", &values, &mutated);
    let mut entries =
        vec![("$schema".to_owned(), write::text("https://json-schema.org/draft/2020-12/schema"))];
    entries.extend(title.map(|title| ("title".to_owned(), write::text(title))));
    if let Node::Object(keywords) = kind {
        entries.extend(keywords);
    }
    let schema = write::schema(&Node::Object(entries));
    let odd = check(&schema, nodes, guesses.odd)?;
    Ok(Inferred { schema, notes: guesses.notes, odd })
}

/// Returns the text of `schema` with the whole number `n` under `keyword`, after its `$schema`, in the notation of [`infer`].
///
/// # Errors
/// The text is not a JSON object.
///
/// ```
/// use dunnage_schema::{Model, with_keyword};
/// let schema = with_keyword(r#"{"type": "boolean"}"#, "x-dunnage-slot", 7)?;
/// assert_eq!(Model::compile(&schema)?.slot(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_keyword(schema: &str, keyword: &str, n: u64) -> Result<String, SchemaError> {
    let mut node = Node::parse(schema)?;
    let Node::Object(entries) = &mut node else {
        return Err(SchemaError::new("", "", "a schema must be an object"));
    };
    entries.retain(|(key, _)| key != keyword);
    let at = entries.iter().position(|(key, _)| key == "$schema").map_or(0, |at| at + 1);
    entries.insert(at, (keyword.to_owned(), Node::Number(n.to_string())));
    Ok(write::schema(&node))
}

/// Parses a sample. A number that no value holds exactly becomes the nearest binary64, as when the gateway reads it, and is counted.
fn read(index: usize, text: &str, rounded: &mut usize) -> Result<Node, InferError> {
    let failed = |message: String| InferError { sample: Some(index), message };
    let mut node = Node::parse(text).map_err(|e| failed(e.to_string()))?;
    if nesting(&node) > MAX_NESTING {
        return Err(failed(format!("arrays and objects are nested more than {MAX_NESTING} deep")));
    }
    round(&mut node, rounded);
    match value::message(&node) {
        Some(_) => Ok(node),
        None => Err(failed("the nearest binary64 of a number is zero or an infinity".to_owned())),
    }
}

/// Replaces numbers that no value holds by the shortest digits of the nearest binary64.
fn round(node: &mut Node, rounded: &mut usize) {
    match node {
        Node::Number(text) if read_number(text).is_none() => {
            if let Some(nearest) = read_nearest(text) {
                *text = format!("{nearest:?}");
                *rounded += 1;
            }
        }
        Node::Array(items) => items.iter_mut().for_each(|item| round(item, rounded)),
        Node::Object(entries) => entries.iter_mut().for_each(|(_, item)| round(item, rounded)),
        _ => {}
    }
}

/// Returns the depth of nested arrays and objects. The recursion is bounded, because a parsed text is at most 128 deep.
fn nesting(node: &Node) -> usize {
    match node {
        Node::Array(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
        Node::Object(entries) => 1 + entries.iter().map(|(_, node)| nesting(node)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Compiles the schema and validates every sample. Returns the samples that break it. More of them than `odd` values are an error.
fn check(schema: &str, nodes: &[Node], odd: usize) -> Result<Vec<(usize, String)>, InferError> {
    let model = Model::compile(schema).map_err(|e| InferError { sample: None, message: e.to_string() })?;
    let mut broken = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(message) = value::message(node) else { continue };
        if let Err(violation) = model.validate(&message) {
            broken.push((index, violation.to_string()));
        }
    }
    match broken.get(odd) {
        None => Ok(broken),
        Some((index, violation)) => {
            let message = format!("the schema found does not allow it: {violation}");
            Err(InferError { sample: Some(*index), message })
        }
    }
}
