//! Random messages, most of them invalid.

use crate::{requests::Limits, structure, values};
use dunnage_conform::Random;
use dunnage_pson::{Options, Value};

/// A message of at most `longest` bytes. `seeds` are valid messages to mutate.
pub fn any(random: &mut Random, seeds: &[Vec<u8>], longest: usize) -> Vec<u8> {
    let mut message = match random.below(8) {
        0 | 1 => random.pick(seeds).clone(),
        2 | 3 => encoded(&values::any(random, &Limits::SPECIFIED)),
        4 | 5 => for_struct(random),
        _ => hostile(random),
    };
    // A third of the messages are not mutated.
    for _ in 0..random.below(6).saturating_sub(1) {
        mutate(&mut message, seeds, random);
    }
    message.truncate(longest);
    message
}

/// Every proper prefix of a valid message. A reader must detect the end of input at each position.
pub fn beginnings(random: &mut Random, longest: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut message = encoded(&values::any(random, &Limits::SPECIFIED));
    message.truncate(longest.min(200));
    (0..message.len()).map(move |end| message[..end].to_vec())
}

fn encoded(value: &Value) -> Vec<u8> {
    // A value that is nested too deep cannot be encoded.
    Options::new().to_vec(value).unwrap_or_default()
}

fn mutate(message: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(message.len() + 1);
    let last = message.len();
    match random.below(10) {
        0 | 1 => message.truncate(at),
        2 => message.insert(at, random.byte()),
        3 if at < last => drop(message.remove(at)),
        4 | 5 if at < last => message[at] ^= 1 << random.below(8),
        6 if at < last => message[at] = random.byte(),
        7 if at < last => {
            // A header in another form: needlessly long, or with a number that is too large.
            let header = message[at];
            let form = varint(random, u64::from(header & 31));
            message.splice(at..=at, [header | 31].into_iter().chain(form));
        }
        8 => {
            let from = random.pick(seeds);
            let start = random.below(from.len());
            let end = (start + random.below(24)).min(from.len());
            message.splice(at..at, from[start..end].iter().copied());
        }
        _ => {
            let end = (at + random.below(16)).min(last);
            let again = message[at..end].to_vec();
            message.splice(at..at, again);
        }
    }
}

/// `n` as a varint: in its shortest form, a longer one, one that is too long, or with another number.
fn varint(random: &mut Random, n: u64) -> Vec<u8> {
    let n = match random.below(4) {
        0 | 1 => n,
        2 => random.magnitude(),
        // Numbers that wrap around in 16, 32 or 64 bits when they are added to a position or doubled.
        _ => {
            let end = *random.pick(&[1u64 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, 0]);
            end.wrapping_sub(random.below(12) as u64).wrapping_add(random.below(4) as u64)
        }
    };
    let mut bytes = Vec::new();
    let mut rest = n;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    if random.once_in(4) {
        for _ in 0..random.below(10) {
            if let Some(last) = bytes.last_mut() {
                *last |= 0x80;
            }
            bytes.push(if random.once_in(8) { random.byte() & 3 } else { 0 });
        }
    }
    bytes
}

/// Items without regard to the rules: huge counts, deep nesting, wrong floats, invalid UTF-8, duplicate keys.
fn hostile(random: &mut Random) -> Vec<u8> {
    let mut message = Vec::new();
    if random.once_in(4) {
        const OPENING: [&[u8]; 4] = [b"\xe1", b"\xc1\x81a", b"\xe2", b"\xff\x01"];
        for _ in 0..random.below(40) {
            message.extend_from_slice(OPENING[random.below(OPENING.len())]);
        }
    }
    for _ in 0..1 + random.below(12) {
        hostile_item(random, &mut message);
    }
    message
}

fn hostile_item(random: &mut Random, message: &mut Vec<u8>) {
    let wire_type = (random.below(8) as u8) << 5;
    match wire_type {
        0x40 => {
            let wide = random.once_in(2);
            message.push(0x40 | u8::from(wide));
            let f = values::float(random);
            if wide {
                message.extend(f.to_le_bytes());
            } else {
                message.extend((f as f32).to_le_bytes());
            }
        }
        0x60 => message.push(0x60 | random.below(4) as u8),
        _ => {
            let n = random.below(6);
            if random.once_in(3) {
                message.push(wire_type | 31);
                message.extend(varint(random, n as u64));
            } else {
                message.push(wire_type | n as u8);
            }
            if matches!(wire_type, 0x80 | 0xa0) {
                message.extend((0..n).map(|_| hostile_byte(random)));
            }
        }
    }
}

/// Usually a letter that occurs in keys, sometimes a byte that is special in UTF-8.
fn hostile_byte(random: &mut Random) -> u8 {
    const UTF8: [u8; 14] =
        [0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff];
    if random.once_in(6) { *random.pick(&UTF8) } else { *random.pick(b"aabux") }
}

/// A map with keys of the struct that the request `struct` fills, usually with values of the right type.
fn for_struct(random: &mut Random) -> Vec<u8> {
    let keys: Vec<&str> = structure::keys().chain(["z", "bb", "é", ""]).collect();
    let n = random.below(8);
    let mut message = vec![0xc0 | n as u8];
    for i in 0..n {
        let key = if random.once_in(3) { keys[i] } else { *random.pick(&keys) };
        message.extend(encoded(&Value::from(key)));
        message.extend(encoded(&suitable(random, key)));
    }
    message
}

fn suitable(random: &mut Random, key: &str) -> Value {
    let limits = Limits::SPECIFIED;
    if random.once_in(12) {
        return values::any(random, &limits);
    }
    match key {
        "b" => Value::Bool(random.once_in(2)),
        "f" => Value::F64(random.below(2000) as f64 / 8.0),
        "t" => Value::Text(values::text(random)),
        "v" => Value::Bytes(vec![7; random.below(40)]),
        "i" | "y" => Value::from(random.below(300) as i64 - 150),
        "q" => Value::from(random.magnitude() as i64),
        "l" => Value::U64(random.magnitude() >> 31),
        "a" => {
            Value::Array((0..random.below(6)).map(|_| Value::from(random.below(280) as i64 - 140)).collect())
        }
        "n" => inner(random),
        "s" => Value::Array((0..random.below(4)).map(|_| inner(random)).collect()),
        _ => Value::U64(random.below(270) as u64),
    }
}

fn inner(random: &mut Random) -> Value {
    let mut entries = Vec::new();
    for key in ["x", "w", "y"] {
        if !random.once_in(3) {
            entries.push((key.to_owned(), Value::U64(random.below(140) as u64)));
        }
    }
    Value::Map(entries)
}
