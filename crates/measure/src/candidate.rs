//! The formats to compare.

use dunnage_formats::{Error, Format, Id, Mapping};
use dunnage_schema::Model;

/// A format to compare, with the mapping of its numbers.
pub struct Candidate {
    /// For example `protobuf` or `protobuf (float32)`.
    pub name: String,
    /// The format's ID.
    pub id: Id,
    /// [`Mapping::Float32`] for the variants that people write by hand.
    pub mapping: Mapping,
    /// The codec, or the error if the format does not have the schema.
    pub codec: Result<Box<dyn Format>, Error>,
}

/// The formats that people map by hand with binary32 floats, and that therefore are also compared with [`Mapping::Float32`].
const BY_HAND: [Id; 3] = [Id::Protobuf, Id::Struct, Id::StructZlib];

/// Packed without the statistics of the schema: its plain form.
const PLAIN: &str = "packed (plain)";

/// Returns every format that can be written. Formats that need a schema are included only if there is a `model`.
pub fn candidates(model: Option<&Model>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let trained = model.filter(|model| model.statistics().is_some());
    let plain = trained.map(|model| model.clone().with_statistics(None));
    for id in Id::all().filter(|id| model.is_some() || !id.needs_schema()) {
        let mut add = |name: String, mapping| {
            candidates.push(Candidate { name, id, mapping, codec: id.open(model, mapping) });
        };
        add(id.name().to_owned(), Mapping::Exact);
        if BY_HAND.contains(&id) {
            add(format!("{id} (float32)"), Mapping::Float32);
        }
        if let (Id::Packed, Some(plain)) = (id, &plain) {
            let codec = id.open(Some(plain), Mapping::Exact);
            candidates.push(Candidate { name: PLAIN.to_owned(), id, mapping: Mapping::Exact, codec });
        }
    }
    candidates
}
