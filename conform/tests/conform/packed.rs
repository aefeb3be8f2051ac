//! Packed messages of random schemas.

use dunnage_conform::{Instance, Random, Scope, instance, schema};
use dunnage_packed::{Check, Kind, Layout, Node, Shape, Value};
use dunnage_schema::Model;
use std::collections::{BTreeMap, BTreeSet};

/// Calls `check` with `messages` messages of each of `schemas` random schemas.
fn each(
    scope: Scope,
    schemas: usize,
    messages: usize,
    mut check: impl FnMut(&Layout, &Instance, &str, &mut Random),
) {
    let mut random = Random::new(7);
    for _ in 0..schemas {
        let text = schema(&mut random, scope);
        let layout = Layout::new(&Model::compile(&text).expect("it compiles")).expect("a layout");
        for _ in 0..messages {
            let instance = instance(&mut random, layout.model());
            check(&layout, &instance, &text, &mut random);
        }
    }
}

fn encoded(layout: &Layout, instance: &Instance, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Err(error) = layout.encode(&instance.message, &mut bytes) {
        panic!("{error}: {:?} of {text}", instance.message);
    }
    bytes
}

#[test]
fn a_plain_message_round_trips_and_has_one_encoding() {
    each(Scope::Plain, 300, 20, |layout, instance, text, random| {
        let bytes = encoded(layout, instance, text);
        let decode = |bytes: &[u8]| layout.decode(bytes, &instance.known);
        assert_eq!(decode(&bytes).as_ref(), Ok(&instance.message), "{text}");
        let size = bytes.len() as u64;
        assert!(
            layout.min_bytes() <= size && layout.max_bytes().is_some_and(|max| size <= max),
            "{size}: {text}"
        );
        for end in 0..bytes.len() {
            let error = decode(&bytes[..end]).expect_err("a prefix");
            assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(end)), "{text}");
        }
        let more = [&bytes[..], &[random.byte()]].concat();
        let error = decode(&more).expect_err("a byte too many");
        assert_eq!(error.kind(), Kind::Malformed, "{text}");
        // The decoder reads the last bytes as the check. If they match by chance, the error is at the first byte after the body.
        let check = layout.check().map_or(0, Check::bytes);
        let body = bytes.len() - check;
        let at = error.offset().expect("bytes at fault");
        assert!(at == body || check > 0 && at == body + 1, "{error}: {text}");
        for _ in 0..8 {
            let mut other = bytes.clone();
            let at = random.below(other.len() * 8);
            other[at / 8] ^= 0x80 >> (at % 8);
            is_an_error_or_the_form_of_its_message(layout, &other, &instance.known, text);
        }
    });
}

/// Memory of an earlier message, also of another schema, does not affect a later one.
#[test]
fn a_message_is_decoded_in_the_memory_of_another() {
    let mut value = Value::Null;
    for scope in [Scope::Plain, Scope::Open] {
        each(scope, 60, 10, |layout, instance, text, random| {
            let mut bytes = encoded(layout, instance, text);
            assert_eq!(layout.decode_into(&bytes, &instance.known, &mut value), Ok(()), "{text}");
            assert_eq!(value, instance.message, "{text}");
            // Remains of a damaged message do not affect a later one either.
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            let damaged = layout.decode_into(&bytes, &instance.known, &mut value);
            assert_eq!(damaged.map(|()| value.clone()), layout.decode(&bytes, &instance.known), "{text}");
        });
    }
}

#[test]
fn a_modelled_message_round_trips_and_has_one_encoding() {
    each(Scope::Open, 60, 4, |layout, instance, text, random| {
        let bytes = encoded(layout, instance, text);
        let decoded = layout.decode(&bytes, &instance.known);
        if layout.is_plain() {
            return;
        }
        assert_eq!(decoded.as_ref(), Ok(&instance.message), "{text}");
        for _ in 0..4 {
            let end = random.below(bytes.len());
            let error = layout.decode(&bytes[..end], &instance.known).expect_err("a prefix");
            assert_eq!(error.kind(), Kind::Truncated, "{text}");
        }
        let mut other = bytes.clone();
        let at = random.below(other.len());
        other[at] ^= 1 << random.below(8);
        is_an_error_or_the_form_of_its_message(layout, &other, &instance.known, text);
    });
}

fn is_an_error_or_the_form_of_its_message(
    layout: &Layout,
    bytes: &[u8],
    known: &BTreeMap<String, String>,
    text: &str,
) {
    match layout.decode(bytes, known) {
        Ok(message) => {
            let instance = Instance { message, known: known.clone() };
            assert_eq!(encoded(layout, &instance, text), bytes, "{text}");
        }
        Err(error) => assert!(error.offset().is_some_and(|at| at <= bytes.len()), "{error}: {text}"),
    }
}

#[test]
fn the_random_schemas_have_every_kind_of_node() {
    let mut random = Random::new(7);
    for scope in [Scope::Plain, Scope::Open] {
        let mut found = BTreeSet::new();
        for _ in 0..300 {
            let layout = Layout::new(&Model::compile(&schema(&mut random, scope)).expect("it compiles"))
                .expect("a layout");
            std::iter::once(layout.root())
                .chain(layout.definitions())
                .for_each(|node| kinds(node, &mut found));
        }
        let plain = "array boolean choice constant float known nullable number numbers object pattern text tuple union";
        let all = if scope == Scope::Plain { plain.to_owned() } else { format!("{plain} any definition") };
        let missing: Vec<&str> = all.split(' ').filter(|kind| !found.contains(kind)).collect();
        assert!(missing.is_empty(), "{scope:?}: {missing:?}");
    }
}

fn kinds(node: &Node, found: &mut BTreeSet<&'static str>) {
    let kind = match &node.shape {
        Shape::Constant(_) => "constant",
        Shape::Bool => "boolean",
        Shape::Number(_) => "number",
        Shape::Numbers(_) => "numbers",
        Shape::Float => "float",
        Shape::Choice(_) => "choice",
        Shape::Pattern(_) => "pattern",
        Shape::Text(_) => "text",
        Shape::Any => "any",
        Shape::Definition(_) => "definition",
        Shape::Known(_) => "known",
        Shape::Array(array) => {
            kinds(&array.item, found);
            "array"
        }
        Shape::Tuple(tuple) => {
            tuple.items.iter().chain(tuple.rest.as_deref()).for_each(|item| kinds(item, found));
            "tuple"
        }
        Shape::Object(object) => {
            object.fields.iter().for_each(|field| kinds(&field.node, found));
            object.additional.as_deref().into_iter().for_each(|node| kinds(node, found));
            "object"
        }
        Shape::Nullable(inner) => {
            kinds(inner, found);
            "nullable"
        }
        Shape::Union(options) => {
            options.iter().for_each(|node| kinds(node, found));
            "union"
        }
    };
    found.insert(kind);
}

#[test]
fn the_same_seed_gives_the_same_schema_and_message() {
    let make = || {
        let mut random = Random::new(3);
        let text = schema(&mut random, Scope::Plain);
        let message = instance(&mut random, &Model::compile(&text).expect("it compiles")).message;
        (text, message)
    };
    assert_eq!(make(), make());
}
