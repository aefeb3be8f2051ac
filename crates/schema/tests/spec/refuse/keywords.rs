//! Keywords that are unknown, contradictory or have wrong values, references and dialects.

use super::refused;
use dunnage_schema::Model;

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
        (r#"{"type":"integr","x-dunnage-usual":{}}"#, "/type", "no type \"integr\""),
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
        (r#"{"type":"object","properties":{"a":true},"required":["a","a"]}"#, "/required/1", "duplicate"),
        (r#"{"enum":[]}"#, "/enum", "empty"),
        (r#"{"type":"string","enum":[2,1]}"#, "/enum/0", "any of these values: 2 is not a string"),
        (r#"{"type":"string","enum":[null]}"#, "/enum/0", "null is not a string"),
        (r#"{"type":"string","maxLength":1,"enum":["bb","bb"]}"#, "/enum/0", "the maximum is 1"),
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
        (r#"{"a":1,"a":2}"#, "/a", "duplicate key"),
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
fn references_must_resolve_and_must_not_be_endless() {
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
fn unknown_and_mixed_dialects_are_refused() {
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
fn unevaluated_keywords_must_not_depend_on_too_much() {
    let choice = r#"{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}]}"#;
    let many = format!(r#"{{"allOf":[{}],"unevaluatedProperties":false}}"#, [choice; 5].join(","));
    refused(&[
        (&many, "/unevaluatedProperties", "64 combinations"),
        (r#"{"contains":{},"unevaluatedItems":false}"#, "/unevaluatedItems", "contains"),
    ]);
}
