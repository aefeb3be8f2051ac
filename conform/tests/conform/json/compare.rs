//! Compares conversions by the C library with those by `dunnage-formats`, apart from documented differences.

use super::converter::{Converter, Outcome};
use dunnage_formats::{Format, Json, Kind, Pson, Value};

pub fn outcome(made: impl FnOnce(&mut Vec<u8>) -> Result<(), dunnage_formats::Error>) -> Outcome {
    let mut bytes = Vec::new();
    match made(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(e) => Err((e.kind().to_string(), e.offset().unwrap_or_default())),
    }
}

pub fn pson_of(json: &[u8]) -> Outcome {
    outcome(|out| Pson.encode(&Json.decode(json)?, out))
}

fn json_of(pson: &[u8]) -> Outcome {
    outcome(|out| Json.encode(&Pson.decode(pson)?, out))
}

pub fn check_json(c: &mut Converter, json: &[u8]) {
    let (found, expected) = (c.pson_from(json), pson_of(json));
    if found == expected {
        return;
    }
    let shown = String::from_utf8_lossy(json);
    // For digits that no binary64 keeps, the device library takes the nearest binary64 and reports that it rounded, as dn_json.h
    // says. `dunnage-formats` returns an error.
    if Json.decode(json).is_err_and(|e| e.to_string().contains("does not keep this number")) {
        assert!(found.is_err() || c.rounded, "{shown}: {found:?}");
        return;
    }
    let Err(fault) = &expected else { panic!("{shown}: {found:?}, not {expected:?}") };
    let twice = Json.decode(json).is_err_and(|e| e.to_string().contains(dunnage_pson::DUPLICATE_KEY));
    match &found {
        // A streaming reader does not detect duplicate keys. A reader that checks the message does.
        Ok(pson) => {
            assert!(twice, "{shown}: not {fault:?}");
            assert!(Pson.decode(pson).is_err_and(|e| e.kind() == Kind::Malformed), "{shown}");
        }
        Err(first) if twice => assert!(first.1 > fault.1, "{shown}: {first:?}, not {fault:?}"),
        // The device library reports the first fault. `dunnage-formats` checks UTF-8 only at the end of a string.
        Err(first) => {
            let utf8 = str::from_utf8(json).expect_err("the same fault");
            assert!(
                first.0 == "malformed" && first.1 == utf8.valid_up_to(),
                "{shown}: {first:?}, not {fault:?}"
            );
            assert!(first.1 <= fault.1, "{shown}");
        }
    }
}

/// Whether both values are equal, or are the same binary32: the device library prints a binary32 in its shortest form, 0.1, and
/// `dunnage convert` prints its exact value, 0.10000000149011612.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (found, Value::F64(expected)) if f64::from(*expected as f32) == *expected => {
            let found = match found {
                Value::F64(found) => *found,
                whole => whole.as_integer().expect("a number") as f64,
            };
            found as f32 == *expected as f32 && found.is_sign_negative() == expected.is_sign_negative()
        }
        (found, expected) => found == expected,
    }
}

pub fn check_pson(c: &mut Converter, pson: &[u8]) {
    let (found, expected) = (c.json_from(pson), json_of(pson));
    match (&found, &expected) {
        (Ok(json), Ok(of_rust)) => {
            let [json, of_rust] = [json, of_rust].map(|text| {
                let shown = String::from_utf8_lossy(text);
                Json.decode(text).unwrap_or_else(|e| panic!("{shown}: {e:?}"))
            });
            assert!(same(&json, &of_rust), "{pson:02x?}: {found:?}, not {expected:?}");
        }
        (Ok(_), _) | (_, Ok(_)) => assert_eq!(found, expected, "{pson:02x?}"),
        // The JSON writer does not know the offset in the PSON, so only the kinds are compared.
        (Err(found), Err(expected)) => assert_eq!(found.0, expected.0, "{pson:02x?}"),
    }
}
