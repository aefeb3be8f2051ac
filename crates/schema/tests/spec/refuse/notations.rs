//! Notations of times and numbers in texts.

use super::refused;
use dunnage_schema::{Model, Options};

#[test]
fn notations_must_be_unambiguous() {
    let time =
        |notation: &str| format!(r#"{{"type":"string","x-dunnage-time":{{"notation":"{notation}"}}}}"#);
    for notation in [
        "",
        "YYYY",
        "YYYY-MM-DD",
        "YYYYMMDDhhmm",
        "YYYY-YY-MM-DD hh:mm:ss",
        "YYYYMMDDDDhhmmss",
        "YYYMMDDhhmmss",
        "YYYYMMDD hhmmss Dec",
        "YYYYMMDDhhmmss.ffffffffff",
        "YYYYMMDDhhmmss.f,f",
        "YYYYMMDDMMhhmmss",
    ] {
        let error = Model::compile(&time(notation)).expect_err(notation);
        assert_eq!(error.pointer(), "/x-dunnage-time/notation", "{notation}: {error}");
    }
    refused(&[
        (r#"{"type":"string","x-dunnage-number":1}"#, "/x-dunnage-number", "object"),
        (r#"{"type":"string","x-dunnage-number":{}}"#, "/x-dunnage-number/multipleOf", "missing"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"digits":0}}"#,
            "/x-dunnage-number/digits",
            "1 to 18",
        ),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"digits":19}}"#,
            "/x-dunnage-number/digits",
            "1 to 18",
        ),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"minimum":2,"maximum":1}}"#,
            "/x-dunnage-number/minimum",
            "maximum",
        ),
        (r#"{"type":"string","maxLength":3,"x-dunnage-number":{"multipleOf":1}}"#, "/maxLength", "beside"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1},"x-dunnage-time":{"notation":"a"}}"#,
            "/x-dunnage-time",
            "beside",
        ),
        (
            r#"{"type":"string","x-dunnage-time":{"notation":"YYYYMMDDhhmmss","epoch":"2000-01-01"}}"#,
            "/x-dunnage-time/epoch",
            "whole second",
        ),
        (
            r#"{"type":"string","x-dunnage-time":{"notation":"YYMMDDhhmmss","epoch":"2100-01-01T00:00:00Z"}}"#,
            "/x-dunnage-time/epoch",
            "no time",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"items":[]}}"#,
            "/x-dunnage-numbers/separator",
            "not empty",
        ),
        (r#"{"type":"string","x-dunnage-numbers":{"separator":"-"}}"#, "/x-dunnage-numbers/separator", "'-'"),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[]}}"#,
            "/x-dunnage-numbers/items",
            "not empty",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"multipleOf":1}]}}"#,
            "/x-dunnage-numbers/items/0/name",
            "letter",
        ),
        (
            r#"{"type":"string","x-dunnage-numbers":{"separator":" ","items":[{"name":"x","multipleOf":1},{"name":"x","multipleOf":1}]}}"#,
            "/x-dunnage-numbers/items/1/name",
            "duplicate",
        ),
    ]);
}

#[test]
fn a_notation_must_agree_with_an_asserted_format() {
    for schema in [
        r#"{"type":"string","format":"date-time","x-dunnage-number":{"multipleOf":1}}"#,
        r#"{"type":"string","format":"uuid","x-dunnage-time":{"notation":"YYYY-MM-DDThh:mm:ssZ"}}"#,
        r#"{"type":"string","format":"date-time","x-dunnage-time":{"notation":"YYYY-MM-DD hh:mm:ss"}}"#,
    ] {
        let error =
            Model::compile_with(schema, Options { assert_formats: true, ..Options::default() }).unwrap_err();
        assert_eq!(error.pointer(), "/format", "{error}");
        assert!(Model::compile(schema).is_ok(), "an annotation: {schema}");
    }
}
