//! Amazon Ion in its binary form, version 1.0.

use super::{failed, unfit};
use dunnage_formats::{Error, Format, Reception, Value};
use ion_rs::{Element, Sequence, Struct, Value as IonValue, v1_0::Binary};

pub(super) const NOTE: &str =
    "without a schema; fractions as binary64, keys in a symbol table of the message";

/// Amazon Ion 1.0.
pub struct Ion;

impl Format for Ion {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend(element(message).encode_as(Binary).map_err(failed)?);
        Ok(())
    }

    fn decode_from(&self, bytes: &[u8], _: &Reception<'_>) -> Result<Value, Error> {
        value(Element::read_one(bytes).map_err(failed)?)
    }
}

fn element(value: &Value) -> Element {
    match value {
        Value::Null => Element::null(ion_rs::IonType::Null),
        Value::Bool(b) => Element::boolean(*b),
        Value::U64(n) => Element::int(*n),
        Value::I64(n) => Element::int(*n),
        Value::F64(f) => Element::float(*f),
        Value::Text(text) => Element::string(text.as_str()),
        Value::Bytes(bytes) => Element::blob(bytes),
        Value::Array(items) => {
            Element::from(Sequence::builder().push_all(items.iter().map(element)).build_list())
        }
        Value::Map(entries) => {
            let fields = entries.iter().map(|(key, value)| (key.as_str(), element(value)));
            Element::from(Struct::builder().with_fields(fields).build())
        }
    }
}

fn value(element: Element) -> Result<Value, Error> {
    Ok(match element.into_value() {
        IonValue::Null(_) => Value::Null,
        IonValue::Bool(b) => Value::Bool(b),
        IonValue::Int(n) => match n.as_i128() {
            Some(n) => match u64::try_from(n) {
                Ok(n) => Value::U64(n),
                Err(_) => Value::I64(i64::try_from(n).map_err(failed)?),
            },
            None => return Err(unfit("an integer of at most 64 bits")),
        },
        IonValue::Float(f) => Value::F64(f),
        IonValue::String(text) => Value::Text(text.text().to_owned()),
        IonValue::Blob(bytes) => Value::Bytes(bytes.as_ref().to_vec()),
        IonValue::List(items) => Value::Array(items.into_iter().map(value).collect::<Result<_, _>>()?),
        IonValue::Struct(fields) => {
            let entry = |(key, element): (ion_rs::Symbol, Element)| {
                let key = key.text().ok_or_else(|| unfit("a key with a text"))?.to_owned();
                Ok::<_, Error>((key, value(element)?))
            };
            Value::Map(fields.into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        _ => return Err(unfit("a type of JSON")),
    })
}
