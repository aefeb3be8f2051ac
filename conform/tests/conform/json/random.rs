//! Random documents and numbers, with unusual white space and escapes, or damaged.

use dunnage_formats::Value;
use fastrand::Rng;
use std::fmt::Write as _;

fn text(rng: &mut Rng) -> String {
    (0..rng.usize(..12))
        .map(|_| match rng.u8(..10) {
            0 => rng.char('\0'..' '),
            1 => '"',
            2 => '\\',
            3 => '/',
            4 => rng.char('\u{7f}'..='\u{7ff}'),
            5 => rng.char('\u{800}'..='\u{ffff}'),
            6 => rng.char('\u{10000}'..='\u{10ffff}'),
            _ => rng.char('a'..='z'),
        })
        .collect()
}

fn float(rng: &mut Rng) -> f64 {
    let f = match rng.u8(..5) {
        0 => f64::from_bits(rng.u64(..)),
        1 => f64::from(f32::from_bits(rng.u32(..))),
        2 => rng.u64(..1_000_000) as f64 / 100.0,
        3 => rng.u64(..) as f64,
        _ => f64::from_bits(u64::from(rng.u16(..)) << 48),
    };
    if f.is_finite() { f } else { -0.0 }
}

pub fn value(rng: &mut Rng, depth: u8) -> Value {
    match rng.u8(..if depth < 5 { 9 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.bool()),
        2 => Value::U64(rng.u64(..) >> rng.u8(..64)),
        3 => Value::from(-((rng.u64(..) >> 1 >> rng.u8(..63)) as i64)),
        4 | 5 => Value::F64(float(rng)),
        6 => Value::Text(text(rng)),
        7 => Value::Array(
            (0..rng.usize(..if depth == 0 { 40 } else { 7 })).map(|_| value(rng, depth + 1)).collect(),
        ),
        _ => {
            let mut entries: Vec<(String, Value)> = Vec::new();
            for _ in 0..rng.usize(..6) {
                let key = text(rng);
                if entries.iter().all(|(k, _)| *k != key) {
                    entries.push((key, value(rng, depth + 1)));
                }
            }
            Value::Map(entries)
        }
    }
}

/// `json` with random white space between its parts and unnecessary escapes.
pub fn loosened(json: &str, rng: &mut Rng) -> String {
    let mut loose = String::new();
    let (mut inside, mut escaped) = (false, false);
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        if inside && !escaped && c != '"' && c != '\\' && rng.u8(..4) == 0 {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(loose, "\\u{unit:04x}").expect("a string");
            }
            continue;
        }
        let between = !inside && matches!(c, '{' | '}' | '[' | ']' | ',' | ':');
        if between && rng.bool() {
            loose.push(*rng.choice(&[' ', '\t', '\r', '\n']).expect("one"));
        }
        loose.push(c);
        if escaped && c == 'u' {
            loose.extend(chars.by_ref().take(4));
        }
        if between && rng.bool() {
            loose.push(' ');
        }
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
    }
    loose
}

/// A number in JSON syntax with up to 1,000 digits.
pub fn number(rng: &mut Rng) -> String {
    let most = if rng.u8(..20) == 0 { 1000 } else { 25 };
    let digits = |rng: &mut Rng, most| -> String {
        let zeros = rng.bool();
        (0..rng.usize(1..=most))
            .map(|_| if zeros && rng.bool() { '0' } else { rng.char('0'..='9') })
            .collect()
    };
    let mut text = String::from(if rng.bool() { "-" } else { "" });
    match digits(rng, most).trim_start_matches('0') {
        "" => text.push('0'),
        whole => text.push_str(whole),
    }
    if rng.bool() {
        text.push('.');
        text.push_str(&digits(rng, most));
    }
    if rng.bool() {
        text.push_str(rng.choice(&["e", "E", "e+", "e-", "E-"]).expect("one"));
        text.push_str(&digits(rng, 3));
    }
    text
}

pub fn changed(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..bytes.len());
    match rng.u8(..4) {
        0 => bytes.truncate(at),
        1 => drop(bytes.remove(at)),
        2 => bytes[at] = rng.u8(..),
        _ => bytes.insert(at, *rng.choice(b"\"\\,:[]{}0-+.eE tfnu\x80\xed\xf4").expect("one")),
    }
}
