//! The packed layouts that messages were decoded with. With them the gateway notices a schema that has changed under the same slot.

use crate::{LayoutKey, file};
use rusqlite::Connection;
use std::{collections::HashSet, path::Path, sync::Arc};

/// Returns the layouts in the buffer at `path`, or none if it does not exist. A gateway may have the buffer open.
pub fn stored(path: &Path) -> rusqlite::Result<HashSet<Arc<LayoutKey>>> {
    if path.exists() { load(&file::open_to_read(path)?) } else { Ok(HashSet::new()) }
}

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
