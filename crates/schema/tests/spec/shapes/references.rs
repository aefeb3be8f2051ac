//! References, recursive definitions and the dialects of JSON Schema.

use super::{broken, model, root, valid};
use crate::json::message;
use dunnage_schema::Type;

#[test]
fn a_recursive_schema_becomes_a_definition() {
    let tree = model(
        r##"{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}"##,
    );
    assert_eq!(tree.definitions(), std::slice::from_ref(tree.root()));
    let Type::Object(object) = &tree.root() else { panic!("the whole message is no object") };
    assert!(matches!(&object.fields[1].kind, Type::Array(array) if *array.items == Type::Definition(0)));
    let text = r#"{"children":[{"name":"a","children":[]},{"children":[{"name":1}]}]}"#;
    let violation = tree.validate(&message(text)).unwrap_err();
    assert_eq!(violation.to_string(), "1 is not a string at /children/1/children/0/name");

    // Two schemas that refer to each other need one definition. A schema that is not recursive is inlined.
    let both = model(
        r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/a"},"y":{"$ref":"#/$defs/c"}},"$defs":{
            "a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":["array","null"],"items":{"$ref":"#/$defs/a"}},"c":{"type":"null"}}}"##,
    );
    let Type::Object(object) = &both.root() else { panic!("no object") };
    assert_eq!((&object.fields[0].kind, &object.fields[1].kind), (&Type::Definition(0), &Type::Null));
    assert_eq!(both.definitions().len(), 1);
    assert!(both.validate(&message(r#"{"x":[null,[[]]]}"#)).is_ok());
    assert!(both.validate(&message(r#"{"x":[[1]]}"#)).is_err());
}

#[test]
fn references_find_schemas_by_name() {
    for (schema, good, bad) in [
        (r##"{"$ref":"#n","$defs":{"x":{"$anchor":"n","type":"null"}}}"##, "null", "1"),
        (
            r##"{"$id":"https://a.example/s","$ref":"t","$defs":{"x":{"$id":"/t","type":"array","items":{"$ref":"#/$defs/y"},"$defs":{"y":{"type":"null"}}}}}"##,
            "[null]",
            "[1]",
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-04/schema#","items":{"$ref":"#n"},"definitions":{"x":{"id":"#n","type":"null"}}}"##,
            "[null]",
            "[1]",
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"o.json#/definitions/y","type":"string"},"definitions":{"x":{"$id":"o.json","definitions":{"y":{"type":"null"}}}}}"##,
            "[null]",
            "[\"a\"]",
        ),
    ] {
        valid(schema, &[good]);
        assert!(model(schema).validate(&message(bad)).is_err(), "{schema} and {bad}");
    }
}

#[test]
fn dialects_differ_where_the_standard_does() {
    let in_draft = |draft: &str, rest: &str| format!(r#"{{"$schema":"{draft}",{rest}}}"#);
    for draft in ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft-04/schema"] {
        let schema = in_draft(
            draft,
            r#""type":"integer","minimum":1,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false"#,
        );
        assert_eq!(root(&schema), root(r#"{"type":"integer","minimum":2,"maximum":5}"#));
        let schema = in_draft(draft, r#""type":"number","maximum":5,"exclusiveMaximum":true"#);
        assert_eq!(root(&schema), root(r#"{"type":"number","exclusiveMaximum":5}"#));
    }
    let beside = r##""properties":{"a":{"$ref":"#/definitions/n","maximum":5,"requried":1}},"type":"object","definitions":{"n":{"type":"integer"}}"##;
    valid(&in_draft("http://json-schema.org/draft-07/schema#", beside), &[r#"{"a":9}"#]);
    let beside = beside.replace(r#","requried":1"#, "");
    broken(
        &in_draft("https://json-schema.org/draft/2019-09/schema", &beside),
        &[(r#"{"a":9}"#, "9 is above the maximum 5 at /a")],
    );
    let old = "http://json-schema.org/draft-06/schema#";
    valid(&in_draft(old, r#""type":"string","minimum":1,"item":{},"enum":["a","a",1]"#), &["\"a\""]);
}
