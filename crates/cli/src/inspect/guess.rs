//! Guesses the format of bytes that do not decode in the expected format.

use crate::input;
use dunnage_formats::{Id, Mapping, Value};
use dunnage_schema::Model;

/// The formats to try: the self-describing ones, and those that the schema makes readable.
const TRIED: [Id; 9] =
    [Id::Json, Id::Bson, Id::Cbor, Id::Msgpack, Id::Pson, Id::Packed, Id::Struct, Id::Avro, Id::Protobuf];

/// Suggests `--hex` for hex text, or a format other than `taken` in which `bytes` are a whole message.
///
/// Only non-empty maps and arrays count, because most bytes are a single number or text in some format.
pub fn hint(bytes: &[u8], taken: Id, model: Option<&Model>) -> Option<String> {
    let is_hex = bytes.len() > 3 && bytes.iter().all(|b| b.is_ascii_hexdigit() || b.is_ascii_whitespace());
    if is_hex && input::from_hex(bytes).is_ok() {
        return Some("the input looks like hex text: --hex".to_owned());
    }
    let looks = |id: &Id| {
        let format = id.open(model, Mapping::Exact).ok()?;
        let message = format.decode(bytes).ok()?;
        let holds_values = match &message {
            Value::Map(entries) => !entries.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        };
        holds_values.then_some(*id)
    };
    let found = TRIED.iter().filter(|id| **id != taken).find_map(looks)?;
    Some(match found {
        Id::Json | Id::Bson => {
            format!(
                "the bytes look like {found}: `dunnage convert --from {found} --to {taken}` converts them"
            )
        }
        found => format!("the bytes look like {found}: --format {found}"),
    })
}
