//! Messages that violate their schema: the pointers and texts of the violations.

use crate::json::message;
use dunnage_pson::Value;
use dunnage_schema::{Model, Options, bundled_named};

fn model(schema: &str) -> Model {
    Model::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}"))
}

/// Asserts that each message violates the schema with exactly this text.
fn assert_violations(schema: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let violation = model(schema).validate(&message(text)).expect_err(text);
        assert_eq!(violation.to_string(), *expected, "{text}");
    }
}

fn assert_valid(schema: &str, messages: &[&str]) {
    for text in messages {
        assert_eq!(model(schema).validate(&message(text)), Ok(()), "{schema} and {text}");
    }
}

#[test]
fn violations_of_numbers_name_value_and_limit() {
    let schema = r#"{"type":"integer","minimum":-5,"maximum":1000,"multipleOf":5}"#;
    assert_valid(schema, &["-5", "0", "5.0", "1e3"]);
    assert_violations(
        schema,
        &[
            ("-10", "-10 is below the minimum -5"),
            ("1005", "1005 is above the maximum 1000"),
            ("7", "7 is not a multiple of 5"),
            ("2.5", "2.5 is not a whole number"),
            ("-0.0", "-0.0 is not an integer: its sign would be lost"),
            ("1e30", "1e30 does not fit 64 bits"),
            (r#""5""#, r#""5" is not an integer"#),
            ("null", "null is not an integer"),
        ],
    );
    let schema = r#"{"type":"number","multipleOf":0.05,"minimum":-40,"maximum":85}"#;
    assert_valid(schema, &["-40", "0.05", "0.15", "0.35", "84.95", "85.0", "0"]);
    assert_violations(
        schema,
        &[
            ("-40.05", "-40.05 is below the minimum -40.00"),
            ("1e300", "1e300 is above the maximum 85.00"),
            ("0.07", "0.07 is not a multiple of 0.05"),
            ("0.001", "0.001 is not a multiple of 0.05"),
            ("-0.0", "-0.0 has no scaled integer: its sign would be lost"),
            ("true", "true is not a number"),
        ],
    );
    let schema = r#"{"type":"number","minimum":0.5,"exclusiveMaximum":2}"#;
    assert_valid(schema, &["0.5", "1", "1.9999999999999998"]);
    assert_violations(schema, &[("0.4", "0.4 is below the minimum 0.5"), ("2", "2.0 is not below 2")]);
}

#[test]
fn a_float_must_represent_the_number_exactly() {
    let float = model(r#"{"type":"number"}"#);
    for value in [Value::U64(1 << 60), Value::I64(-3), Value::F64(-0.0), Value::F64(1e300)] {
        assert_eq!(float.validate(&value), Ok(()));
    }
    let reason = |value| float.validate(&value).unwrap_err().message().to_owned();
    assert_eq!(reason(Value::U64((1 << 53) + 1)), "9007199254740993 is not exact as a binary64");
    assert_eq!(reason(Value::U64(u64::MAX)), "18446744073709551615 is not exact as a binary64");
    assert_eq!(reason(Value::F64(f64::NAN)), "NaN is not a finite number");
    assert_eq!(reason(Value::F64(f64::INFINITY)), "inf is not a finite number");
}

#[test]
fn text_counts_code_points() {
    let schema = r#"{"type":"string","minLength":2,"maxLength":3}"#;
    assert_valid(schema, &[r#""éé""#, r#""😀😀😀""#]);
    assert_violations(
        schema,
        &[
            (r#""é""#, r#""é" has 1 characters; the minimum is 2"#),
            (r#""abcd""#, r#""abcd" has 4 characters; the maximum is 3"#),
        ],
    );
    assert_violations(r#"{"type":"string","pattern":"^a+$"}"#, &[(r#""ab""#, r#""ab" does not match ^a+$"#)]);
    let long = format!(r#""{}""#, "b".repeat(1000));
    let quoted = format!(r#""{}"… does not match ^a+$"#, "b".repeat(40));
    assert_violations(r#"{"type":"string","pattern":"^a+$"}"#, &[(&long, &quoted)]);
}

#[test]
fn bytes_are_not_a_string() {
    for schema in [
        r#"{"type":"string"}"#,
        r#"{"enum":["a","b"]}"#,
        r#"{"type":"string","x-dunnage-number":{"multipleOf":1}}"#,
    ] {
        let violation = model(schema).validate(&Value::Bytes(vec![b'a'])).unwrap_err();
        assert!(violation.message().starts_with("a byte string of 1 is"), "{violation}");
    }
    assert_eq!(model("{}").validate(&Value::Bytes(vec![1])), Ok(()));
}

#[test]
fn date_time_is_rfc_3339() {
    let schema = r#"{"type":"string","format":"date-time"}"#;
    let asserted =
        Model::compile_with(schema, Options { assert_formats: true, ..Options::default() }).unwrap();
    for text in [
        "2026-03-29T12:00:00Z",
        "2024-02-29t23:59:59.123456789+05:30",
        "1998-12-31T23:59:60Z",
        "0000-01-01T00:00:00-00:00",
    ] {
        assert_eq!(asserted.validate(&Value::Text(text.into())), Ok(()), "{text}");
    }
    for text in [
        "2026-03-29",
        "2026-03-29T12:00:00",
        "2026-03-29T24:00:00Z",
        "2023-02-29T12:00:00Z",
        "2026-3-29T12:00:00Z",
        "2026-03-29T12:00:00.Z",
        "2026-03-29T12:00:00+0530",
        "2026-03-29T12:00:00+25:00",
        "12026-03-29T12:00:00Z",
        "",
    ] {
        assert!(asserted.validate(&Value::Text(text.into())).is_err(), "{text}");
        assert_eq!(
            model(schema).validate(&Value::Text(text.into())),
            Ok(()),
            "format is an annotation by default"
        );
    }
}

#[test]
fn violations_of_text_that_holds_numbers_name_the_reason() {
    assert_violations(
        r#"{"type":"string","x-dunnage-number":{"multipleOf":0.5,"minimum":0,"maximum":99.5,"digits":2}}"#,
        &[
            (r#""1.5""#, r#""1.5" is not a number with 2 or more digits and 1 decimals"#),
            (r#""01.50""#, r#""01.50" is not a number with 2 or more digits and 1 decimals"#),
            (r#""01.7""#, r#""01.7" is not a multiple of 0.5"#),
            (r#""-01.5""#, r#""-01.5" is below the minimum 0.0"#),
            (r#""100.0""#, r#""100.0" is above the maximum 99.5"#),
            ("1.5", "1.5 is not a string that holds a number"),
        ],
    );
    assert_violations(
        r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"name":"x","multipleOf":1},{"name":"y","multipleOf":1,"maximum":9}]}}"#,
        &[
            (r#""1""#, r#""1" holds 1 numbers, not 2"#),
            (r#""1 2 3""#, r#""1 2 3" holds 3 numbers, not 2"#),
            (r#""1 10""#, r#"y: "10" is above the maximum 9"#),
            (r#"" 1""#, r#"x: "" is not a number with 1 or more digits and 0 decimals"#),
        ],
    );
    assert_violations(
        r#"{"type":"string","x-dunnage-time":{"notation":"YYYY-MM-DD hh:mm:ss","epoch":"2020-01-01T00:00:00Z"}}"#,
        &[
            (r#""2023-02-29 00:00:00""#, r#""2023-02-29 00:00:00" is not a time like "2020-01-01 00:00:00""#),
            (
                r#""2019-12-31 23:59:59""#,
                r#""2019-12-31 23:59:59" is before the first time "2020-01-01 00:00:00""#,
            ),
        ],
    );
}

#[test]
fn pointers_lead_to_the_offending_value() {
    let schema = r#"{"type":"object","properties":{"a/b":{"type":"array","items":{"type":"object","properties":{
        "m~n":{"type":["boolean","null"]},"z":{"enum":["x","y"]}},"required":["m~n"],"additionalProperties":false}}},
        "additionalProperties":{"type":"integer"}}"#;
    assert_valid(schema, &[r#"{"a/b":[{"m~n":null},{"z":"x","m~n":true}],"other":3}"#, "{}"]);
    assert_violations(
        schema,
        &[
            (r#"{"a/b":[{"m~n":true},{"m~n":1}]}"#, "1 is not a boolean at /a~1b/1/m~0n"),
            (r#"{"a/b":[{"z":"x"}]}"#, r#"the field "m~n" is missing at /a~1b/0"#),
            (r#"{"a/b":[{"m~n":true,"q/":1}]}"#, r#"there is no field "q/" at /a~1b/0/q~1"#),
            (r#"{"a/b":[{"m~n":true,"z":"w"}]}"#, r#""w" is none of "x", "y" at /a~1b/0/z"#),
            (r#"{"a/b":{}}"#, "an object of 0 is not an array at /a~1b"),
            (r#"{"other":1.5}"#, "1.5 is not a whole number at /other"),
            ("[]", "an array of 0 is not an object"),
        ],
    );
}

#[test]
fn fields_may_have_any_order() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":"null"}},
        "required":["a","c"],"additionalProperties":false}"#;
    assert_valid(
        schema,
        &[r#"{"a":1,"b":"x","c":null}"#, r#"{"c":null,"b":"x","a":1}"#, r#"{"c":null,"a":1}"#],
    );
    assert_violations(
        schema,
        &[
            (r#"{"b":"x","c":null}"#, r#"the field "a" is missing"#),
            (r#"{"c":1,"a":1}"#, "1 is not null at /c"),
        ],
    );
}

#[test]
fn violations_of_arrays_and_constants_name_the_limit() {
    assert_violations(
        r#"{"type":"array","minItems":1,"maxItems":2}"#,
        &[
            ("[]", "the array has 0 elements; the minimum is 1"),
            ("[1,2,3]", "the array has 3 elements; the maximum is 2"),
        ],
    );
    assert_violations(r#"{"const":2}"#, &[("3", "3 is not 2")]);
    assert_valid(r#"{"const":2}"#, &["2", "2.0"]);
}

#[test]
fn violations_of_the_container_name_field_and_limit() {
    let model = model(bundled_named("container").unwrap());
    let schema: serde_json::Value = crate::json::parse(bundled_named("container").unwrap());
    for (field, text, reason) in [
        ("temperature", "100.00", r#""100.00" is above the maximum 99.99"#),
        ("temperature", "17.0", r#""17.0" is not a number with 1 or more digits and 2 decimals"#),
        ("latitude", "-90.0001", r#""-90.0001" is below the minimum -90.0000"#),
        ("nsat", "6", r#""6" is not a number with 2 or more digits and 0 decimals"#),
        ("door", "X", r#""X" is none of "D", "O", "C", "T""#),
        ("iso6346", "LMCX1231237", r#""LMCX1231237" does not match ^[A-Z]{3}[UJZ][0-9]{7}$"#),
        ("time", "310223 002940.0", r#""310223 002940.0" is not a time like "010100 000000.0""#),
        ("acc", "0.0000 0.0000 -24000.0001", r#"z: "-24000.0001" is below the minimum -24000.0000"#),
    ] {
        let mut example = schema["examples"][0].clone();
        example[field] = text.into();
        let violation = model.validate(&crate::json::value(&example)).expect_err(field);
        assert_eq!((violation.pointer(), violation.message()), (format!("/{field}").as_str(), reason));
    }
}

#[test]
fn all_violations_are_listed_and_unknown_fields_are_distinguished() {
    let model = Model::compile(
        r#"{"type":"object","properties":{
            "t":{"type":"number","multipleOf":0.1,"minimum":-40,"maximum":85},
            "temperature":{"type":"integer","minimum":0,"maximum":9},
            "fix":{"type":"object","properties":{"lat":{"type":"integer"},"lon":{"type":"integer"}},
                   "required":["lat","lon"],"additionalProperties":false},
            "list":{"type":"array","items":{"enum":["a","b"]},"maxItems":3},
            "pair":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false},
            "some":{"type":["object","null"],"properties":{"n":{"type":"integer"}},"allOf":[{"required":["m"]}]}},
            "required":["t","temperature"],"additionalProperties":false}"#,
    )
    .unwrap();
    let invalid = message(
        r#"{"t":86.5,"temprature":3,"fix":{"lat":"x"},"list":["a","c","d","b"],"pair":["p",2],"some":{"n":""}}"#,
    );
    let found: Vec<String> = model.violations(&invalid).iter().map(ToString::to_string).collect();
    let expected = [
        "86.5 is above the maximum 85.0 at /t",
        "there is no field \"temprature\"; did you mean \"temperature\"? at /temprature",
        "\"x\" is not an integer at /fix/lat",
        "the field \"lon\" is missing at /fix",
        "the array has 4 elements; the maximum is 3 at /list",
        "\"c\" is none of \"a\", \"b\" at /list/1",
        "\"d\" is none of \"a\", \"b\" at /list/2",
        "\"p\" is not an integer at /pair/0",
        "2 is not a string at /pair/1",
        "\"\" is not an integer at /some/n",
        "the field \"m\" is missing at /some",
        "the field \"temperature\" is missing",
    ];
    assert_eq!(found, expected);
    let unknown = model.violations(&invalid).into_iter().filter(|violation| violation.is_unknown_field());
    assert_eq!(unknown.map(|violation| violation.pointer().to_owned()).collect::<Vec<_>>(), ["/temprature"]);
    let fine = message(r#"{"t":1.5,"temperature":3}"#);
    assert_eq!(model.violations(&fine), []);
}

#[test]
fn at_most_100_violations_are_listed() {
    let model = Model::compile(r#"{"type":"array","items":{"type":"integer"}}"#).unwrap();
    let texts = Value::Array(vec![Value::from("a"); 5000]);
    assert_eq!(model.violations(&texts).len(), 100);
}

#[test]
fn const_and_enum_ignore_the_order_of_fields() {
    let schema = r#"{"enum":[{"a":1,"b":[{"c":2,"d":3}]},7]}"#;
    assert_valid(schema, &[r#"{"b":[{"d":3,"c":2}],"a":1}"#, r#"{"a":1.0,"b":[{"c":2,"d":3}]}"#]);
    assert_valid(r#"{"const":{"a":1,"b":2}}"#, &[r#"{"b":2,"a":1}"#]);
    for (text, expected) in [
        (r#"{"b":[{"d":4,"c":2}],"a":1}"#, "4 is not 3 at /b/0/d"),
        (r#"{"b":[{"d":3,"c":2}]}"#, "the field \"a\" is missing"),
        (r#"{"b":[{"d":3,"c":2,"e":1}],"a":1}"#, "there is no field \"e\" at /b/0/e"),
        (r#"{"a":1,"b":[]}"#, "an array of 0; the schema has one of 1 at /b"),
        ("8", r#"8 is none of {"a":1,"b":[{"c":2,"d":3}]}, 7"#),
    ] {
        let violation = model(schema).validate(&message(text)).unwrap_err();
        assert_eq!(violation.to_string(), expected);
    }
}
