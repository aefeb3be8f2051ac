//! The places of a message's fields among the columns of its table.

use dunnage_codegen::sql::{Column, Source};
use std::collections::HashMap;

/// The places of the fields that have columns.
#[derive(Debug, PartialEq)]
pub enum Place {
    /// The column with this index.
    Column(usize),
    /// An object whose fields have columns.
    Object(HashMap<String, Place>),
}

impl Place {
    /// Returns the places of the fields in `columns`.
    pub fn of(columns: &[Column]) -> Place {
        let mut root = Place::Object(HashMap::new());
        for (at, column) in columns.iter().enumerate() {
            let Source::Field(path) = &column.source else { continue };
            let mut place = &mut root;
            for name in path {
                if let Place::Column(_) = place {
                    *place = Place::Object(HashMap::new());
                }
                let Place::Object(fields) = place else { break };
                place = fields.entry(name.clone()).or_insert_with(|| Place::Object(HashMap::new()));
            }
            *place = Place::Column(at);
        }
        root
    }
}
