//! The rows, canonical texts and fingerprints of layouts.

use dunnage_packed::{Bits, Layout};
use dunnage_schema::{Model, bundled};

fn layout(schema: &str) -> Layout {
    Layout::new(&Model::compile(schema).expect("the schema compiles")).expect("a layout")
}

fn row(schema: &str, path: &str) -> (Option<u64>, u64, Option<u64>, String, String, String) {
    let rows = layout(schema).explain();
    let row = rows.into_iter().find(|row| row.path == path).expect("the row exists");
    (row.offset, row.bits.min, row.bits.max, row.range, row.step, row.why)
}

const EVERYTHING: &str = r#"{"type":"object","properties":{
    "on":{"type":"boolean"},
    "t":{"type":"number","multipleOf":0.01,"minimum":-40,"maximum":85,"x-dunnage-usual":{"minimum":0,"maximum":10}},
    "a":{"type":"string","x-dunnage-number":{"multipleOf":0.0001,"minimum":-24000,"maximum":24000,"quantum":0.7324443}},
    "acc":{"type":"string","x-dunnage-numbers":{"separator":" ","items":[
        {"name":"x","multipleOf":1,"minimum":0,"maximum":7},{"name":"y","multipleOf":1,"minimum":0,"maximum":8}]}},
    "w":{"type":"string","x-dunnage-time":{"notation":"YYYY-MM-DD hh:mm:ss.ff","epoch":"2020-01-01T00:00:00Z","until":"2029-12-31T23:59:59Z"}},
    "f":{"type":"number"},"e":{"enum":["D","O","C"]},"c":{"const":{"b":1,"a":[2.5,"x"]}},
    "p":{"type":"string","pattern":"^[A-F0-9]{2}-[a-c]{1,3}$"},
    "s":{"type":["string","null"],"maxLength":4},
    "l":{"type":"array","maxItems":3,"items":{"type":"object","properties":{"v":{"type":"integer","minimum":0,"maximum":9}},"required":["v"],"additionalProperties":false}},
    "o":{"type":"object","properties":{"i":{"type":"integer"}},"required":["i"],"additionalProperties":false}
    },"required":["on","t","a","acc","w","f","e","c","p","s","l"],"additionalProperties":false}"#;

#[test]
fn rows_add_up_to_the_size_of_the_layout() {
    let schemas = bundled().iter().map(|(_, text)| *text).chain([EVERYTHING]);
    for schema in schemas {
        let layout = layout(schema);
        let sum = |bits: Vec<Bits>| {
            let min: u64 = bits.iter().map(|bits| bits.min).sum();
            let max: Option<u64> = bits.iter().map(|bits| bits.max).sum();
            (min, max)
        };
        let whole = layout.root().bits();
        let rows = layout.explain();
        assert_eq!(
            sum(rows.iter().map(|row| row.bits).collect()),
            (whole.min + 8, whole.max.map(|max| max + 8))
        );
    }
}

#[test]
fn parts_beyond_the_largest_bit_offset_have_no_offset() {
    let array = |items: &str| {
        format!(r#"{{"type":"array","items":{items},"minItems":4294967295,"maxItems":4294967295}}"#)
    };
    let rows = layout(&array(&array(&array(r#"{"type":"boolean"}"#)))).explain();
    assert_eq!(rows.last().map(|row| row.bits.min), Some(u64::MAX));
    let after = format!(
        r#"{{"type":"object","properties":{{"a":{},"b":{{"type":"boolean"}}}},"required":["a","b"],"additionalProperties":false}}"#,
        array(&array(&array(r#"{"type":"boolean"}"#)))
    );
    assert_eq!(row(&after, "b").0, None);
}

#[test]
fn rows_explain_the_bits() {
    let row = |path| row(EVERYTHING, path);
    let text = |[range, step, why]: [&str; 3]| (range.to_owned(), step.to_owned(), why.to_owned());
    let expected = |offset, min, max, texts| {
        let (range, step, why) = text(texts);
        (offset, min, max, range, step, why)
    };
    assert_eq!(row("(slot)"), expected(Some(0), 8, Some(8), ["1", "", "the slot byte"]));
    assert_eq!(row("on"), expected(Some(8), 1, Some(1), ["false, true", "", "2 values"]));
    let usual = "1001 usual values from 0.00 to 10.00; the escape, then 12501 values";
    assert_eq!(row("t"), expected(Some(9), 10, Some(24), ["-40.00 to 85.00", "0.01", usual]));
    let count = ["-23999.2699 to 23999.2699", "0.7324443 each", "65533 values"];
    assert_eq!(row("a"), expected(None, 16, Some(16), count));
    assert_eq!(row("acc.y"), expected(None, 4, Some(4), ["0 to 8", "1", "9 values"]));
    let time =
        ["2020-01-01 00:00:00.00 to 2029-12-31 23:59:59.99", "YYYY-MM-DD hh:mm:ss.ff", "31561920000 values"];
    assert_eq!(row("w"), expected(None, 35, Some(35), time));
    assert_eq!(row("e"), expected(None, 2, Some(2), [r#""D", "O", "C""#, "", "3 values"]));
    assert_eq!(row("c"), expected(None, 0, Some(0), [r#"{"b":1,"a":[2.5,"x"]}"#, "", "always the same"]));
    assert_eq!(row("p").3, "[0-9A-F]{2}-[a-c]{1,3}");
    assert_eq!((row("s").1, row("s").2), (1, Some(1 + 3 + 1 + 4 * 32)));
    assert_eq!(row("l"), expected(None, 2, Some(2), ["0 to 3 elements", "", "how many"]));
    assert_eq!(row("l[].v"), expected(None, 0, Some(12), ["0 to 9", "1", "up to 3 times 4 bits; 10 values"]));
    assert_eq!(row("o"), expected(None, 1, Some(1), ["", "", "1 bit for there or not"]));
    assert_eq!((row("o.i").1, row("o.i").2), (0, Some(71)));
}

#[test]
fn canonical_text_matches_the_specification() {
    let canonical = layout(EVERYTHING).canonical();
    assert_eq!(
        canonical,
        concat!(
            r#"{"packed":1,"layout":{"object":[["on",true,"boolean"],"#,
            r#"["t",true,{"number":["-4000","8500",1],"usual":["0","1000"],"as":{"decimal":2}}],"#,
            r#"["a",true,{"number":["-32766","32766",1],"as":{"text":[4,1]},"quantum":["7324443",7]}],"#,
            r#"["acc",true,{"numbers":[" ",{"number":["0","7",1],"as":{"text":[0,1]}},{"number":["0","8",1],"as":{"text":[0,1]}}]}],"#,
            r#"["w",true,{"number":["0","31561919999",1],"as":{"time":["YYYY-MM-DD hh:mm:ss.ff","1577836800"]}}],"#,
            r#"["f",true,"float"],["e",true,{"choice":["D","O","C"]}],["c",true,{"constant":{"b":1,"a":[2.5,"x"]}}],"#,
            r#"["p",true,{"pattern":[["0123456789ABCDEF",2,2],["-",1,1],["abc",1,3]]}],"#,
            r#"["s",true,{"nullable":{"text":[0,4]}}],"#,
            r#"["l",true,{"array":[0,3],"item":{"object":[["v",true,{"number":["0","9",1],"as":"integer"}]]}}],"#,
            r#"["o",false,{"object":[["i",true,{"number":["-9223372036854775808","18446744073709551615",1],"as":"integer"}]]}]]}}"#,
        )
    );
}

#[test]
fn the_fingerprint_is_the_sha_256_of_the_canonical_text() {
    // printf '{"packed":1,"layout":"boolean"}' | sha256sum
    let fingerprint = layout(r#"{"type":"boolean","title":"Door"}"#).fingerprint();
    let hex: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "d3797b404797f90896384adbcc6c873fbf05a1a0a170f373802fa0f28a1c6704");
}
