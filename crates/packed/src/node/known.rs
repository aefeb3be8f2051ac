//! Text that a receiver knows without the message: `spec/packed.md`, "Plain bodies".

use super::{Node, Shape};
use crate::decode::{Decoder, copied};
use crate::encode::{Encoder, wrong};
use crate::explain::Words;
use crate::wire::{Sink, Source};
use crate::{Error, json};
use dunnage_pson::{Kind, Value};
use dunnage_schema::DEVICE;
use std::collections::BTreeMap;

/// A receiver's knowledge about the device that sent a message, for the values with `x-dunnage-known`.
///
/// ```
/// # use dunnage_packed::{Kind, Known, Layout, Value};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "type": "object",
///     "properties": {
///         "id": {"type": "string", "x-dunnage-known": "device"},
///         "open": {"type": "boolean"}
///     },
///     "required": ["id", "open"],
///     "additionalProperties": false
/// }"#)?;
/// let layout = Layout::new(&model)?;
/// let message = Value::Map(vec![("id".into(), "door-7".into()), ("open".into(), Value::Bool(true))]);
/// let mut bytes = Vec::new();
/// layout.encode(&message, &mut bytes)?;
/// assert_eq!(bytes, [0x01, 0x80]); // the ID takes no bits
/// assert_eq!(layout.decode(&bytes, Some("door-7"))?, message);
/// assert_eq!(layout.decode(&bytes, Known::default()).unwrap_err().kind(), Kind::Type);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known<'a> {
    /// The ID of the device.
    pub device: Option<&'a str>,
    /// Its other texts, by their names.
    pub texts: Option<&'a BTreeMap<String, String>>,
}

impl<'a> From<Option<&'a str>> for Known<'a> {
    fn from(device: Option<&'a str>) -> Self {
        Known { device, texts: None }
    }
}

impl<'a> Known<'a> {
    fn get(self, name: &str) -> Option<&'a str> {
        if name == DEVICE { self.device } else { self.texts?.get(name).map(String::as_str) }
    }
}

impl Node {
    /// Returns the texts of `message`, a value of this node, that packed does not carry, by their names. The device's ID is among
    /// them. A receiver would know them.
    ///
    /// ```
    /// # use dunnage_packed::{Known, Layout, Value};
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{
    ///     "type": "object",
    ///     "properties": {"msisdn": {"type": "string", "x-dunnage-known": "msisdn"}},
    ///     "required": ["msisdn"],
    ///     "additionalProperties": false
    /// }"#)?;
    /// let layout = Layout::new(&model)?;
    /// let message = Value::Map(vec![("msisdn".into(), "393315537800".into())]);
    /// let texts = layout.root().known_texts(&message);
    /// assert_eq!(texts["msisdn"], "393315537800");
    /// assert_eq!(layout.decode(&[0x01], &texts)?, message);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn known_texts(&self, message: &Value) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        self.add_known(message, &mut texts);
        texts
    }

    /// Such values are always required, and only objects have them.
    fn add_known(&self, value: &Value, texts: &mut BTreeMap<String, String>) {
        match (&self.shape, value) {
            (Shape::Known(name), Value::Text(text)) => {
                texts.insert(name.clone(), text.clone());
            }
            (Shape::Object(object), value) => {
                for field in &object.fields {
                    if let Some(value) = value.get(&field.name) {
                        field.node.add_known(value, texts);
                    }
                }
            }
            _ => {}
        }
    }
}

impl<'a> From<&'a BTreeMap<String, String>> for Known<'a> {
    /// The device's ID is the text named `device`.
    fn from(texts: &'a BTreeMap<String, String>) -> Self {
        Known { device: texts.get(DEVICE).map(String::as_str), texts: Some(texts) }
    }
}

/// Returns the message of the error for a text that the receiver does not know.
fn missing(name: &str) -> String {
    match name {
        DEVICE => "the ID of the device that sent the message is not known".to_owned(),
        _ => format!("the {name:?} of the device that sent the message is not known"),
    }
}

pub(super) fn carries(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

pub(super) fn write<S: Sink>(value: &Value, encoder: &mut Encoder<'_, S>) -> Result<(), Error> {
    if !carries(value) {
        return Err(wrong("text", value));
    }
    encoder.values.take_known(value, 0)
}

#[inline]
pub(super) fn read<S: Source>(
    name: &str,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    let offset = decoder.source.offset();
    let text = decoder.given.get(name).ok_or_else(|| Error::new(Kind::Type, offset, missing(name)))?;
    *out = decoder.text(copied(text, out), offset)?;
    Ok(())
}

pub(super) fn canonical(name: &str, out: &mut String) {
    match name {
        DEVICE => out.push_str("\"known\""),
        _ => json::tagged("known", out, |out| json::string(name, out)),
    }
}

pub(super) fn explain(name: &str) -> Words {
    match name {
        DEVICE => Words::says("the device", "the link says it"),
        _ => Words::says(name, "the receiver knows it from the device"),
    }
}
