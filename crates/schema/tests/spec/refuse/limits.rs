//! Limits on the nesting, size and compile time of schemas.

use dunnage_schema::{Model, Options};
use serde_json::{Value, json};

#[test]
fn nesting_and_size_have_limits() {
    let arrays = |n: usize| format!("{}{{}}{}", r#"{"type":"array","items":"#.repeat(n), "}".repeat(n));
    assert!(Model::compile(&arrays(32)).is_ok());
    let error = Model::compile(&arrays(33)).unwrap_err();
    assert!(error.message().contains("more than 32 deep"), "{error}");
    let error = Model::compile(&arrays(10_000)).unwrap_err();
    assert!(error.message().contains("deep"), "{error}");
    let error = Model::compile(&format!("{{}}{}", " ".repeat(1 << 20))).unwrap_err();
    assert!(error.message().contains("1048576"), "{error}");
}

/// A schema with `count` recursive definitions, each of which also refers to the next.
fn rings(count: usize) -> String {
    let ring = |i: usize| {
        let array = format!(r##"{{"type":"array","items":{{"$ref":"#/$defs/d{i}"}}}}"##);
        format!(r##""d{i}":{{"anyOf":[{array},{{"$ref":"#/$defs/d{}"}}]}}"##, i + 1)
    };
    let used = |i: usize| format!(r##""p{i}":{{"$ref":"#/$defs/d{i}"}}"##);
    let rings: Vec<_> = (0..count).map(ring).collect();
    let uses: Vec<_> = (0..count).rev().map(used).collect();
    format!(
        r##"{{"type":"object","properties":{{{}}},"$defs":{{{},"d{count}":{{"type":"null"}}}}}}"##,
        uses.join(","),
        rings.join(",")
    )
}

#[test]
fn references_cannot_make_a_small_schema_huge() {
    let mut definitions = vec![r#""d0":{"type":"null"}"#.to_owned()];
    for i in 1..40 {
        let one = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, i - 1);
        definitions.push(format!(r#""d{i}":{{"type":"object","properties":{{"a":{one},"b":{one}}}}}"#));
    }
    let schema = format!(r##"{{"$ref":"#/$defs/d25","$defs":{{{}}}}}"##, definitions.join(","));
    let error = Model::compile(&schema).unwrap_err();
    assert!(error.message().contains("weighs more than 200000"), "{error}");

    let long: Vec<_> = (0..5000)
        .map(|i| format!(r##""d{i}":{{"allOf":[{{"anyOf":[{{"$ref":"#/$defs/d{}"}},{{"type":"object","properties":{{"a":{{"$ref":"#"}}}}}}]}}]}}"##, i + 1))
        .collect();
    let schema = format!(
        r##"{{"type":"array","items":{{"$ref":"#/$defs/d0"}},"$defs":{{{},"d5000":{{}}}}}}"##,
        long.join(",")
    );
    let error = Model::compile(&schema).unwrap_err();
    assert!(error.message().contains("deep"), "{error}");

    let error = Model::compile(&rings(1500)).unwrap_err();
    assert!(error.message().contains("more than 1000"), "{error}");
    let model = Model::compile(&rings(900)).unwrap();
    assert!(model.validate(&crate::json::message(r#"{"p899":[[null]],"p600":null}"#)).is_ok());

    let chain: Vec<_> = (0..5000).map(|i| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}}"##, i + 1)).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d5000":{{}}}}}}"##, chain.join(","));
    let error = Model::compile(&schema).unwrap_err();
    assert!(error.message().contains("deep"), "{error}");
}

/// A schema whose references repeat `leaf` 2 to the `times`.
fn doubled(leaf: &Value, times: usize) -> Value {
    let mut definitions = serde_json::Map::from_iter([("d0".to_owned(), leaf.clone())]);
    for i in 1..=times {
        let one = json!({"$ref": format!("#/$defs/d{}", i - 1)});
        definitions.insert(format!("d{i}"), json!({"type": "object", "properties": {"x": one, "y": one}}));
    }
    json!({"$ref": format!("#/$defs/d{times}"), "$defs": definitions})
}

#[test]
fn a_schema_is_weighed_by_what_it_repeats() {
    let named = |count: usize| -> Value {
        (0..count).map(|n| (format!("n{n}"), json!({}))).collect::<serde_json::Map<_, _>>().into()
    };
    let words: Vec<_> = (0..5000).map(|n| format!("v{n}")).collect();
    let long = "n".repeat(60_000);
    let overlap = json!({"type": "object", "properties": {"a": {"enum": words}}});
    let nested = |keyword: &str| {
        (0..60).fold(
            overlap.clone(),
            |inner, _| json!({keyword: [inner, {"type": "object", "properties": {"b": {}}}]}),
        )
    };
    let with_rest = json!({"type": "object", "required": words, "additionalProperties": {"enum": words}});
    let patterns =
        (0..30).fold(json!({"enum": words}), |inner, _| json!({"patternProperties": {"^a": inner}}));
    let union = |name: &str| -> Value {
        (0..64)
            .map(|n| json!({"type": "object", "properties": {(format!("{name}{n}")): {"$ref": "#/$defs/e"}}}))
            .collect::<Vec<_>>()
            .into()
    };
    for (what, schema) in [
        ("values", doubled(&json!({"enum": words}), 14)),
        ("a value", doubled(&json!({"const": words}), 14)),
        ("properties", doubled(&json!({"type": "object", "properties": named(100)}), 13)),
        ("a long name", doubled(&json!({"type": "object", "properties": {(&long): true}}), 14)),
        ("a long text", doubled(&json!({"type": "object", "properties": {"a": {"description": long}}}), 14)),
        ("a long default", doubled(&json!({"type": "object", "properties": {"a": {"default": words}}}), 14)),
        (
            "a long pattern",
            doubled(&json!({"type": "string", "pattern": format!("^{}$", "ab".repeat(120))}), 16),
        ),
        ("required names", doubled(&json!({"type": "object", "dependentRequired": {"a": words}}), 14)),
        ("names of fields", doubled(&json!({"propertyNames": {"enum": words}}), 14)),
        ("choices", nested("anyOf")),
        ("one of them", nested("oneOf")),
        ("other fields", with_rest),
        ("patterns of names", patterns),
        (
            "unions",
            json!({"$defs": {"e": {"enum": words[..100]}}, "allOf": [{"anyOf": union("a")}, {"anyOf": union("b")}]}),
        ),
        (
            "unevaluated fields",
            doubled(&json!({"properties": named(100), "unevaluatedProperties": false}), 13),
        ),
    ] {
        let text = schema.to_string();
        let error = Model::compile_with(&text, Options { max_weight: 10_000, ..Options::default() }).err();
        let message = error.map(|error| error.message().to_owned()).unwrap_or_default();
        assert!(message.contains("weighs more than 10000"), "{what}: {message}");
    }
    let small = doubled(&json!({"enum": ["a", "b"]}), 4).to_string();
    assert!(Model::compile_with(&small, Options { max_weight: 200, ..Options::default() }).is_ok());
}

#[test]
fn large_schemas_and_messages_take_a_limited_time() {
    let many = |n: usize, one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<Vec<_>>().join(",");
    let start = std::time::Instant::now();
    let names = many(10_000, &|i| format!(r#""n{i}""#));
    let properties = many(4000, &|i| format!(r#""n{i}":{{"type":"integer"}}"#));
    let branches = many(5000, &|i| format!(r#"{{"type":"string","maxLength":{i}}}"#));
    let objects = many(3000, &|i| format!(r#"{{"type":"object","required":["n{i}"]}}"#));
    for schema in [
        format!(r#"{{"enum":[{names}]}}"#),
        format!(r#"{{"allOf":[{{"enum":[{names}]}},{{"enum":[{names},true]}}]}}"#),
        format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{names}]}}"#),
        format!(
            r#"{{"allOf":[{{"properties":{{{properties}}}}},{{"properties":{{{properties},"x":true}}}}]}}"#
        ),
        format!(r#"{{"oneOf":[{branches}]}}"#),
        format!(r#"{{"type":"object","properties":{{"n7":{{"type":"integer"}}}},"oneOf":[{objects}]}}"#),
    ] {
        let head = &schema[..60];
        let model = Model::compile(&schema).unwrap_or_else(|e| panic!("{head}: {e}"));
        let entries = (0..4000).rev().map(|i| (format!("n{i}"), dunnage_pson::Value::U64(i)));
        let _ = model.validate(&dunnage_pson::Value::Map(entries.collect()));
        let items = (0..4000).map(|i| dunnage_pson::Value::Text(format!("m{i}")));
        let _ = model.validate(&dunnage_pson::Value::Array(items.collect()));
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
