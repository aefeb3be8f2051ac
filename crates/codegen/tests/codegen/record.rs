//! The record that `spec/formats.md` specifies: its fields and their values.

use dunnage_codegen::{FieldType, Integer, Mapped, Mapping};
use dunnage_pson::{Kind, Value};
use dunnage_schema::Model;

use Value::{Array, Bool, Bytes, F64, Null, U64};

/// Returns the record of a schema with these properties, of which `a` is required.
fn mapped(properties: &str, mapping: Mapping) -> Mapped {
    let schema = format!(
        r#"{{"title":"T","type":"object","properties":{{{properties}}},"required":["a"],"additionalProperties":false}}"#
    );
    Mapped::of(&Model::compile(&schema).unwrap(), mapping)
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn message(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect())
}

/// Asserts that the message converts to a record with these values, and back.
fn assert_converts(mapped: &Mapped, entries: &[(&str, Value)], values: &[Value]) {
    let (message, tree) = (message(entries), Array(values.to_vec()));
    assert_eq!(mapped.to_record(&message), Ok(tree.clone()));
    assert_eq!(mapped.to_message(tree), Ok(message));
}

#[test]
fn an_absent_field_means_missing_or_null_and_never_both() {
    let mapped = mapped(
        r#""a":{"type":["integer","null"]},"b":{"type":"integer"},"c":{"type":["integer","null"]}"#,
        Mapping::Exact,
    );
    let one = || U64(1);
    assert_converts(&mapped, &[("a", Null)], &[Null, Null, Null]);
    assert_converts(&mapped, &[("a", one()), ("b", one())], &[one(), one(), Null]);
    assert_converts(&mapped, &[("a", one()), ("c", Null)], &[one(), Null, Array(vec![Null])]);
    assert_converts(&mapped, &[("a", one()), ("c", one())], &[one(), Null, Array(vec![one()])]);
}

#[test]
fn optional_constants_are_booleans_and_required_ones_have_no_field() {
    let mapped = mapped(r#""a":{"const":"v1"},"b":{"const":2},"c":{"type":"boolean"}"#, Mapping::Exact);
    let a = ("a", text("v1"));
    assert_converts(&mapped, std::slice::from_ref(&a), &[Bool(false), Null]);
    assert_converts(&mapped, &[a, ("b", U64(2)), ("c", Bool(false))], &[Bool(true), Bool(false)]);
}

#[test]
fn lists_are_wrapped_in_records_where_they_would_be_ambiguous() {
    let list = r#"{"type":"array","items":{"type":"boolean"}}"#;
    let full = r#"{"type":"array","minItems":1,"items":{"type":"boolean"}}"#;
    let nested = format!(r#"{{"type":"array","items":{list}}}"#);
    let mapped = mapped(&format!(r#""a":{nested},"b":{list},"c":{full}"#), Mapping::Exact);
    let yes = || Array(vec![Bool(true)]);
    assert_converts(&mapped, &[("a", Array(vec![]))], &[Array(vec![]), Null, Null]);
    assert_converts(
        &mapped,
        &[("a", Array(vec![yes(), Array(vec![])])), ("b", Array(vec![])), ("c", yes())],
        &[Array(vec![Array(vec![yes()]), Array(vec![Array(vec![])])]), Array(vec![Array(vec![])]), yes()],
    );
}

#[test]
fn additional_properties_are_one_field_of_pson() {
    let schema = r#"{"title":"T","type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    let mapped = Mapped::of(&Model::compile(schema).unwrap(), Mapping::Exact);
    assert_converts(&mapped, &[("a", U64(1))], &[U64(1), Bytes(vec![])]);
    assert_converts(&mapped, &[("a", U64(1)), ("x", Null)], &[U64(1), Bytes(b"\xc1\x81x\x62".to_vec())]);
    // The PSON must be a map, and must not contain a property of the schema.
    let raise = |bytes: &[u8]| mapped.to_message(Array(vec![U64(1), Bytes(bytes.to_vec())])).unwrap_err();
    assert_eq!(raise(b"\xc1\x81a\x01").kind(), Kind::Malformed);
    assert_eq!(raise(b"\x01").kind(), Kind::Type);
    assert_eq!(raise(b"\xc2\x81x\x01").kind(), Kind::Truncated);
}

#[test]
fn texts_of_digits_are_integers_if_the_number_determines_the_text() {
    let pattern = |p: &str| {
        let mapped = mapped(&format!(r#""a":{{"type":"string","pattern":"{p}"}}"#), Mapping::Exact);
        mapped.record().fields[0].kind.clone()
    };
    assert_eq!(pattern("^[0-9]{4}$"), FieldType::Integer(Integer { min: 0, max: 9999 }));
    assert_eq!(pattern("^[1-9][0-9]{0,3}$"), FieldType::Integer(Integer { min: 1, max: 9999 }));
    assert_eq!(pattern("^[0-9]{1,4}$"), FieldType::Text); // "1" and "01"
    assert_eq!(pattern("^[0-9]{20}$"), FieldType::Text);
    assert_eq!(pattern("^[0-9A]{4}$"), FieldType::Text);
    assert_eq!(pattern("[0-9]{4}"), FieldType::Text); // not anchored
    let padded = mapped(r#""a":{"type":"string","pattern":"^[0-9]{4}$"}"#, Mapping::Exact);
    assert_converts(&padded, &[("a", text("0042"))], &[U64(42)]);
}

#[test]
fn integers_have_the_sign_and_width_of_their_range() {
    let bytes = |min: i128, max: i128| (Integer { min, max }.bytes(), Integer { min, max }.signed_bytes());
    assert_eq!(bytes(0, 127), (1, 1));
    assert_eq!(bytes(0, 255), (1, 2));
    assert_eq!(bytes(-128, 127), (1, 1));
    assert_eq!(bytes(-1, 128), (2, 2));
    assert_eq!(bytes(0, 65_535), (2, 4));
    assert_eq!(bytes(0, u32::MAX.into()), (4, 8));
    assert_eq!(bytes(i64::MIN.into(), 0), (8, 8));
    assert_eq!(bytes(0, u64::MAX.into()), (8, 8));

    let open = mapped(r#""a":{"type":"integer"}"#, Mapping::Exact);
    let FieldType::Integer(range) = open.record().fields[0].kind else { panic!("an integer") };
    assert_eq!(range, Integer { min: i64::MIN.into(), max: i64::MAX.into() });
    let positive = mapped(r#""a":{"type":"integer","minimum":0}"#, Mapping::Exact);
    assert_converts(&positive, &[("a", U64(u64::MAX))], &[U64(u64::MAX)]);
}

#[test]
fn a_binary32_beyond_a_bound_is_the_bound_only_if_the_bound_rounds_to_it() {
    let number =
        r#""a":{"type":"string","x-dunnage-number":{"multipleOf":0.0001,"minimum":0,"maximum":1012.3956}}"#;
    let mapped = mapped(number, Mapping::Float32);
    let raise = |f: f32| mapped.to_message(Array(vec![F64(f.into())]));
    assert_eq!(raise(1012.3956), Ok(message(&[("a", text("1012.3956"))])));
    assert_eq!(raise(f32::from_bits(1012.3956f32.to_bits() + 1)).unwrap_err().kind(), Kind::Range);
    assert_eq!(raise(-0.0), Ok(message(&[("a", text("0.0000"))])));
    let large =
        r#""a":{"type":"string","x-dunnage-number":{"multipleOf":0.0001,"minimum":0,"maximum":20000.9999}}"#;
    let large = self::mapped(large, Mapping::Float32);
    let record = large.to_record(&message(&[("a", text("20000.9999"))])).unwrap();
    assert_eq!(record, Array(vec![F64(20_001.0)]));
    assert_eq!(large.to_message(record), Ok(message(&[("a", text("20000.9999"))])));
}

#[test]
fn errors_name_the_property() {
    let mapped = mapped(r#""a":{"type":"array","items":{"enum":["x","y"]}}"#, Mapping::Exact);
    let e = mapped.to_message(Array(vec![Array(vec![U64(1), U64(2)])])).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (Kind::Range, "/a/1"));
    let e = mapped.to_record(&message(&[("a", Array(vec![text("z")]))])).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (Kind::Range, "/a/0"));
}

#[test]
fn values_without_a_single_type_are_pson() {
    let mapped = mapped(
        r##""a":{"oneOf":[{"type":"integer"},{"type":"string"}]},"b":{"type":"array","prefixItems":[{"type":"integer"}]},"c":{"type":"array","items":{"$ref":"#/properties/c"}}"##,
        Mapping::Exact,
    );
    let kinds: Vec<_> = mapped.record().fields.iter().map(|field| &field.kind).collect();
    // c is a list. Its elements recur without an end, so they are PSON.
    assert!(matches!(kinds[..], [FieldType::Bytes, FieldType::Bytes, FieldType::Record(_)]), "{kinds:?}");
    let pson = |value: &Value| Bytes(dunnage_pson::to_vec(value).unwrap());
    let (a, b, c) = (text("x"), Array(vec![U64(1), text("y")]), Array(vec![Array(vec![])]));
    let values = [pson(&a), pson(&b), Array(vec![Array(vec![pson(&Array(vec![]))])])];
    assert_converts(&mapped, &[("a", a), ("b", b), ("c", c)], &values);
}

#[test]
fn restricting_keywords_do_not_change_the_record_and_are_checked() {
    let mapped = mapped(
        r#""a":{"type":"string","x-dunnage-known":"device","not":{"const":"x"}},"b":{"type":"integer","minimum":0,"maximum":9,"not":{"const":3}}"#,
        Mapping::Exact,
    );
    let kinds: Vec<_> = mapped.record().fields.iter().map(|field| field.kind.clone()).collect();
    assert_eq!(kinds, [FieldType::Text, FieldType::Integer(Integer { min: 0, max: 9 })]);
    assert_converts(&mapped, &[("a", text("y")), ("b", U64(4))], &[text("y"), U64(4)]);
    for (message, tree) in [
        (message(&[("a", text("x"))]), vec![text("x"), Null]),
        (message(&[("a", text("y")), ("b", U64(3))]), vec![text("y"), U64(3)]),
    ] {
        assert_eq!(mapped.to_record(&message).unwrap_err().kind(), Kind::Range);
        assert_eq!(mapped.to_message(Array(tree)).unwrap_err().kind(), Kind::Range);
    }
}

#[test]
fn counts_of_a_quantum_become_scaled_numbers() {
    let notation = r#""a":{"type":"string","x-dunnage-number":{"multipleOf":0.0001,"minimum":-24000,"maximum":24000,"quantum":0.7324443}}"#;
    let exact = mapped(notation, Mapping::Exact);
    let entry = ("a", text("-993.9269"));
    assert_converts(&exact, std::slice::from_ref(&entry), &[Value::I64(-9_939_269)]);
    assert_eq!(exact.to_message(Array(vec![Value::I64(-9_939_268)])).unwrap_err().kind(), Kind::Range);
    // A binary32 is coarser than the step, so it decodes to the nearest count.
    let float = mapped(notation, Mapping::Float32);
    let tree = float.to_record(&message(std::slice::from_ref(&entry))).unwrap();
    assert_eq!(float.to_message(tree), Ok(message(&[entry])));
}
