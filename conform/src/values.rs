//! Random values.

use crate::requests::Limits;
use dunnage_conform::Random;
use dunnage_pson::Value;

/// A value that a library with `limits` can encode.
pub fn any(random: &mut Random, limits: &Limits) -> Value {
    // All parts of the value share the room, so that few values are large.
    let room = [0, 4, 12, 40, 120][random.below(5)];
    let depth = if random.once_in(16) { limits.nesting } else { limits.nesting.min(5) };
    value(random, depth, &mut (room + 1))
}

fn value(random: &mut Random, depth: usize, room: &mut usize) -> Value {
    *room = room.saturating_sub(1);
    if depth > 0 && *room > 0 && random.below(5) < 3 { container(random, depth, room) } else { leaf(random) }
}

fn container(random: &mut Random, depth: usize, room: &mut usize) -> Value {
    // At 31, the count moves from the header into a varint. The deepest values have one element per level.
    let n = match random.below(8) {
        0 => 0,
        1 => 30 + random.below(4),
        2 | 3 => 1,
        _ => random.below(6),
    };
    let n = n.min(*room);
    if random.once_in(2) {
        return Value::Array((0..n).map(|_| value(random, depth - 1, room)).collect());
    }
    let mut entries: Vec<(String, Value)> = Vec::new();
    for _ in 0..n {
        let key = if random.once_in(8) { text(random) } else { format!("k{}", random.below(200)) };
        if entries.iter().all(|(other, _)| *other != key) {
            entries.push((key, value(random, depth - 1, room)));
        }
    }
    Value::Map(entries)
}

fn leaf(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => Value::Bool(random.once_in(2)),
        2 | 3 => Value::U64(random.magnitude()),
        4 | 5 => Value::from((random.magnitude() as i64).wrapping_neg()),
        6 | 7 => Value::F64(float(random)),
        8 | 9 => Value::Text(text(random)),
        10 => Value::Bytes((0..length(random)).map(|_| random.byte()).collect()),
        _ => Value::U64(random.below(33) as u64),
    }
}

/// A float of a random kind: whole, binary32, decimal, special, or with random bits.
pub fn float(random: &mut Random) -> f64 {
    let sign = if random.once_in(2) { -1.0 } else { 1.0 };
    match random.below(8) {
        0 => sign * random.magnitude() as f64,
        1 => f64::from(f32::from_bits(random.bits() as u32)),
        2 => sign * random.below(100_000) as f64 / 100.0,
        3 => sign * random.below(4096) as f64 / 64.0,
        4 => *random.pick(&[
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            f64::MAX,
        ]),
        // Next to the limits of binary32: its largest, smallest normal and smallest subnormal number, and 2^24.
        5 => {
            let edge = *random.pick(&[
                f64::from(f32::MAX),
                f64::from(f32::MIN_POSITIVE),
                f64::from(f32::from_bits(1)),
                16_777_216.0,
            ]);
            sign * f64::from_bits(
                edge.to_bits().wrapping_add(random.bits() % 5).wrapping_sub(2) ^ (random.bits() & (1 << 28)),
            )
        }
        // At most two bits are set, so that one half may be 0.
        6 => f64::from_bits(1 << random.below(64) ^ 1 << random.below(64)),
        _ => f64::from_bits(random.bits()),
    }
}

fn length(random: &mut Random) -> usize {
    match random.below(16) {
        0 => 28 + random.below(6),
        1 => 120 + random.below(20),
        _ => random.below(12),
    }
}

pub fn text(random: &mut Random) -> String {
    const WIDE: [char; 8] = ['\0', '\u{7f}', 'é', '\u{7ff}', '\u{800}', '\u{d7ff}', '\u{ffff}', '\u{10ffff}'];
    let wide = random.once_in(4);
    (0..length(random))
        .map(|_| {
            if wide && random.once_in(3) {
                *random.pick(&WIDE)
            } else {
                char::from(b' ' + (random.byte() % 95))
            }
        })
        .collect()
}
