//! Schemas of single values: constants, enumerations, numbers and texts.

use super::{
    Maker,
    members::{Members, quoted},
    name,
};
use std::fmt::Display;

/// The names of texts that receivers know, in the order of their use.
const KNOWN: [&str; 2] = ["device", "serial"];

/// Patterns that are not a sequence of character classes, with texts that match them.
pub(crate) const LOOSE: [(&str, &[&str]); 3] = [
    ("^(?:ok|failed)$", &["ok", "failed"]),
    ("^[a-z]+[0-9]*$", &["a", "sensor7", "zz", "b0123"]),
    ("x", &["x", "axb", "xx", "\u{e9}x"]),
];

/// Patterns that are a sequence of character classes; exact ones first.
const SEGMENTS: [&str; 9] = [
    "^[A-Z]{3}[UJZ][0-9]{7}$",
    "^[0-9]{3}-[0-9]{2,3}-[0-9A-F]{1,4}$",
    "^[1-9][0-9]{6,14}$",
    "^[ -~]{0,9}$",
    "^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$",
    "^[a-z]{0,3}[0-9]{0,3}x?$",
    "^[\u{e4}\u{f6}\u{fc}a]{2,4}$",
    "^k$",
    "^[0-9]{1,3}[0-9A-F]$",
];

impl Maker<'_> {
    pub(super) fn scalar(&mut self) -> String {
        match self.random.below(16) {
            0 => Members::of("boolean").object(),
            1 => Members(vec![("const", self.value())]).object(),
            2 => self.enumeration(),
            3..=5 => self.integer().object(),
            6 | 7 => self.decimal().object(),
            8 => self.float(),
            9 => self.number_text(),
            10 => self.numbers_text(),
            11 => self.time_text(),
            12 => self.pattern(),
            13 => self.text(),
            14 if !self.definitions.is_empty() => {
                let at = self.random.below(self.definitions.len());
                format!("{{\"$ref\":\"#/$defs/{}\"}}", name(at))
            }
            15 if self.is_open() && self.random.once_in(2) => "{}".to_owned(),
            _ => self.date_time(),
        }
    }

    /// A JSON value for `const` and `enum`.
    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => "true".to_owned(),
            1 => self.random.below(1000).to_string(),
            2 => format!("-{}.5", self.random.below(90)),
            3 => format!("{{\"k\":[{},\"x\"]}}", self.random.below(9)),
            _ => quoted(&format!("v{}", self.random.below(10_000))),
        }
    }

    fn enumeration(&mut self) -> String {
        let mut values: Vec<String> = Vec::new();
        let count = *self.random.pick(&[2, 3, 4, 5, 8, 9, 17]);
        while values.len() < count {
            let value = self.value();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if self.random.once_in(6) {
            values.push("null".to_owned());
        }
        Members(vec![("enum", format!("[{}]", values.join(",")))]).object()
    }

    /// The width of a range, often next to a power of 2.
    pub(super) fn width(&mut self) -> u64 {
        match self.random.below(4) {
            0 => self.random.below(12) as u64,
            1 => self.random.magnitude() >> 1 >> self.random.below(40),
            _ => self.random.below(100_000) as u64,
        }
    }

    pub(super) fn integer(&mut self) -> Members {
        let mut members = Members::of("integer");
        match self.random.below(8) {
            0 => members,
            1 => members.with("minimum", self.random.below(100)),
            2 => members.with("maximum", -(self.random.below(100) as i64)),
            form => {
                let low = self.random.magnitude() as i64 >> (8 + self.random.below(50));
                let high = i128::from(low) + i128::from(self.width());
                if form == 3 {
                    members = members.with("multipleOf", self.random.pick(&["2", "10", "7", "0.5"]));
                }
                if form == 4 && high - i128::from(low) > 6 {
                    members = members.with("x-dunnage-usual", usual(low + 1, high - 2));
                }
                let high = if form == 5 { (high + 1, "exclusiveMaximum") } else { (high, "maximum") };
                members.with("minimum", low).with(high.1, high.0)
            }
        }
    }

    /// The number of decimals, from 0 to 6, and the ends of the range in units of the last decimal.
    fn range(&mut self) -> (usize, i64, i64) {
        let places = self.random.below(7);
        let low = self.random.below(2_000_000) as i64 - 1_000_000;
        (places, low, low + (self.width() >> 24) as i64 + self.random.below(300_000) as i64)
    }

    fn decimal(&mut self) -> Members {
        let (places, low, high) = self.range();
        let step = self.random.pick(&["1", "1", "1", "2", "5"]);
        let mut members = Members::of("number").with("multipleOf", scaled(step.parse().unwrap_or(1), places));
        if self.random.below(8) > 0 {
            members = members.with("minimum", scaled(low, places)).with("maximum", scaled(high, places));
            members = self.sensor(
                members,
                ("x-dunnage-quantum", "x-dunnage-usual"),
                (places, low, high),
                *step == "1",
            );
        }
        members
    }

    /// Sometimes adds a quantum and a usual range.
    fn sensor(
        &mut self,
        mut members: Members,
        (quantum, usually): (&'static str, &'static str),
        (places, low, high): (usize, i64, i64),
        counts: bool,
    ) -> Members {
        if counts && self.random.once_in(4) {
            let more = self.random.below(4);
            let unit = 10i64.pow(more as u32);
            if quantum.starts_with("x-") && self.random.once_in(2) {
                members = members.with("x-dunnage-round", true);
            }
            let value = unit + self.random.below(90 * unit as usize) as i64;
            members = if self.random.once_in(2) {
                members.with(quantum, scaled(value, places + more))
            } else {
                let divisor = 1 + self.random.below(1000) as i64;
                let parts = Members(vec![("value", scaled(value * divisor + 1, places + more))]);
                let offset = scaled(self.random.below(2000) as i64 - 1000, places + more);
                members.with(quantum, parts.with("divisor", divisor).with("offset", offset).object())
            };
        }
        if self.random.once_in(4) && high - low > 600 {
            members = members.with(usually, usual(scaled(low + 200, places), scaled(high - 100, places)));
        }
        members
    }

    fn float(&mut self) -> String {
        let members = Members::of("number");
        if self.random.once_in(2) {
            members.object()
        } else {
            members.with("minimum", "-1e6").with("maximum", 1e6).object()
        }
    }

    fn number_members(&mut self) -> Members {
        let (places, low, high) = self.range();
        let mut members = Members(vec![("multipleOf", scaled(1, places))]);
        members = members.with("minimum", scaled(low, places)).with("maximum", scaled(high, places));
        if self.random.once_in(4) {
            members = members.with("digits", 1 + self.random.below(5));
        }
        self.sensor(members, ("quantum", "usual"), (places, low, high), true)
    }

    fn number_text(&mut self) -> String {
        let number = self.number_members().object();
        Members::of("string").with("x-dunnage-number", number).object()
    }

    fn numbers_text(&mut self) -> String {
        let count = 1 + self.random.below(3);
        let items: Vec<String> = (0..count)
            .map(|i| self.number_members().with("name", quoted(["x", "y", "z"][i])).object())
            .collect();
        let separator = quoted([" ", ",", "; "][self.random.below(3)]);
        let members = Members(vec![("separator", separator), ("items", format!("[{}]", items.join(",")))]);
        Members::of("string").with("x-dunnage-numbers", members.object()).object()
    }

    fn time_text(&mut self) -> String {
        let notation = *self.random.pick(&[
            "DDMMYY hhmmss.f",
            "YYYY-MM-DDThh:mm:ssZ",
            "YYYYMMDDhhmmss",
            "hh:mm:ss.fff DD/MM/YY",
        ]);
        let mut members = Members(vec![("notation", quoted(notation))]);
        if self.random.once_in(2) {
            members = members.with("epoch", quoted("2000-01-01T00:00:00Z"));
        }
        if self.random.once_in(2) {
            members = members.with("until", quoted("2039-12-31T23:59:59Z"));
        }
        Members::of("string").with("x-dunnage-time", members.object()).object()
    }

    fn pattern(&mut self) -> String {
        let members = Members::of("string");
        if self.random.once_in(4) {
            let (source, _) = *self.random.pick(&LOOSE);
            return members.with("pattern", quoted(source)).with("maxLength", 7).object();
        }
        let source = *self.random.pick(&SEGMENTS);
        let members = members.with("pattern", quoted(source));
        // The lengths are validated in addition to the pattern.
        if source == SEGMENTS[3] && self.random.once_in(2) {
            return members.with("minLength", 2).with("maxLength", 5).object();
        }
        members.object()
    }

    fn text(&mut self) -> String {
        let min = self.random.below(3) * self.random.below(3);
        let mut members = Members::of("string");
        if min > 0 {
            members = members.with("minLength", min);
        }
        if self.is_open() && self.random.once_in(2) {
            return members.object();
        }
        let members = members.with("maxLength", min + self.random.below(9));
        if self.known < KNOWN.len() && self.random.once_in(8) {
            // Each name is used at most once, and only in a value that every message has; otherwise the schema does not compile.
            self.known += 1;
            return members.with("x-dunnage-known", quoted(KNOWN[self.known - 1])).object();
        }
        members.object()
    }

    fn date_time(&mut self) -> String {
        Members::of("string").with("format", quoted("date-time")).with("maxLength", 35).object()
    }
}

fn usual(low: impl Display, high: impl Display) -> String {
    format!("{{\"minimum\":{low},\"maximum\":{high}}}")
}

/// Formats `n` * 10^-`places` as a JSON number.
fn scaled(n: i64, places: usize) -> String {
    let unit = 10u64.pow(places as u32);
    let sign = if n < 0 { "-" } else { "" };
    let (whole, rest) = (n.unsigned_abs() / unit, n.unsigned_abs() % unit);
    if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0places$}") }
}
