//! CBOR in which integers replace the keys that the schema names, as in CBOR protocols such as COSE and SenML.

use super::failed;
use dunnage_formats::{Cbor, Error, Format, Kind, Reception, Value};
use dunnage_schema::{Model, Type};
use minicbor::{Decoder, Encoder, data::Type as Item};
use std::collections::HashMap;

pub(super) const NOTE: &str =
    "the keys that the schema names are the integers 0, 1, 2, ... in their order of appearance";

/// CBOR with the integers of one schema.
pub struct CborKeys {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl CborKeys {
    /// Numbers the keys that `model` names.
    pub fn new(model: &Model) -> CborKeys {
        let mut names = Vec::new();
        let mut seen = vec![false; model.definitions().len()];
        collect(model.root(), model, &mut seen, &mut names);
        let numbers = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        CborKeys { names, numbers }
    }

    /// Returns the integer of a key.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    fn write(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        match value {
            Value::Array(items) => {
                Encoder::new(&mut *out).array(items.len() as u64).map_err(failed)?;
                items.iter().try_for_each(|item| self.write(item, out))
            }
            Value::Map(entries) => {
                Encoder::new(&mut *out).map(entries.len() as u64).map_err(failed)?;
                entries.iter().try_for_each(|(key, value)| {
                    let mut encoder = Encoder::new(&mut *out);
                    match self.number(key) {
                        Some(number) => encoder.u64(number as u64).map_err(failed)?,
                        None => encoder.str(key).map_err(failed)?,
                    };
                    self.write(value, out)
                })
            }
            // The project's own writer, so that numbers are as short as in its CBOR.
            scalar => Cbor.encode(scalar, out),
        }
    }

    fn read(&self, decoder: &mut Decoder<'_>) -> Result<Value, Error> {
        match decoder.datatype().map_err(failed)? {
            Item::Array => {
                let count = decoder.array().map_err(failed)?.unwrap_or(0);
                (0..count).map(|_| self.read(decoder)).collect::<Result<_, _>>().map(Value::Array)
            }
            Item::Map => {
                let count = decoder.map().map_err(failed)?.unwrap_or(0);
                let entry = |_| Ok((self.key(decoder)?, self.read(decoder)?));
                (0..count).map(entry).collect::<Result<_, _>>().map(Value::Map)
            }
            _ => {
                let start = decoder.position();
                decoder.skip().map_err(failed)?;
                Cbor.decode(&decoder.input()[start..decoder.position()])
            }
        }
    }

    fn key(&self, decoder: &mut Decoder<'_>) -> Result<String, Error> {
        let start = decoder.position();
        if decoder.datatype().map_err(failed)? == Item::String {
            return decoder.str().map(str::to_owned).map_err(failed);
        }
        let number = decoder.u64().map_err(failed)?;
        let name = usize::try_from(number).ok().and_then(|number| self.names.get(number)).cloned();
        name.ok_or_else(|| Error::new(Kind::Malformed, start, "an integer of no key"))
    }
}

impl Format for CborKeys {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        self.write(message, out)
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        self.read(&mut Decoder::new(bytes))
    }
}

/// Appends the names of all fields inside `kind`, each once.
fn collect(kind: &Type, model: &Model, seen: &mut [bool], names: &mut Vec<String>) {
    match kind {
        Type::Object(object) => {
            for field in &object.fields {
                if !names.contains(&field.name) {
                    names.push(field.name.clone());
                }
                collect(&field.kind, model, seen, names);
            }
            if let Some(additional) = &object.additional {
                collect(additional, model, seen, names);
            }
        }
        Type::Array(array) => collect(&array.items, model, seen, names),
        Type::Tuple(tuple) => {
            tuple
                .items
                .iter()
                .chain(tuple.rest.as_deref())
                .for_each(|item| collect(item, model, seen, names));
        }
        Type::Union(kinds) => kinds.iter().for_each(|kind| collect(kind, model, seen, names)),
        Type::Nullable(inner) | Type::Known(_, inner) => collect(inner, model, seen, names),
        Type::Checked(checked) => collect(&checked.kind, model, seen, names),
        Type::Definition(at) if !std::mem::replace(&mut seen[*at], true) => {
            collect(&model.definitions()[*at], model, seen, names);
        }
        _ => {}
    }
}
