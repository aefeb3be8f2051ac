//! The slot of a schema that has none yet.

use crate::Layout;
use dunnage_schema::{Model, SchemaError};

/// Adds the slot that is derived from the layout to `schema`, as [`dunnage_schema::infer`] has written it. Two schemas share a slot with a
/// probability of 1 in 63.
///
/// # Errors
/// The schema does not compile.
pub fn with_slot(schema: &str) -> Result<String, SchemaError> {
    let slot = Layout::untrained(&Model::compile(schema)?).derived_slot();
    let head = schema.lines().take_while(|line| line.starts_with('{') || line.starts_with("  \"$schema\""));
    let head = head.count();
    let line = format!("  \"x-dunnage-slot\": {slot},");
    let mut lines: Vec<&str> = schema.lines().collect();
    lines.insert(head, &line);
    Ok(lines.join("\n"))
}
