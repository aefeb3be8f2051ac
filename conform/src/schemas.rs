//! Random schemas: JSON Schema texts with the keywords of `spec/schema.md`.

use crate::Random;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::fmt::Display;

/// The kind of schemas to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Schemas with a plain packed layout: every part is bounded.
    Plain,
    /// Schemas that may have unbounded text, arrays and objects, and may be recursive.
    Open,
}

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

/// Generates the text of a schema that compiles and whose layout is within `scope`.
pub fn schema(random: &mut Random, scope: Scope) -> String {
    loop {
        let mut maker =
            Maker { random: &mut *random, scope, definitions: Vec::new(), known: false, recursive: false };
        let text = maker.whole();
        if let Ok(model) = Model::compile(&text)
            && (scope == Scope::Open || Layout::new(&model).is_plain())
        {
            return text;
        }
    }
}

/// Members of a schema: keywords and their values as JSON text.
struct Members(Vec<(&'static str, String)>);

impl Members {
    fn of(kind: &str) -> Members {
        Members(vec![("type", quoted(kind))])
    }

    fn with(mut self, keyword: &'static str, value: impl Display) -> Members {
        self.0.push((keyword, value.to_string()));
        self
    }

    fn object(self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
        format!("{{{}}}", members.join(","))
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    scope: Scope,
    /// Schemas in `$defs`, the targets of `$ref`.
    definitions: Vec<String>,
    /// Whether a value is already the device ID (`x-dunnage-known`).
    known: bool,
    /// Whether the schema refers to itself.
    recursive: bool,
}

impl Maker<'_> {
    fn whole(&mut self) -> String {
        for _ in 0..self.random.below(3) {
            let definition = self.scalar();
            self.definitions.push(definition);
        }
        let slot = 1 + self.random.below(63);
        let mut members = match self.random.below(8) {
            0 => Members(vec![("anyOf", format!("[{}]", self.any_kind(2)))]),
            _ => self.object_members(3, true),
        };
        members.0.insert(0, ("title", quoted("Random message")));
        members = members.with("x-dunnage-slot", slot);
        if self.random.once_in(3) {
            members = members.with("x-dunnage-check", 1 + self.random.below(2));
        }
        if !self.definitions.is_empty() {
            let named: Vec<String> = self
                .definitions
                .iter()
                .enumerate()
                .map(|(i, text)| format!("{}:{text}", quoted(&name(i))))
                .collect();
            members = members.with("$defs", format!("{{{}}}", named.join(",")));
        }
        members.object()
    }

    /// A schema of any kind, nested at most `depth` levels deep.
    fn any_kind(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(3) > 0 {
            return self.scalar();
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0 | 1 => self.object_members(depth, false).object(),
            2 | 3 => self.array(depth),
            4 => self.tuple(depth),
            5 => self.nullable(depth),
            6 => self.union(depth),
            _ if self.is_open() && self.random.once_in(2) => {
                self.recursive = true;
                r##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##.to_owned()
            }
            _ => self.nullable(depth),
        }
    }

    fn is_open(&self) -> bool {
        self.scope == Scope::Open
    }

    fn scalar(&mut self) -> String {
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
    fn width(&mut self) -> u64 {
        match self.random.below(4) {
            0 => self.random.below(12) as u64,
            1 => self.random.magnitude() >> 1 >> self.random.below(40),
            _ => self.random.below(100_000) as u64,
        }
    }

    fn integer(&mut self) -> Members {
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
            members = members.with(
                quantum,
                scaled(unit + 1 + self.random.below(90 * unit as usize) as i64, places + more),
            );
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
        if !self.known && self.random.once_in(8) {
            // Used at most once, and only in a value that every message has; otherwise the schema does not compile.
            self.known = true;
            return members.with("x-dunnage-known", quoted("device")).object();
        }
        members.object()
    }

    fn date_time(&mut self) -> String {
        Members::of("string").with("format", quoted("date-time")).with("maxLength", 35).object()
    }

    fn array(&mut self, depth: usize) -> String {
        let item = self.any_kind(depth);
        let min = self.random.below(3);
        let mut members = Members::of("array").with("items", item);
        if min > 0 {
            members = members.with("minItems", min);
        }
        if self.is_open() && self.random.once_in(2) {
            return members.object();
        }
        members.with("maxItems", min + self.random.below(4)).object()
    }

    fn tuple(&mut self, depth: usize) -> String {
        let items: Vec<String> = (0..1 + self.random.below(3)).map(|_| self.any_kind(depth)).collect();
        let min = self.random.below(items.len() + 1);
        let rest = if self.random.once_in(2) { "false".to_owned() } else { self.any_kind(depth) };
        let max = items.len() + self.random.below(3);
        let members = Members::of("array").with("prefixItems", format!("[{}]", items.join(",")));
        members.with("items", rest).with("minItems", min).with("maxItems", max).object()
    }

    fn nullable(&mut self, depth: usize) -> String {
        match self.random.below(3) {
            0 => format!("{{\"anyOf\":[{},{{\"type\":\"null\"}}]}}", self.any_kind(depth)),
            1 => format!("{{\"oneOf\":[{{\"type\":\"null\"}},{}]}}", self.integer().object()),
            _ => {
                let mut members = self.integer();
                members.0[0].1 = r#"["integer","null"]"#.to_owned();
                members.object()
            }
        }
    }

    fn union(&mut self, depth: usize) -> String {
        if self.random.once_in(3) {
            let members = Members(vec![("type", r#"["integer","boolean","string"]"#.to_owned())]);
            return members.with("minimum", 0).with("maximum", self.width()).with("maxLength", 5).object();
        }
        let kinds: Vec<String> = (0..2 + self.random.below(3)).map(|_| self.any_kind(depth)).collect();
        format!("{{\"anyOf\":[{}]}}", kinds.join(","))
    }

    fn object_members(&mut self, depth: usize, is_root: bool) -> Members {
        let count = if is_root { 1 + self.random.below(9) } else { self.random.below(4) };
        let (mut properties, mut required) = (Vec::new(), Vec::new());
        for i in 0..count {
            // Includes keys that are not valid identifiers in generated code.
            let key = match self.random.below(12) {
                0 => format!("a-{i}/~ \u{e9}\""),
                1 => ["int", "class", "_", "2nd", "value"][i % 5].to_owned() + &"_".repeat(i / 5),
                _ => format!("field{i}"),
            };
            properties.push(format!("{}:{}", quoted(&key), self.any_kind(depth)));
            if self.random.below(4) > 0 {
                required.push(quoted(&key));
            }
        }
        let mut members = Members::of("object").with("properties", format!("{{{}}}", properties.join(",")));
        if !required.is_empty() {
            members = members.with("required", format!("[{}]", required.join(",")));
        }
        match self.random.below(3) {
            0 if self.is_open() => members,
            1 if self.is_open() => {
                let additional = self.any_kind(depth.saturating_sub(1));
                members.with("additionalProperties", additional)
            }
            _ => members.with("additionalProperties", false),
        }
    }
}

fn name(at: usize) -> String {
    format!("part{at}")
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

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
