//! Examples of a codec: those of the LoRaWAN device repository, of ThingPark's catalogue and of ChirpStack's device profiles, and lines of JSON.

use crate::{failure::Failure, input::from_hex};
use dunnage_base::clock;
use dunnage_formats::{Format, Json, Value, Yaml};
use std::path::Path;

/// Which function an example is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    DecodeUplink,
    EncodeDownlink,
    DecodeDownlink,
}

/// The names under which the device repository has the examples of a function.
const FUNCTIONS: [(&str, Function); 3] = [
    ("uplinkDecoder", Function::DecodeUplink),
    ("downlinkEncoder", Function::EncodeDownlink),
    ("downlinkDecoder", Function::DecodeDownlink),
];

/// An example.
#[derive(Debug)]
pub struct Example {
    /// Where it is, for errors.
    pub place: String,
    pub function: Function,
    /// The bytes to decode.
    pub bytes: Vec<u8>,
    pub port: Option<u8>,
    /// The time of the message, in microseconds since 1970.
    pub received_at: i64,
    /// The message to encode.
    pub data: Value,
    /// The expected result: an object with `data`, `bytes`, `fPort`, `errors` and `warnings`.
    pub output: Value,
}

/// Reads the examples of `path`: YAML if the name ends in `.yaml` or `.yml`, else a JSON object per line. If it ends in `.json`, it may also have
/// an array of these objects or of the examples of the two others, or what the YAML has.
pub fn read(path: &Path) -> Result<Vec<Example>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| Failure::about(&name, error))?;
    let examples = match path.extension().and_then(|extension| extension.to_str()) {
        Some("yaml" | "yml") => {
            let document = Yaml.decode(&text).map_err(|error| Failure::about(&name, error))?;
            of_repository(&name, &document)?
        }
        Some("json") => match Json.decode(&text) {
            Ok(Value::Array(items)) => of_array(&name, items)?,
            Ok(document) if FUNCTIONS.iter().any(|(key, _)| document.get(key).is_some()) => {
                of_repository(&name, &document)?
            }
            _ => of_lines(&name, &text)?,
        },
        _ => of_lines(&name, &text)?,
    };
    match examples.is_empty() {
        true => Err(Failure::about(&name, "there are no examples")),
        false => Ok(examples),
    }
}

fn of_repository(name: &str, document: &Value) -> Result<Vec<Example>, Failure> {
    let mut examples = Vec::new();
    for (key, function) in FUNCTIONS {
        let Some(Value::Array(items)) = document.get(key).and_then(|part| part.get("examples")) else {
            continue;
        };
        for (index, item) in items.iter().enumerate() {
            let description = match item.get("description") {
                Some(Value::Text(text)) => format!(" {text:?}"),
                _ => String::new(),
            };
            let place = format!("{name}: {key}: example {}{description}", index + 1);
            let example = repository_example(item, function, &place);
            examples.push(example.map_err(|why| Failure::about(&place, why))?);
        }
    }
    Ok(examples)
}

fn repository_example(item: &Value, function: Function, place: &str) -> Result<Example, String> {
    let input = item.get("input").ok_or("input is missing")?;
    let output = item.get("output").or_else(|| item.get("expected")).ok_or("output is missing")?.clone();
    let bytes = input.get("bytes").map(bytes).transpose()?.unwrap_or_default();
    if function != Function::EncodeDownlink && input.get("bytes").is_none() {
        return Err("input has no bytes".into());
    }
    let data = input.get("data").cloned().unwrap_or(Value::Null);
    let (port, received_at) = (port(input.get("fPort"))?, time(input.get("recvTime"))?);
    Ok(Example { place: place.to_owned(), function, bytes, port, received_at, data, output })
}

fn of_lines(name: &str, text: &[u8]) -> Result<Vec<Example>, Failure> {
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let example = |(index, line): (usize, &[u8])| {
        let place = format!("{name}: line {}", index + 1);
        let value = Json.decode(line).map_err(|error| Failure::about(&place, error))?;
        line_example(value, &place).map_err(|why| Failure::about(&place, why))
    };
    lines.map(example).collect()
}

fn of_array(name: &str, items: Vec<Value>) -> Result<Vec<Example>, Failure> {
    let example = |(index, item)| {
        let place = format!("{name}: example {}", index + 1);
        array_example(item, &place).map_err(|why| Failure::about(&place, why))
    };
    items.into_iter().enumerate().map(example).collect()
}

/// Reads an element of an array: an object as in a line, an example of ThingPark's catalogue (`type`, `input`, `output`), or one of ChirpStack's
/// device profiles (`input`, `expected`), whose encoder has no bytes in its input.
fn array_example(value: Value, place: &str) -> Result<Example, String> {
    let Some(input) = value.get("input") else { return line_example(value, place) };
    let function = match value.get("type") {
        None if input.get("bytes").is_none() => Function::EncodeDownlink,
        None => Function::DecodeUplink,
        Some(Value::Text(kind)) if kind == "uplink" => Function::DecodeUplink,
        Some(Value::Text(kind)) if kind == "downlink-encode" => Function::EncodeDownlink,
        Some(Value::Text(kind)) if kind == "downlink-decode" => Function::DecodeDownlink,
        Some(_) => return Err("type must be uplink, downlink-encode or downlink-decode".into()),
    };
    repository_example(&value, function, place)
}

fn line_example(value: Value, place: &str) -> Result<Example, String> {
    const KEYS: [&str; 6] = ["port", "bytes", "data", "errors", "warnings", "received_at"];
    let Value::Map(entries) = &value else { return Err("an example must be an object".into()) };
    if let Some((key, _)) = entries.iter().find(|(key, _)| !KEYS.contains(&&**key)) {
        return Err(format!("{key:?} is unknown; the keys are {}", KEYS.join(", ")));
    }
    if value.get("data").is_none() && value.get("errors").is_none() {
        return Err("data or errors is missing".into());
    }
    let bytes = bytes(value.get("bytes").ok_or("bytes is missing")?)?;
    let (port, received_at) = (port(value.get("port"))?, time(value.get("received_at"))?);
    let (function, data) = (Function::DecodeUplink, Value::Null);
    Ok(Example { place: place.to_owned(), function, bytes, port, received_at, data, output: value })
}

/// Reads bytes: an array of numbers, or hex digits.
pub fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let byte = |item: &Value| match item {
        Value::U64(number) => u8::try_from(*number).ok(),
        _ => None,
    };
    match value {
        Value::Text(hex) => from_hex(hex.as_bytes()).map_err(|error| format!("bytes: {error}")),
        Value::Array(items) => items
            .iter()
            .map(byte)
            .collect::<Option<_>>()
            .ok_or_else(|| "bytes must be numbers from 0 to 255".into()),
        _ => Err("bytes must be hex digits or an array of numbers".into()),
    }
}

fn port(value: Option<&Value>) -> Result<Option<u8>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::U64(port)) if *port <= 255 => Ok(u8::try_from(*port).ok()),
        Some(_) => Err("the port must be a number from 0 to 255".into()),
    }
}

fn time(value: Option<&Value>) -> Result<i64, String> {
    match value {
        None | Some(Value::Null) => Ok(0),
        Some(Value::Text(text)) => {
            clock::parse(text).ok_or_else(|| format!("{text:?} is not a time of RFC 3339"))
        }
        Some(_) => Err("the time must be a text of RFC 3339".into()),
    }
}
