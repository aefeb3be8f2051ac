//! The schemas and their layouts.

use crate::state::GatewayState;
use dunnage_base::hex::hex;
use dunnage_buffer::{LayoutKey, ReadError};
use serde::Serialize;
use std::{collections::HashSet, path::Path, sync::Arc};
use utoipa::ToSchema;

/// A schema.
#[derive(Serialize, ToSchema)]
pub struct SchemaObject {
    /// Its name.
    name: String,
    /// The profiles that use it: their names, else the patterns of their devices, else their conditions.
    profiles: Vec<String>,
    /// Its packed layouts.
    slots: Vec<SlotObject>,
}

/// A packed layout.
#[derive(Serialize, ToSchema)]
struct SlotObject {
    slot: u8,
    /// SHA-256 of the layout, in hexadecimal digits.
    fingerprint: String,
    /// The file that it comes from; `null` for a bundled schema.
    #[schema(required)]
    file: Option<String>,
    /// Whether the buffer has stored messages of this layout.
    stored: bool,
}

/// Returns the schemas of a gateway, sorted by name.
pub async fn schemas(state: &GatewayState) -> Result<Vec<SchemaObject>, ReadError> {
    let stored = state.buffer().readers.layouts().await?;
    let profiles = state.ingest().profiles.load();
    let mut all: Vec<_> = profiles
        .all()
        .map(|(name, slots)| SchemaObject {
            name: name.to_owned(),
            profiles: profiles.labels_of(name).map(str::to_owned).collect(),
            slots: slots.iter().map(|slot| of_slot(&slot.key, &slot.origin, &stored)).collect(),
        })
        .collect();
    all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn of_slot(key: &Arc<LayoutKey>, origin: &str, stored: &HashSet<Arc<LayoutKey>>) -> SlotObject {
    // A bundled schema has its name as its origin. The folder of a file is the operator's business.
    let file = Path::new(origin).file_name().filter(|_| origin != &*key.schema);
    SlotObject {
        slot: key.slot,
        fingerprint: hex(&key.fingerprint),
        file: file.map(|name| name.to_string_lossy().into_owned()),
        stored: stored.contains(key),
    }
}
