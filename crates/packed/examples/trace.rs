//! Which bits of my message are which field?
//!
//!     cargo run -p dunnage-packed --example trace

use dunnage_packed::{Layout, Step, Value};
use dunnage_schema::Model;
use std::error::Error;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "open": {"type": "boolean"},
        "counts": {"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0, "maximum": 99}}
    },
    "required": ["open", "counts"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let layout = Layout::new(&Model::compile(SCHEMA)?)?;
    let message: Value = serde_json::from_str(r#"{"open": true, "counts": [7, 99]}"#)?;
    let mut bytes = Vec::new();
    layout.encode(&message, &mut bytes)?;
    println!("{bytes:02x?}");
    layout.trace(&bytes, None, &mut |step| match step {
        Step::Slot(slot) => println!("bits 0..8     the slot, {slot}"),
        Step::Bits { node, value, bits } => println!("bits {bits:8?} node {node} has {value}"),
        Step::End(value) => println!("              a value is complete: {value:?}"),
        Step::Begin(_) | Step::Share { .. } => {}
    })?;
    Ok(())
}
