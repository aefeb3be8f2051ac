//! The calls that write an index.

use super::number::{Count, unsigned};

/// Returns the name of the function that writes an index up to `max` in `bits` bits.
pub(super) fn put(max: i128, bits: u32) -> &'static str {
    match bits {
        64 => "dunnage_put_wide",
        8 if max <= 255 => "dunnage_put_small",
        _ => "dunnage_put_index",
    }
}

/// Returns the largest index as the function expects it: in two halves if it exceeds 32 bits.
pub(super) fn most(put: &str, max: i128) -> String {
    match put {
        "dunnage_put_wide" => format!("{}, {}", unsigned(max >> 32), unsigned(max & i128::from(u32::MAX))),
        _ => unsigned(max),
    }
}

/// Subtracts `first` from `place` without a sign: a value below `first` wraps to a large one, which is out of range, too.
pub(super) fn offset(count: &Count, place: &str, first: i128) -> String {
    let kind = count.kind.unsigned();
    match first {
        0 if count.kind.signed => format!("({kind}){place}"),
        0 => place.to_owned(),
        first if first < 0 => format!("({kind})(({kind}){place} + {})", unsigned(-first)),
        first => format!("({kind})(({kind}){place} - {})", unsigned(first)),
    }
}
