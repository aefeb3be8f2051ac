//! Does every message of my schema fit my link, and which field takes most?
//!
//!     cargo run -p dunnage-packed --example fits -- 30
//!
//! The argument is the limit of the link in bytes, by default the 12 of Sigfox. `dunnage schema size` has the prices, too.

use dunnage_packed::{Layout, Value, savings};
use dunnage_schema::{Model, bundled_named};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let limit: u64 = std::env::args().nth(1).map_or(Ok(12), |text| text.parse())?;
    let schema = bundled_named("weather").ok_or("no such schema")?;
    let layout = Layout::new(&Model::compile(schema)?)?;
    match layout.max_bytes() {
        Some(most) if most <= limit => println!("the largest message has {most} bytes, and fits {limit}"),
        Some(most) => println!("the largest message has {most} bytes, {} too many", most - limit),
        // A message without a largest size is coded adaptively, and has no guarantee.
        None => layout.open_parts().iter().for_each(|part| println!("{part}")),
    }

    let mut rows = layout.explain();
    rows.sort_by_key(|row| std::cmp::Reverse(row.bits.max));
    for row in rows.iter().take(3) {
        println!("{:12} {:>3} bits: {}", row.path, row.bits.max.unwrap_or_default(), row.why);
    }

    // The savings of changes to the schema, measured on messages that were seen.
    let examples: serde_json::Value = serde_json::from_str(schema)?;
    let seen: Vec<Value> = serde_json::from_value(examples["examples"].clone())?;
    let (_, savings) = savings(schema, &seen)?;
    // With many messages, the others are useful, too.
    for saving in savings.iter().take(1) {
        let bits = saving.sizes.largest.unwrap_or_default();
        println!("{} bytes with {}", bits.div_ceil(8), saving.change.line);
    }
    Ok(())
}
