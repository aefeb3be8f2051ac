use super::*;

fn written(message: &Value) -> String {
    let mut out = Vec::new();
    Yaml.encode(message, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn value_of(text: &str) -> Value {
    Yaml.decode(text.as_bytes()).unwrap()
}

fn error_of(text: &str) -> (Kind, usize) {
    let e = Yaml.decode(text.as_bytes()).unwrap_err();
    (e.kind(), e.offset().unwrap())
}

#[test]
fn text_that_looks_like_something_else_is_quoted_and_stays_text() {
    for text in [
        "17.00",
        "06",
        "no",
        "null",
        "~",
        "",
        "true",
        "0x1f",
        "1e3",
        ".inf",
        "12:30:45",
        "2001-01-01",
        "<<",
        "- a",
        "a: b",
        "a #b",
        " a",
        "---",
        "a\r\nb\t",
        "\u{feff}",
    ] {
        let message = Value::Map(vec![(text.into(), Value::from(text))]);
        let yaml = written(&message);
        assert_eq!(value_of(&yaml), message, "{yaml}");
        assert!(yaml.starts_with(['"', '\'']), "{yaml}");
    }
}

#[test]
fn plain_scalars_are_those_of_the_core_schema() {
    let number = |f| Value::F64(f);
    for (text, value) in [
        ("06", Value::U64(6)),
        ("+12", Value::U64(12)),
        ("-0", number(-0.0)),
        ("-9223372036854775808", Value::I64(i64::MIN)),
        ("18446744073709551615", Value::U64(u64::MAX)),
        ("0x1F", Value::U64(31)),
        ("0o17", Value::U64(15)),
        (".5", number(0.5)),
        ("5.", number(5.0)),
        ("+1e3", number(1000.0)),
        ("-.INF", number(f64::NEG_INFINITY)),
        (".nan", number(f64::NAN)),
        ("yes", Value::from("yes")),
        ("1_000", Value::from("1_000")),
        ("12:30", Value::from("12:30")),
        (".", Value::from(".")),
        ("e5", Value::from("e5")),
        ("~", Value::Null),
        ("TRUE", Value::Bool(true)),
        ("'1'", Value::from("1")),
        ("|\n  1\n", Value::from("1\n")),
    ] {
        assert_eq!(value_of(text), value, "{text}");
    }
}

#[test]
fn both_styles_and_comments_are_read() {
    let text = "%YAML 1.2\n---\n# a reading\nt: 23.5 # warm\nlist:\n- 1\n- {a: [x, \"y\"]}\nnone:\n...\n";
    let list = Value::Array(vec![
        Value::U64(1),
        Value::Map(vec![("a".into(), Value::Array(vec![Value::from("x"), Value::from("y")]))]),
    ]);
    let entries = [("t", Value::F64(23.5)), ("list", list), ("none", Value::Null)];
    assert_eq!(value_of(text), Value::Map(entries.map(|(key, value)| (key.into(), value)).into()));
}

#[test]
fn faults_have_their_kind_and_offset() {
    for (text, kind, offset) in [
        ("", Kind::Truncated, 0),
        ("# nothing\n", Kind::Truncated, 10),
        ("[1, 2", Kind::Truncated, 5),
        ("a: \"b", Kind::Truncated, 5),
        ("a: 1\na: 2\n", Kind::Malformed, 5),
        ("a: 1\n b: 2\n", Kind::Malformed, 7),
        ("--- 1\n--- 2\n", Kind::Malformed, 6),
        ("é: [1}", Kind::Malformed, 4),
        ("a: 1\n2: b\n", Kind::Type, 5),
        ("? [a]\n: b\n", Kind::Type, 2),
        ("a: &x [1]\nb: *x\n", Kind::Type, 13),
        ("a: *x\n", Kind::Type, 3),
        ("a: !!str 1\n", Kind::Type, 9),
        ("[1, 18446744073709551617]", Kind::Range, 4),
        ("[0x1ffffffffffffffff]", Kind::Range, 1),
        ("[1, 1.000000000000000005]", Kind::Range, 4),
        ("a: 1e-400", Kind::Range, 3),
    ] {
        assert_eq!(error_of(text), (kind, offset), "{text}");
    }
    assert_eq!(error_of(&"[".repeat(40)), (Kind::Limit, 32));
    assert_eq!(error_of(&"- ".repeat(40)), (Kind::Limit, 64));
    assert_eq!(Yaml.encode(&Value::Bytes(vec![]), &mut Vec::new()).unwrap_err().kind(), Kind::Type);
}

#[test]
fn keys_may_be_longer_than_yaml_looks_ahead() {
    let message = Value::Map(vec![("k".repeat(5000), Value::Null), ("\"".repeat(1025), Value::U64(1))]);
    assert_eq!(value_of(&written(&message)), message);
}

#[test]
fn a_mebibyte_of_openings_is_refused_at_once() {
    for piece in ["[", "{", "- ", "? ", "a: [", "&a [*a,", "\"", "'a", "!!x "] {
        assert!(Yaml.decode(piece.repeat((1 << 20) / piece.len()).as_bytes()).is_err(), "{piece}");
    }
}
