//! How do I generate the decoder for my LoRaWAN network server?
//!
//!     cargo run -p dunnage-codegen --example lorawan > decoder.js
//!
//! The Things Stack and ChirpStack run the file for each uplink (TS013).

use dunnage_codegen::{MAX_TS013_BYTES, ts013, ts013_examples};
use dunnage_packed::{Layout, Value};
use dunnage_schema::{Model, bundled_named};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = bundled_named("weather").ok_or("no such schema")?;
    let layout = Layout::new(&Model::compile(schema)?)?;
    let codec = ts013(&layout, "weather").map_err(|parts| parts[0].to_string())?;
    println!("{codec}");

    // The network server can run these as tests of the decoder.
    let document: serde_json::Value = serde_json::from_str(schema)?;
    let messages: Vec<Value> = serde_json::from_value(document["examples"].clone())?;
    let examples =
        ts013_examples(&layout, &messages).map_err(|(index, error)| format!("message {index}: {error}"))?;
    eprintln!(
        "the decoder has {} of at most {MAX_TS013_BYTES} bytes, its examples {}",
        codec.len(),
        examples.len()
    );
    Ok(())
}
