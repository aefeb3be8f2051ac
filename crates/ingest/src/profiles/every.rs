//! The interval at which the devices of a schema send, if the schema says it.

use dunnage_schema::{Integer, Model, Type};

/// Whole numbers count as times in seconds since 1970 if they can be one of this century, and no time in milliseconds.
const SECONDS: std::ops::Range<i128> = 2_000_000_000..1 << 34;

/// Returns the time between two messages in microseconds: from `every` of `x-dunnage-time`, else from `x-dunnage-every` of a whole number that
/// is a time in seconds.
pub fn every(model: &Model) -> Option<i64> {
    let Type::Object(object) = model.root().bare() else { return None };
    let kinds = || object.fields.iter().map(|field| field.kind.bare());
    let of_text = kinds().find_map(|kind| match kind {
        Type::TimeText(time) => Some((time.every?, 10_u64.pow(time.places.min(9)))),
        _ => None,
    });
    let of_number = || {
        kinds().find_map(|kind| match kind {
            // An amount of 1 is that of a counter.
            Type::Integer(Integer { max, every: Some(every), .. }) if SECONDS.contains(max) && *every > 1 => {
                Some((*every, 1))
            }
            _ => None,
        })
    };
    let (every, second) = of_text.or_else(of_number)?;
    i64::try_from(u128::from(every) * 1_000_000 / u128::from(second)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(property: &str) -> Option<i64> {
        let text = format!(r#"{{"type":"object","properties":{{"a":{{"type":"boolean"}},"t":{property}}}}}"#);
        every(&Model::compile(&text).unwrap())
    }

    #[test]
    fn the_interval_is_that_of_the_time() {
        let time = r#"{"type":"string","x-dunnage-time":{"notation":"DDMMYY hhmmss.f","every":900}}"#;
        assert_eq!(of(time), Some(900_000_000));
        let seconds = r#"{"type":"integer","minimum":0,"maximum":4294967295,"x-dunnage-every":600}"#;
        assert_eq!(of(seconds), Some(600_000_000));
        for other in [
            r#"{"type":"integer","minimum":0,"maximum":4294967295,"x-dunnage-every":1}"#,
            r#"{"type":"integer","minimum":0,"maximum":65535,"x-dunnage-every":10}"#,
            r#"{"type":"integer","minimum":0,"maximum":4294967295}"#,
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
