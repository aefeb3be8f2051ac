//! What `schema infer --codec` says on standard error.

use super::decode::{Decoded, Outcomes};
use crate::{
    codec::difference::differences,
    output::{bytes, counted, printable},
    schema::{packed::Packed, table},
};
use anstyle::Style;
use comfy_table::Cell;
use dunnage_formats::Value;
use dunnage_packed::Layout;
use dunnage_schema::{Inferred, Model, SchemaError, same};
use std::io::Write;

const BOLD: Style = Style::new().bold();
const SIZES: [table::Column; 3] =
    [table::text("bytes of the examples"), table::number("mean"), table::number("largest")];

/// How messages came back from packed.
#[derive(Default)]
struct Trips {
    messages: u64,
    equal: u64,
    /// Equal but for numbers that the schema rounds.
    rounded: u64,
    /// The first difference.
    first: Option<String>,
}

/// Writes a line. If standard error is closed, it cannot be shown.
pub fn line(output: &mut impl Write, about: &str, text: &str) {
    let _ = writeln!(output, "{BOLD}{}{BOLD:#}: {}", printable(about), printable(text));
}

/// Writes how many frames were decoded, and why others were not.
pub fn outcomes(output: &mut impl Write, examples: usize, decoded: usize, outcomes: &Outcomes) {
    let rest = examples - decoded;
    let rest = if rest > 0 { format!(", {rest} not") } else { String::new() };
    line(output, "examples", &format!("{examples}, {decoded} decoded{rest}"));
    let Outcomes { frames, decoded, warned, failed, unsuitable, limited, skipped, .. } = outcomes;
    let left_out = [
        (*failed, "rejected by the codec"),
        (*unsuitable, "with NaN or another value that is in no message"),
        (*warned, "with warnings"),
        (*limited, "over a limit"),
        (*skipped as u64, "not run"),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let left_out: String = left_out.map(|(count, why)| format!(", {count} {why}")).collect();
    line(output, "mutated frames", &format!("{frames}, {decoded} decoded{left_out}"));
    if let Some(limit) = &outcomes.limit {
        let rest = if *skipped > 0 { "; given up, so that ranges may be too narrow" } else { "" };
        line(output, "limits", &format!("{limited} of the mutated frames exceeded a limit{rest}: {limit}"));
    }
}

/// Writes the guesses.
pub fn notes(output: &mut impl Write, inferred: &Inferred) {
    inferred.notes.iter().for_each(|note| line(output, &note.field, &note.text));
}

/// Returns the messages that the schema accepts, and why it rejects the first of the others.
pub fn accepted<'d>(model: &Model, decoded: &'d [Decoded]) -> (Vec<&'d Decoded>, Option<String>) {
    let mut first = None;
    let mut accepts = |decoded: &&Decoded| match model.validate(&decoded.message) {
        Ok(()) => true,
        Err(violation) => {
            first.get_or_insert_with(|| violation.to_string());
            false
        }
    };
    let accepted = decoded.iter().filter(|decoded| accepts(decoded)).collect();
    (accepted, first)
}

/// Writes how many messages of mutated frames the schema rejects.
pub fn rejected(output: &mut impl Write, rejected: usize, all: usize, violation: &str) {
    let text = format!(
        "rejects {rejected} of the {all} messages of mutated frames, which no example resembles, such as: {violation}"
    );
    line(output, "schema", &text);
}

/// Writes the sizes of the examples beside the vendor's, and whether all messages come back from packed. Returns whether they do.
///
/// # Errors
/// The schema does not compile.
pub fn sizes(
    output: &mut impl Write,
    schema: &str,
    examples: &[Decoded],
    mutated: &[&Decoded],
) -> Result<bool, SchemaError> {
    let layout = Layout::untrained(&Model::compile(schema)?);
    let (mut of_examples, mut of_mutated) = (Trips::default(), Trips::default());
    let packed: Vec<usize> =
        examples.iter().filter_map(|example| of_examples.add(&layout, example)).collect();
    mutated.iter().for_each(|decoded| {
        of_mutated.add(&layout, decoded);
    });
    let vendor: Vec<usize> = examples.iter().map(|example| example.frame.bytes.len()).collect();
    let row = |name: &str, sizes: &[usize]| {
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64;
        [Cell::new(name), Cell::new(bytes(mean)), Cell::new(sizes.iter().max().unwrap_or(&0))]
    };
    let _ = writeln!(output);
    let _ = table::write(output, &SIZES, [row("vendor", &vendor), row("packed", &packed)]);
    let _ = writeln!(output, "\n{}", Packed::of(&layout).line());
    of_examples.write(output, "examples");
    of_mutated.write(output, "mutated frames");
    Ok(of_examples.first.is_none() && of_mutated.first.is_none())
}

impl Trips {
    /// Encodes a message and decodes it again. Returns its bytes.
    fn add(&mut self, layout: &Layout, decoded: &Decoded) -> Option<usize> {
        let message = &decoded.message;
        let mut bytes = Vec::new();
        let back = layout
            .encode(message, &mut bytes)
            .map_err(|error| error.to_string())
            .and_then(|()| layout.decode(&bytes, None).map_err(|error| error.to_string()));
        self.messages += 1;
        match &back {
            Ok(back) if same(message, back) => self.equal += 1,
            Ok(back) if !layout.rounded().is_empty() && is_near(message, back) => self.rounded += 1,
            Ok(back) => {
                self.first.get_or_insert_with(|| differences(message, back).join("; "));
            }
            Err(error) => {
                self.first.get_or_insert_with(|| error.clone());
            }
        }
        back.is_ok().then_some(bytes.len())
    }

    /// Writes the counts, and the first difference.
    fn write(&self, output: &mut impl Write, what: &str) {
        let Trips { messages, equal, rounded, first } = self;
        let different = messages - equal - rounded;
        let rounded = if *rounded > 0 { format!(", {rounded} rounded") } else { String::new() };
        let first = first.as_ref().map_or(String::new(), |first| format!("; the first: {first}"));
        let text = format!(
            "{}, {equal} equal{rounded}, {different} different{first}",
            counted(*messages, "message")
        );
        line(output, &format!("{what}, packed and decoded"), &text);
    }
}

/// Whether two messages are equal but for the noise of binary numbers, which a binary32 does not have.
fn is_near(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::U64(number) => Some(*number as f32),
        Value::I64(number) => Some(*number as f32),
        Value::F64(number) => Some(*number as f32),
        _ => None,
    };
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_near(a, b))
        }
        (Value::Map(entries), Value::Map(others)) => {
            let is_same =
                |(key, value): &(String, Value)| b.get(key).is_some_and(|other| is_near(value, other));
            entries.len() == others.len() && entries.iter().all(is_same)
        }
        _ => same(a, b) || number(a).is_some_and(|number_a| number(b) == Some(number_a)),
    }
}
