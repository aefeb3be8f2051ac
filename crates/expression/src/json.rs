//! Writes a result as JSON. jaq's own form allows more: NaN, infinity, byte strings, and keys that are not text.

use crate::limits;
use jaq_json::{Num, Val};
use std::io::Write;

/// Returns `value` as compact JSON. Fails if JSON cannot express it, or if it exceeds a limit.
pub fn write(value: &Val) -> Result<String, String> {
    let mut json = Vec::new();
    value_to(value, limits::NESTING, &mut json)?;
    String::from_utf8(json).map_err(|e| e.to_string())
}

fn value_to(value: &Val, nesting: usize, json: &mut Vec<u8>) -> Result<(), String> {
    let nesting = nesting
        .checked_sub(1)
        .ok_or_else(|| format!("the result nests more than {} deep", limits::NESTING))?;
    match value {
        Val::Null => json.extend(b"null"),
        Val::Bool(value) => json.extend(if *value { &b"true"[..] } else { b"false" }),
        Val::Num(number) => number_to(number, json)?,
        Val::TStr(bytes) => text_to(bytes, json)?,
        Val::BStr(_) => return Err("the result has a text of bytes, which JSON cannot express".into()),
        Val::Arr(items) => {
            json.push(b'[');
            for (at, item) in items.iter().enumerate() {
                separate(at, json);
                value_to(item, nesting, json)?;
            }
            json.push(b']');
        }
        Val::Obj(members) => {
            json.push(b'{');
            for (at, (key, item)) in members.iter().enumerate() {
                separate(at, json);
                let Val::TStr(key) = key else {
                    return Err("the result has a key that is not a text".into());
                };
                text_to(key, json)?;
                json.push(b':');
                value_to(item, nesting, json)?;
            }
            json.push(b'}');
        }
    }
    fits(json.len())
}

fn fits(length: usize) -> Result<(), String> {
    match length > limits::RESULT {
        true => Err(format!("the result exceeds {} bytes", limits::RESULT)),
        false => Ok(()),
    }
}

fn separate(at: usize, json: &mut Vec<u8>) {
    if at > 0 {
        json.push(b',');
    }
}

fn number_to(number: &Num, json: &mut Vec<u8>) -> Result<(), String> {
    if let Num::Float(float) = number
        && !float.is_finite()
    {
        return Err(format!("the result has the number {float}, which JSON cannot express"));
    }
    write!(json, "{number}").map_err(|e| e.to_string())
}

fn text_to(bytes: &[u8], json: &mut Vec<u8>) -> Result<(), String> {
    // Writing a text that is too long would take long, too.
    fits(json.len() + bytes.len())?;
    serde_json::to_writer(json, &String::from_utf8_lossy(bytes)).map_err(|e| e.to_string())
}
