//! How do I read a PSON message whose shape I do not know?
//!
//!     cargo run -p dunnage-pson --example value

use dunnage_pson::{Error, Value, from_slice, to_vec};

/// Prints each leaf of `value` with its path.
fn print(path: &str, value: &Value) {
    match value {
        Value::Map(entries) => entries.iter().for_each(|(key, value)| print(&format!("{path}.{key}"), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| print(&format!("{path}[{at}]"), value));
        }
        leaf => println!("{path} is {}: {leaf:?}", leaf.type_name()),
    }
}

fn main() -> Result<(), Error> {
    let message = Value::Map(vec![
        ("sensor".into(), "hold 2".into()),
        ("celsius".into(), Value::Array(vec![Value::F64(23.5), Value::F64(48.0)])),
        ("key".into(), Value::Bytes(vec![0xde, 0xad])),
    ]);
    let bytes = to_vec(&message)?;
    let decoded: Value = from_slice(&bytes)?;
    assert_eq!(decoded, message);
    println!("{} bytes", bytes.len());
    print("message", &decoded);
    println!("the sensor is {:?}", decoded.get("sensor"));
    Ok(())
}
