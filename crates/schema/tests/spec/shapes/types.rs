//! Unions, enumerations, merged objects and tuples.

use super::{broken, root, same, valid};
use dunnage_schema::{Assertion, Type};

fn assertions(kind: &Type) -> &[Assertion] {
    match kind {
        Type::Checked(checked) => &checked.assertions,
        other => panic!("{other:?} is not checked"),
    }
}

#[test]
fn several_types_are_a_union() {
    let Type::Union(kinds) = root(r#"{"type":["integer","string"],"maximum":9,"maxLength":2}"#) else {
        panic!("no union")
    };
    assert!(matches!(&kinds[..], [Type::Integer(n), Type::Text(t)] if n.max == 9 && t.max_length == Some(2)));
    same(&[
        (r#"{"type":["integer","number"]}"#, r#"{"type":"number"}"#),
        (
            r#"{"type":["null","integer","string"]}"#,
            r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#,
        ),
        (r#"{"anyOf":[{"type":"string"},{"type":"string"}]}"#, r#"{"type":"string"}"#),
        (r#"{"anyOf":[{"type":"string"},true]}"#, "{}"),
        (r#"{"anyOf":[{"type":"string"},false]}"#, r#"{"type":"string"}"#),
    ]);
    assert!(matches!(root(r#"{"type":["null","integer","string"]}"#), Type::Nullable(_)));
    broken(
        r#"{"type":["integer","string"],"maximum":9}"#,
        &[("10", "10 is above the maximum 9"), ("true", "true is none of an integer, a string")],
    );
}

#[test]
fn a_keyword_without_a_type_restricts_only_its_own_type() {
    let Type::Nullable(inner) = root(r#"{"maximum":9}"#) else { panic!("no null") };
    let Type::Union(kinds) = *inner else { panic!("no union") };
    assert!(matches!(&kinds[0], Type::Float(f) if f.max == Some(9.0)), "what it is about comes first");
    valid(r#"{"maximum":9}"#, &["9", "\"a\"", "null", "[1]", "{\"a\":1}", "true"]);
    broken(r#"{"maximum":9}"#, &[("10", "10.0 is above the maximum 9.0")]);
    assert_eq!(root(r#"{"minProperties":0}"#), Type::Any);
    assert!(matches!(root(r#"{"uniqueItems":true}"#), Type::Checked(checked) if checked.kind == Type::Any));
}

#[test]
fn values_of_several_branches_are_one_enumeration() {
    same(&[
        (r#"{"oneOf":[{"const":"a"},{"const":"b"},{"enum":["c","d"]}]}"#, r#"{"enum":["a","b","c","d"]}"#),
        (r#"{"anyOf":[{"const":"a"},{"const":null},{"enum":["a","d"]}]}"#, r#"{"enum":["a","d",null]}"#),
        (
            r#"{"anyOf":[{"const":"a"},{"type":"integer"},{"const":"b"}]}"#,
            r#"{"anyOf":[{"enum":["a","b"]},{"type":"integer"}]}"#,
        ),
        (r#"{"type":"string","allOf":[{"enum":["a",1,"b"]}]}"#, r#"{"enum":["a","b"]}"#),
    ]);
    broken(
        r#"{"oneOf":[{"enum":["a","b"]},{"enum":["b","c"]}]}"#,
        &[("\"b\"", "\"b\" is allowed by 0 and 1 of oneOf, not by one only")],
    );
}

#[test]
fn parts_of_all_of_become_one_object() {
    let schema = r##"{
        "allOf":[{"$ref":"#/$defs/base"},{"properties":{"n":{"maximum":5}},"required":["b"]}],
        "properties":{"n":{"type":"integer","minimum":1},"c":{"type":"null"}},
        "$defs":{"base":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean","description":"B"}}}}}"##;
    let Type::Object(object) = root(schema) else { panic!("no object: {:?}", root(schema)) };
    let fields: Vec<_> = object.fields.iter().map(|field| (field.name.as_str(), field.required)).collect();
    assert_eq!(fields, [("a", false), ("b", true), ("n", false), ("c", false)], "allOf stands first");
    assert_eq!(object.fields[1].description.as_deref(), Some("B"));
    assert_eq!(object.fields[2].kind, root(r#"{"type":"integer","minimum":1,"maximum":5}"#));
    assert_eq!(object.additional, Some(Box::new(Type::Any)));

    same(&[
        (
            r#"{"allOf":[{"type":"object","properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}"#,
            r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#,
        ),
        (
            r#"{"allOf":[{"type":"number","multipleOf":0.5},{"multipleOf":0.2,"minimum":0.3,"maximum":9.9}]}"#,
            r#"{"type":"number","multipleOf":1,"minimum":1,"maximum":9}"#,
        ),
        (
            r#"{"allOf":[{"type":"integer","multipleOf":4},{"type":"number","multipleOf":0.6,"minimum":-1,"maximum":40}]}"#,
            r#"{"type":"integer","multipleOf":12,"minimum":0,"maximum":36}"#,
        ),
        (
            r#"{"allOf":[{"type":"string","minLength":2},{"maxLength":4,"pattern":"^[ab]*$"}]}"#,
            r#"{"type":"string","minLength":2,"maxLength":4,"pattern":"^[ab]*$"}"#,
        ),
        (
            r#"{"allOf":[{"type":"array","items":{"type":"integer"},"maxItems":3},{"minItems":1,"items":{"maximum":4}}]}"#,
            r#"{"type":"array","items":{"type":"integer","maximum":4},"minItems":1,"maxItems":3}"#,
        ),
    ]);
}

#[test]
fn branches_that_differ_in_a_constant_stay_separate() {
    let schema = r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["kind"],"oneOf":[
        {"properties":{"kind":{"const":"t"},"t":{"type":"number"}}},
        {"properties":{"kind":{"const":"n"},"n":{"type":"integer"}}}]}"#;
    let Type::Union(kinds) = root(schema) else { panic!("no union, or one that is checked") };
    let names = |kind: &Type| match kind {
        Type::Object(object) => object.fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (names(&kinds[0]), names(&kinds[1])),
        (vec!["id".into(), "kind".into(), "t".into()], vec!["id".into(), "kind".into(), "n".into()],)
    );
    broken(
        schema,
        &[
            (r#"{"kind":"x"}"#, "an object of 1 is none of the 2 kinds allowed"),
            (r#"{"kind":"t","t":"a"}"#, "\"a\" is not a number at /t"),
        ],
    );

    // If the branches only require fields, one object type is enough.
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
        "oneOf":[{"required":["a"]},{"required":["b"]}]}"#;
    let kind = root(schema);
    assert!(matches!(assertions(&kind), [Assertion::OneOf(_)]));
    valid(schema, &[r#"{"a":1}"#, r#"{"b":1}"#]);
    broken(schema, &[(r#"{"a":1,"b":1}"#, "an object of 2 is allowed by 0 and 1 of oneOf, not by one only")]);
    // An object may match both branches, so the matches are counted.
    let both = r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"type":"object","properties":{"b":{"type":"integer"}}}]}"#;
    assert_eq!(assertions(&root(both)), [Assertion::OneMember]);
    valid(both, &[r#"{"a":1,"b":"x"}"#]);
    broken(both, &[("{}", "an object of 0 is allowed by 0 and 1 of oneOf, not by one only")]);
}

#[test]
fn prefix_items_become_a_tuple() {
    let expected = root(
        r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"null"},"minItems":1,"maxItems":4}"#,
    );
    let Type::Tuple(tuple) = &expected else { panic!("no tuple") };
    assert_eq!(
        (tuple.items.len(), tuple.rest.as_deref(), tuple.min, tuple.max),
        (2, Some(&Type::Null), 1, Some(4))
    );
    same(&[
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":{"type":"null"},"minItems":1,"maxItems":4}"#,
            r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"null"},"minItems":1,"maxItems":4}"#,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{},"maxItems":1}"#,
            r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":false}"#,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"integer"},false,{"type":"string"}]}"#,
            r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":false}"#,
        ),
        (r#"{"type":"array","items":false}"#, r#"{"type":"array","maxItems":0}"#),
    ]);
    let closed = r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":false}"#;
    valid(closed, &["[]", "[1]"]);
    broken(
        closed,
        &[
            ("[1,2]", "the array has 2 elements; the maximum is 1"),
            ("[\"a\"]", "\"a\" is not an integer at /0"),
        ],
    );
}
