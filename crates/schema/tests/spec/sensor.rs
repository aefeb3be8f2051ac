//! `x-dunnage-quantum`, `x-dunnage-usual`, `until`, `x-dunnage-known` and `x-dunnage-slot`.

use crate::{json::message, refuse::refused};
use dunnage_pson::Value;
use dunnage_schema::*;

fn model(schema: &str) -> Model {
    Model::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

fn decimal(schema: &str) -> Decimal {
    match model(schema).into_root() {
        Type::Decimal(decimal) => decimal,
        Type::NumberText(text) => text.number,
        other => panic!("{schema} is {other:?}"),
    }
}

#[test]
fn a_quantum_allows_only_its_rounded_multiples() {
    let number = decimal(
        r#"{"type":"number","multipleOf":0.0001,"minimum":-24000,"maximum":24000,"x-dunnage-quantum":0.7324443}"#,
    );
    assert_eq!(number.quantum, Some(Quantum::new(7_324_443, 7)));
    // 32767 * 0.7324443 is above 24000.
    assert_eq!((number.min, number.max), (-239_992_699, 239_992_699));
    assert_eq!(number.counts(), (-32766, 32766));
    assert_eq!(number.scaled(&Value::F64(-993.9269)), Some(-9_939_269));
    assert_eq!(number.scaled(&Value::F64(-993.9268)), None);

    let text = r#"{"type":"string","x-dunnage-number":{"multipleOf":0.0001,"minimum":-24000,"maximum":24000,"quantum":0.7324443}}"#;
    assert_eq!(decimal(text), number);
    let model = model(text);
    assert_eq!(model.validate(&message(r#""-993.9269""#)), Ok(()));
    for (text, reason) in [
        ("-993.9268", r#""-993.9268" is not a multiple of 0.7324443, rounded to 0.0001"#),
        ("24000.0000", r#""24000.0000" is above the maximum 23999.2699"#),
    ] {
        let violation = model.validate(&Value::Text(text.into())).unwrap_err();
        assert_eq!(violation.to_string(), reason);
    }
    // A quantum with fewer decimals than the step gets the step's decimals.
    let coarse = decimal(
        r#"{"type":"number","multipleOf":0.01,"x-dunnage-quantum":5e-1,"minimum":-1.1,"maximum":1.1}"#,
    );
    assert_eq!(coarse.quantum, Some(Quantum::new(50, 2)));
    assert_eq!((coarse.min, coarse.max, coarse.counts()), (-100, 100, (-2, 2)));
}

#[test]
fn usual_bounds_are_rounded_inwards_and_must_lie_in_the_range() {
    let whole = |schema: &str| match model(schema).root() {
        Type::Integer(integer) => integer.usual,
        other => panic!("{schema} is {other:?}"),
    };
    let schema = |usual: &str| {
        format!(
            r#"{{"type":"integer","minimum":-100,"maximum":100,"multipleOf":5,"x-dunnage-usual":{usual}}}"#
        )
    };
    assert_eq!(whole(&schema(r#"{"minimum":-7,"maximum":12.5}"#)), Some((-5, 10)));
    assert_eq!(
        whole(&schema(r#"{"minimum":-100,"maximum":100}"#)),
        None,
        "a usual range that is the whole range"
    );
    let rare = model(&schema(r#"{"minimum":-7,"maximum":12.5}"#));
    assert_eq!(rare.validate(&Value::U64(100)), Ok(()), "a value outside of the usual range is valid");

    let number = decimal(
        r#"{"type":"number","multipleOf":0.01,"minimum":-40,"maximum":85,"x-dunnage-usual":{"minimum":-0.005,"maximum":30}}"#,
    );
    assert_eq!(number.usual, Some((0, 3000)));
    let number = decimal(
        r#"{"type":"string","x-dunnage-number":{"multipleOf":0.1,"minimum":0,"maximum":9,"quantum":0.3,"usual":{"minimum":0.2,"maximum":1}}}"#,
    );
    assert_eq!(number.usual, Some((3, 9)), "in multiples of the quantum");
    refused(&[
        (&schema(r#"{"minimum":-105,"maximum":0}"#), "/x-dunnage-usual/minimum", "between"),
        (&schema(r#"{"minimum":0,"maximum":105}"#), "/x-dunnage-usual/maximum", "between"),
        (&schema(r#"{"minimum":1,"maximum":4}"#), "/x-dunnage-usual", "no number"),
        (&schema(r#"{"minimum":1}"#), "/x-dunnage-usual/maximum", "missing"),
        (&schema(r#"{"minimum":1,"maximum":7,"most":9}"#), "/x-dunnage-usual/most", "minimum, maximum"),
        (&schema(r#"{"minimum":1,"maximum":1e30}"#), "/x-dunnage-usual/maximum", "64 bits"),
        (&schema("3"), "/x-dunnage-usual", "object"),
        (
            r#"{"type":"number","x-dunnage-usual":{"minimum":0,"maximum":1}}"#,
            "/x-dunnage-usual",
            "multipleOf",
        ),
        (
            r#"{"type":"string","x-dunnage-usual":{"minimum":0,"maximum":1}}"#,
            "/x-dunnage-usual",
            "says nothing",
        ),
    ]);
}

#[test]
fn a_usual_change_has_the_decimals_of_its_number() {
    let changes = |schema: &str| decimal(schema).changes;
    assert_eq!(changes(r#"{"type":"number","multipleOf":0.05,"x-dunnage-changes":0.2}"#), Some(20));
    assert_eq!(changes(r#"{"type":"string","x-dunnage-number":{"multipleOf":0.1,"changes":0}}"#), Some(0));
    assert_eq!(changes(r#"{"type":"number","multipleOf":0.1}"#), None);
    let both = r#"{"allOf":[{"type":"number","multipleOf":0.1,"x-dunnage-changes":0.2},{"type":"number","multipleOf":0.01}]}"#;
    assert_eq!(changes(both), Some(2), "in units of the combined number");
    let number =
        |changes: &str| format!(r#"{{"type":"number","multipleOf":0.1,"x-dunnage-changes":{changes}}}"#);
    refused(&[
        (&number("-1"), "/x-dunnage-changes", "at least 0"),
        (&number("0.15"), "/x-dunnage-changes", "no more decimals"),
        (&number("1e10"), "/x-dunnage-changes", "2^32"),
        (&number("true"), "/x-dunnage-changes", "number"),
        (r#"{"type":"number","x-dunnage-changes":1}"#, "/x-dunnage-changes", "needs multipleOf"),
        (r#"{"type":"boolean","x-dunnage-changes":1}"#, "/x-dunnage-changes", "says nothing"),
        (
            r#"{"type":"integer","x-dunnage-every":10,"x-dunnage-changes":1}"#,
            "/x-dunnage-changes",
            "x-dunnage-every",
        ),
    ]);
}

#[test]
fn a_number_grows_by_fewer_than_2_to_the_40_steps() {
    let every = |step: u64, every: u64| {
        format!(r#"{{"type":"integer","multipleOf":{step},"x-dunnage-every":{every}}}"#)
    };
    for (step, most) in [(1, (1 << 40) - 1), (4, (1 << 42) - 4)] {
        Model::compile(&every(step, most)).unwrap();
        refused(&[
            (&every(step, most + step), "/x-dunnage-every", "below 2^40"),
            (&every(step, 0), "/x-dunnage-every", "above 0"),
        ]);
    }
    refused(&[(&every(4, 6), "/x-dunnage-every", "multiple of the smallest step")]);
}

#[test]
fn a_quantum_that_does_not_determine_its_count_is_rejected() {
    let schema = |rest: &str| format!(r#"{{"type":"number",{rest}}}"#);
    refused(&[
        (&schema(r#""x-dunnage-quantum":0.5"#), "/x-dunnage-quantum", "needs multipleOf"),
        (&schema(r#""multipleOf":0.5,"x-dunnage-quantum":0.7"#), "/multipleOf", "0.01"),
        (&schema(r#""multipleOf":10,"x-dunnage-quantum":20"#), "/multipleOf", "0.01"),
        (&schema(r#""multipleOf":0.1,"x-dunnage-quantum":0.09"#), "/x-dunnage-quantum", "smaller multipleOf"),
        (
            &schema(r#""multipleOf":0.01,"x-dunnage-quantum":{"value":175,"divisor":65535,"offset":-45}"#),
            "/x-dunnage-quantum",
            "smaller multipleOf",
        ),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":{"offset":1}"#),
            "/x-dunnage-quantum/value",
            "missing",
        ),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":{"value":1,"divisor":0}"#),
            "/x-dunnage-quantum/divisor",
            "from 1",
        ),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":{"value":1,"divisor":0.5}"#),
            "/x-dunnage-quantum/divisor",
            "whole",
        ),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":{"value":1,"per":2}"#),
            "/x-dunnage-quantum/per",
            "",
        ),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":{"value":1,"offset":1e30}"#),
            "/x-dunnage-quantum",
            "64 bits",
        ),
        (
            &schema(
                r#""multipleOf":0.000000000000000001,"x-dunnage-quantum":{"value":4000000000,"divisor":4294967295}"#,
            ),
            "/x-dunnage-quantum",
            "64 bits",
        ),
        (
            &schema(r#""multipleOf":1,"x-dunnage-quantum":{"value":1,"offset":-9000000000000000000}"#),
            "/x-dunnage-quantum",
            "narrow",
        ),
        (&schema(r#""multipleOf":0.1,"x-dunnage-quantum":0"#), "/x-dunnage-quantum", "above 0"),
        (&schema(r#""multipleOf":0.1,"x-dunnage-quantum":"1""#), "/x-dunnage-quantum", "number"),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":1.0000000000000000001"#),
            "/x-dunnage-quantum",
            "18 decimals",
        ),
        (&schema(r#""multipleOf":0.1,"x-dunnage-quantum":1e30"#), "/x-dunnage-quantum", "64 bits"),
        (
            &schema(r#""multipleOf":0.1,"x-dunnage-quantum":5,"minimum":1,"maximum":4"#),
            "/x-dunnage-quantum",
            "no multiple",
        ),
        (r#"{"type":"integer","x-dunnage-quantum":2}"#, "/x-dunnage-quantum", "type number"),
    ]);
}

#[test]
fn times_can_have_an_end() {
    let schema = |until: &str| {
        format!(
            r#"{{"type":"string","x-dunnage-time":{{"notation":"YYYY-MM-DD hh:mm:ss.f","epoch":"2020-01-01T00:00:00Z","until":{until}}}}}"#
        )
    };
    let Type::TimeText(time) = model(&schema(r#""2020-01-01T01:00:09+01:00""#)).into_root() else {
        panic!("no time")
    };
    assert_eq!((time.until, time.range()), (Some(1_577_836_809), (0, 99)));
    assert_eq!(time.parse("2020-01-01 00:00:09.9"), Some(99));
    assert_eq!(time.parse("2020-01-01 00:00:10.0"), None);
    let model = model(&schema(r#""2020-01-01T00:00:09Z""#));
    let violation = model.validate(&message(r#""2020-01-01 00:00:10.0""#)).unwrap_err();
    assert_eq!(
        violation.message(),
        r#""2020-01-01 00:00:10.0" is after the last time "2020-01-01 00:00:09.9""#
    );
    refused(&[
        (&schema(r#""2019-12-31T23:59:59Z""#), "/x-dunnage-time/until", "before the first"),
        (&schema(r#""2020-01-01T00:00:09.5Z""#), "/x-dunnage-time/until", "whole second"),
        (&schema("3"), "/x-dunnage-time/until", "string"),
    ]);
}

#[test]
fn a_text_is_known_at_most_once() {
    let known = r#"{"type":"string","pattern":"^[a-z]{3}$","x-dunnage-known":"device"}"#;
    let object = |required: &str, more: &str| {
        format!(
            r##"{{"type":"object","properties":{{"id":{{"$ref":"#/$defs/id"}}{more}}},"required":[{required}],"$defs":{{"id":{known}}}}}"##
        )
    };
    let compiled = model(&object(r#""id""#, ""));
    let Type::Object(root) = &compiled.root() else { panic!("no object") };
    assert!(matches!(&root.fields[0].kind, Type::Known(_, inner) if matches!(**inner, Type::Text(_))));
    assert_eq!(compiled.validate(&message(r#"{"id":"abc"}"#)), Ok(()));
    assert_eq!(
        compiled.validate(&message(r#"{"id":"abcd"}"#)).unwrap_err().pointer(),
        "/id",
        "the value is still checked"
    );
    let phone = r#","tel":{"type":"string","x-dunnage-known":"msisdn"}"#;
    let Type::Object(root) = model(&object(r#""id","tel""#, phone)).into_root() else { panic!("no object") };
    assert!(matches!(&root.fields[1].kind, Type::Known(name, _) if name == "msisdn"));
    let numbers = r#"{"type":"string","x-dunnage-number":{"multipleOf":1},"x-dunnage-known":"device"}"#;
    assert!(matches!(model(numbers).root(), Type::Known(_, _)));
    refused(&[
        (&object("", ""), "/$defs/id/x-dunnage-known", "required"),
        (
            &object(r#""id","b""#, &format!(r#","b":{known}"#)),
            "/properties/b/x-dunnage-known",
            "once in a schema",
        ),
        (&format!(r#"{{"type":"array","items":{known}}}"#), "/items/x-dunnage-known", "not in an array"),
        (&format!(r#"{{"anyOf":[{known},{{"type":"null"}}]}}"#), "/anyOf/0/x-dunnage-known", "choice"),
        (
            &format!(r#"{{"type":"object","additionalProperties":{known}}}"#),
            "/additionalProperties/x-dunnage-known",
            "required",
        ),
        (r#"{"type":["string","null"],"x-dunnage-known":"device"}"#, "/x-dunnage-known", "null"),
        (r#"{"type":"string","x-dunnage-known":"2nd"}"#, "/x-dunnage-known", "device"),
        (r#"{"type":"string","x-dunnage-known":""}"#, "/x-dunnage-known", "a letter"),
        (r#"{"type":"string","x-dunnage-known":true}"#, "/x-dunnage-known", "another name"),
        (r#"{"type":"integer","x-dunnage-known":"device"}"#, "/x-dunnage-known", "says nothing"),
    ]);
}

#[test]
fn a_slot_applies_to_the_whole_schema() {
    assert_eq!(model(r#"{"type":"null"}"#).slot(), 1);
    assert_eq!(model(r#"{"type":"null","x-dunnage-slot":63}"#).slot(), 63);
    refused(&[
        (r#"{"x-dunnage-slot":0}"#, "/x-dunnage-slot", "1 to 63"),
        (r#"{"x-dunnage-slot":64}"#, "/x-dunnage-slot", "1 to 63"),
        (r#"{"x-dunnage-slot":1.5}"#, "/x-dunnage-slot", "1 to 63"),
        (r#"{"x-dunnage-slot":"1"}"#, "/x-dunnage-slot", "1 to 63"),
        (r#"{"type":"array","items":{"x-dunnage-slot":2}}"#, "/items/x-dunnage-slot", "top"),
    ]);
}

#[test]
fn the_slot_may_come_from_the_port() {
    assert!(!model(r#"{"type":"null"}"#).slot_from_port());
    assert!(model(r#"{"type":"null","x-dunnage-slot-from":"port"}"#).slot_from_port());
    refused(&[
        (r#"{"x-dunnage-slot-from":"link"}"#, "/x-dunnage-slot-from", "must be \"port\""),
        (r#"{"x-dunnage-slot-from":true}"#, "/x-dunnage-slot-from", "must be \"port\""),
        (r#"{"x-dunnage-slot-from":null}"#, "/x-dunnage-slot-from", "must be \"port\""),
        (r#"{"type":"array","items":{"x-dunnage-slot-from":"port"}}"#, "/items/x-dunnage-slot-from", "top"),
    ]);
}

#[test]
fn numbers_are_rounded_only_where_the_schema_says_so() {
    let schema = |round: &str| {
        format!(r#"{{"type":"number","multipleOf":0.05,"minimum":-1,"maximum":1,"x-dunnage-round":{round}}}"#)
    };
    let number = decimal(&schema("true"));
    for (text, scaled) in [
        ("0.9512450499999999", Some(95)),
        ("0.975", Some(100)),
        ("-0.975", Some(-100)),
        ("1.0249999999999", Some(100)),
        ("1.025", None),
        ("-0.0249999", Some(0)),
        ("-0.0", Some(0)),
        ("1e-300", Some(0)),
        ("1e300", None),
        ("1", Some(100)),
        ("2", None),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(number.scaled(&value), scaled, "{text}");
        assert_eq!(model(&schema("true")).validate(&value).is_ok(), scaled.is_some(), "{text}");
    }
    assert_eq!(number.scaled_exactly(&Value::F64(0.951)), None);
    assert!(model(&schema("false")).validate(&Value::F64(0.951)).is_err());
    // To the hundredth first, then to the nearest count.
    let counts = decimal(
        r#"{"type":"number","multipleOf":0.01,"minimum":0,"maximum":9,"x-dunnage-quantum":0.3,"x-dunnage-round":true}"#,
    );
    assert_eq!(counts.scaled(&Value::F64(0.4449)), Some(30));
    assert_eq!(counts.scaled(&Value::F64(0.46)), Some(60));
    refused(&[
        (&schema("1"), "/x-dunnage-round", "true or false"),
        (r#"{"type":"number","x-dunnage-round":true}"#, "/x-dunnage-round", "needs multipleOf"),
        (r#"{"type":"integer","x-dunnage-round":true}"#, "/x-dunnage-round", "type number"),
        (r#"{"type":"string","x-dunnage-round":true}"#, "/x-dunnage-round", ""),
    ]);
}
