//! Schemas of numbers: decimals, bounds and steps.

use super::{field, many};
use dunnage_schema::infer;
use serde_json::json;

#[test]
fn decimals_are_counted_in_the_text() {
    let step = |values: &[&str]| field(values)["multipleOf"].clone();
    assert_eq!(step(&["17.00"]), json!(0.01));
    assert_eq!(step(&["1.5e-3", "2", "3"]), json!(0.0001));
    // One or two values may lack a decimal by chance, unless they end in zeros.
    assert_eq!((step(&["17.5"]), step(&["17.5", "17"])), (json!(0.01), json!(0.01)));
    assert_eq!(step(&["17.5", "18.25", "19.5"]), json!(0.01));
    assert_eq!(field(&["1", "2.0"])["type"], "number");
    assert_eq!(field(&["2e3"])["type"], "integer");
    assert_eq!(field(&["-0.0"]), json!({"type":"number"}));
    assert_eq!(field(&["0.1", "0.30000000000000004"]), json!({"type":"number"}));
    assert_eq!(field(&["1e300", "1"]), json!({"type":"number"}));
}

#[test]
fn integers_may_use_all_64_bits() {
    let wide = field(&["18446744073709551615"]);
    assert_eq!((&wide["minimum"], &wide["maximum"]), (&json!(0), &json!(u64::MAX)));
    assert_eq!(field(&["-9223372036854775808"])["minimum"], json!(i64::MIN));
    assert_eq!(field(&["9007199254740993", "0.5e300"]), json!({}));
}

#[test]
fn many_multiples_become_a_step() {
    // The values rise and fall, because values that only rise get no step.
    let hill = |n: usize| n.min(199 - n);
    let rain = many(|n| format!("{}.{}", hill(n) / 5, hill(n) % 5 * 2));
    assert_eq!(rain["multipleOf"], json!(0.2));
    assert_eq!(many(|n| format!("{}", hill(n) * 25))["multipleOf"], 25);
    assert_eq!(many(|n| format!("{}", n * 25)).get("multipleOf"), None);
    assert_eq!(many(|n| format!("{}", 1_780_000_000 + 30 * hill(n))).get("multipleOf"), None);
    assert_eq!(field(&["2", "4"]).get("multipleOf"), None);
}

#[test]
fn numbers_without_room_for_more_decimals_have_a_schema() {
    for name in ["temperature", "t"] {
        for number in ["-2.1113282521755098e36", "1.5e37", "-1e38"] {
            let sample = format!("{{\"{name}\":{number}}}");
            let inferred = infer(&[&sample], None);
            assert!(inferred.is_ok(), "{sample}: {inferred:?}");
        }
    }
}

#[test]
fn decimals_that_were_a_binary32_become_steps_that_round() {
    let widened = |n: usize| f64::from((20.0 + n as f32) / 10.0);
    for text in [|f: f64| format!("{f:?}"), |f: f64| format!("{f:.8}")] {
        let few: Vec<String> = (0..3).map(|n| text(widened(n * 7 + 1))).collect();
        let few: Vec<&str> = few.iter().map(String::as_str).collect();
        let kind = field(&few);
        assert_eq!(
            (&kind["multipleOf"], &kind["x-dunnage-round"]),
            (&json!(0.1), &json!(true)),
            "{few:?}: {kind}"
        );
        let many = many(|n| text(widened(n)));
        assert_eq!((&many["multipleOf"], &many["x-dunnage-round"]), (&json!(0.1), &json!(true)), "{many}");
    }
    // Numbers that a sensor computes are not short decimals, and decimals of a binary64 are exact.
    let computed = many(|n| format!("{:?}", f64::from((n as f32).sin())));
    assert_eq!(computed, json!({"type":"number"}));
    assert_eq!(field(&["21.3", "21.35"]).get("x-dunnage-round"), None);
    assert_eq!(field(&["0.1234567891"]).get("x-dunnage-round"), None);
}

/// SignalK's own sample has more digits than the shortest ones of the binary64 that it means.
#[test]
fn digits_that_no_value_holds_are_read_as_the_gateway_reads_them() {
    let samples = [r#"{"latitude":49.297333333333336}"#, r#"{"latitude":3.14159265358979323846}"#];
    let inferred = infer(&samples, None).unwrap();
    assert!(inferred.schema.contains("\"number\""), "{}", inferred.schema);
    assert!(inferred.notes[0].to_string().contains("nearest binary64"), "{}", inferred.notes[0]);
    let e = infer(&[r#"{"a":1e999}"#], None).unwrap_err();
    assert!(e.message().contains("infinity"), "{e}");
}
