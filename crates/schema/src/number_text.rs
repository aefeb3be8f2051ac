//! Reads and writes text that holds numbers, in exactly one notation.

use crate::{Decimal, NumberText, NumbersText};

/// The most characters of a number: a sign, a point, and the 39 digits of 128 bits or the 36 that a notation pads to.
const LONGEST: usize = 41;
/// The number of decimal digits that always fit 64 bits.
const DIGITS_OF_64_BITS: usize = 19;

impl NumberText {
    /// Parses `text`; returns its number in units of 10^-`places`.
    ///
    /// Returns `None` unless the text is in the notation and the number is one of [`NumberText::number`]: `parse(t) == Some(n)` implies
    /// `write(n) == t`.
    pub fn parse(&self, text: &str) -> Option<i128> {
        self.scan(text).filter(|n| self.number.contains(*n))
    }

    /// Writes the number of `scaled` units in the notation.
    pub fn write(&self, scaled: i128) -> String {
        self.characters(scaled, &mut [0; LONGEST]).to_owned()
    }

    /// Appends the text of [`NumberText::write`] to `out`.
    pub fn write_to(&self, scaled: i128, out: &mut String) {
        out.push_str(self.characters(scaled, &mut [0; LONGEST]));
    }

    /// Parses `text` without checking the range; `None` if it is not in the notation.
    pub(crate) fn scan(&self, text: &str) -> Option<i128> {
        let (digits, negative) = match text.as_bytes() {
            [b'-', rest @ ..] => (rest, true),
            all => (all, false),
        };
        let (whole, fraction) = match self.number.places as usize {
            0 => (digits, &[][..]),
            places => {
                let (whole, rest) = digits.split_at_checked(digits.len().checked_sub(places + 1)?)?;
                (whole, rest.strip_prefix(b".")?)
            }
        };
        let padded = whole.len() > self.digits as usize && whole.starts_with(b"0");
        if whole.len() < self.digits as usize || padded {
            return None;
        }
        let n = value(whole, fraction)?;
        match negative {
            true if n == 0 => None,
            true => Some(-n),
            false => Some(n),
        }
    }

    /// Writes the text into `buffer`, from the last character to the first.
    fn characters<'b>(&self, scaled: i128, buffer: &'b mut [u8; LONGEST]) -> &'b str {
        let (places, mut rest) = (self.number.places, scaled.unsigned_abs());
        let least = self.digits.max(1).saturating_add(places).min(LONGEST as u32 - 2);
        let (mut at, mut done) = (LONGEST, 0);
        while done < least || rest > 0 {
            if done == places && places > 0 {
                at -= 1;
                buffer[at] = b'.';
            }
            let digit;
            (rest, digit) = last_digit(rest);
            at -= 1;
            buffer[at] = b'0' + digit;
            done += 1;
        }
        if scaled < 0 {
            at -= 1;
            buffer[at] = b'-';
        }
        std::str::from_utf8(&buffer[at..]).unwrap_or_default()
    }
}

/// Splits a number into the digits before the last one, and the last one.
fn last_digit(n: u128) -> (u128, u8) {
    // A division of 64 bits is faster.
    match u64::try_from(n) {
        Ok(n) => ((n / 10).into(), (n % 10) as u8),
        Err(_) => (n / 10, (n % 10) as u8),
    }
}

/// Parses the digits of `whole` followed by those of `fraction`; `None` if a byte is not a digit or 128 bits overflow.
fn value(whole: &[u8], fraction: &[u8]) -> Option<i128> {
    let digits = whole.iter().chain(fraction);
    if whole.len() + fraction.len() > DIGITS_OF_64_BITS {
        return digits.copied().try_fold(0i128, |n, byte| {
            n.checked_mul(10)?.checked_add(byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?)
        });
    }
    let mut n = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        n = n * 10 + u64::from(digit);
    }
    Some(n.into())
}

/// Writes `n` * 10^-`places` with all decimals: `17.00`. `places` is at most 38.
///
/// ```
/// use dunnage_schema::decimal_text;
/// assert_eq!(decimal_text(2456, 2), "24.56");
/// assert_eq!(decimal_text(-5, 2), "-0.05");
/// ```
pub fn decimal_text(n: i128, places: u32) -> String {
    let number =
        Decimal { places, step: 1, min: n, max: n, usual: None, quantum: None, round: false, changes: None };
    NumberText { number, digits: 1 }.write(n)
}

/// Writes `n` * 10^-`places` without trailing zeros in the decimals: `17`.
pub(crate) fn plain(n: i128, places: u32) -> String {
    let text = decimal_text(n, places);
    if places == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

impl NumbersText {
    /// Parses `text`; returns its numbers, each in units of its own 10^-`places`.
    ///
    /// Returns `None` unless all are in their notation and range: `parse(t) == Some(n)` implies `write(&n) == t`.
    pub fn parse(&self, text: &str) -> Option<Vec<i128>> {
        let mut pieces = self.pieces(text);
        let numbers = self.parts.iter().map(|(_, part)| part.parse(pieces.next()?)).collect::<Option<_>>()?;
        pieces.next().is_none().then_some(numbers)
    }

    /// Splits `text` at the separators.
    pub fn pieces<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let separator = self.separator.as_str();
        let mut rest = Some(text);
        std::iter::from_fn(move || {
            let text = rest?;
            let at = match separator.as_bytes() {
                // Starting the library's substring search takes longer than scanning these few characters.
                [one] => text.bytes().position(|byte| byte == *one),
                _ => text.find(separator),
            };
            let (piece, behind) = match at {
                Some(at) => (&text[..at], Some(&text[at + separator.len()..])),
                None => (text, None),
            };
            rest = behind;
            Some(piece)
        })
    }

    /// Writes the numbers, one for each part, each in units of its own 10^-`places`.
    pub fn write(&self, scaled: &[i128]) -> String {
        let mut text = String::new();
        for (i, ((_, part), n)) in self.parts.iter().zip(scaled).enumerate() {
            if i > 0 {
                text.push_str(&self.separator);
            }
            part.write_to(*n, &mut text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use proptest::prelude::*;

    fn notation(places: u32, digits: u32) -> NumberText {
        let number = Decimal {
            places,
            step: 1,
            min: i64::MIN.into(),
            max: i64::MAX.into(),
            usual: None,
            quantum: None,
            round: false,
            changes: None,
        };
        NumberText { number, digits }
    }

    #[test]
    fn text_in_the_notation_is_a_number() {
        for (places, digits, text, n) in [
            (2, 1, "17.00", 1700),
            (2, 1, "-0.05", -5),
            (2, 1, "0.00", 0),
            (0, 2, "06", 6),
            (0, 2, "-06", -6),
            (0, 2, "123", 123),
            (0, 1, "0", 0),
            (4, 1, "1012.3956", 10_123_956),
            (1, 3, "007.5", 75),
            (0, 1, "9223372036854775807", i64::MAX.into()),
            (2, 1, "-92233720368547758.08", i64::MIN.into()),
            (0, 22, "0000000000000000000006", 6),
        ] {
            assert_eq!(notation(places, digits).parse(text), Some(n), "{text}");
            assert_eq!(notation(places, digits).write(n), text);
        }
    }

    #[test]
    fn text_in_another_notation_is_none() {
        for text in [
            "17.0", "17.000", "17", "17.", ".50", "017.00", "-0.00", "+1.00", " 1.00", "1.00 ", "1,00",
            "1e2", "--1.00", "-", "", ".", "1.0a", "1.-5", "１.00", "00.00", "NaN",
        ] {
            assert_eq!(notation(2, 1).parse(text), None, "{text:?}");
        }
        for text in ["6", "006", "-6", "6.0", "0", "-00", "06.", "a6"] {
            assert_eq!(notation(0, 2).parse(text), None, "{text:?}");
        }
        assert_eq!(notation(0, 1).parse(&"9".repeat(60)), None);
    }

    #[test]
    fn bounds_hold() {
        let soc = NumberText {
            number: Decimal {
                places: 0,
                step: 5,
                min: 0,
                max: 100,
                usual: None,
                quantum: None,
                round: false,
                changes: None,
            },
            digits: 1,
        };
        assert_eq!(soc.parse("95"), Some(95));
        assert_eq!((soc.parse("96"), soc.parse("105"), soc.parse("-5")), (None, None, None));
    }

    #[test]
    fn several_numbers_stand_in_one_text() {
        let parts = ["x", "y", "z"].map(|name| (name.to_owned(), notation(4, 1)));
        let acc = NumbersText { separator: " ".into(), parts: parts.into() };
        let text = "-993.9269 -27.1004 -52.0035";
        assert_eq!(acc.parse(text), Some(vec![-9_939_269, -271_004, -520_035]));
        assert_eq!(acc.write(&[-9_939_269, -271_004, -520_035]), text);
        for text in [
            "",
            "1.0000 2.0000",
            "1.0000 2.0000 3.0000 4.0000",
            "1.0000  2.0000 3.0000",
            "1.0000 2.0000 3.0000 ",
        ] {
            assert_eq!(acc.parse(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn writing_inverts_parsing(n in any::<i64>(), places in 0u32..=18, digits in 1u32..=18) {
            let number = notation(places, digits);
            prop_assert_eq!(number.parse(&number.write(n.into())), Some(n.into()));
        }

        #[test]
        fn parsing_accepts_only_what_writing_gives(text in "-?[0-9]{1,4}(\\.[0-9]{0,3})?", places in 0u32..=3, digits in 1u32..=3) {
            let number = notation(places, digits);
            if let Some(n) = number.parse(&text) {
                prop_assert_eq!(number.write(n), text);
            }
        }
    }
}
