//! SenML (RFC 8428) in JSON and in CBOR. It is read as its resolved records (section 4.6), and never written.
//!
//! A message is an array of maps without base fields, in the order of their times. It uses the labels of JSON, also for CBOR, and data
//! (`vd`) are text in base64url. `spec/formats.md`, "SenML", has the rules.

mod decimal;
mod record;

use crate::{Budget, Cbor, Error, Format, Kind, Reception, Value, json, limits};
use minicbor::Decoder;
use record::Base;
use std::time::{SystemTime, UNIX_EPOCH};

/// SenML.
///
/// ```
/// use dunnage_formats::{Format, Senml};
///
/// let pack = br#"[{"bn":"dev-7/","bt":1700000000,"n":"t","u":"Cel","v":23.5}]"#;
/// let message = Senml::json(false).decode(pack)?;
/// let dunnage_formats::Value::Array(records) = &message else { panic!() };
/// assert_eq!(records[0].get("n"), Some(&"dev-7/t".into())); // resolved, as RFC 8428 says
/// assert!(Senml::json(true).decode(&pack[..pack.len() - 1]).is_ok()); // a stream that goes on
/// assert!(Senml::json(false).decode(&pack[..pack.len() - 1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Senml {
    form: Form,
    /// Whether the end of the array may be missing (SensML, section 4.8).
    is_stream: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Cbor,
}

impl Senml {
    /// The codec of `application/senml+json`, or of `application/sensml+json` if it is a stream.
    pub fn json(is_stream: bool) -> Self {
        Senml { form: Form::Json, is_stream }
    }

    /// The codec of `application/senml+cbor`, or of `application/sensml+cbor` if it is a stream.
    pub fn cbor(is_stream: bool) -> Self {
        Senml { form: Form::Cbor, is_stream }
    }

    fn read(self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let (pack, budget) = match self.is_stream {
            true => self.stream(bytes, reception)?,
            false => self.array(bytes, reception)?,
        };
        resolve(pack, reception.received_at.unwrap_or_else(now), &budget).map_err(|e| match self.form {
            Form::Json if !e.pointer().is_empty() => e.in_json(bytes),
            Form::Json => e.at_offset(0),
            Form::Cbor => {
                let offset = record_offset(bytes, e.pointer()).unwrap_or(0);
                e.at_offset(offset)
            }
        })
    }

    /// Reads a pack, and returns it with the budget that remains.
    fn array(self, bytes: &[u8], reception: &Reception<'_>) -> Result<(Value, Budget), Error> {
        let budget = reception.budget();
        let pack = match self.form {
            Form::Json => json::read(bytes, &budget, reception.numbers)?,
            Form::Cbor => Cbor.decode_labelled(bytes, label, &budget, reception.numbers)?,
        };
        Ok((pack, budget))
    }

    /// Reads a pack whose array may be unterminated. An unterminated record is still `truncated`.
    fn stream(self, bytes: &[u8], reception: &Reception<'_>) -> Result<(Value, Budget), Error> {
        let complete = self.array(bytes, reception);
        if !complete.as_ref().is_err_and(|e| e.kind() == Kind::Truncated) {
            return complete;
        }
        reception.numbers.restart();
        let closed = match self.form {
            Form::Json => {
                let text = bytes.trim_ascii_end();
                [text.strip_suffix(b",").unwrap_or(text), b"]"].concat()
            }
            Form::Cbor => [bytes, &[0xff]].concat(),
        };
        self.array(&closed, reception).or(complete)
    }
}

impl Format for Senml {
    fn encode(&self, _message: &Value, _out: &mut Vec<u8>) -> Result<(), Error> {
        let reason = "SenML is read only; its resolved records can be written as any other format";
        Err(Error::new(Kind::Type, 0, reason).without_offset())
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        self.read(bytes, reception)
    }
}

/// Returns the current time in microseconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

/// Returns the label that an integer represents in CBOR (RFC 8428, table 4).
fn label(number: i128) -> Option<&'static str> {
    Some(match number {
        -6 => "bs",
        -5 => "bv",
        -4 => "bu",
        -3 => "bt",
        -2 => "bn",
        -1 => "bver",
        0 => "n",
        1 => "u",
        2 => "v",
        3 => "vs",
        4 => "vb",
        5 => "s",
        6 => "t",
        7 => "ut",
        8 => "vd",
        _ => return None,
    })
}

/// Resolves the records of `pack`, which arrived at `received_at`: without base fields and relative times, the earliest first.
fn resolve(pack: Value, received_at: i64, budget: &Budget) -> Result<Value, Error> {
    let Value::Array(records) = pack else {
        return Err(Error::of_value(Kind::Malformed, "", "a SenML pack is an array of records"));
    };
    let mut base = Base::new(received_at);
    let mut resolved = Vec::with_capacity(records.len());
    for (index, record) in records.into_iter().enumerate() {
        let record = base.resolve(record).map_err(|e| e.at_index(index))?;
        if let Some((_, record)) = &record {
            // Each resolved record has its own copy of the base fields.
            let taken = budget.copy_of(record, 0);
            taken.map_err(|e| Error::from(e).without_offset().at_index(index))?;
        }
        resolved.extend(record);
    }
    if resolved.is_empty() {
        return Err(Error::of_value(Kind::Malformed, "", "the pack has no record with a value"));
    }
    resolved.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Value::Array(resolved.into_iter().map(|(_, record)| record).collect()))
}

/// Returns the offset of the record that `pointer` leads into.
fn record_offset(bytes: &[u8], pointer: &str) -> Option<usize> {
    let index: usize = pointer.split('/').nth(1)?.parse().ok()?;
    let mut decoder = Decoder::new(bytes);
    decoder.array().ok()?;
    (0..index).try_for_each(|_| decoder.skip()).ok()?;
    Some(decoder.position())
}

#[cfg(test)]
mod tests;
