//! Writes the record as a Protocol Buffers definition (proto3).

use crate::{
    Field, FieldType, Integer, Mapped, Mapping, Record,
    names::{self, Names},
};
use std::{collections::HashSet, fmt::Write as _};

/// Returns the text of a `.proto` file. Its first message is the record of `mapped`.
///
/// ```
/// use dunnage_codegen::{Mapped, Mapping, proto};
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let text = proto(&Mapped::of(&model, Mapping::Exact));
/// assert!(text.contains("sint32 celsius = 1;"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn proto(mapped: &Mapped) -> String {
    let (record, mapping) = (mapped.record(), mapped.mapping());
    let mut text = format!("// {}\nsyntax = \"proto3\";\n", crate::NUMBERING);
    // In Protobuf, the values of all enumerations share one scope with the types.
    let records = record.with_nested();
    let mut scope = Names::default();
    for record in &records {
        scope.claim(&record.name);
    }
    for record in records {
        for field in &record.fields {
            if let FieldType::Enum(enumeration) = field.kind.element() {
                let prefix = names::symbol(&field.name);
                line(&mut text, format_args!("\nenum {} {{", enumeration.name));
                for (index, symbol) in enumeration.symbols.iter().enumerate() {
                    let symbol = scope.claim(&format!("{prefix}_{symbol}"));
                    line(&mut text, format_args!("  {symbol} = {index};"));
                }
                text.push_str("}\n");
            }
        }
        text.push('\n');
        message(&mut text, record, mapping);
    }
    text
}

fn message(text: &mut String, record: &Record, mapping: Mapping) {
    line(text, format_args!("message {} {{", record.name));
    let mut json_names = HashSet::new();
    for field in &record.fields {
        for note in &field.notes {
            comment(text, note);
        }
        let json_name = json_name(field, &mut json_names);
        let (label, kind) = (label(field), kind_name(&field.kind, mapping));
        line(text, format_args!("  {label}{kind} {} = {}{json_name};", field.name, field.number));
    }
    text.push_str("}\n");
}

/// Returns the label of a field. An absent list is an empty one. A required binary64 is `optional`, too, so that it is always written:
/// without that, `-0.0` could pass for the default and be omitted.
fn label(field: &Field) -> &'static str {
    match &field.kind {
        FieldType::List(_) => "repeated ",
        FieldType::Float64 => "optional ",
        _ if field.optional => "optional ",
        _ => "",
    }
}

fn kind_name(kind: &FieldType, mapping: Mapping) -> String {
    match kind {
        FieldType::Bool => "bool".to_owned(),
        FieldType::Integer(range) => integer(*range, mapping).to_owned(),
        FieldType::Float32 => "float".to_owned(),
        FieldType::Float64 => "double".to_owned(),
        FieldType::Text => "string".to_owned(),
        FieldType::Bytes => "bytes".to_owned(),
        FieldType::Enum(enumeration) => enumeration.name.clone(),
        FieldType::List(list) => kind_name(&list.item, mapping),
        FieldType::Record(record) => record.name.clone(),
    }
}

fn integer(range: Integer, mapping: Mapping) -> &'static str {
    match (range.signed(), range.bytes() == 8, mapping) {
        (false, false, _) => "uint32",
        (false, true, _) => "uint64",
        (true, false, Mapping::Exact) => "sint32",
        (true, true, Mapping::Exact) => "sint64",
        (true, false, Mapping::Float32) => "int32",
        (true, true, Mapping::Float32) => "int64",
    }
}

/// Returns the option that sets the field's name in Protobuf's JSON to the key of the message, if the default would differ.
fn json_name(field: &Field, taken: &mut HashSet<String>) -> String {
    let key = if field.key.is_empty() { &field.name } else { &field.key };
    let writable = !key.chars().any(char::is_control) && !key.starts_with('[');
    if !writable || !taken.insert(key.clone()) || key.chars().all(|c| c.is_ascii_alphanumeric()) {
        return String::new();
    }
    format!(" [json_name = \"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""))
}

fn comment(text: &mut String, note: &str) {
    for part in note.lines() {
        line(text, format_args!("  // {part}"));
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(content);
    text.push('\n');
}
