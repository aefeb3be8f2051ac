use super::*;

fn error_of(text: impl AsRef<[u8]>) -> (Kind, usize) {
    let e = Json.decode(text.as_ref()).unwrap_err();
    (e.kind(), e.offset().unwrap())
}

fn rewritten(text: &str) -> String {
    let mut out = Vec::new();
    Json.encode(&Json.decode(text.as_bytes()).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn compact_text_comes_back_as_it_was() {
    for text in [
        r#"{"a":23.5,"b":[1,2,3],"c":-2,"d":null,"e":true,"f":1.03}"#,
        r#"[9007199254740993,18446744073709551615,-9223372036854775808,1e-7,-0.0,2.0]"#,
        r#"{"":{},"é":"\u0000\n\"\\/😀","z":[],"a":[[]]}"#,
        r#""17.00""#,
    ] {
        assert_eq!(rewritten(text), text);
    }
    assert_eq!(rewritten(" { \"a\" : [ 1 , \"\\u00e9\\ud83d\\ude00\" ] }\r\n"), r#"{"a":[1,"é😀"]}"#);
}

#[test]
fn cut_off_text_is_truncated() {
    let text = r#"{"a":[1,-2.5e-3,1.2154445493308296e-265,true,null,"é\u00e9\ud83d\ude00"],"b":{}}"#;
    for end in 0..text.len() {
        assert_eq!(error_of(&text.as_bytes()[..end]), (Kind::Truncated, end), "{}", &text[..end.min(20)]);
    }
}

#[test]
fn faults_have_their_kind_and_offset() {
    for (text, offset) in [
        ("[1,]", 3),
        ("{\"a\":1,}", 7),
        ("{\"a\" 1}", 5),
        ("{a:1}", 1),
        ("[01]", 2),
        ("[1.]", 3),
        ("[+1]", 1),
        ("[NaN]", 1),
        ("[-Infinity]", 2),
        ("trux", 3),
        ("nul]", 3),
        ("1 2", 2),
        ("[\"a\tb\"]", 3),
        (r#"["\x"]"#, 3),
        (r#"["\u12"]"#, 6),
        (r#""\u1g"#, 4),
        (r#"["\udc00"]"#, 7),
        (r#"{"a":1, "b":2,"a":3}"#, 14),
        ("[\u{feff}1]", 1),
    ] {
        assert_eq!(error_of(text), (Kind::Malformed, offset), "{text}");
    }
    assert_eq!(error_of(b"[\"\\n\xff\"]"), (Kind::Malformed, 4));
    assert_eq!(error_of("[1,18446744073709551617]"), (Kind::Range, 3));
    for lost in ["1e309", "1e-400", "1.000000000000000005", "9007199254740993.0"] {
        assert_eq!(error_of(format!("[2,{lost}]")), (Kind::Range, 3), "{lost}");
    }
    assert_eq!(error_of(format!("[{}]", "1".repeat(5000))), (Kind::Range, 1));
    assert_eq!(error_of("[".repeat(40)), (Kind::Limit, 32));
    assert_eq!(error_of(" ".repeat((1 << 20) + 1)), (Kind::Limit, 1 << 20));
}

fn lenient(text: &str) -> (Result<Value, Error>, u64) {
    let altered = Altered::default();
    let reception = Reception { numbers: Numbers::Lenient(&altered), ..Reception::default() };
    (Json.decode_from(text.as_bytes(), &reception), altered.nulls())
}

#[test]
fn nan_and_infinities_are_null_where_that_is_allowed() {
    for (text, same, nulls) in [
        (
            r#"{"a":nan,"b":[-inf , NaN,+Infinity],"c":"nan,nan"}"#,
            r#"{"a":null,"b":[null,null,null],"c":"nan,nan"}"#,
            4,
        ),
        ("nan", "null", 1),
        (r#"["a\\",-nan,"\"",INF]"#, r#"["a\\",null,"\"",null]"#, 2),
        (r#"{"nan":1.5}"#, r#"{"nan":1.5}"#, 0),
        // The texts that the C libraries of Windows print, now and formerly, newlib, and Arduino.
        ("[-nan(ind), nan(0x8000000000000),nan(snan)]", "[null,null,null]", 3),
        ("[-1.#IND00,1.#INF ,1.#QNAN,1.5,-1]", "[null,null,null,1.5,-1]", 3),
        (r#"{"a":ovf,"b":-OVF}"#, r#"{"a":null,"b":null}"#, 2),
    ] {
        assert_eq!(lenient(text), (Json.decode(same.as_bytes()), nulls), "{text}");
    }
    for (text, offset) in [
        ("[nan,infinity,01]", 15),
        ("[nan,na]", 6),
        ("{nan:1}", 1),
        ("[1nan]", 2),
        ("[nan(]", 2),
        ("[1.#]", 3),
    ] {
        assert_eq!(lenient(text).0.unwrap_err().offset(), Some(offset), "{text}");
    }
    assert_eq!(offset_of(b"[nan, inf, {\"a\": 7}]", "/2/a"), Some(17));
    let e = lenient("[3.14159265358979323846]").0;
    assert_eq!(e, Ok(Value::Array(vec![Value::F64(std::f64::consts::PI)])));
}

#[test]
fn what_is_no_json_has_its_name() {
    assert_eq!(Json.decode(b"\xef\xbb\xbf[1]"), Json.decode(b"[1]"));
    assert_eq!(error_of(b"\xef\xbb\xbf[01]"), (Kind::Malformed, 5));
    assert_eq!(error_of(b"\xef\xbb\xbf"), (Kind::Truncated, 3));
    assert_eq!(offset_of(b"\xef\xbb\xbf[7]", "/0"), Some(4));
    for (text, name) in [
        (&b"{\"t\":nan}"[..], "NaN"),
        (b"{\"t\":-nan}", "NaN"),
        (b"{\"t\":NaN}", "NaN"),
        (b"[inf]", "NaN"),
        (b"-Infinity", "NaN"),
        (b"{\"t\":-nan(ind)}", "NaN"),
        (b"{\"t\":1.#INF}", "NaN"),
        (b"[0,ovf]", "NaN"),
        (b"[1,\xef\xbb\xbf2]", "byte order mark"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"\0{\0}", "UTF-16"),
        (b"{\0}\0", "UTF-16"),
        (b"[nanometre]", "quotes"),
    ] {
        let e = Json.decode(text).unwrap_err();
        assert!(e.kind() == Kind::Malformed && e.message().contains(name), "{text:?}: {e}");
        assert_eq!(e.numbers(), (name == "NaN").then_some("lenient"), "{text:?}");
    }
    assert_eq!(Json.decode(b"[1.000000000000000005]").unwrap_err().numbers(), Some("nearest"));
    assert_eq!(Json.decode(b"[1e309]").unwrap_err().numbers(), None);
}

#[test]
fn errors_name_the_value_and_a_pointer_finds_it() {
    for (text, pointer) in [
        (r#"{"a/b": [1, {"~": 1e-400}]}"#, "/a~1b/1/~0"),
        (r#"{"a": tru}"#, "/a"),
        (r#"[[], [0, 01]]"#, "/1/1"),
        (r#"{"a": {"b": 1, "b": 2}}"#, "/a/b"),
        (r#"{"a": "#, "/a"),
        ("[1,]", ""),
    ] {
        assert_eq!(Json.decode(text.as_bytes()).unwrap_err().pointer(), pointer, "{text}");
    }
    let text = r#" {"x": "é", "a/b": [1, {"~": 7}], "c": {}}"#;
    for (pointer, rest) in [
        ("", r#"{"x""#),
        ("/x", "\"é"),
        ("/a~1b/0", "1,"),
        ("/a~1b/1/~0", "7}"),
        ("/a~1b/2", "[1,"),
        ("/a~1b/x", "[1,"),
        ("/c/missing", "{}}"),
        ("/x/y", "\"é"),
    ] {
        let offset = offset_of(text.as_bytes(), pointer).unwrap();
        assert!(text[offset..].starts_with(rest), "{pointer}: {}", &text[offset..]);
    }
    assert_eq!(offset_of(b"[1, tru", "/2"), None);
}

#[test]
fn what_json_cannot_write_is_an_error_and_leaves_the_output_alone() {
    let mut out = b"before".to_vec();
    for (value, kind) in [(Value::Bytes(vec![1]), Kind::Type), (Value::F64(f64::NAN), Kind::Range)] {
        let e = Json.encode(&Value::Array(vec![Value::Null, value]), &mut out).unwrap_err();
        assert_eq!((e.kind(), e.pointer(), e.offset()), (kind, "/1", None));
        assert_eq!(out, b"before");
    }
}
