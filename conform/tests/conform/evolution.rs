//! Random changes of random schemas: the result of `diff` must hold for their layouts and messages.

use dunnage_conform::{Random, Scope, instance, schema};
use dunnage_formats::{Id, Mapping};
use dunnage_packed::Layout;
use dunnage_pson::Value;
use dunnage_schema::{Model, diff, infer};
use serde_json::Value as Json;

const SCHEMAS: usize = 400;
const MESSAGES: usize = 6;

/// Applies `change` to the value at a random place in `json`.
fn somewhere(json: &mut Json, random: &mut Random, change: fn(&mut Json, &mut Random)) {
    if random.once_in(4) {
        return change(json, random);
    }
    let inner: Vec<&mut Json> = match json {
        Json::Array(items) => items.iter_mut().collect(),
        Json::Object(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
        _ => return change(json, random),
    };
    let at = random.below(inner.len());
    match inner.into_iter().nth(at) {
        Some(inner) => somewhere(inner, random, change),
        None => change(json, random),
    }
}

/// Changes a number or a text, negates a boolean, or removes or moves an entry.
fn change(json: &mut Json, random: &mut Random) {
    match json {
        Json::Bool(b) => *b = !*b,
        Json::Number(n) => {
            if let Some(n) = n.as_i64() {
                let other = *random.pick(&[n - 1, n + 1, n * 2, n / 2]);
                *json = other.into();
            }
        }
        Json::String(text) => text.push('A'),
        Json::Array(items) if items.len() > 1 => {
            let at = random.below(items.len());
            let item = items.remove(at);
            if random.once_in(2) {
                items.insert(random.below(items.len() + 1), item);
            }
        }
        Json::Object(entries) => {
            let at = random.below(entries.len());
            let mut all: Vec<(String, Json)> = std::mem::take(entries).into_iter().collect();
            if at < all.len() {
                let entry = all.remove(at);
                if random.once_in(2) {
                    all.insert(random.below(all.len() + 1), entry);
                }
            }
            entries.extend(all);
        }
        _ => {}
    }
}

#[test]
fn every_layout_change_is_reported_and_kept_messages_stay_valid() {
    let mut random = Random::new(11);
    let (mut pairs, mut kept) = (0, 0);
    for index in 0..SCHEMAS {
        let scope = if index % 2 == 0 { Scope::Plain } else { Scope::Open };
        let text = schema(&mut random, scope);
        let old = Model::compile(&text).expect("it compiles");
        assert_eq!(diff(&old, &old), [], "{text}");
        for _ in 0..MESSAGES {
            let mut changed: Json = serde_json::from_str(&text).expect("a schema is JSON");
            somewhere(&mut changed, &mut random, change);
            let Ok(new) = Model::compile(&changed.to_string()) else { continue };
            pairs += 1;
            let changes = diff(&old, &new);
            let same_layout = Layout::new(&old).expect("a layout").fingerprint()
                == Layout::new(&new).expect("a layout").fingerprint();
            assert!(same_layout || !changes.is_empty(), "no change is named from {text}\nto {changed}");
            if changes.iter().all(|change| change.keeps) {
                kept += 1;
                let message = instance(&mut random, &old).message;
                let valid = new.validate(&message);
                assert!(
                    valid.is_ok(),
                    "{valid:?} of {message:?}, but {changes:?}\nfrom {text}\nto {changed}"
                );
            }
        }
    }
    assert!(pairs > SCHEMAS && kept > SCHEMAS / 4, "{pairs} pairs, of which {kept} keep all messages");
}

/// Sorts the keys of `value`'s objects, because plain messages do not keep the order.
fn in_order(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(in_order).collect()),
        Value::Map(mut entries) => {
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Map(entries.into_iter().map(|(key, value)| (key, in_order(value))).collect())
        }
        other => other,
    }
}

#[test]
fn an_inferred_schema_carries_the_messages_of_random_schemas() {
    let mut random = Random::new(12);
    let json = Id::Json.open(None, Mapping::Exact).expect("it needs no schema");
    for _ in 0..SCHEMAS / 16 {
        let text = schema(&mut random, Scope::Open);
        let model = Model::compile(&text).expect("it compiles");
        let (mut messages, mut samples) = (Vec::new(), Vec::new());
        for _ in 0..1 + random.below(30) {
            let message = instance(&mut random, &model).message;
            let mut bytes = Vec::new();
            // JSON cannot represent bytes, which a message may contain where the schema allows anything.
            if json.encode(&message, &mut bytes).is_ok() {
                samples.push(String::from_utf8(bytes).expect("JSON is UTF-8"));
                messages.push(message);
            }
        }
        if samples.is_empty() {
            continue;
        }
        let inferred = infer(&samples, None).unwrap_or_else(|e| panic!("{e}: {samples:?}")).schema;
        let layout = Layout::new(&Model::compile(&inferred).expect("it compiles")).expect("a layout");
        for message in &messages {
            let mut bytes = Vec::new();
            layout.encode(message, &mut bytes).unwrap_or_else(|e| panic!("{e}: {message:?} in {inferred}"));
            let decoded =
                layout.decode(&bytes, None).unwrap_or_else(|e| panic!("{e}: {message:?} in {inferred}"));
            assert_eq!(in_order(decoded), in_order(message.clone()), "{inferred}");
        }
    }
}
