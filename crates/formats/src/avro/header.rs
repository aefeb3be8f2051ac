//! The headers that some systems put before a datum. They name a schema of the writer's registry, which the reader does not ask: the
//! device's profile says which schema it is.

use crate::{Error, Kind};

/// The header before the datum.
///
/// ```
/// use dunnage_formats::{Avro, AvroHeader, Format, Value};
/// use dunnage_schema::Model;
///
/// let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 100}"#)?;
/// let codec = Avro::new(&model)?.with_header(AvroHeader::Registry);
/// assert_eq!(codec.decode(b"\x00\x00\x00\x00\x2a\x0e")?, Value::U64(7)); // schema 42 of the registry
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AvroHeader {
    /// Nothing.
    #[default]
    None,
    /// The five bytes of Confluent's schema registry: 0, and the number of the schema.
    Registry,
    /// The ten bytes of Avro's single-object encoding: c3 01, and the schema's fingerprint.
    SingleObject,
}

impl AvroHeader {
    /// Returns the length of the header, which `bytes` have to begin with.
    pub(super) fn length(self, bytes: &[u8]) -> Result<usize, Error> {
        let (start, length, name): (&[u8], _, _) = match self {
            AvroHeader::None => return Ok(0),
            AvroHeader::Registry => {
                (&[0], 5, "registry's header of five bytes, 00 and the number of a schema")
            }
            AvroHeader::SingleObject => {
                (&[0xc3, 1], 10, "header of single-object encoding, c3 01 and a fingerprint")
            }
        };
        let shown = start.len().min(bytes.len());
        if bytes[..shown] != start[..shown] {
            return Err(Error::new(
                Kind::Malformed,
                0,
                format!("the message does not begin with the {name}"),
            ));
        }
        match bytes.len() < length {
            true => {
                Err(Error::new(Kind::Truncated, bytes.len(), format!("the message ends within the {name}")))
            }
            false => Ok(length),
        }
    }
}
