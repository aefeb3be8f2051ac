//! The packed layouts that messages were decoded with. With them the gateway notices a schema that has changed under the same slot.

use crate::LayoutKey;
use rusqlite::Connection;
use std::{collections::HashSet, sync::Arc};

/// Returns the stored layouts, one for each slot of a schema.
pub fn load(connection: &Connection) -> rusqlite::Result<HashSet<Arc<LayoutKey>>> {
    let mut statement = connection.prepare("SELECT schema, slot, fingerprint FROM layouts")?;
    let key = |row: &rusqlite::Row<'_>| {
        let schema = row.get::<_, String>(0)?.into();
        Ok(Arc::new(LayoutKey { schema, slot: row.get(1)?, fingerprint: row.get(2)? }))
    };
    statement.query_map([], key)?.collect()
}

/// Stores new layouts.
pub fn save<'a>(
    connection: &Connection,
    new: impl IntoIterator<Item = &'a Arc<LayoutKey>>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT INTO layouts VALUES (?, ?, ?)")?;
    for layout in new {
        statement.execute((&*layout.schema, layout.slot, layout.fingerprint))?;
    }
    Ok(())
}
