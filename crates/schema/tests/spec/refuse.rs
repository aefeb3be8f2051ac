//! Schemas that are refused, each with the pointer to what is at fault.

use dunnage_schema::{Model, Options, bundled};
use proptest::prelude::*;

/// Some of the schemas of `bench/corpus/real`.
const REAL: &[&str] = &[
    include_str!("../../../../bench/corpus/real/json-schema/schema.json"),
    include_str!("../../../../bench/corpus/real/thing-description/schema.json"),
    include_str!("../../../../bench/corpus/real/geojson/schema.json"),
];

/// Every schema is refused at its pointer, whose last keyword the error names, for its reason.
pub fn refused(cases: &[(&str, &str, &str)]) {
    for (schema, pointer, reason) in cases {
        let error = Model::compile(schema).expect_err(schema);
        assert_eq!(error.pointer(), *pointer, "{schema}: {error}");
        assert!(error.message().contains(reason), "{schema}: {error}");
        assert!(pointer.contains(error.keyword()), "{schema}: {}", error.keyword());
        assert!(error.to_string().contains(pointer), "{error}");
    }
}

#[test]
fn keywords_that_would_change_the_meaning_are_never_ignored() {
    for keyword in ["$dynamicRef", "$recursiveRef", "extends", "disallow", "divisibleBy"] {
        let schema = format!(r#"{{"type":"object","properties":{{"a/b":{{"{keyword}":true}}}}}}"#);
        let error = Model::compile(&schema).expect_err(keyword);
        assert_eq!(
            (error.keyword(), error.pointer()),
            (keyword, format!("/properties/a~1b/{keyword}").as_str())
        );
    }
}

#[test]
fn unknown_and_misspelt_keywords_are_errors() {
    refused(&[
        (r#"{"minimun":1}"#, "/minimun", "did you mean minimum"),
        (r#"{"type":"array","item":{}}"#, "/item", "did you mean items"),
        (r#"{"requried":["a"]}"#, "/requried", "did you mean required"),
        (r#"{"type":"string","x-dunnage-numbr":{}}"#, "/x-dunnage-numbr", "x-dunnage-number"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"min":0}}"#,
            "/x-dunnage-number/min",
            "minimum",
        ),
        (
            r#"{"type":"string","x-dunnage-time":{"notation":"a","zone":"CET"}}"#,
            "/x-dunnage-time/zone",
            "notation",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"items":[],"separators":" "}}"#,
            "/x-dunnage-numbers/separators",
            "separator",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"name":"x","multipleOf":1,"maximun":3}]}}"#,
            "/x-dunnage-numbers/items/0/maximun",
            "maximum",
        ),
    ]);
}

#[test]
fn a_keyword_of_one_type_needs_that_type() {
    refused(&[
        (r#"{"x-dunnage-usual":{}}"#, "/x-dunnage-usual", "every other type"),
        (r#"{"x-dunnage-number":{"multipleOf":1}}"#, "/x-dunnage-number", "every other type"),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema","type":"number","x-dunnage-number":{"multipleOf":1}}"#,
            "/x-dunnage-number",
            "says nothing about number",
        ),
        (
            r#"{"type":"number","x-dunnage-number":{"multipleOf":1}}"#,
            "/x-dunnage-number",
            "says nothing about number",
        ),
    ]);
}

#[test]
fn contradictions_are_errors() {
    refused(&[
        (r#"{"type":"integer","minimum":3,"maximum":2}"#, "/minimum", "below the maximum"),
        (r#"{"type":"integer","minimum":0.1,"maximum":0.9}"#, "/minimum", "below the maximum"),
        (
            r#"{"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":4}"#,
            "/exclusiveMinimum",
            "below the maximum",
        ),
        (r#"{"type":"integer","multipleOf":10,"minimum":1,"maximum":9}"#, "/multipleOf", "no multiple"),
        (
            r#"{"type":"number","multipleOf":0.1,"minimum":0.01,"maximum":0.09}"#,
            "/minimum",
            "below the maximum",
        ),
        (r#"{"type":"number","multipleOf":0.5,"minimum":0.1,"maximum":0.4}"#, "/multipleOf", "no multiple"),
        (r#"{"type":"number","minimum":3,"maximum":2}"#, "/minimum", "below the maximum"),
        (r#"{"type":"number","exclusiveMinimum":2,"maximum":2}"#, "/exclusiveMinimum", "below the maximum"),
        (r#"{"type":"string","minLength":3,"maxLength":2}"#, "/minLength", "above maxLength"),
        (r#"{"type":"string","minLength":3,"pattern":"^a{2}$"}"#, "/minLength", "longest"),
        (r#"{"type":"array","minItems":3,"maxItems":2}"#, "/minItems", "above maxItems"),
        (
            r#"{"type":"object","properties":{"a":true},"required":["a","b"],"additionalProperties":false}"#,
            "/required/1",
            "not among properties",
        ),
        (r#"{"type":"object","properties":{"a":true},"required":["a","a"]}"#, "/required/1", "twice"),
        (r#"{"enum":[]}"#, "/enum", "empty"),
        (r#"{"type":"string","enum":[2,1]}"#, "/enum/0", "any of these values: 2 is not a string"),
        (r#"{"type":"string","enum":[null]}"#, "/enum/0", "null is not a string"),
        (r#"{"type":"string","maxLength":1,"enum":["bb","bb"]}"#, "/enum/0", "the most is 1"),
        (r#"{"type":"integer","maximum":4,"const":5}"#, "/const", "above the maximum 4"),
        (r#"{"const":1,"enum":[2]}"#, "/enum/0", "do not allow this value"),
        (r#"{"type":"array","minContains":2,"maxContains":1}"#, "/minContains", "above maxContains"),
        (r#"{"minProperties":2,"maxProperties":1}"#, "/minProperties", "above maxProperties"),
        (r#"false"#, "", "allows nothing"),
        (r#"{"type":"object","properties":{"a":false},"required":["a"]}"#, "", "allows nothing"),
        (r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#, "", "allows nothing"),
        (r#"{"not":{}}"#, "", "allows nothing"),
    ]);
}

#[test]
fn values_of_keywords_must_have_their_type() {
    refused(&[
        (r#"3"#, "", "object or a boolean"),
        (r#"{"type":"array","items":[]}"#, "/items", "prefixItems"),
        (r#"{"type":3}"#, "/type", "name"),
        (r#"{"type":[]}"#, "/type", "empty"),
        (r#"{"type":["integer","integer"]}"#, "/type/1", "different"),
        (r#"{"type":"int"}"#, "/type", "no type"),
        (r#"{"type":"integer","minimum":"1"}"#, "/minimum", "number"),
        (r#"{"type":"number","maximum":"1"}"#, "/maximum", "number"),
        (r#"{"type":"number","maximum":1e400}"#, "/maximum", "binary64"),
        (r#"{"type":"string","minLength":-1}"#, "/minLength", "whole number"),
        (r#"{"type":"string","maxLength":1.5}"#, "/maxLength", "whole number"),
        (r#"{"type":"array","maxItems":1e30}"#, "/maxItems", "whole number"),
        (r#"{"type":"string","pattern":1}"#, "/pattern", "string"),
        (r#"{"type":"string","pattern":"("}"#, "/pattern", "does not compile"),
        (r#"{"type":"string","pattern":"a(?=b)"}"#, "/pattern", "lookahead"),
        (r#"{"type":"object","properties":[]}"#, "/properties", "object"),
        (r#"{"type":"object","required":"a"}"#, "/required", "array"),
        (r#"{"type":"object","required":[1]}"#, "/required/0", "names"),
        (r#"{"enum":1}"#, "/enum", "array"),
        (r#"{"const":1e999}"#, "/const", "binary64"),
        (r#"{"$defs":[]}"#, "/$defs", "object"),
        (r#"{"a":1,"a":2}"#, "/a", "twice"),
    ]);
}

#[test]
fn numbers_beyond_64_bits_are_refused() {
    refused(&[
        (r#"{"type":"number","multipleOf":0}"#, "/multipleOf", "above 0"),
        (r#"{"type":"number","multipleOf":-0.1}"#, "/multipleOf", "above 0"),
        (r#"{"type":"number","multipleOf":1e-19}"#, "/multipleOf", "18 decimals"),
        (r#"{"type":"number","multipleOf":1e30}"#, "/multipleOf", "64 bits"),
        (r#"{"type":"integer","minimum":18446744073709551616}"#, "/minimum", "64 bits"),
        (r#"{"type":"integer","maximum":-1e300}"#, "/maximum", "64 bits"),
        (r#"{"type":"number","multipleOf":0.01,"minimum":1e17}"#, "/minimum", "64 bits"),
    ]);
}

#[test]
fn choices_are_arrays_of_schemas() {
    refused(&[
        (r#"{"anyOf":{}}"#, "/anyOf", "array of schemas"),
        (r#"{"allOf":[]}"#, "/allOf", "not empty"),
        (r#"{"oneOf":[3]}"#, "/oneOf/0", "object or a boolean"),
        (r#"{"anyOf":[{"minimun":1},{"type":"null"}]}"#, "/anyOf/0/minimun", "not known"),
        (r#"{"dependentRequired":{"a":"b"}}"#, "/dependentRequired/a", "lists of names"),
        (r#"{"uniqueItems":1}"#, "/uniqueItems", "true or false"),
        (r#"{"patternProperties":{"a(?=b)":{}}}"#, "/patternProperties/a(?=b)", "lookahead"),
    ]);
}

#[test]
fn references_lead_somewhere_and_come_to_an_end() {
    refused(&[
        (r##"{"$ref":"#"}"##, "/$ref", "leads to itself"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
            "/$defs/b/$ref",
            "leads to itself",
        ),
        (
            r##"{"type":"object","anyOf":[{"required":["a"]},{"not":{"allOf":[{"$ref":"#"}]}}]}"##,
            "/anyOf/1/not/allOf/0/$ref",
            "leads to itself",
        ),
        (r##"{"$ref":"#/$defs/a"}"##, "/$ref", "nothing"),
        (r##"{"$ref":"#/$defs/%zz"}"##, "/$ref", "percent"),
        (r##"{"$ref":"#a"}"##, "/$ref", "not in this schema"),
        (r##"{"$ref":"other.json#/a"}"##, "/$ref", "not in this schema"),
        (r##"{"$ref":3}"##, "/$ref", "string"),
        (
            r##"{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"minimun":1}}}"##,
            "/$defs/a/minimun",
            "not known",
        ),
    ]);
}

#[test]
fn another_dialect_is_refused() {
    refused(&[
        (r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#, "/$schema", "2020-12"),
        (r#"{"$schema":1}"#, "/$schema", "string"),
        (
            r#"{"type":"array","items":{"$schema":"https://json-schema.org/draft/2019-09/schema"}}"#,
            "/items/$schema",
            "same dialect",
        ),
    ]);
}

#[test]
fn what_is_left_over_must_follow_from_the_schema() {
    refused(&[
        (
            r#"{"anyOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}"#,
            "/unevaluatedProperties",
            "anyOf",
        ),
        (r#"{"contains":{},"unevaluatedItems":false}"#, "/unevaluatedItems", "contains"),
    ]);
}

#[test]
fn notations_must_be_unambiguous() {
    let time =
        |notation: &str| format!(r#"{{"type":"string","x-dunnage-time":{{"notation":"{notation}"}}}}"#);
    for notation in [
        "",
        "YYYY",
        "YYYY-MM-DD",
        "YYYYMMDDhhmm",
        "YYYY-YY-MM-DD hh:mm:ss",
        "YYYYMMDDDDhhmmss",
        "YYYMMDDhhmmss",
        "YYYYMMDD hhmmss Dec",
        "YYYYMMDDhhmmss.ffffffffff",
        "YYYYMMDDhhmmss.f,f",
        "YYYYMMDDMMhhmmss",
    ] {
        let error = Model::compile(&time(notation)).expect_err(notation);
        assert_eq!(error.pointer(), "/x-dunnage-time/notation", "{notation}: {error}");
    }
    refused(&[
        (r#"{"type":"string","x-dunnage-number":1}"#, "/x-dunnage-number", "object"),
        (r#"{"type":"string","x-dunnage-number":{}}"#, "/x-dunnage-number/multipleOf", "missing"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"digits":0}}"#,
            "/x-dunnage-number/digits",
            "1 to 18",
        ),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"digits":19}}"#,
            "/x-dunnage-number/digits",
            "1 to 18",
        ),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"minimum":2,"maximum":1}}"#,
            "/x-dunnage-number/minimum",
            "maximum",
        ),
        (r#"{"type":"string","maxLength":3,"x-dunnage-number":{"multipleOf":1}}"#, "/maxLength", "beside"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1},"x-dunnage-time":{"notation":"a"}}"#,
            "/x-dunnage-time",
            "beside",
        ),
        (
            r#"{"type":"string","x-dunnage-time":{"notation":"YYYYMMDDhhmmss","epoch":"2000-01-01"}}"#,
            "/x-dunnage-time/epoch",
            "whole second",
        ),
        (
            r#"{"type":"string","x-dunnage-time":{"notation":"YYMMDDhhmmss","epoch":"2100-01-01T00:00:00Z"}}"#,
            "/x-dunnage-time/epoch",
            "no time",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"items":[]}}"#,
            "/x-dunnage-numbers/separator",
            "not empty",
        ),
        (r#"{"type":"string","x-dunnage-numbers":{"separator":"-"}}"#, "/x-dunnage-numbers/separator", "'-'"),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[]}}"#,
            "/x-dunnage-numbers/items",
            "not empty",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"multipleOf":1}]}}"#,
            "/x-dunnage-numbers/items/0/name",
            "letter",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"name":"x","multipleOf":1},{"name":"x","multipleOf":1}]}}"#,
            "/x-dunnage-numbers/items/1/name",
            "twice",
        ),
    ]);
}

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

/// So many definitions, each of which leads back to itself, and stands for the next.
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
fn large_schemas_and_messages_take_their_time_and_no_more() {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_schema_with_a_value_in_the_wrong_place_is_compiled_or_refused(
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        other in any::<proptest::sample::Index>(),
        insert in proptest::sample::select(vec![
            "{\"$ref\":\"#\"}", "{\"not\":{\"$ref\":\"#\"}}", "true", "false", "[]", "{}", "-1", "{\"allOf\":[{\"$ref\":\"#\"},{\"items\":{\"$ref\":\"#\"}}]}",
        ]),
    ) {
        // The text of one value of a real schema stands where another was.
        let text = which.get(REAL);
        let starts: Vec<usize> = text.match_indices(": ").map(|(i, _)| i + 2).collect();
        let value_at = |i: usize| {
            let mut values = serde_json::Deserializer::from_str(&text[i..]).into_iter::<serde_json::Value>();
            let value = values.next().and_then(Result::ok);
            value.map(|value| (value.to_string(), i + values.byte_offset()))
        };
        let (at, other) = (*at.get(&starts), *other.get(&starts));
        if let Some((_, end)) = value_at(at) {
            let _ = Model::compile(&format!("{}{insert}{}", &text[..at], &text[end..]));
            if let Some((value, _)) = value_at(other) {
                let _ = Model::compile(&format!("{}{value}{}", &text[..at], &text[end..]));
            }
        }
    }

    #[test]
    fn a_damaged_schema_is_compiled_or_refused(
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        cut in 0usize..12,
        insert in prop_oneof![
            "[\\[\\]{}\":,0-9.eE+\\-a-z ]{0,8}",
            proptest::sample::select(vec!["\"$ref\":\"#\",", "-1e-9", "1e999", "null", "[]", "{}", "\"type\":\"array\","]).prop_map(str::to_owned),
        ],
    ) {
        let text = which.get(bundled()).1;
        let starts: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        let at = *at.get(&starts);
        let rest: String = text[at..].chars().skip(cut).collect();
        let _ = Model::compile(&format!("{}{insert}{rest}", &text[..at]));
    }
}

#[test]
fn a_notation_that_does_not_make_texts_of_an_asserted_format_is_refused() {
    for schema in [
        r#"{"type":"string","format":"date-time","x-dunnage-number":{"multipleOf":1}}"#,
        r#"{"type":"string","format":"uuid","x-dunnage-time":{"notation":"YYYY-MM-DDThh:mm:ssZ"}}"#,
        r#"{"type":"string","format":"date-time","x-dunnage-time":{"notation":"YYYY-MM-DD hh:mm:ss"}}"#,
    ] {
        let error = Model::compile_with(schema, Options { assert_formats: true }).unwrap_err();
        assert_eq!(error.pointer(), "/format", "{error}");
        assert!(Model::compile(schema).is_ok(), "an annotation: {schema}");
    }
}
