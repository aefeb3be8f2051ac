//! Generates a payload codec for LoRaWAN network servers that implement LoRa Alliance TS013, such as The Things Stack and ChirpStack.
//!
//! The codec is one file of ECMAScript 5.1 without modules. It contains the files of `runtime/` that it needs; only the placeholders for
//! the check in `ends.js` are replaced. The schema becomes an expression of the codecs in them, such as
//! `object([["door", choice(["D", "O"])]])`.

mod examples;
mod expression;
mod header;
mod keywords;
mod literal;
mod regexp;
mod runtime;
mod tables;

pub use examples::ts013_examples;

use dunnage_packed::{Layout, OpenPart};
use dunnage_schema::DEVICE;
use expression::Emitter;
use runtime::Piece;

/// Maximum size of a codec in The Things Stack, in bytes.
pub const MAX_TS013_BYTES: usize = 40_960;

/// Generates the codec of a layout's messages. `schema` is the schema's name or file, for the comment at the top.
///
/// # Errors
/// The parts of the schema that prevent it: open parts, numbers that JavaScript cannot represent, or too many fields.
///
/// ```
/// use dunnage_codegen::ts013;
/// use dunnage_packed::Layout;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let codec = ts013(&Layout::new(&model)?, "reading.json").unwrap();
/// assert!(codec.contains("function decodeUplink(input)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ts013(layout: &Layout, schema: &str) -> Result<String, Vec<OpenPart>> {
    let open = layout.open_parts();
    if !open.is_empty() {
        return Err(open);
    }
    let mut emitter = Emitter::new(layout);
    let expression = emitter.message(layout);
    if emitter.tables.is_some() && layout.has_series() {
        emitter.refuse(
            "has x-dunnage-series and statistics, which this codec does not read together",
            "leave out x-dunnage-statistics",
        );
    }
    if emitter.tables.as_ref().is_some_and(|tables| !tables.are_exact()) {
        emitter.refuse("has statistics beyond 2^53, which JavaScript does not hold", "narrow the ranges");
    }
    if !emitter.refused.is_empty() {
        return Err(emitter.refused);
    }
    let mut text = header::comment(layout, schema);
    text.push_str(&format!("\nvar SLOT = {};\n", layout.slot()));
    if let Some(check) = layout.check() {
        emitter.used.insert(Piece::Check);
        let (size, seed, polynomial) = (check.bytes(), check.seed(), check.polynomial());
        text.push_str(&format!(
            "var CHECK_SIZE = {size}, SEED = {seed:#06x}, POLYNOMIAL = {polynomial:#06x};\n"
        ));
    }
    if let Some(tables) = &emitter.tables {
        emitter.used.insert(Piece::Coder);
        text.push_str(&format!("\nvar TABLES = {};\n", tables.literal()));
    }
    for piece in runtime::pieces(&emitter.used, layout.has_slot_byte()) {
        text.push('\n');
        text.push_str(&piece);
    }
    text.push_str(&format!("\nvar LAYOUT = {expression};\n"));
    if text.len() > MAX_TS013_BYTES {
        return Err(vec![OpenPart {
            field: "$".to_owned(),
            fault: format!("needs a codec of {} bytes, more than {MAX_TS013_BYTES}", text.len()),
            remedy: "shorten descriptions, or split the schema",
        }]);
    }
    Ok(text)
}

/// Returns the warning for a property that is not in the message. `runtime/object.js` has the same text.
fn known_warning(field: &str, known: &str) -> String {
    format!("{field} is not in the message: it is the {} of the device", known_noun(known))
}

/// Returns what a known text is to its device.
fn known_noun(name: &str) -> &str {
    if name == DEVICE { "id" } else { name }
}
