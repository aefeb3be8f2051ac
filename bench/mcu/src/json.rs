//! The peers that may use a heap: those for JSON text, which have limits that binary formats do not have, and libbson.

use crate::{
    Failure,
    board::Board,
    library::{Library, Limit},
    message::Message,
    report::{Event, Region},
    shape::{Floats, rounded},
};
use dunnage_formats::{Id, Mapping};
use dunnage_pson::Value;
use std::fmt::Write as _;

/// Sets what the library decodes: the text of the host, if the library cannot encode, otherwise its own text, which is not known yet.
pub fn prepare(messages: &mut [Message], library: &Library) {
    for message in messages {
        let text = message.json.clone().into_bytes();
        // Libraries want room for the longest number after the text.
        message.room = text.len() + 64;
        message.bytes = if library.has("encode") { Vec::new() } else { text };
    }
}

/// The reason that the library cannot hold the message on the board; `None` if it can.
pub fn obstacle(library: &Library, board: &dyn Board, message: &Message) -> Option<&'static str> {
    let has = |limit| library.limits.contains(&limit);
    let small = board.c_library() == "avr-libc";
    let bits = if small { 24 } else { 53 };
    let most = largest_integer(&message.value);
    let fits = |digits: usize| !any(&message.value, &|value| loses_digits(value, board.floats(), digits));
    if has(Limit::Double) && most > 1 << bits {
        Some(if small {
            "stores every number as a double, which has 32 bits on AVR and holds integers up to 2^24"
        } else {
            "stores every number as a double, which holds integers up to 2^53"
        })
    } else if has(Limit::Wide) && small && most > u128::from(u32::MAX) {
        Some("avr-libc converts no integers of 64 bits")
    } else if has(Limit::Escapes) && message.json.contains('\\') {
        Some("leaves escape sequences to its caller")
    } else if has(Limit::Digits) && !fits(15) {
        Some("prints 7 digits of a float and 15 of a double, and a number has more")
    } else {
        None
    }
}

fn any(value: &Value, test: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| any(element, test)),
        Value::Map(entries) => entries.iter().any(|(_, value)| any(value, test)),
        scalar => test(scalar),
    }
}

/// The largest absolute value of an integer in the message.
fn largest_integer(value: &Value) -> u128 {
    match value {
        Value::Array(elements) => elements.iter().map(largest_integer).max().unwrap_or(0),
        Value::Map(entries) => entries.iter().map(|(_, value)| largest_integer(value)).max().unwrap_or(0),
        scalar => scalar.as_integer().unwrap_or(0).unsigned_abs(),
    }
}

/// Whether a float loses digits when it is printed with `digits` of them, or with 7 if it is a binary32.
fn loses_digits(value: &Value, floats: Floats, digits: usize) -> bool {
    let Value::F64(float) = value else { return false };
    let single = *float as f32;
    if floats == Floats::Single || f64::from(single) == *float {
        format!("{single:.6e}").parse() != Ok(single)
    } else {
        format!("{float:.0$e}", digits - 1).parse() != Ok(*float)
    }
}

/// Decodes the output of the library, compares it with the message, and stores it in the message.
pub fn check_encoding(
    region: &Region,
    message: &mut Message,
    library: &Library,
    floats: Floats,
) -> Result<(), Failure> {
    let Some(Event::Value(Value::Bytes(bytes))) = region.after.first() else {
        return Err("not encoded".into());
    };
    let shown = String::from_utf8_lossy(bytes);
    let format: Id = library.format.parse()?;
    let value =
        format.open(None, Mapping::Exact)?.decode(bytes).map_err(|error| format!("{error}: {shown}"))?;
    if rounded(&value, floats) != message.value {
        return Err(format!("wrong encoding: {shown}").into());
    }
    message.bytes.clone_from(bytes);
    Ok(())
}

/// The items that a library read. On AVR, a float becomes the expected one if they differ by one unit in the last place, because
/// avr-libc's `strtod` does not always return the nearest binary32.
pub fn nearest(found: &[Event], expected: &[Event], board: &dyn Board) -> Vec<Event> {
    let mut items = found.to_vec();
    if board.c_library() == "avr-libc" {
        for (item, expected) in items.iter_mut().zip(expected) {
            if let (Event::Value(Value::F64(read)), Event::Value(Value::F64(value))) = (&*item, expected) {
                let bits = |float: f64| (float as f32).to_bits();
                if bits(*read).abs_diff(bits(*value)) == 1 {
                    *item = expected.clone();
                }
            }
        }
    }
    items
}

/// The bytes of heap that the region used.
pub fn heap(region: &Region) -> Option<u64> {
    match region.after.last() {
        Some(Event::Value(Value::U64(bytes))) => Some(*bytes),
        _ => None,
    }
}

/// Writes the sizes from which a library's `library.h` computes its heap: the most that a message needs.
pub fn sizes(messages: &[Message], out: &mut String) {
    let mut most = Sizes::default();
    for message in messages {
        let mut sizes = Sizes::default();
        sizes.add(&message.value, 1);
        most.values = most.values.max(sizes.values);
        most.keys = most.keys.max(sizes.keys);
        most.text = most.text.max(sizes.text);
        most.depth = most.depth.max(sizes.depth);
    }
    for (name, size) in
        [("VALUES", most.values), ("KEYS", most.keys), ("TEXT", most.text), ("DEPTH", most.depth)]
    {
        let _ = writeln!(out, "#define MESSAGE_{name} {size}");
    }
}

/// How many values and keys a message has, how many bytes of text with their NULs, and how deep it is.
#[derive(Default)]
struct Sizes {
    values: usize,
    keys: usize,
    text: usize,
    depth: usize,
}

impl Sizes {
    fn add(&mut self, value: &Value, depth: usize) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        match value {
            Value::Text(text) => self.text += text.len() + 1,
            Value::Array(elements) => elements.iter().for_each(|element| self.add(element, depth + 1)),
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.keys += 1;
                    self.text += key.len() + 1;
                    self.add(value, depth + 1);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payloads::Payload;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).expect("it is JSON")
    }

    #[test]
    fn the_sizes_are_the_most_of_all_messages() {
        let message = |name: &str, text| {
            let payload = Payload { name: name.into(), value: value(text) };
            Message::new(&payload, Floats::Single).expect("C can hold it")
        };
        let mut out = String::new();
        sizes(&[message("a", r#"{"t":[1,2]}"#), message("b", r#"{"text":"abc"}"#)], &mut out);
        assert_eq!(
            out,
            "#define MESSAGE_VALUES 4\n#define MESSAGE_KEYS 1\n#define MESSAGE_TEXT 9\n#define MESSAGE_DEPTH 3\n"
        );
    }

    #[test]
    fn a_number_with_more_digits_than_are_printed_is_found() {
        for (text, floats, loses) in [
            ("2.3", Floats::Single, false),
            ("2.3", Floats::Lossless, false),
            ("0.1234567890123456", Floats::Lossless, true),
            // The nearest binary32 of 0.1 in full: 7 digits are 0.1 again.
            ("0.10000000149011612", Floats::Lossless, false),
            ("16777217.5", Floats::Single, false),
            ("8388607.5", Floats::Single, true),
        ] {
            let value = rounded(&value(text), floats);
            assert_eq!(loses_digits(&value, floats, 15), loses, "{text}");
        }
    }

    #[test]
    fn the_largest_integer_may_be_negative_and_nested() {
        assert_eq!(largest_integer(&value(r#"{"a":[-70000],"b":3,"c":"9999999"}"#)), 70000);
    }
}
