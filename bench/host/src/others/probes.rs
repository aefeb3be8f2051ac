//! Small messages that show what a format can carry.

use super::{others, round_trip};
use dunnage_formats::{Error, Format as _, Json};
use dunnage_schema::Model;

/// The names of the probes, each with a schema and a message.
const PROBES: [(&str, &str, &str); 7] = [
    (
        "null",
        r#"{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":0,"maximum":9}},"required":["a"],"additionalProperties":false}"#,
        r#"{"a":null}"#,
    ),
    (
        "a missing key",
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9},"b":{"type":"boolean"}},"additionalProperties":false}"#,
        r#"{"b":true}"#,
    ),
    (
        "integers of 64 bits",
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}"#,
        r#"{"a":18446744073709551615,"b":-9223372036854775808}"#,
    ),
    (
        "binary64",
        r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}"#,
        r#"{"a":0.1,"b":1.7976931348623157e308}"#,
    ),
    (
        "text",
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"a":"21.5 °C"}"#,
    ),
    (
        "nested arrays of different types",
        r#"{"type":"object","properties":{"a":{"type":"array"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"a":[1,"x",[true,null],{"b":2.5}]}"#,
    ),
    (
        "a key that the schema does not name",
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":9}},"required":["a"]}"#,
        r#"{"a":1,"other":"x"}"#,
    ),
];

/// The result of a probe in one format.
pub struct Probed {
    /// The probe's name.
    pub probe: &'static str,
    /// The format's name.
    pub format: &'static str,
    /// The crate of the library.
    pub library: &'static str,
    /// How the format carries it, or why it cannot.
    pub outcome: Result<String, Error>,
}

/// Sends each probe through every other format.
///
/// # Errors
/// A probe is not valid JSON, or its schema does not compile.
pub fn probed() -> Result<Vec<Probed>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for (probe, schema, message) in PROBES {
        let message = Json.decode(message.as_bytes())?;
        for other in others(&Model::compile(schema)?) {
            let outcome = round_trip(&*other.codec, &message).map(|_| other.note);
            all.push(Probed { probe, format: other.format, library: other.library, outcome });
        }
    }
    Ok(all)
}
