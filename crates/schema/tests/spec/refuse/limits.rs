//! Limits on the nesting, size and compile time of schemas.

use dunnage_schema::Model;

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
    assert!(error.message().contains("more than 100000 schemas"), "{error}");

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
