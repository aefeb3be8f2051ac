//! Which packed layouts messages were decoded with, so that a changed schema is not taken for the old one.

use crate::LayoutKey;
use rusqlite::Connection;
use std::{collections::HashSet, sync::Arc};

/// What the buffer remembers: one layout for each slot of a schema.
pub fn load(connection: &Connection) -> rusqlite::Result<HashSet<Arc<LayoutKey>>> {
    let mut statement = connection.prepare("SELECT schema, slot, fingerprint FROM layouts")?;
    let key = |row: &rusqlite::Row<'_>| {
        let schema = row.get::<_, String>(0)?.into();
        Ok(Arc::new(LayoutKey { schema, slot: row.get(1)?, fingerprint: row.get(2)? }))
    };
    statement.query_map([], key)?.collect()
}

/// Remembers more of them.
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
