//! What every decoder owes to any bytes. The fuzz target `formats` uses this file, too.

use dunnage_formats::{Format, Id, Kind, MAX_BYTES, Mapping};
use dunnage_schema::Model;

/// All formats; those that need a schema have that of the container message.
pub fn all_formats() -> Vec<(Id, Box<dyn Format>)> {
    let schema = dunnage_schema::bundled_named("container").unwrap();
    let model = Model::compile(schema).unwrap();
    Id::all().map(|id| (id, id.open(Some(&model), Mapping::Exact).unwrap())).collect()
}

/// Decodes `bytes`: there is an error within them, or a message that comes back.
pub fn check(id: Id, format: &dyn Format, bytes: &[u8]) {
    let message = match format.decode(bytes) {
        Ok(message) => message,
        Err(e) => {
            assert!(e.offset() <= bytes.len(), "{id}: {e}");
            return;
        }
    };
    let mut again = Vec::new();
    match format.encode(&message, &mut again) {
        Ok(()) => assert_eq!(format.decode(&again).as_ref(), Ok(&message), "{id}"),
        Err(e) if id.needs_schema() => assert_ne!(e.kind(), Kind::Truncated, "{id}: {e}"),
        Err(e) => assert!(e.kind() == Kind::Limit && bytes.len() > MAX_BYTES / 8, "{id}: {e}"),
    }
}

/// Gives the bytes after the first to the format whose place in [`Id::all`] the first one is.
pub fn check_selected(formats: &[(Id, Box<dyn Format>)], input: &[u8]) {
    let Some((selector, bytes)) = input.split_first() else { return };
    let selected = Id::all().nth(usize::from(*selector));
    if let Some((id, format)) = formats.iter().find(|(id, _)| Some(*id) == selected) {
        check(*id, format.as_ref(), bytes);
    }
}
