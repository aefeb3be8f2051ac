//! How do I send deltas, and receive them after losses?
//!
//!     cargo run -p dunnage-packed --example deltas

use dunnage_packed::{Layout, Receiver, Sender, Training, Value, is_delta};
use dunnage_schema::Model;
use std::error::Error;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85, "x-dunnage-changes": 0.05},
        "pascal": {"type": "integer", "minimum": 80000, "maximum": 110000, "x-dunnage-changes": 10},
        "seconds": {"type": "integer", "minimum": 0, "maximum": 4294967295, "x-dunnage-every": 600}
    },
    "required": ["celsius", "pascal", "seconds"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    // Deltas need statistics. Here they follow from x-dunnage-changes; `train.rs` makes them from messages.
    let model = Model::compile(SCHEMA)?;
    let statistics =
        Training::assumed(&Layout::untrained(&model))?.ok_or("the schema tells about changes")?;
    let layout = Layout::new(&model.with_statistics(Some(&statistics)))?;

    let mut sender = Sender::new(&layout, 4); // on the device
    let mut receiver = Receiver::new(&layout, 16); // at the gateway, one for each device
    for n in 0..8_u64 {
        let message = Value::Map(vec![
            ("celsius".into(), Value::F64((2350 + n as i64) as f64 / 100.0)),
            ("pascal".into(), Value::U64(101_300 + 3 * n)),
            ("seconds".into(), Value::U64(1_700_000_000 + 600 * n)),
        ]);
        let mut bytes = Vec::new();
        sender.encode(&message, &mut bytes)?;
        let form = if is_delta(&bytes) { "delta" } else { "whole" };
        if n == 2 {
            println!("{form}, {} bytes, lost", bytes.len()); // no acknowledgement: the next delta refers to an older message
            continue;
        }
        assert_eq!(receiver.decode(&bytes, None)?, message);
        let name = receiver.last().ok_or("a message was decoded")?.name();
        let is_acknowledged = n != 4; // the acknowledgement of one message is lost, too
        if is_acknowledged {
            sender.acknowledged(name);
        }
        println!(
            "{form}, {} bytes, decoded{}",
            bytes.len(),
            if is_acknowledged { "" } else { ", not acknowledged" }
        );
    }
    Ok(())
}
