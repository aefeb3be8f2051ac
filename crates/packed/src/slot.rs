//! The slot that is derived from a layout, for a schema that has none yet, or whose layout has changed.

use crate::Layout;
use dunnage_schema::{Model, SchemaError};

/// Adds the slot that is derived from the layout to `schema`, as [`dunnage_schema::infer`] has written it. Two schemas share a slot with a
/// probability of 1 in 63.
///
/// # Errors
/// The schema does not compile.
///
/// ```
/// use dunnage_packed::with_slot;
/// use dunnage_schema::Model;
///
/// let schema = with_slot(r#"{"type": "boolean"}"#)?;
/// assert!(schema.contains("x-dunnage-slot"));
/// assert!((1..=63).contains(&Model::compile(&schema)?.slot()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_slot(schema: &str) -> Result<String, SchemaError> {
    let slot = Layout::untrained(&Model::compile(schema)?).derived_slot();
    dunnage_schema::with_keyword(schema, "x-dunnage-slot", slot.into())
}

/// Returns the slot that is derived from `layout`, or the next one if that is `old`, the slot of another layout: under it, receivers would read
/// wrong values.
///
/// ```
/// use dunnage_packed::{Layout, other_slot};
/// use dunnage_schema::Model;
///
/// let layout = Layout::new(&Model::compile(r#"{"type": "boolean"}"#)?)?;
/// let derived = layout.derived_slot();
/// assert_eq!(other_slot(&layout, 0), derived);
/// assert_eq!(other_slot(&layout, derived), derived % 63 + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn other_slot(layout: &Layout, old: u8) -> u8 {
    match layout.derived_slot() {
        same if same == old => old % 63 + 1,
        derived => derived,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_inferred_schema_gets_its_slot() {
        for samples in
            [&["null"][..], &["453", "9007199254740993", "-7.0"], &["{}"], &[r#"{"t":1.5}"#], &["[]"]]
        {
            for title in [None, Some("Reading")] {
                let schema = with_slot(&dunnage_schema::infer(samples, title).unwrap().schema).unwrap();
                let model = Model::compile(&schema).unwrap_or_else(|e| panic!("{e}: {schema}"));
                assert_eq!(model.slot(), Layout::untrained(&model).derived_slot(), "{schema}");
            }
        }
    }
}
