//! The upkeep of a format: the work for the people who maintain a fleet.

/// The upkeep of a format, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Upkeep {
    /// Standard formats without a schema, with libraries for every language.
    Standard,
    /// Formats without a schema, with fewer libraries for devices.
    Schemaless,
    /// Definitions from which code is generated, and that may grow.
    Definition,
    /// A bit layout at both ends, with a new slot for each change of its bits.
    Layout,
    /// Fields without numbers: a message does not tell which version of the schema wrote it.
    Untagged,
    /// Fields at fixed places, which every change moves.
    Fixed,
}

impl Upkeep {
    /// The upkeep of a format by its name, such as `protobuf (float32)`.
    pub fn of(format: &str) -> Upkeep {
        match format.split(' ').next().unwrap_or_default() {
            "json" | "cbor" | "msgpack" => Upkeep::Standard,
            "pson" | "bson" | "yaml" | "xml" => Upkeep::Schemaless,
            "packed" => Upkeep::Layout,
            "avro" => Upkeep::Untagged,
            "struct" | "struct-zlib" => Upkeep::Fixed,
            _ => Upkeep::Definition,
        }
    }

    /// The upkeep as a clause after the format's name.
    pub fn clause(self) -> &'static str {
        match self {
            Upkeep::Standard => "needs no schema, and every language has a library for it",
            Upkeep::Schemaless => "needs no schema",
            Upkeep::Definition => {
                "needs its definition at both ends, and optional fields can be added while old devices stay as they are"
            }
            Upkeep::Layout => "needs the schema at both ends, and a change of its bits needs a new slot",
            Upkeep::Untagged => {
                "needs its definition at both ends, and the receiver must know which version wrote each message"
            }
            Upkeep::Fixed => "has its fields at fixed places, so every change needs both ends at once",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_formats::Id;

    #[test]
    fn every_format_has_the_upkeep_of_its_kind() {
        for id in Id::all() {
            let needs_schema = Upkeep::of(id.name()) > Upkeep::Schemaless;
            assert_eq!(needs_schema, id.needs_schema(), "{id}");
        }
        assert_eq!(Upkeep::of("protobuf (float32)"), Upkeep::Definition);
        assert!(Upkeep::of("protobuf") < Upkeep::of("struct-zlib"));
        assert!(Upkeep::of("packed") < Upkeep::of("avro"));
    }
}
