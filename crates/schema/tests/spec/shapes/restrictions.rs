//! Keywords that restrict values without a change of the type, and keywords that restrict nothing.

use super::{broken, root, valid};
use crate::json::message;
use dunnage_schema::{Model, Type};

#[test]
fn violations_of_restrictions_name_their_reason() {
    for (schema, message, reason) in [
        (r#"{"not":{"type":"string"}}"#, "\"a\"", "\"a\" is what the schema excludes with not"),
        (
            r#"{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}}"#,
            "4",
            "4.0 is below the minimum 5.0",
        ),
        (
            r#"{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"string"}}"#,
            "null",
            "null is not a string",
        ),
        (
            r#"{"uniqueItems":true}"#,
            r#"[{"a":1,"b":2},3,{"b":2,"a":1.0}]"#,
            "the element is equal to element 0 at /2",
        ),
        (
            r#"{"contains":{"type":"integer"}}"#,
            "[\"a\"]",
            "contains 0 elements that are an integer as required; the minimum is 1",
        ),
        (
            r#"{"contains":{"type":"integer"},"minContains":0,"maxContains":1}"#,
            "[1,2]",
            "contains 2 elements that are an integer as required; the maximum is 1",
        ),
        (r#"{"minProperties":1}"#, "{}", "the object has 0 properties; the minimum is 1"),
        (r#"{"maxProperties":1}"#, r#"{"a":1,"b":1}"#, "the object has 2 properties; the maximum is 1"),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "\"ab\" has 2 characters; the maximum is 1 at /ab",
        ),
        (
            r#"{"dependentRequired":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            "the field \"b\" is missing, which \"a\" asks for",
        ),
        (r#"{"dependencies":{"a":["b"]}}"#, r#"{"a":1}"#, "the field \"b\" is missing, which \"a\" asks for"),
        (
            r#"{"dependentSchemas":{"a":{"maxProperties":1}}}"#,
            r#"{"a":1,"b":1}"#,
            "the object has 2 properties; the maximum is 1",
        ),
        (r#"{"type":"object","properties":{"a":false}}"#, r#"{"a":1}"#, "there is no field \"a\" at /a"),
        (
            r#"{"type":"object","patternProperties":{"^n":{"type":"integer"}},"additionalProperties":false}"#,
            r#"{"n":"x"}"#,
            "\"x\" is not an integer at /n",
        ),
        (
            r#"{"type":"object","patternProperties":{"^n":{"type":"integer"}},"additionalProperties":false}"#,
            r#"{"m":1}"#,
            "there is no field \"m\", and no pattern that it matches at /m",
        ),
        (
            r#"{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false}"#,
            r#"{"a":1,"b":1,"c":1}"#,
            "there is no field \"c\" at /c",
        ),
        (r#"{"type":"number","exclusiveMaximum":360}"#, "360.0", "360.0 is not below 360"),
        (r#"{"type":"number","exclusiveMinimum":0.1}"#, "0.1", "0.1 is not above 0.1"),
        (r#"{"type":"number","maximum":360.5}"#, "361.5", "361.5 is above the maximum 360.5"),
        (r#"{"prefixItems":[{}],"unevaluatedItems":{"type":"null"}}"#, "[1,1]", "1 is not null at /1"),
    ] {
        broken(schema, &[(message, reason)]);
    }
    let pattern = r#"{"type":"object","properties":{"n1":{"maximum":5}},"patternProperties":{"^n":{"type":"integer"}},"additionalProperties":false}"#;
    let kind = root(pattern);
    let Type::Checked(checked) = &kind else { panic!("no pattern") };
    let Type::Object(object) = &checked.kind else { panic!("no object") };
    assert!(
        matches!(&object.fields[0].kind, Type::Integer(n) if n.max == 5),
        "a field is what its pattern says, too"
    );
    assert!(matches!(object.additional.as_deref(), Some(Type::Integer(_))));
}

#[test]
fn choices_may_decide_which_fields_are_evaluated() {
    // Members that only require fields decide nothing: the Sensor Web's schemas.
    let sensor_web = r#"{"type":"object","properties":{"code":{},"href":{}},"anyOf":[{"required":["code"]},{"required":["href"]}],
        "unevaluatedProperties":false}"#;
    valid(sensor_web, &[r#"{"code":1}"#, r#"{"href":1,"code":2}"#]);
    broken(sensor_web, &[(r#"{"code":1,"x":2}"#, "there is no field \"x\" at /x")]);
    let discriminated = r#"{"type":"object","properties":{"site":{"enum":["port","sea"]}},"required":["kind"],
        "unevaluatedProperties":false,"oneOf":[
            {"properties":{"kind":{"const":"door"},"open":{"type":"boolean"}}},
            {"properties":{"kind":{"const":"temp"},"celsius":{"type":"number"}}}]}"#;
    valid(
        discriminated,
        &[r#"{"site":"sea","kind":"door","open":false}"#, r#"{"kind":"temp","celsius":1.5}"#],
    );
    for message in [r#"{"kind":"door","celsius":1.5}"#, r#"{"kind":"none"}"#, r#"{"kind":"temp","x":1}"#] {
        assert!(
            Model::compile(discriminated).unwrap().validate(&crate::json::message(message)).is_err(),
            "{message}"
        );
    }
    let Type::Union(kinds) = root(discriminated) else { panic!("no union: {:?}", root(discriminated)) };
    assert!(kinds.iter().all(|kind| matches!(kind, Type::Object(object) if object.additional.is_none())));
    let condition = r#"{"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},
        "then":{"properties":{"b":{}}},"else":{"properties":{"c":{}}},"unevaluatedProperties":false}"#;
    valid(condition, &[r#"{"a":1,"b":2}"#, r#"{"c":2}"#]);
    for message in [r#"{"a":1,"c":2}"#, r#"{"b":2}"#, r#"{"a":2}"#] {
        assert!(
            Model::compile(condition).unwrap().validate(&crate::json::message(message)).is_err(),
            "{message}"
        );
    }
}

#[test]
fn keywords_of_other_types_and_bounds_beyond_64_bits_restrict_nothing() {
    for (schema, valid) in [
        (r#"{"type":"array","items":{"type":"integer"},"additionalProperties":false}"#, "[1]"),
        (r#"{"type":"string","minimum":1,"required":["a"]}"#, r#""x""#),
        (r#"{"type":"null","items":{}}"#, "null"),
        (r#"{"type":"integer","minimum":-1e30,"maximum":1e40}"#, "-9223372036854775808"),
        (r#"{"type":"number","multipleOf":1e-16,"minimum":0,"maximum":1000}"#, "0.5"),
        (r#"{"type":"number","multipleOf":0.01,"maximum":1e300}"#, "1.25"),
    ] {
        let model = Model::compile(schema).unwrap_or_else(|e| panic!("{e}: {schema}"));
        assert_eq!(model.validate(&message(valid)), Ok(()), "{schema}");
    }
    for schema in
        [r#"{"type":"integer","minimum":1e30}"#, r#"{"type":"number","multipleOf":0.01,"maximum":-1e30}"#]
    {
        let error = Model::compile(schema).unwrap_err();
        assert!(error.to_string().contains("leaves no number that fits 64 bits"), "{error}");
    }
}
