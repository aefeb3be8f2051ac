//! How do I convert a message from one format to another?
//!
//!     cargo run -p dunnage-formats --example convert -- json cbor '{"celsius": 23.5}'

use dunnage_formats::{Id, Mapping};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to, text] = arguments.as_slice() else {
        let text = r#"{"sensor": "hold 2", "celsius": 23.50, "ok": true}"#;
        for to in Id::all().filter(|id| !id.needs_schema()) {
            convert(Id::Json, to, text)?;
        }
        return Ok(());
    };
    convert(from.parse()?, to.parse()?, text)
}

fn convert(from: Id, to: Id, text: &str) -> Result<(), Box<dyn Error>> {
    // Formats that need a schema get a model here; all others ignore it.
    let message = from.open(None, Mapping::Exact)?.decode(text.as_bytes())?;
    let trip = to.open(None, Mapping::Exact)?.round_trip(&message)?;
    let bytes = match std::str::from_utf8(&trip.bytes) {
        Ok(text) if to.is_text() => text.trim_end().to_owned(),
        _ => trip.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    println!("{to:8} {bytes}{}", if trip.lossless { "" } else { " (loses a part of the message)" });
    Ok(())
}
