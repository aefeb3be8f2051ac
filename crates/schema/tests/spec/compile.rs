//! The models of supported schemas.

use dunnage_pson::Value;
use dunnage_schema::*;

fn root(schema: &str) -> Type {
    Model::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}")).into_root()
}

fn integer(min: i128, max: i128, step: u64) -> Type {
    Type::Integer(Integer { min, max, step, usual: None, every: None, changes: None })
}

fn decimal(places: u32, step: u64, min: i128, max: i128) -> Type {
    Type::Decimal(Decimal { places, step, min, max, usual: None, quantum: None, round: false, changes: None })
}

const MIN: i128 = i64::MIN as i128;
const MAX: i128 = i64::MAX as i128;

#[test]
fn bounds_of_integers_become_inclusive_multiples() {
    for (schema, expected) in [
        (r#"{"type":"integer"}"#, integer(MIN, u64::MAX.into(), 1)),
        (r#"{"type":"integer","minimum":0,"maximum":18446744073709551615}"#, integer(0, u64::MAX.into(), 1)),
        (r#"{"type":"integer","minimum":-9223372036854775808,"maximum":-1}"#, integer(MIN, -1, 1)),
        (r#"{"type":"integer","minimum":0.5,"maximum":9.5}"#, integer(1, 9, 1)),
        (r#"{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}"#, integer(1, 9, 1)),
        (r#"{"type":"integer","exclusiveMinimum":-0.5,"exclusiveMaximum":9.5}"#, integer(0, 9, 1)),
        (
            r#"{"type":"integer","minimum":1,"exclusiveMinimum":5,"maximum":7,"exclusiveMaximum":9}"#,
            integer(6, 7, 1),
        ),
        (r#"{"type":"integer","multipleOf":5,"minimum":-12,"maximum":12}"#, integer(-10, 10, 5)),
        (r#"{"type":"integer","multipleOf":2.5,"minimum":0,"maximum":1e2}"#, integer(0, 100, 5)),
        (r#"{"type":"integer","multipleOf":0.01,"minimum":0,"maximum":9}"#, integer(0, 9, 1)),
    ] {
        assert_eq!(root(schema), expected, "{schema}");
    }
}

#[test]
fn duplicate_and_excluded_values_of_enum_are_dropped() {
    for (schema, same_as) in [
        (r#"{"enum":["a","b","a"]}"#, r#"{"enum":["a","b"]}"#),
        (r#"{"enum":[1,1.0,2]}"#, r#"{"enum":[1,2]}"#),
        (r#"{"enum":[{"a":1,"b":2},{"b":2,"a":1}]}"#, r#"{"const":{"a":1,"b":2}}"#),
        (r#"{"type":"string","enum":["a",1,"b",null]}"#, r#"{"enum":["a","b"]}"#),
        (r#"{"type":"string","maxLength":1,"enum":["bb","a"]}"#, r#"{"const":"a"}"#),
        (r#"{"const":1,"enum":[2,1]}"#, r#"{"const":1}"#),
    ] {
        assert_eq!(root(schema), root(same_as), "{schema}");
    }
}

#[test]
fn every_notation_of_a_step_is_read_exactly() {
    for (step, places, scaled) in [
        ("0.01", 2, 1),
        ("1e-2", 2, 1),
        ("1E-02", 2, 1),
        ("0.010", 2, 1),
        ("5E-2", 2, 5),
        ("0.05", 2, 5),
        ("0.25", 2, 25),
        ("1", 0, 1),
        ("5e0", 0, 5),
        ("0.5e1", 0, 5),
        ("10", 0, 10),
        ("1e-18", 18, 1),
        ("0.7324443", 7, 7_324_443),
    ] {
        let schema = format!(r#"{{"type":"number","multipleOf":{step},"minimum":0,"maximum":0}}"#);
        assert_eq!(root(&schema), decimal(places, scaled, 0, 0), "{step}");
    }
}

#[test]
fn bounds_of_decimals_become_scaled_and_inclusive() {
    for (schema, expected) in [
        (r#"{"type":"number","multipleOf":0.01}"#, decimal(2, 1, MIN, MAX)),
        (r#"{"type":"number","multipleOf":0.01,"minimum":-40,"maximum":85}"#, decimal(2, 1, -4000, 8500)),
        (r#"{"type":"number","multipleOf":0.1,"minimum":-0.25,"maximum":0.25}"#, decimal(1, 1, -2, 2)),
        (
            r#"{"type":"number","multipleOf":0.1,"exclusiveMinimum":0,"exclusiveMaximum":360}"#,
            decimal(1, 1, 1, 3599),
        ),
        (r#"{"type":"number","multipleOf":0.05,"minimum":0.01,"maximum":0.99}"#, decimal(2, 5, 5, 95)),
        (r#"{"type":"number","multipleOf":0.2,"minimum":0.1,"exclusiveMaximum":1}"#, decimal(1, 2, 2, 8)),
        (r#"{"type":"number","multipleOf":5,"minimum":-7,"maximum":7}"#, decimal(0, 5, -5, 5)),
    ] {
        assert_eq!(root(schema), expected, "{schema}");
    }
}

#[test]
fn numbers_without_a_step_are_binary_floats() {
    let float = |min, max| Type::Float(Float { min, max });
    for (schema, expected) in [
        (r#"{"type":"number"}"#, float(None, None)),
        (r#"{"type":"number","minimum":-1.5,"maximum":1e3}"#, float(Some(-1.5), Some(1000.0))),
        (r#"{"type":"number","exclusiveMinimum":0}"#, float(Some(f64::from_bits(1)), None)),
        (r#"{"type":"number","maximum":1,"exclusiveMaximum":1}"#, float(None, Some(1.0f64.next_down()))),
    ] {
        assert_eq!(root(schema), expected, "{schema}");
    }
}

#[test]
fn null_beside_one_other_schema_is_nullable() {
    let inner = integer(0, 9, 1);
    let nullable = Type::Nullable(Box::new(inner.clone()));
    for schema in [
        r#"{"type":["integer","null"],"minimum":0,"maximum":9}"#,
        r#"{"anyOf":[{"type":"integer","minimum":0,"maximum":9},{"type":"null"}]}"#,
        r#"{"oneOf":[{"const":null},{"type":"integer","minimum":0,"maximum":9}],"title":"t"}"#,
        r##"{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}],"$defs":{"n":{"type":["integer","null"],"minimum":0,"maximum":9}}}"##,
    ] {
        assert_eq!(root(schema), nullable, "{schema}");
    }
    assert_eq!(root(r#"{"type":["null"]}"#), Type::Null);
    assert_eq!(root(r#"{"type":["integer"],"minimum":0,"maximum":9}"#), inner);
    assert_eq!(root(r#"{"anyOf":[{},{"type":"null"}]}"#), Type::Any);
}

#[test]
fn enum_and_const_keep_their_values_in_order() {
    let text = |text: &str| Value::Text(text.into());
    for (schema, expected) in [
        (r#"{"enum":["b","a"]}"#, Type::Enum(vec![text("b"), text("a")])),
        (r#"{"type":"string","enum":["b","a"]}"#, Type::Enum(vec![text("b"), text("a")])),
        (r#"{"enum":[1,2.5,true]}"#, Type::Enum(vec![Value::U64(1), Value::F64(2.5), Value::Bool(true)])),
        (r#"{"enum":["a"]}"#, Type::Const(text("a"))),
        (r#"{"const":-3}"#, Type::Const(Value::I64(-3))),
        (r#"{"const":null}"#, Type::Null),
        (r#"{"enum":[null]}"#, Type::Null),
        (r#"{"type":["string","null"],"enum":["a","b"]}"#, Type::Enum(vec![text("a"), text("b")])),
        (
            r#"{"type":["string","null"],"enum":["a",null,"b"]}"#,
            Type::Nullable(Box::new(Type::Enum(vec![text("a"), text("b")]))),
        ),
        (r#"{"enum":[null,"a"]}"#, Type::Nullable(Box::new(Type::Const(text("a"))))),
        (
            r#"{"const":{"a":[1]}}"#,
            Type::Const(Value::Map(vec![("a".into(), Value::Array(vec![Value::U64(1)]))])),
        ),
    ] {
        assert_eq!(root(schema), expected, "{schema}");
    }
}

#[test]
fn max_length_is_limited_to_the_longest_match() {
    let Type::Text(text) = root(r#"{"type":"string","pattern":"^[ab]{2,5}$","minLength":3,"maxLength":9}"#)
    else {
        panic!("no text")
    };
    assert_eq!((text.min_length, text.max_length, text.format), (3, Some(5), None));
    assert_eq!(text.pattern.unwrap().segments.unwrap(), [Segment { chars: vec!['a', 'b'], min: 2, max: 5 }]);
    let Type::Text(text) = root(r#"{"type":"string","format":"date-time","maxLength":2.0e1}"#) else {
        panic!("no text")
    };
    assert_eq!((text.min_length, text.max_length, text.format), (0, Some(20), Some(TextFormat::DateTime)));
    assert_eq!(text.asserted_format(), None);
    let Type::Text(text) = root(r#"{"type":"string","format":"hostname"}"#) else { panic!("no text") };
    assert_eq!(text, Text::default());
    let asserted = Model::compile_with(
        r#"{"format":"uuid","type":"string"}"#,
        Options { assert_formats: true, ..Options::default() },
    );
    let Type::Text(text) = asserted.unwrap().into_root() else { panic!("no text") };
    assert_eq!(
        (text.min_length, text.max_length, text.asserted_format()),
        (36, Some(36), Some(TextFormat::Uuid))
    );
}

#[test]
fn objects_keep_the_order_of_their_fields() {
    let Type::Object(object) = root(
        r##"{"type":"object","required":["a"],"properties":{
            "b":{"type":"boolean","description":"B"},"a":{"$ref":"#/$defs/x"},"c":{"$ref":"#/$defs/x","description":"C"}},
            "additionalProperties":{"type":"null"},"$defs":{"x":{"type":"boolean","description":"X"}}}"##,
    ) else {
        panic!("no object")
    };
    let field = |name: &str, required, description: &str| Field {
        name: name.into(),
        required,
        kind: Type::Bool,
        description: Some(description.into()),
        default: Annotation::default(),
        drop: Annotation::default(),
    };
    assert_eq!(object.fields, [field("b", false, "B"), field("a", true, "X"), field("c", false, "C")]);
    assert_eq!(object.additional, Some(Box::new(Type::Null)));
    let additional = |schema| match root(schema) {
        Type::Object(object) => object.additional,
        _ => panic!("no object"),
    };
    assert_eq!(additional(r#"{"type":"object"}"#), Some(Box::new(Type::Any)));
    assert_eq!(additional(r#"{"type":"object","additionalProperties":true}"#), Some(Box::new(Type::Any)));
    assert_eq!(additional(r#"{"type":"object","additionalProperties":false}"#), None);
}

#[test]
fn arrays_have_one_type_and_a_range_of_lengths() {
    let array =
        |items: Type, min, max| Type::Array(Array { items: Box::new(items), min, max, series: false });
    assert_eq!(root(r#"{"type":"array"}"#), array(Type::Any, 0, None));
    assert_eq!(
        root(r#"{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":3}"#),
        array(Type::Bool, 1, Some(3))
    );
}

#[test]
fn a_series_has_elements_of_one_type() {
    let is_series = |schema: &str| match root(schema) {
        Type::Array(array) => array.series,
        other => panic!("{other:?}"),
    };
    let series = r#"{"type":"array","maxItems":9,"items":{"type":"boolean"},"x-dunnage-series":true}"#;
    assert!(is_series(series));
    assert!(!is_series(&series.replace("true", "false")));
    let both = format!(r#"{{"allOf":[{series},{{"type":"array","minItems":2}}]}}"#);
    assert!(is_series(&both));
    for (schema, expected) in [
        (series.replace("true", "1"), "must be true or false"),
        (series.replace("items", "prefixItems").replace(r#"{"type":"boolean"}"#, "[{}]"), "one type"),
        (series.replace("array", "object"), "belongs to the type array"),
    ] {
        let error = Model::compile(&schema).unwrap_err();
        assert_eq!(error.pointer(), "/x-dunnage-series", "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn references_follow_json_pointers() {
    for reference in ["#/$defs/a~1b%20~0", "#/%24defs/a~1b%20~0", "#/properties/first"] {
        let schema = r##"{"type":"object","properties":{"first":{"type":"null"},"x":{"$ref":"REF"}},"$defs":{"a/b ~":{"type":"null"}}}"##;
        let Type::Object(object) = root(&schema.replace("REF", reference)) else { panic!("no object") };
        assert_eq!(object.fields[1].kind, Type::Null, "{reference}");
    }
}

#[test]
fn text_that_holds_numbers_has_a_notation() {
    let notation = |digits| NumberText {
        number: Decimal {
            places: 2,
            step: 1,
            min: -4000,
            max: 8500,
            usual: None,
            quantum: None,
            round: false,
            changes: None,
        },
        digits,
    };
    assert_eq!(
        root(r#"{"type":"string","x-dunnage-number":{"multipleOf":0.01,"minimum":-40,"maximum":85}}"#),
        Type::NumberText(notation(1))
    );
    assert_eq!(
        root(
            r#"{"type":["string","null"],"x-dunnage-numbers":{"separator":", ","items":[
                {"name":"x","multipleOf":1e-2,"minimum":-40,"maximum":85},
                {"name":"y_2","multipleOf":1e-2,"minimum":-40,"maximum":85,"digits":3}]}}"#
        ),
        Type::Nullable(Box::new(Type::NumbersText(NumbersText {
            separator: ", ".into(),
            parts: vec![("x".into(), notation(1)), ("y_2".into(), notation(3))]
        })))
    );
    use TimePart::*;
    let literal = |text: &str| Literal(text.into());
    assert_eq!(
        root(
            r#"{"type":"string","x-dunnage-time":{"notation":"DD.MM.YYYY, hh:mm:ss,fff","epoch":"2000-01-01T01:00:00+01:00"}}"#
        ),
        Type::TimeText(TimeText {
            notation: vec![
                Day,
                literal("."),
                Month,
                literal("."),
                Year4,
                literal(", "),
                Hour,
                literal(":"),
                Minute,
                literal(":"),
                Second,
                literal(","),
                Fraction
            ],
            epoch: 946_684_800,
            places: 3,
            until: None,
            every: None,
        })
    );
}

#[test]
fn the_name_is_an_identifier_made_from_the_title() {
    for (title, name) in [
        ("Container", "Container"),
        ("smart meter, v2", "SmartMeterV2"),
        ("3 phases", "Phases"),
        ("Größe", "GrE"),
        ("", "Message"),
        ("天気", "Message"),
    ] {
        assert_eq!(Model::compile(&format!(r#"{{"title":"{title}"}}"#)).unwrap().name(), name, "{title}");
    }
    let model = Model::compile("true").unwrap();
    assert_eq!((model.name(), model.root(), model.definitions()), ("Message", &Type::Any, [].as_slice()));
    assert_eq!(
        (model.slot(), model.slot_from_port(), model.check(), model.statistics()),
        (1, false, 0, None)
    );
}

#[test]
fn annotations_and_foreign_extensions_are_ignored() {
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:x","$comment":"c","$anchor":"a",
        "title":"t","description":"d","default":1,"examples":[2],"deprecated":true,"readOnly":true,"writeOnly":false,
        "contentEncoding":"base64","contentMediaType":"a/b","contentSchema":{},"format":"weekday","x-other":{"minimum":3}}"#;
    assert_eq!(root(schema), Type::Any);
}

#[test]
fn models_can_be_shared_and_compared() {
    fn shared<T: Clone + Send + Sync + PartialEq + std::fmt::Debug>(_: &T) {}
    for (name, text) in bundled() {
        let (one, two) = (Model::compile(text).unwrap(), Model::compile(text).unwrap());
        shared(&one);
        assert_eq!(one, two.clone(), "{name}");
    }
}
