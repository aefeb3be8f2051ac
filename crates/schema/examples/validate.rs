//! How do I validate messages? Reads one JSON document per line from standard input.
//!
//!     echo '{"station":"PISA01","time":"2026-03-29T12:00:00Z","temperature":99,"humidity":62,"pressure":1016.8}' |
//!         cargo run -p dunnage-schema --example validate -- weather

use dunnage_pson::Value;
use dunnage_schema::{Model, bundled_named};
use std::error::Error;
use std::io::stdin;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "weather".to_owned());
    let schema = bundled_named(&name).ok_or_else(|| format!("no schema {name}"))?;
    let model = Model::compile(schema)?;
    for line in stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        match model.validate(&message) {
            Ok(()) => println!("valid"),
            Err(violation) => println!("{violation}"),
        }
    }
    Ok(())
}
