//! How do I check a schema change for compatibility?
//!
//!     cargo run -p dunnage-schema --example compatibility
//!
//! Whether deployed devices can keep their packed layout is another question, which `dunnage schema diff` answers.

use dunnage_schema::{Model, SchemaError, diff};

const OLD: &str = r#"{
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "door": {"enum": ["open", "closed"]}
    },
    "required": ["celsius", "door"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), SchemaError> {
    let old = Model::compile(OLD)?;
    for (name, new) in [
        ("a wider range", OLD.replace("85", "125")),
        ("an optional field", OLD.replace(r#", "door"]"#, "]")),
        ("a narrower range", OLD.replace("-40", "0")),
        ("another choice", OLD.replace("closed", "shut")),
    ] {
        let changes = diff(&old, &Model::compile(&new)?);
        let keeps = changes.iter().all(|change| change.keeps);
        println!("{name}: old messages {}", if keeps { "stay valid" } else { "may become invalid" });
        for change in changes {
            println!("  {change}");
        }
    }
    Ok(())
}
