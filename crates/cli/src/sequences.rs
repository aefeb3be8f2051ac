//! Messages of several devices from a file of lines, in the order in which each device sent them.

use crate::{
    failure::Failure,
    input::{self, Source},
};
use dunnage_formats::{Json, Value};
use dunnage_schema::Model;
use std::collections::HashMap;

/// The most bytes of all messages together.
const MAX_BYTES: usize = 256 << 20;

/// The messages of one device.
pub struct Sequence {
    pub messages: Vec<Value>,
}

/// Reads a message from each line. The value at the JSON pointer `device` says who sent it; without a pointer, all are of one device.
/// An error names the line.
pub fn read(source: &Source, model: &Model, device: Option<&str>) -> Result<Vec<Sequence>, Failure> {
    let mut reader = source.open()?;
    let mut sequences: Vec<Sequence> = Vec::new();
    let mut found: HashMap<String, usize> = HashMap::new();
    let (mut line, mut number, mut bytes) = (Vec::new(), 0u64, 0);
    while let read @ 1.. = input::line(&mut reader, false, &mut line).map_err(|e| source.blame(e))? {
        number += read;
        bytes += line.len();
        let place = || format!("{source}: line {number}");
        if bytes > MAX_BYTES {
            let reason = format!("all messages together exceed {} MiB: give fewer", MAX_BYTES >> 20);
            return Err(Failure::about(place(), reason));
        }
        let message = Json.decode_sample(&line).map_err(|error| Failure::about(place(), error))?;
        model.validate(&message).map_err(|violation| {
            Failure::about(place(), format!("the schema does not allow it: {violation}"))
        })?;
        let id = match device {
            None => String::new(),
            Some(pointer) => id(&message, pointer)
                .ok_or_else(|| Failure::about(place(), format!("no text or number at {pointer}")))?,
        };
        let at = *found.entry(id).or_insert_with(|| {
            sequences.push(Sequence { messages: Vec::new() });
            sequences.len() - 1
        });
        sequences[at].messages.push(message);
    }
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
