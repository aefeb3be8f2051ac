//! The typed notation of values in the files of `spec/vectors`, described in its README.md.

use anyhow::{Context, Result, bail};
use dunnage_pson::Value;
use serde_json::Value as Json;

/// Parses hexadecimal digits.
pub fn unhex(text: &str) -> Result<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        bail!("odd number of hex digits");
    }
    (0..text.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&text[i..i + 2], 16)?)).collect()
}

/// Parses a value in the typed notation of the vectors.
pub fn value(notation: &Json) -> Result<Value> {
    let object = match notation {
        Json::Null => return Ok(Value::Null),
        Json::Bool(b) => return Ok(Value::Bool(*b)),
        Json::String(text) => return Ok(Value::Text(text.clone())),
        Json::Object(object) => object,
        other => bail!("no such notation: {other}"),
    };
    let (kind, content) = object.iter().next().context("an empty object")?;
    let text = || content.as_str().context("no text");
    let list = || content.as_array().context("no list");
    Ok(match kind.as_str() {
        "int" => match text()?.parse() {
            Ok(n) => Value::U64(n),
            Err(_) => Value::from(text()?.parse::<i64>()?),
        },
        "float" => Value::F64(text()?.parse()?),
        "bytes" => Value::Bytes(unhex(text()?)?),
        "array" => Value::Array(list()?.iter().map(value).collect::<Result<_>>()?),
        "map" => {
            let entry = |e: &Json| Ok((e[0].as_str().context("no key")?.to_owned(), value(&e[1])?));
            Value::Map(list()?.iter().map(entry).collect::<Result<_>>()?)
        }
        "repeat" => {
            let count = content[1].as_u64().context("no count")?;
            Value::Text(content[0].as_str().context("no text")?.repeat(count as usize))
        }
        other => bail!("no such notation: {other}"),
    })
}
