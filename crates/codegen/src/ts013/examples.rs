//! Examples for a codec, in the format of TS013's packages.

use super::known_warning;
use dunnage_packed::{Error, Layout, Node, Shape};
use dunnage_pson::Value;
use serde_json::{Value as Json, json};

/// Returns `{"examples":[...]}`: each of `messages` as an uplink to decode, a downlink to encode and a downlink to decode.
///
/// # Errors
/// The first message that the layout rejects, with its index in `messages`.
///
/// ```
/// use dunnage_codegen::ts013_examples;
/// use dunnage_packed::Layout;
/// use dunnage_pson::Value;
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
/// let message = Value::Map(vec![("celsius".into(), Value::F64(-40.0))]);
/// let examples: serde_json::Value = serde_json::from_str(&ts013_examples(&Layout::new(&model)?, &[message]).unwrap())?;
/// assert_eq!(examples["examples"][0]["type"], "uplink");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ts013_examples(layout: &Layout, messages: &[Value]) -> Result<String, (usize, Error)> {
    let mut examples = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        add(layout, i + 1, message, &mut examples).map_err(|error| (i, error))?;
    }
    Ok(format!("{:#}\n", json!({"examples": examples})))
}

fn add(layout: &Layout, number: usize, message: &Value, examples: &mut Vec<Json>) -> Result<(), Error> {
    let mut bytes = Vec::new();
    layout.encode(message, &mut bytes)?;
    // A codec encodes without statistics.
    let mut encoded = Vec::new();
    layout.encode_without_statistics(message, &mut encoded)?;
    // A codec returns properties in the schema's order.
    let message = layout.decode(&bytes, &layout.root().known_texts(message))?;
    let (mut decoded, mut warnings) = (message.clone(), Vec::new());
    remove_known(layout.root(), &mut decoded, &mut warnings);
    let [uplink, downlink] = [bytes, encoded].map(|bytes| json!({"fPort": layout.slot(), "bytes": bytes}));
    let mut data = json!({"data": decoded});
    if !warnings.is_empty() {
        data["warnings"] = json!(warnings);
    }
    for (kind, input, output) in [
        ("uplink", &uplink, &data),
        ("downlink-encode", &json!({"data": message}), &downlink),
        ("downlink-decode", &downlink, &data),
    ] {
        let description = format!("{} {number}", layout.name());
        examples.push(json!({"type": kind, "description": description, "input": input, "output": output}));
    }
    Ok(())
}

/// Removes properties that the receiver must know from elsewhere. Only required properties can be of this kind.
fn remove_known(node: &Node, value: &mut Value, warnings: &mut Vec<String>) {
    let (Shape::Object(object), Value::Map(entries)) = (&node.shape, value) else { return };
    for field in &object.fields {
        let Some(at) = entries.iter().position(|(key, _)| *key == field.name) else { continue };
        if let Shape::Known(known) = &field.node.shape {
            entries.remove(at);
            warnings.push(known_warning(&field.name, known));
        } else {
            remove_known(&field.node, &mut entries[at].1, warnings);
        }
    }
}
