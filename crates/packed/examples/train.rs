//! How do I make my messages shorter with statistics of earlier ones?
//!
//!     cargo run -p dunnage-packed --example train

use dunnage_packed::{Layout, Training, Value};
use dunnage_schema::Model;
use std::error::Error;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "state": {"enum": ["idle", "loading", "driving", "fault"]}
    },
    "required": ["celsius", "state"],
    "additionalProperties": false
}"#;

fn message(n: u64) -> Value {
    let state = ["idle", "idle", "idle", "driving"][n as usize % 4];
    Value::Map(vec![
        ("celsius".into(), Value::F64((400 + n * 7 % 40) as f64 / 100.0)),
        ("state".into(), state.into()),
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::compile(SCHEMA)?;
    let plain = Layout::new(&model)?;
    let mut training = Training::new(&plain)?;
    for n in 0..2000 {
        training.add(&training.example(&message(n))?);
    }
    let learnt = training.finish();
    println!("the statistics have {} bytes; both ends need them", learnt.statistics.len());
    for part in &learnt.parts {
        println!("{:8} {:5.1} bits, {:4.1} with statistics", part.path, part.plain, part.prior);
    }

    let trained = Layout::new(&model.with_statistics(Some(&learnt.statistics)))?; // x-dunnage-statistics
    let size = |layout: &Layout| {
        let mut bytes = Vec::new();
        layout.encode(&message(5000), &mut bytes).map(|()| bytes.len())
    };
    println!("a message has {} bytes instead of {}", size(&trained)?, size(&plain)?);
    Ok(())
}
