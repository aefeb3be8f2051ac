//! How large is my message in every format? The schema-driven ones use the bundled weather schema.
//!
//!     cargo run -p dunnage-formats --example sizes

use dunnage_formats::{Id, Mapping};
use dunnage_schema::{Model, bundled_named};
use std::error::Error;

const READING: &[u8] = br#"{
    "station": "PISA01", "time": "2026-03-29T12:00:00Z", "temperature": 14.3, "humidity": 62, "pressure": 1016.8,
    "wind": { "speed": 3.4, "gust": 7.1, "direction": 245 }, "rain": 0.2, "solar": 713, "battery": 12.61
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = bundled_named("weather").ok_or("no such schema")?;
    let model = Model::compile(schema)?;
    let message = Id::Json.open(None, Mapping::Exact)?.decode(READING)?;
    for id in Id::all() {
        let mut bytes = Vec::new();
        match id.open(Some(&model), Mapping::Exact)?.encode(&message, &mut bytes) {
            Ok(()) => println!("{:16} {:>4} bytes", id.name(), bytes.len()),
            Err(error) => println!("{:16} {error}", id.name()),
        }
    }
    Ok(())
}
