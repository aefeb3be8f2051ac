//! Messages of several devices from a file of lines, in the order in which each device sent them.

use crate::{failure::Failure, input::Source, several};
use dunnage_formats::{Json, Value};
use dunnage_schema::Model;
use std::collections::HashMap;

/// The messages of one device.
pub struct Sequence {
    pub messages: Vec<Value>,
}

/// Reads the messages of `source`, one per line or as CSV. The value at the JSON pointer `device` says who sent it; without a pointer, all are of
/// one device. An error names the line.
pub fn read(source: &Source, model: &Model, device: Option<&str>) -> Result<Vec<Sequence>, Failure> {
    let mut sequences: Vec<Sequence> = Vec::new();
    let mut found: HashMap<String, usize> = HashMap::new();
    several::each(source, &source.all()?, |place, text| {
        let message = Json.decode_sample(text).map_err(|error| Failure::about(&place, error))?;
        model.validate(&message).map_err(|violation| {
            Failure::about(&place, format!("the schema does not allow it: {violation}"))
        })?;
        let id = match device {
            None => String::new(),
            Some(pointer) => id(&message, pointer)
                .ok_or_else(|| Failure::about(&place, format!("no text or number at {pointer}")))?,
        };
        let at = *found.entry(id).or_insert_with(|| {
            sequences.push(Sequence { messages: Vec::new() });
            sequences.len() - 1
        });
        sequences[at].messages.push(message);
        Ok(())
    })?;
    if sequences.is_empty() {
        return Err(Failure::about(source, "no message"));
    }
    Ok(sequences)
}

/// Returns the text or number at a JSON pointer.
fn id(message: &Value, pointer: &str) -> Option<String> {
    match dunnage_schema::pointer::find(message, pointer)? {
        Value::Text(text) => Some(text.clone()),
        Value::U64(n) => Some(n.to_string()),
        Value::I64(n) => Some(n.to_string()),
        _ => None,
    }
}
