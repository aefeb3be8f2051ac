//! Generates the struct types.

use super::plan::{Choice, Content, Plan, Slot, SlotKind, Struct};
use std::fmt::Write as _;

/// Generates all struct types, each after those that it contains.
pub(super) fn structs(plan: &Plan) -> String {
    let mut out = String::new();
    structure(&plan.root, &mut out);
    out
}

fn structure(of: &Struct, out: &mut String) {
    for inner in inner(&of.content) {
        nested(&inner.kind, out);
    }
    if let Content::Union(alternatives) = &of.content {
        let tags: Vec<_> = alternatives.iter().map(|alternative| alternative.tag.as_str()).collect();
        enumeration(&format!("{}_tag", of.name), &tags, out);
    }
    let mut members = members(&of.content, &of.name);
    if members.is_empty() {
        members.push_str("    uint8_t unused; /* C has no empty struct */\n");
    }
    let _ = write!(out, "typedef struct {0} {{\n{members}}} {0};\n\n", of.name);
}

fn nested(kind: &SlotKind, out: &mut String) {
    match kind {
        SlotKind::Struct(inner) => structure(inner, out),
        SlotKind::Choice(choice) => enumeration(&choice.name, &choice.values, out),
        SlotKind::Array(array) => nested(&array.item.kind, out),
        SlotKind::Nullable(_, inner) => nested(&inner.kind, out),
        _ => {}
    }
}

/// Generates an enumeration type.
fn enumeration(name: &str, constants: &[impl AsRef<str>], out: &mut String) {
    let constants: Vec<_> = constants.iter().map(|constant| format!("    {}", constant.as_ref())).collect();
    let _ = write!(out, "typedef enum {name} {{\n{}\n}} {name};\n\n", constants.join(",\n"));
}

/// Returns the slots of a struct.
pub(super) fn inner(content: &Content) -> Vec<&Slot> {
    match content {
        Content::Object(fields) => fields.iter().map(|(_, slot)| slot).collect(),
        Content::Value(slot) => vec![slot],
        Content::Numbers(_) => Vec::new(),
        Content::Tuple(tuple) => {
            tuple.items.iter().chain(tuple.rest.iter().map(|(_, slot)| &**slot)).collect()
        }
        Content::Union(alternatives) => alternatives.iter().map(|alternative| &alternative.slot).collect(),
    }
}

/// Generates the members of the struct `name`.
fn members(content: &Content, name: &str) -> String {
    let mut out = String::new();
    match content {
        Content::Object(fields) => {
            for (has, slot) in fields {
                note(slot, &mut out);
                if let Some(has) = has {
                    line(&mut out, &format!("bool {has};"));
                }
                member(slot, &slot.name, &mut out);
            }
        }
        Content::Value(slot) => {
            note(slot, &mut out);
            member(slot, &slot.name, &mut out);
        }
        Content::Numbers(parts) => {
            for (name, count) in parts {
                line(&mut out, &format!("{} {name};", count.kind.name()));
            }
        }
        Content::Tuple(tuple) => {
            if let Some(count) = &tuple.count {
                line(
                    &mut out,
                    &format!("{} {count}; /* {} to {} */", tuple.counter().name(), tuple.min, tuple.max),
                );
            }
            for slot in &tuple.items {
                member(slot, &slot.name, &mut out);
            }
            if let Some((name, slot)) = &tuple.rest {
                member(slot, &format!("{name}[{}]", tuple.max - tuple.items.len() as u32), &mut out);
            }
        }
        Content::Union(alternatives) => {
            line(&mut out, &format!("uint8_t tag; /* enum {name}_tag */"));
            let mut inside = String::new();
            for alternative in alternatives {
                member(&alternative.slot, &alternative.slot.name, &mut inside);
            }
            if !inside.is_empty() {
                let inside = inside.replace("    ", "        ");
                let _ = write!(out, "    union {{\n{inside}    }} as;\n");
            }
        }
    }
    out
}

/// Generates the members of a slot. The first one is declared as `declarator`.
fn member(slot: &Slot, declarator: &str, out: &mut String) {
    match &slot.kind {
        SlotKind::Nothing => {}
        SlotKind::Bool => line(out, &format!("bool {declarator};")),
        SlotKind::Number(count) => line(out, &format!("{} {declarator};", count.kind.name())),
        SlotKind::Float(..) => line(out, &format!("double {declarator};")),
        SlotKind::Choice(choice) => {
            let kind = if choice.values.len() > 256 { "uint16_t" } else { "uint8_t" };
            line(out, &format!("{kind} {declarator};"));
        }
        SlotKind::Pattern(pattern) => line(out, &format!("char {declarator}[{}];", pattern.room())),
        SlotKind::Text(text) => line(out, &format!("char {declarator}[{}];", text.room())),
        SlotKind::Struct(inner) => line(out, &format!("{} {declarator};", inner.name)),
        SlotKind::Array(array) => {
            if let Some(count) = &array.count {
                line(
                    out,
                    &format!("{} {count}; /* {} to {} */", array.counter().name(), array.min, array.max),
                );
            }
            if array.max > 0 {
                member(&array.item, &format!("{declarator}[{}]", array.max), out);
            }
        }
        SlotKind::Nullable(flag, inner) => {
            line(out, &format!("bool {flag};"));
            member(inner, declarator, out);
        }
    }
}

/// Generates the comment before a member: the schema's description, and how to interpret the member.
fn note(slot: &Slot, out: &mut String) {
    let mut notes = slot.notes.clone();
    notes.extend(reading(slot));
    if !notes.is_empty() {
        line(out, &format!("/* {} */", comment(&notes.join(". "))));
    }
}

/// Explains how to interpret the member of a slot.
fn reading(slot: &Slot) -> Option<String> {
    let constant = &slot.constant;
    match &slot.kind {
        SlotKind::Number(count) => Some(match count.epoch {
            Some(_) if count.unit.1 == 0 => format!("Seconds since {constant}_EPOCH"),
            Some(_) => format!("In 1/{constant}_PER_SECOND s since {constant}_EPOCH"),
            None if count.has_scale() => {
                let unit = dunnage_schema::decimal_text(count.unit.0.into(), count.unit.1);
                format!("In {unit}: {} to {}", count.min, count.max)
            }
            None => format!("{} to {}", count.min, count.max),
        }),
        SlotKind::Choice(Choice { name, .. }) => Some(format!("enum {name}")),
        SlotKind::Struct(Struct { content: Content::Numbers(parts), .. }) => Some(
            parts
                .iter()
                .map(|(name, count)| {
                    let unit = dunnage_schema::decimal_text(count.unit.0.into(), count.unit.1);
                    format!("{name} in {unit}: {} to {}", count.min, count.max)
                })
                .collect::<Vec<_>>()
                .join(", "),
        ),
        SlotKind::Pattern(pattern) => {
            let (min, max) = pattern.lengths.unwrap_or((0, pattern.longest));
            pattern.lengths.map(|_| format!("{min} to {max} characters"))
        }
        SlotKind::Text(text) => {
            let set = if text.ascii { "ASCII" } else { "UTF-8" };
            Some(format!("{set}, {} to {} characters, without U+0000", text.min, text.max))
        }
        SlotKind::Nullable(_, inner) => reading(inner),
        SlotKind::Array(array) => reading(&array.item),
        _ => None,
    }
}

/// Makes `text` safe for a C comment, on one line.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Quotes `text` as a C string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            // `?` could begin a trigraph.
            b' '..=b'~' if byte != b'?' => out.push(byte.into()),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "    {text}");
}
