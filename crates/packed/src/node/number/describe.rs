//! How a number is described: in the canonical text, `spec/packed.md`, "Fingerprints", and for people.

use super::{Form, Number, Source, scaled};
use crate::explain::Words;
use crate::json;
use dunnage_schema::{Decimal, NumberText};

impl Number {
    pub(in crate::node) fn canonical(&self, out: &mut String) {
        json::tagged("number", out, |out| {
            out.push_str(&format!("[\"{}\",\"{}\",{}]", self.min, self.max, self.step));
            if let Some((first, last)) = self.usual {
                out.push_str(&format!(",\"usual\":[\"{first}\",\"{last}\"]"));
            }
            if let Some(every) = self.every {
                out.push_str(&format!(",\"every\":{every}"));
            }
            out.push_str(",\"as\":");
            match &self.source {
                Source::Integer => out.push_str("\"integer\""),
                Source::Decimal(decimal) => out.push_str(&format!("{{\"decimal\":{}}}", decimal.places)),
                Source::Text(text) => {
                    out.push_str(&format!("{{\"text\":[{},{}]}}", text.number.places, text.digits));
                }
                Source::Time(time) => json::tagged("time", out, |out| {
                    out.push('[');
                    json::string(&time.write_notation(), out);
                    out.push_str(&format!(",\"{}\"]", time.epoch));
                }),
            }
            if let Some(quantum) = self.decimal().and_then(|decimal| decimal.quantum.as_ref()) {
                out.push_str(&format!(",\"quantum\":[\"{}\",{}", quantum.mantissa, quantum.places));
                if !quantum.is_decimal() {
                    out.push_str(&format!(",{},\"{}\"", quantum.divisor, quantum.offset));
                }
                out.push(']');
            }
        });
    }

    pub(in crate::node) fn explain(&self) -> Words {
        let decimal = self.decimal();
        let (range, step) = match (&self.source, decimal) {
            (Source::Time(time), _) => {
                (format!("{} to {}", time.write(self.min), time.write(self.max)), time.write_notation())
            }
            (source, Some(decimal)) => {
                let digits = if let Source::Text(text) = source { text.digits } else { 1 };
                let written = NumberText { number: decimal.clone(), digits };
                (format!("{} to {}", written.write(decimal.min), written.write(decimal.max)), step(decimal))
            }
            _ => (format!("{} to {}", self.min, self.max), self.step.to_string()),
        };
        let rounded = decimal.is_some_and(|decimal| decimal.round);
        let why = self.reason(decimal) + if rounded { "; the writer rounds" } else { "" };
        Words { range, step, why }
    }

    /// Returns the reason for the bits.
    fn reason(&self, decimal: Option<&Decimal>) -> String {
        let all = match self.form() {
            Form::Index(count) => format!("{count} values"),
            Form::Offset | Form::Signed => {
                "6 bits of size and its significant ones: give it minimum and maximum".into()
            }
        };
        let (Some((first, last)), Some(usual)) = (self.usual, self.usual_count()) else { return all };
        let shown = |n: i128| match decimal {
            Some(decimal) => NumberText { number: decimal.clone(), digits: 1 }.write(scaled(decimal, n)),
            None => n.to_string(),
        };
        format!("{usual} usual values from {} to {}; the escape, then {all}", shown(first), shown(last))
    }
}

/// Returns the step of a number with decimals, or the sensor's unit.
fn step(decimal: &Decimal) -> String {
    let scaled = |n: i128, places: u32| {
        let number = Decimal { places, ..decimal.clone() };
        NumberText { number, digits: 1 }.write(n)
    };
    match &decimal.quantum {
        Some(quantum) => format!("{quantum} each"),
        None => scaled(decimal.step.into(), decimal.places),
    }
}
