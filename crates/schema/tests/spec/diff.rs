//! Differences between schemas, and whether they keep old messages valid.

use crate::{infer::message, json};
use dunnage_schema::{Change, Model, bundled, diff, infer};
use proptest::prelude::*;

fn model(text: &str) -> Model {
    Model::compile(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn changes(old: &str, new: &str) -> Vec<Change> {
    diff(&model(old), &model(new))
}

/// Asserts that `text` describes the only change from `old` to `new`. `keeps` and `keeps_back`: whether the change and its reversal keep old
/// values valid.
#[track_caller]
fn assert_change(old: &str, new: &str, text: &str, keeps: bool, keeps_back: bool) {
    let there = changes(old, new);
    assert_eq!(there.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
    let back = changes(new, old);
    let kept = |changes: &[Change]| changes.iter().all(|change| change.keeps);
    assert_eq!((kept(&there), kept(&back)), (keeps, keeps_back), "{text}; back: {back:?}");
}

/// Returns a schema of an object with these properties and required fields.
fn object(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    )
}

#[test]
fn a_schema_does_not_differ_from_itself() {
    for (name, text) in bundled() {
        assert_eq!(changes(text, text), [], "{name}");
    }
    assert_eq!(
        changes(r#"{"type":"null","title":"A"}"#, r#"{"const":null,"description":"b","x-dunnage-slot":7}"#),
        []
    );
}

#[test]
fn fields_are_added_removed_and_moved() {
    let ab = object(r#""a":{"type":"boolean"},"b":{"type":"null"}"#, "");
    let ba = object(r#""b":{"type":"null"},"a":{"type":"boolean"}"#, "");
    let abc = object(r#""a":{"type":"boolean"},"b":{"type":"null"},"c":{"type":"null"}"#, "");
    let cab = object(r#""c":{"type":"null"},"a":{"type":"boolean"},"b":{"type":"null"}"#, "");
    let required = object(r#""a":{"type":"boolean"},"b":{"type":"null"}"#, "\"a\"");
    let open = ab.replace("false", "true");
    assert_change(&ab, &abc, "c: added, optional", true, false);
    assert_change(&abc, &ab, "c: removed", false, true);
    assert_change(&abc, &cab, "c: moved to the front", true, true);
    assert_change(&ab, &ba, "b: moved to the front", true, true);
    assert_change(&ab, &required, "a: was optional, now required", false, true);
    assert_change(&ab, &open, "$: other fields are allowed now", true, false);
    // With the old schema, c can be any value.
    assert!(!changes(&open, &abc.replace("false", "true")).iter().all(|change| change.keeps));
    assert!(changes(&abc.replace("false", "true"), &open).iter().all(|change| change.keeps));
}

#[test]
fn only_the_fields_that_move_are_named() {
    let order = |names: &str| {
        let properties: Vec<_> = names.chars().map(|name| format!("\"{name}\":{{}}")).collect();
        object(&properties.join(","), "")
    };
    let names = |old: &str, new: &str| -> Vec<String> {
        changes(&order(old), &order(new)).iter().map(ToString::to_string).collect()
    };
    assert_eq!(names("abcdef", "abecdf"), ["e: moved behind b"]);
    assert_eq!(names("abcdef", "bcdefa"), ["a: moved behind f"]);
    assert_eq!(names("ab", "ba").len(), 1);
}

#[test]
fn numbers_have_ranges_and_precision() {
    let n = |step: &str, min: i32, max: i32| {
        format!(r#"{{"type":"number","multipleOf":{step},"minimum":{min},"maximum":{max}}}"#)
    };
    assert_change(
        &n("0.1", 0, 50),
        &n("0.1", -10, 60),
        "$: range widened from 0 to 50, to -10 to 60",
        true,
        false,
    );
    assert_change(
        &n("0.1", 0, 50),
        &n("0.1", -10, 40),
        "$: range moved from 0 to 50, to -10 to 40",
        false,
        false,
    );
    assert_change(
        &n("0.1", 0, 5),
        &n("0.01", 0, 5),
        "$: precision finer: steps of 0.1, now of 0.01",
        true,
        false,
    );
    assert_change(
        &n("0.2", 0, 6),
        &n("0.3", 0, 6),
        "$: precision changed: steps of 0.2, now of 0.3",
        false,
        false,
    );
    let open = r#"{"type":"integer"}"#;
    let from = r#"{"type":"integer","minimum":3}"#;
    assert_eq!(changes(open, from)[0].text, "range narrowed from any number, to 3 and more");
    assert_change(
        r#"{"type":"integer","maximum":9,"minimum":0}"#,
        &n("0.1", 0, 9),
        "$: was an integer, now a decimal",
        true,
        false,
    );
    assert_change(&n("0.1", 0, 9), r#"{"type":"number"}"#, "$: was a decimal, now a float", true, false);
    let usual = r#"{"type":"integer","minimum":0,"maximum":99,"x-dunnage-usual":{"minimum":0,"maximum":7}}"#;
    let whole = r#"{"type":"integer","minimum":0,"maximum":99}"#;
    assert_change(whole, usual, "$: usual range was the whole, now 0 to 7", true, true);
}

#[test]
fn text_that_holds_numbers_has_a_notation() {
    let text = |members: &str| {
        format!(r#"{{"type":"string","x-dunnage-number":{{"minimum":0,"maximum":9,{members}}}}}"#)
    };
    let (one_place, two_places) = (text(r#""multipleOf":0.1"#), text(r#""multipleOf":0.01"#));
    assert_change(&one_place, &two_places, "$: precision finer: steps of 0.1, now of 0.01", false, false);
    assert_change(
        &text(r#""multipleOf":1"#),
        &text(r#""multipleOf":1,"digits":2"#),
        "$: padded to 1 digits, now to 2",
        false,
        false,
    );
    let time = |members: &str| {
        format!(r#"{{"type":"string","x-dunnage-time":{{"notation":"YYYY-MM-DD hh:mm:ss"{members}}}}}"#)
    };
    let from = time(r#","epoch":"2000-01-01T00:00:00Z""#);
    let until = time(r#","until":"2099-12-31T23:59:59Z","epoch":"2000-01-01T00:00:00Z""#);
    assert_change(
        &from,
        &until,
        "$: times were 2000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, now 2000-01-01T00:00:00Z to 2099-12-31T23:59:59Z",
        false,
        true,
    );
    assert_change(&from, r#"{"type":"string"}"#, "$: was a time in text, now text", true, false);
}

#[test]
fn choices_are_appended_inserted_and_removed() {
    assert_change(r#"{"enum":["a","b"]}"#, r#"{"enum":["a","b","c"]}"#, "$: \"c\" appended", true, false);
    assert_change(r#"{"enum":["a","b"]}"#, r#"{"enum":["a","c","b"]}"#, "$: \"c\" inserted", true, false);
    assert_change(
        r#"{"enum":["a","b"]}"#,
        r#"{"enum":["b","a"]}"#,
        "$: the values have another order",
        true,
        true,
    );
    // The fields of an object may have any order.
    assert_change(
        r#"{"enum":[{"a":1,"b":2},"c"]}"#,
        r#"{"enum":[{"b":2,"a":1},"c"]}"#,
        r#"$: {"b":2,"a":1} was {"a":1,"b":2}"#,
        true,
        true,
    );
    assert_change(
        r#"{"enum":["a",1]}"#,
        r#"{"const":1}"#,
        "$: was one of 2 values, now always 1",
        false,
        true,
    );
    assert_change(
        r#"{"enum":["a","b"]}"#,
        r#"{"type":"string"}"#,
        "$: was one of 2 values, now text",
        true,
        false,
    );
}

#[test]
fn patterns_and_lengths_of_text() {
    let pattern = |pattern: &str| format!(r#"{{"type":"string","pattern":"{pattern}"}}"#);
    assert_change(
        &pattern("^[A-F]{2}$"),
        &pattern("^[A-Z]{1,3}$"),
        "$: pattern was ^[A-F]{2}$, now ^[A-Z]{1,3}$",
        true,
        false,
    );
    assert_change(&pattern("^a"), &pattern("^ab"), "$: pattern was ^a, now ^ab", false, false);
    let longest = |n: u32| format!(r#"{{"type":"string","maxLength":{n}}}"#);
    assert_change(&longest(5), &longest(9), "$: characters: widened from 0 to 5, to 0 to 9", true, false);
    assert_change(
        &longest(5),
        r#"{"type":"string"}"#,
        "$: characters: widened from 0 to 5, to 0 and more",
        true,
        false,
    );
}

#[test]
fn nulls_arrays_and_several_types() {
    assert_change(
        r#"{"type":"boolean"}"#,
        r#"{"type":["boolean","null"]}"#,
        "$: null is allowed now",
        true,
        false,
    );
    let array =
        |max: u32, item: &str| format!(r#"{{"type":"array","items":{{"type":"{item}"}},"maxItems":{max}}}"#);
    assert_change(
        &array(3, "null"),
        &array(4, "null"),
        "$: elements: widened from 0 to 3, to 0 to 4",
        true,
        false,
    );
    assert_change(&array(3, "null"), &array(3, "boolean"), "$[]: was null, now a boolean", false, false);
    let series = array(3, "null").replacen("{", r#"{"x-dunnage-series":true,"#, 1);
    assert_change(&array(3, "null"), &series, "$: a series now", true, true);
    assert_change(
        r#"{"type":["boolean","string"]}"#,
        r#"{"type":["boolean","integer","string"]}"#,
        "$: one of 2 types, now of 3",
        true,
        false,
    );
    assert_change(
        r#"{"type":"string"}"#,
        r#"{"type":["boolean","string"]}"#,
        "$: was text, now one of 2 types",
        true,
        false,
    );
    assert_change(r#"{"type":"string"}"#, "{}", "$: was text, now anything", true, false);
}

#[test]
fn conditions_and_recursion() {
    let plain = r#"{"type":"array","maxItems":3,"items":{"type":"boolean"}}"#;
    let unique = r#"{"type":"array","maxItems":3,"items":{"type":"boolean"},"uniqueItems":true}"#;
    assert_change(plain, unique, "$: other constraints added", false, true);
    let tree = |leaf: &str| {
        format!(
            r##"{{"type":"object","properties":{{"leaf":{{"type":"{leaf}"}},"next":{{"$ref":"#"}}}},"additionalProperties":false}}"##
        )
    };
    assert_eq!(changes(&tree("null"), &tree("null")), []);
    let text: Vec<String> = changes(&tree("null"), &tree("string")).iter().map(ToString::to_string).collect();
    assert_eq!(text, ["leaf: was null, now text", "next.leaf: was null, now text"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares a schema inferred from some messages with one inferred from more, because one often contains the other.
    #[test]
    fn changes_that_keep_old_messages_keep_them_valid(
        few in prop::collection::vec(message(), 1..4),
        more in prop::collection::vec(message(), 0..4),
    ) {
        let all = [few.clone(), more].concat();
        // A number that no type can represent has no schema.
        let (Ok(few), Ok(all_of_them)) = (infer(&few, None), infer(&all, None)) else {
            return Err(TestCaseError::reject("no schema"));
        };
        let (old, new) = (model(&few.schema), model(&all_of_them.schema));
        prop_assert_eq!(diff(&new, &new), []);
        for (from, to) in [(&old, &new), (&new, &old)] {
            if diff(from, to).iter().any(|change| !change.keeps) {
                continue;
            }
            for sample in all.iter().filter_map(|sample| serde_json::from_str(sample).ok()) {
                let sample = json::value(&sample);
                prop_assert!(from.validate(&sample).is_err() || to.validate(&sample).is_ok(), "{:?}", sample);
            }
        }
    }
}
