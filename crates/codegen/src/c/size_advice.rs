//! Reports which fields need the most bits of the largest message, and how to make them smaller.

use dunnage_packed::{Form, Layout, Node, Number, Shape, Source, index_bits};
use dunnage_schema::Segment;
use std::collections::HashMap;

/// A field's share of the largest message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Share {
    /// Its path, as in [`dunnage_packed::Row`].
    pub field: String,
    /// The maximum number of bits of the field.
    pub bits: u64,
    /// The change that makes it smaller; empty if there is none.
    pub advice: String,
}

/// Returns the fields of a plain layout that need bits, the largest first.
///
/// ```
/// use dunnage_codegen::c;
/// use dunnage_packed::Layout;
/// # use dunnage_schema::Model;
/// let model = Model::compile(r#"{
///     "title": "Reading",
///     "type": "object",
///     "properties": {
///         "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
///         "door": {"enum": ["open", "closed"]}
///     },
///     "required": ["celsius"],
///     "additionalProperties": false
/// }"#)?;
/// let shares = c::shares(&Layout::new(&model)?);
/// assert_eq!(shares[0].bits, 14); // of celsius
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shares(layout: &Layout) -> Vec<Share> {
    let mut advice = HashMap::new();
    advise(layout.root(), "", Times { most: 1, always: true }, &mut advice);
    let rows = layout.explain().into_iter();
    let mut shares: Vec<_> = rows
        .filter_map(|row| {
            let bits = row.bits.max.filter(|bits| *bits > 0)?;
            let advice = advice.remove(&row.path).unwrap_or_default();
            Some(Share { field: row.path, bits, advice })
        })
        .collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.bits));
    shares
}

/// How often a message has a value.
#[derive(Clone, Copy)]
struct Times {
    most: u64,
    /// Whether every message has it.
    always: bool,
}

/// Collects advice for `node` and its parts.
fn advise(node: &Node, path: &str, times: Times, out: &mut HashMap<String, String>) {
    let name = if path.is_empty() { "$".to_owned() } else { path.to_owned() };
    match &node.shape {
        Shape::Number(of) => {
            out.insert(name, number(of, times.most));
        }
        Shape::Numbers(numbers) => {
            for (part, of) in &numbers.parts {
                out.insert(join(path, part), number(of, times.most));
            }
        }
        Shape::Float => {
            out.insert(name, "multipleOf, minimum and maximum make it a scaled integer".into());
        }
        Shape::Pattern(segments) => {
            let known = if times.most == 1 && times.always {
                "; x-dunnage-known, where the link tells it: 0 bits"
            } else {
                ""
            };
            out.insert(name, format!("{}{known}", pattern(segments)));
        }
        Shape::Text(of) => {
            let max = u64::from(of.max.unwrap_or_default());
            // Five characters of a radix of 36 need 26 bits.
            let bits = (max * 26).div_ceil(5) + u64::from(index_bits(max + 1));
            let advice = format!(
                "enum, if the texts are few: 2 bits for four; x-dunnage-time for times: 32 bits; a pattern such as ^[0-9A-Z]{{0,{max}}}$: about {bits} bits; a lower maxLength"
            );
            out.insert(name, advice);
        }
        Shape::Array(_) => {
            out.insert(name, "a lower maxItems".into());
        }
        Shape::Object(object) => {
            for field in &object.fields {
                let times = Times { always: times.always && !field.optional, ..times };
                advise(&field.node, &join(path, &field.name), times, out);
            }
            return;
        }
        _ => {}
    }
    let most = match &node.shape {
        Shape::Array(array) => times.most.saturating_mul(array.max.unwrap_or(1).into()),
        _ => times.most,
    };
    for (place, inner) in node.children() {
        advise(inner, &place.below(path), Times { most, always: false }, out);
    }
}

/// Returns advice on shrinking a number that occurs at most `times` times in a message.
fn number(of: &Number, times: u64) -> String {
    let Form::Index(count) = of.form() else {
        return "minimum and maximum".into();
    };
    let bits = index_bits(count);
    // A usual range has an index of its own before that of the range.
    let usual = of.usual.map_or(0, |(first, last)| (last - first) as u64 / of.step + 1);
    let with_usual = |divisor: u64| match usual {
        0 => index_bits(count.div_ceil(divisor)),
        _ => index_bits(count.div_ceil(divisor)) + index_bits(usual.div_ceil(divisor) + 1),
    };
    let saved = times.saturating_mul(u64::from(with_usual(1) - with_usual(10)));
    let plain = match &of.source {
        Source::Time(time) => {
            let seconds = 10 * 31_557_600u64;
            let decade = index_bits(seconds.saturating_mul(10u64.pow(time.places)));
            let decimal =
                if time.places > 0 { format!("; a decimal less saves {saved}") } else { String::new() };
            let range = if decade < bits {
                format!("epoch and until ten years apart: {decade} bits")
            } else {
                String::new()
            };
            return format!("{range}{decimal}").trim_start_matches("; ").to_owned();
        }
        Source::Decimal(decimal) | Source::Text(dunnage_schema::NumberText { number: decimal, .. }) => {
            match (decimal.quantum, decimal.places) {
                (None, 1..) => {
                    let step = dunnage_schema::decimal_text(of.step.into(), decimal.places);
                    let coarser = dunnage_schema::decimal_text(of.step.into(), decimal.places - 1);
                    format!("multipleOf {step} -> {coarser} saves {saved}; ")
                }
                _ => String::new(),
            }
        }
        Source::Integer => String::new(),
    };
    match bits {
        0..=2 => String::new(),
        _ if usual > 0 => {
            let escape = times.saturating_mul(u64::from(with_usual(1) - bits));
            format!(
                "{plain}half the range saves {times}; no x-dunnage-usual saves {escape} of the largest message"
            )
        }
        _ => format!("{plain}half the range saves {times}"),
    }
}

fn pattern(segments: &[Segment]) -> String {
    let widest = segments
        .iter()
        .filter(|segment| segment.min < segment.max)
        .max_by_key(|s| u64::from(s.max - s.min) * s.chars.len() as u64);
    match widest {
        Some(segment) => {
            let bits = f64::from(segment.max - segment.min) * (segment.chars.len() as f64).log2();
            format!(
                "{} characters at most instead of {} in its longest part saves about {bits:.0}",
                segment.min, segment.max
            )
        }
        None => "fewer characters".into(),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_schema::Model;

    fn layout(schema: &str) -> Layout {
        Layout::new(&Model::compile(schema).unwrap()).expect("a layout")
    }

    #[test]
    fn the_shares_of_all_fields_are_the_largest_message() {
        for (name, schema) in dunnage_schema::bundled() {
            let layout = layout(schema);
            let bits: u64 = shares(&layout).iter().map(|share| share.bits).sum();
            assert_eq!(Some(bits.div_ceil(8)), layout.max_bytes(), "{name}");
        }
    }

    #[test]
    fn the_advice_counts_the_elements_of_an_array_and_the_index_of_a_usual_range() {
        let schema = r#"{"title":"A","type":"object","additionalProperties":false,"required":["soil","flow"],"properties":{
            "soil":{"type":"array","minItems":9,"maxItems":9,"items":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":100}},
            "flow":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":1000,"x-dunnage-usual":{"minimum":0,"maximum":50}}}}"#;
        let advice: Vec<_> =
            shares(&layout(schema)).into_iter().map(|share| (share.bits, share.advice)).collect();
        assert_eq!(advice[0], (90, "multipleOf 0.1 -> 1 saves 27; half the range saves 9".into()));
        let flow = "multipleOf 0.1 -> 1 saves 7; half the range saves 1; no x-dunnage-usual saves 9 of the largest message";
        assert_eq!(advice[1], (23, flow.into()));
    }

    #[test]
    fn a_coarser_step_is_advised_with_what_it_saves() {
        let container = layout(dunnage_schema::bundled_named("container").unwrap());
        let temperature = shares(&container).into_iter().find(|share| share.field == "temperature").unwrap();
        assert_eq!(temperature.bits, 15);
        assert_eq!(temperature.advice, "multipleOf 0.01 -> 0.1 saves 4; half the range saves 1");
    }
}
