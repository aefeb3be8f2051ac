use super::*;
use crate::Json;

/// 2026-05-01T12:00:00.123456Z
const NOW: i64 = 1_777_636_800_123_456;

fn read(senml: Senml, bytes: &[u8]) -> Result<Value, Error> {
    senml.decode_from(bytes, &Reception { received_at: Some(NOW), ..Reception::default() })
}

fn resolved(pack: &str) -> String {
    json(&read(Senml::json(false), pack.as_bytes()).unwrap())
}

fn json(message: &Value) -> String {
    let mut text = Vec::new();
    Json.encode(message, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn error_of(pack: &str) -> (Kind, String, usize) {
    let e = read(Senml::json(false), pack.as_bytes()).unwrap_err();
    (e.kind(), e.pointer().to_owned(), e.offset().unwrap())
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|d| u8::from_str_radix(str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

/// The packs of RFC 8428, sections 5.1.2 and 5.1.4, with the records in order of time.
#[test]
fn base_fields_are_applied_and_records_are_sorted() {
    let pack = r#"[
        {"bn":"urn:dev:ow:10e2073a0108006:","bt":1.276020076001e+09,"bu":"A","bver":5,"n":"voltage","u":"V","v":120.1},
        {"n":"current","t":-5,"v":1.2},
        {"n":"current","t":-4,"v":1.3}
    ]"#;
    assert_eq!(
        resolved(pack),
        concat!(
            r#"[{"bver":5,"n":"urn:dev:ow:10e2073a0108006:current","u":"A","t":1276020071.001,"v":1.2},"#,
            r#"{"bver":5,"n":"urn:dev:ow:10e2073a0108006:current","u":"A","t":1276020072.001,"v":1.3},"#,
            r#"{"bver":5,"n":"urn:dev:ow:10e2073a0108006:voltage","u":"V","t":1276020076.001,"v":120.1}]"#
        )
    );
}

#[test]
fn base_values_and_sums_are_added_as_decimals() {
    let pack = r#"[{"bn":"a","bt":1600000000,"bver":10},{"bv":0.1,"n":"1","v":0.2},{"bs":100,"n":"2","vs":"x"},
        {"n":"3","s":0.5,"ut":60},{"bn":"b","n":"4","v":-0.1},{"bv":2}]"#;
    assert_eq!(
        resolved(pack),
        concat!(
            r#"[{"n":"a1","t":1600000000,"v":0.3},{"n":"a2","t":1600000000,"vs":"x","s":100},"#,
            r#"{"n":"a3","t":1600000000,"v":0.1,"s":100.5,"ut":60},{"n":"b4","t":1600000000,"v":0,"s":100}]"#
        )
    );
}

/// Section 4.5.3: times below 2^28 seconds are relative to the arrival of the pack.
#[test]
fn relative_times_are_relative_to_the_receive_time() {
    for (record, time) in [
        (r#"{"n":"a","v":1}"#, "1777636800.123"),
        (r#"{"n":"a","v":1,"t":0}"#, "1777636800.123"),
        (r#"{"n":"a","v":1,"t":-60.5}"#, "1777636739.623"),
        (r#"{"n":"a","v":1,"t":30}"#, "1777636830.123"),
        (r#"{"n":"a","v":1,"bt":-100,"t":40}"#, "1777636740.123"),
        (r#"{"n":"a","v":1,"t":268435456}"#, "268435456"),
        (r#"{"n":"a","v":1,"bt":1.320067464e+09,"t":0.5}"#, "1320067464.5"),
    ] {
        assert_eq!(
            resolved(&format!("[{record}]")),
            format!(r#"[{{"n":"a","t":{time},"v":1}}]"#),
            "{record}"
        );
    }
}

#[test]
fn values_of_every_kind_are_read_and_unknown_fields_except_base_fields_are_kept() {
    let pack = r#"[{"bt":1600000000,"bfoo":1,"n":"a","vb":false},{"n":"b","vd":"aGkgCg"},{"n":"c","v":1.5,"x":[1]}]"#;
    assert_eq!(
        resolved(pack),
        r#"[{"n":"a","t":1600000000,"vb":false},{"n":"b","t":1600000000,"vd":"aGkgCg"},{"n":"c","t":1600000000,"v":1.5,"x":[1]}]"#
    );
}

#[test]
fn errors_of_invalid_packs_have_pointer_and_offset() {
    for (pack, kind, pointer, at) in [
        (r#"{"n":"a","v":1}"#, Kind::Malformed, "", "{"),
        ("[]", Kind::Malformed, "", "["),
        (r#"[{"bn":"a"}]"#, Kind::Malformed, "", "["),
        (r#"[{"n":"a"}]"#, Kind::Malformed, "/0", r#"{"n""#),
        (r#"[{"n":"a","v":1},2]"#, Kind::Malformed, "/1", "2]"),
        (r#"[{"n":"a","v":1,"vs":"x"}]"#, Kind::Malformed, "/0", r#"{"n""#),
        (r#"[{"n":"a","vb":true,"vs":"x"}]"#, Kind::Malformed, "/0/vs", r#""x""#),
        (r#"[{"n":"a b","v":1}]"#, Kind::Malformed, "/0", r#"{"n""#),
        (r#"[{"v":1}]"#, Kind::Malformed, "/0", r#"{"v""#),
        (r#"[{"bn":"-","n":"a","v":1}]"#, Kind::Malformed, "/0", r#"{"bn""#),
        (r#"[{"n":"a","v":"1"}]"#, Kind::Type, "/0/v", r#""1""#),
        (r#"[{"n":1,"v":1}]"#, Kind::Type, "/0/n", "1,"),
        (r#"[{"n":"a","vb":1}]"#, Kind::Type, "/0/vb", "1}"),
        (r#"[{"bver":11,"n":"a","v":1}]"#, Kind::Type, "/0/bver", "11"),
        (r#"[{"bver":5,"n":"a","v":1},{"bver":6,"v":1}]"#, Kind::Malformed, "/1/bver", "6"),
        (r#"[{"n":"a","v":1},{"bver":5,"n":"a","v":1}]"#, Kind::Malformed, "/1/bver", "5"),
        (r#"[{"n":"a","v":1,"x_":1}]"#, Kind::Type, "/0/x_", "1}"),
        (r#"[{"n":"a","bv":1e300,"v":1}]"#, Kind::Range, "/0", r#"{"n""#),
        (r#"[{"n":"a","v":1,"t":-1777636800}]"#, Kind::Range, "/0", r#"{"n""#),
        (r#"[{"n":"a","v":1e-400}]"#, Kind::Range, "/0/v", "1e-400"),
        (r#"[{"n":"a","v":1},"#, Kind::Truncated, "", ""),
    ] {
        let offset = if at.is_empty() { pack.len() } else { pack.rfind(at).unwrap() };
        assert_eq!(error_of(pack), (kind, pointer.to_owned(), offset), "{pack}");
    }
}

/// The pack of section 6, figure 1: integers represent labels, and data are bytes.
#[test]
fn cbor_packs_decode_to_the_same_records_as_json() {
    let pack = hex(
        "87a721781b75726e3a6465763a6f773a3130653230373361303130383030363a22fb41d303a15b00106223614120050067766f6c7461676501615602fb405e066666666666\
         a3006763757272656e74062402fb3ff3333333333333a3006763757272656e74062302fb3ff4cccccccccccda3006763757272656e74062202fb3ff6666666666666\
         a3006763757272656e74062102f93e00a3006763757272656e74062002fb3ff999999999999aa3006763757272656e74060002fb3ffb333333333333",
    );
    let records = json(&read(Senml::cbor(false), &pack).unwrap());
    let first = r#"[{"bver":5,"n":"urn:dev:ow:10e2073a0108006:current","u":"A","t":1276020071.001,"v":1.2},"#;
    assert!(records.starts_with(first), "{records}");
    assert!(records.ends_with(r#","u":"A","t":1276020076.001,"v":1.7}]"#), "{records}");
    let data = hex("81 a4 00 61 61 08 44 6869200a 18 2a f6 06 1a 5f5e1000");
    assert_eq!(
        json(&read(Senml::cbor(false), &data).unwrap()),
        r#"[{"n":"a","t":1600000000,"vd":"aGkgCg"}]"#
    );
    let tagged = hex("81 a3 00 61 61 02 c4 82 21 19 6ab3 06 1a 5f5e1000");
    assert_eq!(json(&read(Senml::cbor(false), &tagged).unwrap()), r#"[{"n":"a","t":1600000000,"v":273.15}]"#);
    let e = read(Senml::cbor(false), &hex("82 a2 00 61 61 02 01 a2 00 61 62 02 60")).unwrap_err();
    assert_eq!((e.kind(), e.pointer(), e.offset().unwrap()), (Kind::Type, "/1/v", 7));
    // Integers represent labels only in SenML; in other CBOR, they are the text of their digits.
    assert_eq!(json(&Cbor.decode(&hex("a1 00 01")).unwrap()), r#"{"0":1}"#);
    assert_eq!(
        json(
            &read(Senml::cbor(false), &hex("81 a4 21 65 2f332f302f 00 61 39 22 1a 5f5e1000 02 01")).unwrap()
        ),
        r#"[{"n":"/3/0/9","t":1600000000,"v":1}]"#
    );
}

#[test]
fn a_stream_may_lack_only_its_end() {
    let record = r#"{"n":"a","t":1600000000,"v":1}"#;
    for open in ["", ",", ",\n", "]", " ] "] {
        let read = read(Senml::json(true), format!("[{record}{open}").as_bytes());
        assert_eq!(json(&read.unwrap()), format!("[{record}]"), "{open:?}");
    }
    let cut = format!("[{record},{}", &record[..20]);
    let e = read(Senml::json(true), cut.as_bytes()).unwrap_err();
    assert_eq!((e.kind(), e.offset().unwrap()), (Kind::Truncated, cut.len()));
    let record = "a3 00 61 61 06 1a 5f5e1000 02 01";
    for (bytes, is_complete) in [
        (format!("9f {record}"), true),
        (format!("9f {record} ff"), true),
        (format!("9f {record} a1 00"), false),
    ] {
        let read = read(Senml::cbor(true), &hex(&bytes));
        assert_eq!(read.map_err(|e| e.kind()).is_ok(), is_complete, "{bytes}");
    }
}
