//! The bodies: for each format those that expand most when they are decoded, and those that expand in other parts of the gateway.

use crate::Failure;
use dunnage_formats::{Format, Id, Mapping, Value};
use dunnage_schema::Model;
use flate2::{Compression, write::GzEncoder};
use std::{io::Write, path::Path};

/// The gateway's limit for a body, in bytes.
const BODY_LIMIT: usize = 1 << 20;
/// The gateway's limit for a decoded message, in bytes of memory (SECURITY.md).
const MEMORY_LIMIT: usize = 8 << 20;
/// A number of values that exceeds [`MEMORY_LIMIT`].
const TOO_MANY: usize = 300_000;
/// The number of items that are encoded to measure the size of one.
const SAMPLE: usize = 4096;

/// Lists whose items take few bits.
const LIST: (&str, &str) = (
    "list",
    r#"{"type":"object","additionalProperties":false,"required":["a"],
        "properties":{"a":{"type":"array","items":{"type":"boolean"}}}}"#,
);
/// Lists of a constant: only the length takes bits.
const NOTHING: (&str, &str) = ("nothing", r#"{"type":"array","items":{"const":1},"maxItems":4294967295}"#);
/// Lists of a long text that is in the schema.
const CHOSEN: &str = "chosen";
/// Lists of records with a hundred optional fields each, all absent on the wire.
const WIDE: &str = "wide";

/// The expected result of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Stored,
    Rejected,
}

/// A body, with the format, schema and encoding that its sender declares.
#[derive(Clone)]
pub struct Bomb {
    pub name: String,
    pub format: Id,
    pub schema: Option<&'static str>,
    pub is_compressed: bool,
    pub body: Vec<u8>,
    pub fate: Fate,
}

/// The schemas for formats that need one, by name.
fn schemas() -> Vec<(&'static str, String)> {
    let fields: Vec<_> = (0..100).map(|n| format!("\"f{n}\":{{\"type\":\"integer\"}}")).collect();
    let wide = format!(
        r#"{{"type":"object","additionalProperties":false,"required":["a"],"properties":{{"a":{{"type":"array","items":
            {{"type":"object","additionalProperties":false,"properties":{{{}}}}}}}}}}}"#,
        fields.join(",")
    );
    let chosen = format!(r#"{{"type":"array","items":{{"enum":["{}","b"]}}}}"#, long_text());
    let owned = |(name, schema): (&'static str, &str)| (name, schema.to_owned());
    vec![owned(LIST), owned(NOTHING), (CHOSEN, chosen), (WIDE, wide)]
}

fn long_text() -> String {
    "long ".repeat(1000)
}

/// Writes the schemas into the gateway's schema folder.
pub fn write_schemas(folder: &Path) -> std::io::Result<()> {
    schemas()
        .iter()
        .try_for_each(|(name, schema)| std::fs::write(folder.join(format!("{name}.json")), schema))
}

/// All bodies. Fails if one cannot be encoded.
pub fn all() -> Result<Vec<Bomb>, Failure> {
    let mut bombs = Vec::new();
    for format in Id::all() {
        match format.needs_schema() {
            true => add_schema_bombs(format, &mut bombs)?,
            false => add_list_bombs(format, &mut bombs)?,
        }
    }
    bombs.extend(senml_bombs()?);
    bombs.extend(output_bombs()?);
    Ok(bombs)
}

/// Adds lists with as many items as fit into a body. Where the decoded list exceeds [`MEMORY_LIMIT`], also adds one that just fits.
fn add_list_bombs(format: Id, bombs: &mut Vec<Bomb>) -> Result<(), Failure> {
    let codec = format.open(None, Mapping::Exact)?;
    let map = Value::Map(vec![("k".into(), Value::Null)]);
    // The bytes that each item counts: `spec/formats.md`, "Memory of a decoded message".
    for (what, item, counted) in
        [("nulls", Value::Null, 32), ("texts", Value::Text("a".into()), 65), ("maps", map, 129)]
    {
        let list = |count| object_with_list(&item, count);
        let length = encoded(&*codec, &list(SAMPLE))?.len();
        // In some formats, later items take more bytes.
        let most = SAMPLE * (BODY_LIMIT - BODY_LIMIT / 64) / length;
        let most = [most, most / 10 * 9, most / 10 * 6];
        let body = most.iter().find_map(|count| Some((*count, encoded(&*codec, &list(*count)).ok()?)));
        let (most, body) = body.ok_or_else(|| format!("{what} in {format} are too long"))?;
        let stored = (MEMORY_LIMIT - 1024) / counted;
        if most <= stored {
            bombs.push(bomb(format, what, None, body, Fate::Stored));
        } else {
            bombs.push(bomb(format, what, None, body, Fate::Rejected));
            bombs.push(bomb(format, what, None, encoded(&*codec, &list(stored))?, Fate::Stored));
        }
    }
    Ok(())
}

fn object_with_list(item: &Value, count: usize) -> Value {
    Value::Map(vec![("a".into(), Value::Array(vec![item.clone(); count]))])
}

fn add_schema_bombs(format: Id, bombs: &mut Vec<Bomb>) -> Result<(), Failure> {
    for (name, schema) in schemas() {
        let codec = format.open(Some(&Model::compile(&schema)?), Mapping::Exact)?;
        let is_struct = matches!(format, Id::Struct | Id::StructZlib);
        let (message, fate) = match name {
            // A struct counts the items of a list in 16 bits.
            "list" if is_struct => (object_with_list(&Value::Bool(false), 65_535), Fate::Stored),
            "list" => (sparse(), Fate::Rejected),
            "nothing" if format == Id::Packed => {
                (Value::Array(vec![Value::U64(1); TOO_MANY]), Fate::Rejected)
            }
            "nothing" => continue,
            CHOSEN => (Value::Array(vec![Value::Text(long_text()); 2000]), Fate::Rejected),
            // Unlike the other formats, packed makes no record with a place for each field.
            _ if format == Id::Packed => (object_with_list(&Value::Map(Vec::new()), 2000), Fate::Stored),
            _ => (object_with_list(&Value::Map(Vec::new()), 3000), Fate::Rejected),
        };
        bombs.push(bomb(format, name, Some(name), encoded(&*codec, &message)?, fate));
    }
    Ok(())
}

/// Booleans, few of them true: a modelled body takes a tenth of a bit for each. The decoder refuses a body that takes less.
fn sparse() -> Value {
    let is_true = |n: usize| n.wrapping_mul(2_654_435_761) >> 7 & 63 == 0;
    let list = (0..TOO_MANY).map(|n| Value::Bool(is_true(n))).collect();
    Value::Map(vec![("a".into(), Value::Array(list))])
}

fn encoded(codec: &dyn Format, message: &Value) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    codec.encode(message, &mut body)?;
    Ok(body)
}

/// SenML with a base name of 10,000 letters, which the decoder copies into each of a thousand records.
fn senml_bombs() -> Result<Vec<Bomb>, Failure> {
    let name = "a".repeat(10_000);
    let json = format!("[{{\"bn\":\"{name}\",\"v\":1}}{}]", ",{\"v\":1}".repeat(1000));
    let head = [0x99, 0x03, 0xe8, 0xa2, 0x21, 0x79, 0x27, 0x10];
    let records = [0xa1, 0x02, 0x01].repeat(999);
    let cbor = [&head[..], name.as_bytes(), &[0x02, 0x01], &records].concat();
    let of = |format, body: &[u8]| bomb(format, "base names", None, body.to_vec(), Fate::Rejected);
    Ok([Id::SenmlJson, Id::SensmlJson]
        .map(|id| of(id, json.as_bytes()))
        .into_iter()
        .chain([Id::SenmlCbor, Id::SensmlCbor].map(|id| of(id, &cbor)))
        .collect())
}

/// Bodies that take little memory when they are decoded, and much afterwards, such as in JSON or in a file's columns.
fn output_bombs() -> Result<Vec<Bomb>, Failure> {
    let stored = |what, body: String| bomb(Id::Json, what, None, body.into_bytes(), Fate::Stored);
    // Each control character takes six bytes in JSON.
    let controls = encoded(&dunnage_formats::Msgpack, &Value::Text("\u{1}".repeat(BODY_LIMIT - 5)))?;
    let nulls = format!("[{}null]", "null,".repeat(BODY_LIMIT / 5 - 1));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(nulls.as_bytes())?;
    let compressed = gzip.finish()?;
    let columns = format!("[{}0]", "0,".repeat(999));
    Ok(vec![
        bomb(Id::Msgpack, "control characters", None, controls, Fate::Rejected),
        Bomb { is_compressed: true, ..bomb(Id::Json, "gzip", None, compressed, Fate::Stored) },
        // A column's name contains the keys of the enclosing objects.
        stored("a long key", format!("{{\"{}\":{columns}}}", "k".repeat(1_000_000))),
        stored("quotes", format!("\"{}\"", "\\\"".repeat(BODY_LIMIT / 2 - 1))),
        stored("columns", columns),
    ])
}

fn bomb(format: Id, what: &str, schema: Option<&'static str>, body: Vec<u8>, fate: Fate) -> Bomb {
    let name = format!("{what} in {format}, {} bytes", body.len());
    Bomb { name, format, schema, is_compressed: false, body, fate }
}
