//! The memory limit of decoded messages: the same in every format, and checked before each allocation.

use dunnage_formats::{Budget, Format, Id, Kind, Mapping, Reception, Value};
use dunnage_schema::Model;

const SCHEMA: &str = r#"{
    "title": "Memory", "type": "object", "required": ["list", "kind"], "additionalProperties": false,
    "properties": {
        "list": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
            "t": {"type": "number", "multipleOf": 0.5, "minimum": -100, "maximum": 100},
            "text": {"type": "string", "maxLength": 40}
        }}},
        "kind": {"enum": ["a constant that takes no more than an index on the wire", "another one"]}
    }
}"#;

fn message(items: usize) -> Value {
    let text = |text: &str| Value::Text(text.into());
    let item = |n: usize| {
        Value::Map(vec![("t".into(), Value::F64(n as f64 / 2.0)), ("text".into(), text("some words"))])
    };
    let kind = text("a constant that takes no more than an index on the wire");
    let list = Value::Array((0..items).map(item).collect());
    Value::Map(vec![("list".into(), list), ("kind".into(), kind)])
}

/// Returns the memory that `message` takes, as documented at `Budget`.
fn cost(message: &Value) -> usize {
    least(|memory| Budget::new(memory).copy_of(message, 0).is_ok())
}

/// Returns the least memory for which `is_enough` holds.
fn least(is_enough: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, 1 << 24);
    assert!(is_enough(high), "not even 16 MiB");
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

fn decode(format: &dyn Format, bytes: &[u8], memory: usize) -> Result<Value, dunnage_formats::Error> {
    format.decode_from(bytes, &Reception { memory, ..Reception::default() })
}

fn encoded(id: Id, message: &Value) -> (Box<dyn Format>, Vec<u8>) {
    let model = Model::compile(SCHEMA).unwrap();
    let format = id.open(id.needs_schema().then_some(&model), Mapping::Exact).unwrap();
    let mut bytes = Vec::new();
    format.encode(message, &mut bytes).unwrap();
    (format, bytes)
}

#[test]
fn every_format_decodes_a_message_at_the_limit_and_rejects_one_a_byte_over_it() {
    let message = message(50);
    for id in Id::all() {
        let (format, bytes) = encoded(id, &message);
        let needed = least(|memory| decode(&*format, &bytes, memory).is_ok());
        // Formats without a schema allocate only the message; the others build a record first.
        match id.needs_schema() && id != Id::Packed {
            true => assert!((cost(&message) / 2..5 * cost(&message)).contains(&needed), "{id}: {needed}"),
            false => assert_eq!(needed, cost(&message), "{id}"),
        }
        assert_eq!(decode(&*format, &bytes, needed), Ok(message.clone()), "{id}");
        let error = decode(&*format, &bytes, needed - 1).unwrap_err();
        assert_eq!(error.kind(), Kind::Limit, "{id}");
        assert!(error.message().contains("memory"), "{id}: {error}");
    }
}

#[test]
fn error_has_the_offset_at_which_the_limit_is_reached() {
    for id in Id::all() {
        let (format, bytes) = encoded(id, &message(50));
        // Enough for the beginning of the message.
        let error = decode(&*format, &bytes, 1000).unwrap_err();
        assert_eq!(error.kind(), Kind::Limit, "{id}");
        let offset = error.offset().unwrap_or_else(|| panic!("{id}: {error}"));
        assert!((1..bytes.len() * 2 / 3).contains(&offset), "{id}: {offset} of {}", bytes.len());
    }
}

#[test]
fn senml_counts_the_copies_of_base_fields_in_each_record() {
    let name = "a".repeat(10_000);
    let records: String = (0..1000).map(|_| ",{\"v\":1}").collect();
    let pack = format!("[{{\"bn\":\"{name}\",\"v\":1}}{records}]");
    for id in [Id::SenmlJson, Id::SensmlJson] {
        let senml = id.open(None, Mapping::Exact).unwrap();
        assert!(decode(&*senml, pack.as_bytes(), usize::MAX).is_ok());
        let error = decode(&*senml, pack.as_bytes(), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), Kind::Limit);
        assert!((10_000..11_000).contains(&error.offset().unwrap()), "{error}");
    }
    // {-2: "aa...", 2: 1}, {2: 1}, ... in CBOR.
    let head =
        [&[0x99, 0x03, 0xe8, 0xa2, 0x21, 0x79, 0x27, 0x10][..], name.as_bytes(), &[0x02, 0x01]].concat();
    let pack = [head, [0xa1, 0x02, 0x01].repeat(999)].concat();
    let senml = Id::SenmlCbor.open(None, Mapping::Exact).unwrap();
    let error = decode(&*senml, &pack, 1 << 20).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
    assert!((10_000..11_000).contains(&error.offset().unwrap()), "{error}");
}

/// Returns messages of few bytes that are large in memory, each for a different reason.
fn bombs() -> Vec<(Id, &'static str, Vec<u8>)> {
    let wide: String = (0..100).map(|n| format!(",\"f{n}\":{{\"type\":\"integer\"}}")).collect();
    let wide = format!(
        r#"{{"type":"object","additionalProperties":false,"properties":{{"a":{{"type":"array","items":
            {{"type":"object","additionalProperties":false,"properties":{{{}}}}}}}}}}}"#,
        &wide[1..]
    );
    let long: &'static str = Box::leak(
        format!(
            r#"{{"type":"array","items":{{"enum":["{}","b"]}},"maxItems":4294967295}}"#,
            "long ".repeat(1000)
        )
        .into_boxed_str(),
    );
    let wide: &'static str = Box::leak(wide.into_boxed_str());
    let open = r#"{"type":"array","items":{"type":"boolean"}}"#;
    let records = |count| Value::Map(vec![("a".into(), Value::Array(vec![Value::Map(Vec::new()); count]))]);
    let chosen = |count| Value::Array(vec![Value::Text("long ".repeat(1000)); count]);
    let encode = |id: Id, schema: &str, message: &Value| {
        let mut bytes = Vec::new();
        let model = Model::compile(schema).unwrap();
        id.open(Some(&model), Mapping::Exact).unwrap().encode(message, &mut bytes).unwrap();
        bytes
    };
    let mut bombs = Vec::new();
    for id in Id::all().filter(|id| id.needs_schema()) {
        // A record that is empty on the wire has memory for each of its fields.
        bombs.push((id, wide, encode(id, wide, &records(2000))));
        // A constant of the schema is a byte or a bit on the wire.
        bombs.push((id, long, encode(id, long, &chosen(1000))));
    }
    // A modelled body, in which repeated values take almost no bytes.
    bombs.push((Id::Packed, open, encode(Id::Packed, open, &Value::Array(vec![Value::Bool(true); 200_000]))));
    bombs
}

#[test]
fn values_from_the_schema_are_counted() {
    for (id, schema, bytes) in bombs() {
        let model = Model::compile(schema).unwrap();
        let format = id.open(Some(&model), Mapping::Exact).unwrap();
        assert!(decode(&*format, &bytes, usize::MAX).is_ok(), "{id}");
        match decode(&*format, &bytes, 100 << 10) {
            Err(error) => assert_eq!(error.kind(), Kind::Limit, "{id}, {} bytes: {error}", bytes.len()),
            Ok(_) => panic!("{id}, {} bytes", bytes.len()),
        }
    }
}
