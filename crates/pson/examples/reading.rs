//! How do I encode my own types with serde? Text is borrowed from the bytes.
//!
//!     cargo run -p dunnage-pson --example reading

use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reading<'a> {
    sensor: &'a str,
    celsius: f64,
}

fn main() -> Result<(), dunnage_pson::Error> {
    let bytes = dunnage_pson::to_vec(&Reading { sensor: "hold 2", celsius: 23.5 })?;
    let reading: Reading = dunnage_pson::from_slice(&bytes)?;
    println!("{} bytes: {reading:?}", bytes.len());
    Ok(())
}
