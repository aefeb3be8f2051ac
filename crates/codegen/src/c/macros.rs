//! Generates the macros of numbers: their ranges, and conversions between physical values and counts.

use super::{
    names::capitals,
    number::{Count, literal, unsigned},
    plan::{Content, Slot, SlotKind, Struct},
    structs::inner,
};
use dunnage_schema::Quantum;
use std::fmt::Write as _;

/// Explains the macros, in a comment before them.
pub(super) const USE: &str = "/* Members count in steps of the schema. For a field called FIELD:
 *     FIELD(23.5)                   the count nearest to a value, which is rounded to binary32; with a literal it is a constant
 *     FIELD_FROM_DECIMAL(2350, 2)   the count nearest to 2350 * 10^-2, in integers; the second number is a literal from 0 to 9
 *     FIELD_VALUE(n)                the value of n counts, as float; as double where a float cannot tell all counts apart
 * What is out of range becomes a count that is refused. */
";

/// Generates the macros of all fields in a struct and its nested structs.
pub(super) fn macros(content: &Content, out: &mut String) {
    for slot in inner(content) {
        macros_of(slot, out);
    }
}

fn macros_of(slot: &Slot, out: &mut String) {
    match &slot.kind {
        SlotKind::Number(count) => number(&slot.constant, count, out),
        SlotKind::Struct(Struct { content, .. }) => {
            if let Content::Numbers(parts) = content {
                for (part, count) in parts {
                    number(&format!("{}_{}", slot.constant, capitals(part)), count, out);
                }
            }
            macros(content, out);
        }
        SlotKind::Array(array) => macros_of(&array.item, out),
        SlotKind::Nullable(_, inner) => macros_of(inner, out),
        _ => {}
    }
}

fn number(constant: &str, count: &Count, out: &mut String) {
    let (min, max) = (literal(count.min), literal(count.max));
    let _ = writeln!(out, "#define {constant}_MIN {min}\n#define {constant}_MAX {max}");
    if let Some(epoch) = count.epoch {
        let _ = writeln!(
            out,
            "#define {constant}_EPOCH {} /* seconds since 1970-01-01T00:00:00Z */",
            literal(epoch.into())
        );
        let _ = writeln!(out, "#define {constant}_PER_SECOND {}", unsigned(10i128.pow(count.unit.1)));
    }
    if let Some(quantum) = &count.quantum {
        let _ = writeln!(
            out,
            "#define {constant}_VALUE(n) {} /* counts of {quantum} */",
            raw_value(count, quantum)
        );
    }
    if !count.has_scale() {
        return;
    }
    let unit = dunnage_schema::decimal_text(count.unit.0.into(), count.unit.1);
    let _ = writeln!(out, "#define {constant}_VALUE(n) {} /* in {unit} */", value(count));
    let Some(other) = count.spare() else { return };
    let is_wide = count.min <= i32::MIN.into() || count.max > i32::MAX.into();
    // The cast to the member's type makes both the same.
    let most = if is_wide { i64::MAX.into() } else { i32::MAX.into() };
    let other = if other <= most { literal(other) } else { "-1".to_owned() };
    let range = format!("{min}, {max}, {other}");
    let kind = count.kind.name();
    let _ = writeln!(out, "#define {constant}(value) (({kind}){})", scale(count, is_wide, &range));
    if let Some(ratio) = ratio(count) {
        let wide = if is_wide { "_wide" } else { "" };
        let _ = writeln!(
            out,
            "#define {constant}_FROM_DECIMAL(n, places) (({kind})dunnage_count{wide}((int64_t)(n), {ratio}, {range}))"
        );
    }
}

/// Generates the conversion of n counts to a value. Unless a product with the unit is precise enough, the only rounding is that of a
/// quotient of two whole numbers.
fn value(count: &Count) -> String {
    let (numerator, denominator) = count.fraction();
    let (kind, end) = match count.is_single_exact() {
        true => ("float", "f"),
        false if count.fits_single() && count.is_coarse() => {
            return format!(
                "((float)(n) * {}f)",
                point(&dunnage_schema::decimal_text(count.unit.0.into(), count.unit.1))
            );
        }
        false => ("double", ""),
    };
    let times = if numerator == 1 { String::new() } else { format!(" * {numerator}.0{end}") };
    let by = if denominator == 1 { String::new() } else { format!(" / {denominator}.0{end}") };
    format!("(({kind})(n){times}{by})")
}

/// Generates the conversion of n counts with a divisor or an offset to a value. There is no conversion back: the member is what the sensor
/// counts.
fn raw_value(count: &Count, quantum: &Quantum) -> String {
    let decimal = |n: i128| point(&dunnage_schema::decimal_text(n, quantum.places));
    let (kind, end) = if count.is_raw_coarse(quantum) { ("float", "f") } else { ("double", "") };
    let mut text = format!("({kind})(n) * {}{end}", decimal(quantum.mantissa.into()));
    if quantum.divisor.get() != 1 {
        text.push_str(&format!(" / {}.0{end}", quantum.divisor));
    }
    if quantum.offset != 0 {
        let sign = if quantum.offset < 0 { '-' } else { '+' };
        text.push_str(&format!(" {sign} {}{end}", decimal(i128::from(quantum.offset).abs())));
    }
    format!("({text})")
}

/// Appends `.0` if the decimal has no point.
fn point(text: &str) -> String {
    if text.contains('.') { text.to_owned() } else { format!("{text}.0") }
}

/// Generates the call that converts a value to a count.
fn scale(count: &Count, is_wide: bool, range: &str) -> String {
    if count.fits_single() {
        let (factor, shift) = count.factor();
        return format!("dunnage_scale((float)(value), {factor:#x}ul, {}, {range})", 126 + shift);
    }
    let (numerator, denominator) = count.fraction();
    let name = if is_wide { "wide" } else { "double" };
    format!("dunnage_scale_{name}((double)(value), {denominator}.0, {numerator}.0, {range})")
}

/// Returns the factor and the divisor that convert a decimal to a count; `None` if they may need more than 64 bits.
fn ratio(count: &Count) -> Option<String> {
    let (mantissa, places) = count.unit;
    if places > 9 || u128::from(mantissa) * 10u128.pow(9) > i64::MAX as u128 {
        return None;
    }
    let multiplier = format!("DUNNAGE_TEN({places} - (places))");
    let divisor = match mantissa {
        1 => format!("DUNNAGE_TEN((places) - {places})"),
        // C++98 has no suffix for literals of 64 bits.
        mantissa => format!("(uint64_t){} * DUNNAGE_TEN((places) - {places})", unsigned(mantissa.into())),
    };
    Some(format!("{multiplier}, {divisor}"))
}
