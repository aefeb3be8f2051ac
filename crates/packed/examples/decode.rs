//! How do I decode one packed message?
//!
//!     cargo run -p dunnage-packed --example decode -- 01c9f3

use dunnage_packed::{Error, Layout};
use dunnage_schema::Model;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 85},
        "open": {"type": "boolean"}
    },
    "required": ["celsius", "open"],
    "additionalProperties": false
}"#;

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Prints where the decoder found the fault: the kind says what to do about it.
fn explain(error: &Error) {
    let place = error.offset().map_or("unknown".to_owned(), |offset| offset.to_string());
    println!("kind {}, offset {place}, pointer {:?}: {}", error.kind(), error.pointer(), error.message());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The layout follows from the schema alone: compute it once, and keep it.
    let layout = Layout::new(&Model::compile(SCHEMA)?)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all =
        if arguments.is_empty() { vec!["014f70".into(), "014f".into(), "02ffff".into()] } else { arguments };
    for text in all {
        let bytes = from_hex(&text).ok_or("an even number of hexadecimal digits is needed")?;
        print!("{text}: ");
        match layout.decode(&bytes, None) {
            Ok(message) => println!("{}", serde_json::to_string(&message)?),
            Err(error) => explain(&error),
        }
    }
    Ok(())
}
