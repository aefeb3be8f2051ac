//! What schemas of several keywords become: the types that codecs are driven by.

use crate::json::message;
use dunnage_schema::*;

fn model(schema: &str) -> Model {
    Model::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

fn root(schema: &str) -> Type {
    model(schema).root
}

/// Both schemas are the same type.
fn same(pairs: &[(&str, &str)]) {
    for (schema, plain) in pairs {
        assert_eq!(root(schema), root(plain), "{schema}");
    }
}

fn valid(schema: &str, messages: &[&str]) {
    for text in messages {
        assert_eq!(model(schema).validate(&message(text)), Ok(()), "{schema} and {text}");
    }
}

fn broken(schema: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let violation = model(schema).validate(&message(text)).expect_err(text);
        assert_eq!(violation.to_string(), *expected, "{schema} and {text}");
    }
}

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
fn without_a_type_all_others_are_allowed() {
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
fn members_that_differ_in_a_constant_stay_apart() {
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

    // Where the branches only ask for fields, one object is enough.
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
        "oneOf":[{"required":["a"]},{"required":["b"]}]}"#;
    let kind = root(schema);
    assert!(matches!(assertions(&kind), [Assertion::OneOf(_)]));
    valid(schema, &[r#"{"a":1}"#, r#"{"b":1}"#]);
    broken(schema, &[(r#"{"a":1,"b":1}"#, "an object of 2 is allowed by 0 and 1 of oneOf, not by one only")]);
    // Objects that may be both are counted.
    let both = r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"type":"object","properties":{"b":{"type":"integer"}}}]}"#;
    assert_eq!(assertions(&root(both)), [Assertion::OneMember]);
    valid(both, &[r#"{"a":1,"b":"x"}"#]);
    broken(both, &[("{}", "an object of 0 is allowed by 0 and 1 of oneOf, not by one only")]);
}

#[test]
fn first_elements_make_a_tuple() {
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
        &[("[1,2]", "an array of 2; the most is 1"), ("[\"a\"]", "\"a\" is not an integer at /0")],
    );
}

#[test]
fn a_schema_that_leads_back_to_itself_is_a_definition() {
    let tree = model(
        r##"{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}"##,
    );
    assert_eq!(tree.definitions, std::slice::from_ref(&tree.root));
    let Type::Object(object) = &tree.root else { panic!("the whole message is no object") };
    assert!(matches!(&object.fields[1].kind, Type::Array(array) if *array.items == Type::Definition(0)));
    let text = r#"{"children":[{"name":"a","children":[]},{"children":[{"name":1}]}]}"#;
    let violation = tree.validate(&message(text)).unwrap_err();
    assert_eq!(violation.to_string(), "1 is not a string at /children/1/children/0/name");

    // Two that lead to each other need one definition; what does not lead back is written out.
    let both = model(
        r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/a"},"y":{"$ref":"#/$defs/c"}},"$defs":{
            "a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":["array","null"],"items":{"$ref":"#/$defs/a"}},"c":{"type":"null"}}}"##,
    );
    let Type::Object(object) = &both.root else { panic!("no object") };
    assert_eq!((&object.fields[0].kind, &object.fields[1].kind), (&Type::Definition(0), &Type::Null));
    assert_eq!(both.definitions.len(), 1);
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

#[test]
fn what_only_restricts_names_its_reason() {
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
            "contains 0 elements that are an integer as asked for; the least is 1",
        ),
        (
            r#"{"contains":{"type":"integer"},"minContains":0,"maxContains":1}"#,
            "[1,2]",
            "contains 2 elements that are an integer as asked for; the most is 1",
        ),
        (r#"{"minProperties":1}"#, "{}", "an object of 0; the least is 1"),
        (r#"{"maxProperties":1}"#, r#"{"a":1,"b":1}"#, "an object of 2; the most is 1"),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            "\"ab\" has 2 characters; the most is 1 at /ab",
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
            "an object of 2; the most is 1",
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
fn a_small_schema_cannot_keep_a_message_waiting() {
    // Every level is looked at twice by the one above.
    let schema = r##"{"type":"array","items":{"$ref":"#","not":{"not":{"$ref":"#"}}}}"##;
    valid(schema, &["[[[]],[]]"]);
    let deep = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let violation = model(schema).validate(&message(&deep)).unwrap_err();
    assert!(violation.message().contains("steps"), "{violation}");
}

#[test]
fn a_small_schema_cannot_become_huge() {
    // Each definition is a union of objects of the one before, in every combination.
    let mut definitions = vec![r#""d0":{"type":"object","properties":{"z":{"type":"null"}}}"#.to_owned()];
    for i in 1..30 {
        let one = |name: &str| {
            format!(r##"{{"type":"object","properties":{{"{name}":{{"$ref":"#/$defs/d{}"}}}}}}"##, i - 1)
        };
        definitions.push(format!(
            r#""d{i}":{{"allOf":[{{"anyOf":[{},{}]}},{{"anyOf":[{},{}]}}]}}"#,
            one("a"),
            one("b"),
            one("c"),
            one("d")
        ));
    }
    let schema = format!(r##"{{"$ref":"#/$defs/d29","$defs":{{{}}}}}"##, definitions.join(","));
    let error = Model::compile(&schema).unwrap_err();
    assert!(error.message().contains("more than 100000"), "{error}");
}

#[test]
fn many_choices_inside_one_another_do_not_take_the_stack() {
    // Between two levels of the message stand sixty schemas.
    let mut schema = r##"{"type":"array","items":{"$ref":"#"}}"##.to_owned();
    for _ in 0..30 {
        schema = format!(r#"{{"not":{{"not":{schema}}}}}"#);
    }
    let schema = format!(r##"{{"type":"array","items":{schema}}}"##);
    let model = model(&schema);
    let nested = |depth: usize| message(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    assert_eq!(model.validate(&nested(10)), Ok(()));
    let violation = model.validate(&nested(100)).unwrap_err();
    assert!(violation.message().contains("inside one another"), "{violation}");
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
