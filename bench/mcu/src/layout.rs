//! The C struct of a message, and its values as an initializer.

use crate::shape::Shape;
use dunnage_pson::Value;
use std::fmt::Write as _;

/// A value of a C struct.
#[derive(Debug, Clone)]
pub enum Node {
    /// Null, which has no member.
    Null,
    /// `bool`
    Bool,
    /// `u32`, `i32`, `u64` or `i64`, which are `uint32_t` and so on.
    Integer(&'static str),
    /// `float`
    Float,
    /// `double`
    Double,
    /// `char[size]`, with its NUL.
    Text { size: usize },
    /// A nested struct.
    Struct(Struct),
    /// A C array, followed by a `uint16_t` with the number of elements.
    List { element: Box<Node>, most: usize },
}

/// The part of a message that a struct represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructKind {
    /// A map; its first member is `uint32_t present`.
    Map,
    /// An array whose elements have several types.
    Mixed,
    /// Its only field: an array in an array, or a message that is not a map.
    Only,
}

/// A C struct.
#[derive(Debug, Clone)]
pub struct Struct {
    /// Its `typedef`.
    pub name: String,
    /// The part that it represents.
    pub kind: StructKind,
    /// Its members, in order.
    pub fields: Vec<Field>,
}

/// A member of a struct.
#[derive(Debug, Clone)]
pub struct Field {
    /// The key in a map.
    pub key: String,
    /// The name of the member.
    pub name: String,
    /// Its type.
    pub node: Node,
}

/// The struct of a message of this shape. `name` is the name of its `typedef`, and the prefix of the names of nested structs.
pub fn root(name: &str, shape: &Shape) -> Struct {
    let mut structs = 0;
    let kind = if matches!(shape, Shape::Map(_)) { StructKind::Map } else { StructKind::Only };
    structure(name, name, kind, shape, &mut structs)
}

fn structure(root: &str, name: &str, kind: StructKind, shape: &Shape, structs: &mut usize) -> Struct {
    let members: Vec<(String, Shape)> = match (kind, shape) {
        (StructKind::Map, Shape::Map(entries)) => entries.clone(),
        (StructKind::Mixed, Shape::Mixed(shapes)) => {
            shapes.iter().enumerate().map(|(i, shape)| (format!("e{i}"), shape.clone())).collect()
        }
        _ => vec![("all".into(), shape.clone())],
    };
    let mut used = vec!["present".to_owned()];
    let fields = members
        .into_iter()
        .map(|(key, shape)| {
            let name = member_name(&key, &mut used);
            Field { node: node(root, &shape, structs), key, name }
        })
        .collect();
    Struct { name: name.into(), kind, fields }
}

fn node(root: &str, shape: &Shape, structs: &mut usize) -> Node {
    let mut nested = |kind| {
        *structs += 1;
        Node::Struct(structure(root, &format!("{root}_{structs}"), kind, shape, structs))
    };
    match shape {
        Shape::Null => Node::Null,
        Shape::Bool => Node::Bool,
        Shape::Integer { .. } => shape.integer_type().map_or(Node::Double, Node::Integer),
        Shape::Float => Node::Float,
        Shape::Double => Node::Double,
        Shape::Text { longest } => Node::Text { size: longest + 1 },
        Shape::Map(_) => nested(StructKind::Map),
        Shape::Mixed(_) => nested(StructKind::Mixed),
        Shape::List { element, most } => {
            let element = match **element {
                Shape::List { .. } => {
                    *structs += 1;
                    let name = format!("{root}_{structs}");
                    Node::Struct(structure(root, &name, StructKind::Only, element, structs))
                }
                _ => node(root, element, structs),
            };
            Node::List { element: Box::new(element), most: *most }
        }
    }
}

/// An identifier that resembles `key`. Neither it nor its counter is in `used`; both are added.
fn member_name(key: &str, used: &mut Vec<String>) -> String {
    let mut name = identifier(key);
    while used.contains(&name) || used.contains(&counter(&name)) {
        name.push('_');
    }
    used.push(name.clone());
    used.push(counter(&name));
    name
}

/// A C identifier that resembles `text` and is not a keyword.
pub fn identifier(text: &str) -> String {
    const WORDS: &str = " auto bool break case char class const continue default delete do double else enum extern false \
        float for goto if inline int long new private public register restrict return short signed sizeof static struct \
        switch this true typedef union unsigned void volatile while ";
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '_') {
        name.insert(0, 'x');
    }
    if WORDS.contains(&format!(" {name} ")) {
        name.push('_');
    }
    name
}

/// The member that counts the elements of the list `name`.
pub fn counter(name: &str) -> String {
    format!("{name}_count")
}

/// Writes the `typedef`s, nested ones first.
pub fn declare(structure: &Struct, out: &mut String) {
    for field in &structure.fields {
        declare_nested(&field.node, out);
    }
    out.push_str("typedef struct {\n");
    if structure.kind == StructKind::Map {
        out.push_str("    uint32_t present;\n");
    }
    let mut empty = structure.kind != StructKind::Map;
    for field in &structure.fields {
        let Some(member) = declarator(&field.node, &field.name) else { continue };
        let _ = writeln!(out, "    {member};");
        if matches!(field.node, Node::List { .. }) {
            let _ = writeln!(out, "    uint16_t {};", counter(&field.name));
        }
        empty = false;
    }
    if empty {
        out.push_str("    uint8_t nothing;\n");
    }
    let _ = writeln!(out, "}} {};\n", structure.name);
}

fn declare_nested(node: &Node, out: &mut String) {
    match node {
        Node::Struct(inner) => declare(inner, out),
        Node::List { element, .. } => declare_nested(element, out),
        _ => {}
    }
}

/// The declaration of a member; `None` for null.
fn declarator(node: &Node, name: &str) -> Option<String> {
    Some(match node {
        Node::Null => return None,
        Node::Bool => format!("bool {name}"),
        Node::Integer(kind) => format!("{} {name}", integer_type(kind)),
        Node::Float => format!("float {name}"),
        Node::Double => format!("double {name}"),
        Node::Text { size } => format!("char {name}[{size}]"),
        Node::Struct(inner) => format!("{} {name}", inner.name),
        Node::List { element, most } => return declarator(element, &format!("{name}[{most}]")),
    })
}

fn integer_type(kind: &str) -> &'static str {
    match kind {
        "u32" => "uint32_t",
        "i32" => "int32_t",
        "u64" => "uint64_t",
        _ => "int64_t",
    }
}

/// `value` as an initializer of a struct, with the names of the members.
pub fn initializer(structure: &Struct, value: &Value) -> String {
    let mut members = Vec::new();
    for (i, field) in structure.fields.iter().enumerate() {
        let value = match (structure.kind, value) {
            (StructKind::Map, Value::Map(entries)) => &entries[i].1,
            (StructKind::Mixed, Value::Array(elements)) => &elements[i],
            _ => value,
        };
        let Some(member) = initializer_of(&field.node, value) else { continue };
        members.push(format!(".{} = {member}", field.name));
        if let (Node::List { .. }, Value::Array(elements)) = (&field.node, value) {
            members.push(format!(".{} = {}", counter(&field.name), elements.len()));
        }
    }
    if members.is_empty() {
        members.push("0".to_owned());
    }
    format!("{{{}}}", members.join(", "))
}

fn initializer_of(node: &Node, value: &Value) -> Option<String> {
    Some(match (node, value) {
        (Node::Null, _) => return None,
        (Node::Bool, Value::Bool(b)) => b.to_string(),
        (Node::Integer(kind), _) => integer(kind, value.as_integer().unwrap_or_default()),
        (Node::Float, _) => format!("{:?}f", number(value) as f32),
        (Node::Double, _) => format!("{:?}", number(value)),
        (Node::Text { .. }, Value::Text(text)) => literal(text),
        (Node::Struct(inner), _) => initializer(inner, value),
        (Node::List { element, .. }, Value::Array(elements)) => {
            let elements: Vec<_> =
                elements.iter().filter_map(|value| initializer_of(element, value)).collect();
            format!("{{{}}}", elements.join(", "))
        }
        _ => unreachable!("the struct was made for this message"),
    })
}

fn integer(kind: &str, n: i128) -> String {
    match kind {
        "u32" => format!("{n}ul"),
        "u64" => format!("{n}ull"),
        // C has no literal for the lowest value of a type.
        "i32" if n == i128::from(i32::MIN) => "(-2147483647l - 1)".into(),
        "i32" => format!("{n}l"),
        _ if n == i128::from(i64::MIN) => "(-9223372036854775807ll - 1)".into(),
        _ => format!("{n}ll"),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::F64(f) => *f,
        other => other.as_integer().unwrap_or_default() as f64,
    }
}

/// The call that reports a scalar member; empty for null, structs and lists.
pub fn fold_call(scalar: &Node, place: &str) -> String {
    match scalar {
        Node::Bool => format!("fold_bool({place});"),
        Node::Integer(kind) => format!("fold_{kind}({place});"),
        Node::Float => format!("fold_float({place});"),
        Node::Double => format!("fold_double({place});"),
        Node::Text { .. } => format!("fold_text({place}, strlen({place}));"),
        Node::Null | Node::Struct(_) | Node::List { .. } => String::new(),
    }
}

/// `text` as a C string literal.
pub fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_unique_names() {
        let mut used = vec!["present".to_owned()];
        let mut name = |key| member_name(key, &mut used);
        assert_eq!(name("ble-m"), "ble_m");
        assert_eq!(name("ble_m"), "ble_m_");
        assert_eq!(name("long"), "long_");
        assert_eq!(name("4G"), "x4G");
        assert_eq!(name(""), "x");
        assert_eq!(name("present"), "present_");
        assert_eq!(name("ble_m_count"), "ble_m_count_");
    }

    #[test]
    fn string_literals_are_escaped() {
        assert_eq!(literal("a\"b\\"), r#""a\"b\\""#);
        assert_eq!(literal("°C\n0"), r#""\302\260C\0120""#);
        assert_eq!(literal("??="), r#""\?\?=""#);
    }

    #[test]
    fn a_message_becomes_a_struct_and_an_initializer() {
        let value: Value =
            serde_json::from_str(r#"{"t":[1,-2],"m":[{"a":"x"},{"a":"yz"}],"n":null,"f":1.5}"#).unwrap();
        let structure = root("P", &Shape::of(&value).unwrap());
        let mut out = String::new();
        declare(&structure, &mut out);
        assert_eq!(
            out,
            "typedef struct {\n    uint32_t present;\n    char a[3];\n} P_1;\n\n\
             typedef struct {\n    uint32_t present;\n    int32_t t[2];\n    uint16_t t_count;\n    \
             P_1 m[2];\n    uint16_t m_count;\n    float f;\n} P;\n\n"
        );
        assert_eq!(
            initializer(&structure, &value),
            "{.t = {1l, -2l}, .t_count = 2, .m = {{.a = \"x\"}, {.a = \"yz\"}}, .m_count = 2, .f = 1.5f}"
        );
    }
}
