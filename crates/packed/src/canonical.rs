//! The canonical text of a layout, and its fingerprint.

use crate::Layout;
use crate::json::{list, string, write as json};
use crate::node::{Node, Number, Object, Shape, Source, Tuple};
use dunnage_schema::{DEVICE, Decimal};
use sha2::{Digest, Sha256};

/// The version of `spec/packed.md`.
const VERSION: u32 = 1;

impl Layout {
    /// Returns the layout as JSON text in its only form. Parts that change neither its bits nor their meaning are left out.
    pub fn canonical(&self) -> String {
        let writer = Canonical { modelled: !self.is_plain() };
        let mut out = format!("{{\"packed\":{VERSION}");
        if !self.has_slot_byte() {
            out.push_str(",\"slot\":\"port\"");
        }
        if let Some(check) = self.check_bytes() {
            add(&mut out, format_args!(",\"check\":{check}"));
        }
        if let Some(statistics) = &self.model().statistics {
            add(&mut out, format_args!(",\"statistics\":\"{statistics}\""));
        }
        out.push_str(",\"layout\":");
        writer.node(self.root(), &mut out);
        if !self.definitions().is_empty() {
            out.push_str(",\"definitions\":");
            list(&mut out, '[', self.definitions(), ']', |node, out| writer.node(node, out));
        }
        out.push('}');
        out
    }

    /// Returns the numbers of the nodes that a writer rounds (`x-dunnage-round`), which the canonical text does not tell.
    pub fn rounded(&self) -> Vec<u32> {
        let mut rounded = Vec::new();
        let mut left: Vec<&Node> = std::iter::once(self.root()).chain(self.definitions()).collect();
        while let Some(node) = left.pop() {
            if matches!(&node.shape, Shape::Number(number) if matches!(&number.source, Source::Decimal(decimal) if decimal.round))
            {
                rounded.push(node.id);
            }
            left.extend(node.children());
        }
        rounded.sort_unstable();
        rounded
    }

    /// Returns a slot, 1 to 63, computed from the fingerprint, for schemas whose author has not chosen one.
    pub fn derived_slot(&self) -> u8 {
        let first = self.fingerprint().into_iter().take(8).fold(0u64, |sum, byte| sum << 8 | u64::from(byte));
        u8::try_from(1 + first % 63).unwrap_or(1)
    }

    /// Returns the fingerprint of the same layout without statistics, which the statistics belong to.
    pub(crate) fn untrained_fingerprint(&self) -> [u8; 32] {
        let mut untrained = self.clone();
        untrained.model.statistics = None;
        untrained.fingerprint()
    }

    /// Returns the SHA-256 of [`Layout::canonical`].
    pub fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(self.canonical()).into()
    }
}

struct Canonical {
    modelled: bool,
}

impl Canonical {
    fn node(&self, node: &Node, out: &mut String) {
        match &node.shape {
            Shape::Constant(value) => {
                out.push_str("{\"constant\":");
                json(value, out);
                out.push('}');
            }
            Shape::Bool => out.push_str("\"boolean\""),
            Shape::Any => out.push_str("\"any\""),
            Shape::Known(name) if name == DEVICE => out.push_str("\"known\""),
            Shape::Known(name) => {
                out.push_str("{\"known\":");
                string(name, out);
                out.push('}');
            }
            Shape::Float => out.push_str("\"float\""),
            Shape::Number(one) => number(one, out),
            Shape::Numbers(numbers) => {
                out.push_str("{\"numbers\":[");
                string(&numbers.separator, out);
                for (_, part) in &numbers.parts {
                    out.push(',');
                    number(part, out);
                }
                out.push_str("]}");
            }
            Shape::Choice(values) => {
                out.push_str("{\"choice\":");
                list(out, '[', values, ']', json);
                out.push('}');
            }
            Shape::Pattern(segments) => {
                out.push_str("{\"pattern\":");
                list(out, '[', segments, ']', |segment, out| {
                    out.push('[');
                    string(&segment.chars.iter().collect::<String>(), out);
                    add(out, format_args!(",{},{}]", segment.min, segment.max));
                });
                out.push('}');
            }
            Shape::Text(text) => {
                bounds("{\"text\":", text.min, text.max, out);
                out.push_str(if text.date_time && self.modelled { ",\"time\":true}" } else { "}" });
            }
            Shape::Array(array) => {
                bounds("{\"array\":", array.min, array.max, out);
                out.push_str(",\"item\":");
                self.node(&array.item, out);
                out.push('}');
            }
            Shape::Tuple(tuple) => self.tuple(tuple, out),
            Shape::Object(object) => self.object(object, out),
            Shape::Nullable(inner) => {
                out.push_str("{\"nullable\":");
                self.node(inner, out);
                out.push('}');
            }
            Shape::Union(kinds) => {
                out.push_str("{\"union\":");
                list(out, '[', kinds, ']', |node, out| self.node(node, out));
                out.push('}');
            }
            Shape::Definition(index) => add(out, format_args!("{{\"definition\":{index}}}")),
        }
    }

    fn tuple(&self, tuple: &Tuple, out: &mut String) {
        bounds("{\"tuple\":", tuple.min, tuple.max, out);
        out.push_str(",\"items\":");
        list(out, '[', &tuple.items, ']', |node, out| self.node(node, out));
        if let Some(rest) = &tuple.rest {
            out.push_str(",\"rest\":");
            self.node(rest, out);
        }
        out.push('}');
    }

    fn object(&self, object: &Object, out: &mut String) {
        out.push_str("{\"object\":");
        list(out, '[', &object.fields, ']', |field, out| {
            out.push('[');
            string(&field.name, out);
            add(out, format_args!(",{},", !field.optional));
            self.node(&field.node, out);
            out.push(']');
        });
        if let Some(additional) = &object.additional {
            out.push_str(",\"additional\":");
            self.node(additional, out);
        }
        out.push('}');
    }
}

fn number(number: &Number, out: &mut String) {
    add(out, format_args!("{{\"number\":[\"{}\",\"{}\",{}]", number.min, number.max, number.step));
    if let Some((first, last)) = number.usual {
        add(out, format_args!(",\"usual\":[\"{first}\",\"{last}\"]"));
    }
    if let Some(every) = number.every {
        add(out, format_args!(",\"every\":{every}"));
    }
    out.push_str(",\"as\":");
    let quantum = |decimal: &Decimal, out: &mut String| {
        if let Some(quantum) = &decimal.quantum {
            add(out, format_args!(",\"quantum\":[\"{}\",{}", quantum.mantissa, quantum.places));
            if !quantum.is_decimal() {
                add(out, format_args!(",{},\"{}\"", quantum.divisor, quantum.offset));
            }
            out.push(']');
        }
    };
    match &number.source {
        Source::Integer => out.push_str("\"integer\""),
        Source::Decimal(decimal) => {
            add(out, format_args!("{{\"decimal\":{}}}", decimal.places));
            quantum(decimal, out);
        }
        Source::Text(text) => {
            add(out, format_args!("{{\"text\":[{},{}]}}", text.number.places, text.digits));
            quantum(&text.number, out);
        }
        Source::Time(time) => {
            out.push_str("{\"time\":[");
            string(&time.write_notation(), out);
            add(out, format_args!(",\"{}\"]}}", time.epoch));
        }
    }
    out.push('}');
}

fn bounds(name: &str, min: u32, max: Option<u32>, out: &mut String) {
    match max {
        Some(max) => add(out, format_args!("{name}[{min},{max}]")),
        None => add(out, format_args!("{name}[{min},null]")),
    }
}

fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
}
