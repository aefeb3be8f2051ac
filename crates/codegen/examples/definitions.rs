//! How do I get a .proto, .avsc, .thrift or .cddl from my schema?
//!
//!     cargo run -p dunnage-codegen --example definitions

use dunnage_codegen::{Mapped, Mapping, avro, cddl, proto, thrift};
use dunnage_schema::{Model, SchemaError};

const SCHEMA: &str = r#"{
    "title": "Reading",
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "door": {"enum": ["open", "closed"]}
    },
    "required": ["celsius"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), SchemaError> {
    let model = Model::compile(SCHEMA)?;
    // Exact: 23.5 degrees are 2350 in an integer. Float32: as most hand-written definitions have it, with rounding.
    let mapped = Mapped::of(&model, Mapping::Exact);
    println!("{}", proto(&mapped));
    println!("{}", avro(&mapped));
    println!("{}", thrift(&mapped));
    println!("{}", cddl(&model));
    Ok(())
}
