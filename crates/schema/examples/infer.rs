//! How do I make a schema from the messages that I have?
//!
//!     cargo run -p dunnage-schema --example infer

use dunnage_pson::Value;
use dunnage_schema::{Model, infer};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // The records of a logger: one JSON text for each message.
    let message = |n: u32| {
        let (celsius, door) = (f64::from(200 + n * 7 % 50) / 10.0, ["open", "closed"][n as usize % 2]);
        format!(r#"{{"celsius": {celsius:.1}, "door": "{door}", "count": {n}}}"#)
    };
    let samples: Vec<String> = (0..100).map(message).collect();

    let inferred = infer(&samples, Some("Reading"))?;
    println!("{}", inferred.schema);
    for note in &inferred.notes {
        println!("guessed: {note}"); // to be confirmed by a person
    }

    let model = Model::compile(&inferred.schema)?;
    let hot = r#"{"celsius": 1000.0, "door": "open", "count": 7}"#;
    let violation = model.validate(&serde_json::from_str::<Value>(hot)?).err();
    println!("a message that was not among them: {}", violation.ok_or("a violation")?);
    Ok(())
}
