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
