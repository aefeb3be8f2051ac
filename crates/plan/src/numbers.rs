//! Numbers for people.

use dunnage_links::Money;

/// Years beyond which ageing, not use, limits a battery.
pub const SHELF_LIFE: f64 = 20.0;

/// A number of bytes, with one decimal if it is not whole.
pub fn bytes(bytes: f64) -> String {
    if bytes.fract() == 0.0 { format!("{bytes:.0}") } else { format!("{bytes:.1}") }
}

/// Two decimals, or four below 1, with commas between thousands. `dashboard/play/plan.js` writes the same.
pub fn amount(number: f64) -> String {
    match number {
        number if number > 0.0 && number < 0.0001 => "<0.0001".to_owned(),
        number if number > 0.0 && number < 1.0 => format!("{number:.4}"),
        number => grouped(&format!("{number:.2}")),
    }
}

fn grouped(number: &str) -> String {
    let whole = number.find('.').unwrap_or(number.len());
    let mut grouped = String::with_capacity(number.len() + whole / 3);
    for (place, digit) in number.char_indices() {
        if place < whole
            && (whole - place).is_multiple_of(3)
            && grouped.ends_with(|c: char| c.is_ascii_digit())
        {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// An amount with its currency.
pub fn money(money: Money) -> String {
    format!("{} {}", money.currency, amount(money.amount))
}

/// Megabytes of 1024 * 1024 bytes.
pub fn megabytes(bytes: f64) -> f64 {
    bytes / (1024.0 * 1024.0)
}

/// A limit of messages per day, rounded down to a whole number, or to two decimals below 1.
pub fn per_day(limit: f64) -> String {
    if limit < 1.0 { format!("{:.2}", (limit * 100.0).floor() / 100.0) } else { limit.floor().to_string() }
}

/// Joules, with a unit that suits them.
pub fn joules(joules: f64) -> String {
    match joules {
        j if j < 1e-3 => format!("{:.0} µJ", j * 1e6),
        j if j < 1.0 => format!("{:.1} mJ", j * 1e3),
        j => format!("{j:.2} J"),
    }
}

/// Years, up to a battery's shelf life.
pub fn years(years: f64) -> String {
    match years {
        years if years > SHELF_LIFE => format!(">{SHELF_LIFE}"),
        years if years < 1.0 => format!("{years:.2}"),
        years => format!("{years:.1}"),
    }
}

/// Seconds in the unit that people use for such a time.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 120.0 => format!("{s} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.0} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_people_need() {
        assert_eq!(
            [amount(1_289_648.346), amount(-340.0), amount(0.0007), amount(0.0), amount(1e-9)],
            ["1,289,648.35", "-340.00", "0.0007", "0.00", "<0.0001"]
        );
        assert_eq!([per_day(309.29), per_day(1.0), per_day(0.709)], ["309", "1", "0.70"]);
        assert_eq!([joules(7.4e-6), joules(0.0213), joules(8.6)], ["7 µJ", "21.3 mJ", "8.60 J"]);
        assert_eq!([years(0.513), years(7.25), years(1200.0)], ["0.51", "7.2", ">20"]);
        assert_eq!([duration(0.02), duration(1.6), duration(21_600.0)], ["20 ms", "1.6 s", "6 hours"]);
    }
}
