//! How do I encode a message, and where do its bits go?
//!
//!     cargo run -p dunnage-packed --example weather

use dunnage_packed::{Known, Layout, Value};
use dunnage_schema::{Model, bundled_named};
use std::error::Error;

const READING: &str = r#"{
    "station": "PISA01", "time": "2026-03-29T12:00:00Z", "temperature": 14.3, "humidity": 62, "pressure": 1016.8,
    "wind": { "speed": 3.4, "gust": 7.1, "direction": 245 }, "rain": 0.2, "solar": 713, "battery": 12.61
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = bundled_named("weather").ok_or("no such schema")?;
    let layout = Layout::new(&Model::compile(schema)?)?;
    let reading: Value = serde_json::from_str(READING)?;

    let mut bytes = Vec::new();
    layout.encode(&reading, &mut bytes)?;
    assert_eq!(layout.decode(&bytes, Known::default())?, reading);

    let most = layout.max_bytes().ok_or("the schema has a largest message")?;
    println!("{} bytes of at most {most}: {bytes:02x?}", bytes.len());
    for row in layout.explain() {
        println!(
            "{:20} {:>3} to {:>3} bits  {}",
            row.path,
            row.bits.min,
            row.bits.max.unwrap_or(row.bits.min),
            row.why
        );
    }
    Ok(())
}
