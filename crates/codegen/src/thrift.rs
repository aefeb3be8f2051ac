//! Writes the record as an Apache Thrift interface definition.

use crate::{Field, FieldType, Integer, Mapped, Record};
use std::fmt::Write as _;

/// Returns the text of a `.thrift` file. Its last struct is the record of `mapped`.
///
/// ```
/// use dunnage_codegen::{Mapped, Mapping, thrift};
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
/// let text = thrift(&Mapped::of(&model, Mapping::Exact));
/// assert!(text.contains("1: required i16 celsius"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn thrift(mapped: &Mapped) -> String {
    let record = mapped.record();
    let mut records = record.with_nested();
    records.reverse(); // the Thrift compiler requires a type before its use
    let structures: Vec<_> = records.into_iter().map(structure).collect();
    format!("// {}\n\n{}", crate::NUMBERING, structures.join("\n"))
}

fn structure(record: &Record) -> String {
    let mut text = String::new();
    for field in &record.fields {
        if let FieldType::Enum(enumeration) = field.kind.element() {
            let symbols = enumeration.symbols.iter().enumerate();
            let symbols: String = symbols.map(|(index, symbol)| format!("  {symbol} = {index},\n")).collect();
            let _ = write!(text, "enum {} {{\n{symbols}}}\n\n", enumeration.name);
        }
    }
    let fields: String = record.fields.iter().map(member).collect();
    let _ = write!(text, "struct {} {{\n{fields}}}\n", record.name);
    text
}

fn member(field: &Field) -> String {
    let notes: String =
        field.notes.iter().flat_map(|note| note.lines()).map(|note| format!("  // {note}\n")).collect();
    let requirement = if field.optional { "optional" } else { "required" };
    format!("{notes}  {}: {requirement} {} {},\n", field.number, kind(&field.kind), name(&field.name))
}

fn kind(of: &FieldType) -> String {
    match of {
        FieldType::Bool => "bool".to_owned(),
        FieldType::Integer(range) => integer(*range).to_owned(),
        FieldType::Float32 | FieldType::Float64 => "double".to_owned(),
        FieldType::Text => "string".to_owned(),
        FieldType::Bytes => "binary".to_owned(),
        FieldType::Enum(enumeration) => enumeration.name.clone(),
        FieldType::List(list) => format!("list<{}>", kind(&list.item)),
        FieldType::Record(record) => record.name.clone(),
    }
}

/// Returns the integer type. Thrift has no unsigned integers, so numbers from 2^63 on are carried as the negative number with the same
/// bits.
fn integer(range: Integer) -> &'static str {
    match range.signed_bytes() {
        1 => "i8",
        2 => "i16",
        4 => "i32",
        _ => "i64",
    }
}

/// Returns the field's name, with an underscore appended if the Thrift compiler reserves it.
fn name(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// Keywords of the interface definition language, and words that the compiler rejects because a target language reserves them.
const RESERVED: &[&str] = &[
    "BEGIN",
    "END",
    "__CLASS__",
    "__DIR__",
    "__FILE__",
    "__FUNCTION__",
    "__LINE__",
    "__METHOD__",
    "__NAMESPACE__",
    "abstract",
    "alias",
    "and",
    "args",
    "as",
    "assert",
    "async",
    "begin",
    "binary",
    "bool",
    "break",
    "byte",
    "case",
    "catch",
    "class",
    "clone",
    "const",
    "continue",
    "cpp_include",
    "cpp_type",
    "declare",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "double",
    "dynamic",
    "elif",
    "else",
    "elseif",
    "elsif",
    "end",
    "enddeclare",
    "endfor",
    "endforeach",
    "endif",
    "endswitch",
    "endwhile",
    "ensure",
    "enum",
    "except",
    "exception",
    "exec",
    "extends",
    "false",
    "finally",
    "float",
    "for",
    "foreach",
    "from",
    "function",
    "global",
    "goto",
    "i16",
    "i32",
    "i64",
    "i8",
    "if",
    "implements",
    "import",
    "in",
    "include",
    "inline",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "list",
    "map",
    "module",
    "namespace",
    "native",
    "new",
    "next",
    "nil",
    "not",
    "oneway",
    "optional",
    "or",
    "package",
    "pass",
    "print",
    "private",
    "protected",
    "public",
    "raise",
    "redo",
    "register",
    "required",
    "rescue",
    "retry",
    "return",
    "self",
    "service",
    "set",
    "sizeof",
    "static",
    "string",
    "struct",
    "super",
    "switch",
    "synchronized",
    "then",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "typedef",
    "undef",
    "union",
    "unless",
    "unsigned",
    "until",
    "use",
    "uuid",
    "var",
    "virtual",
    "void",
    "volatile",
    "when",
    "while",
    "with",
    "xor",
    "yield",
];
