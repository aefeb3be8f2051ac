//! The promise of `docs/infer.md`, over kinds of texts that devices send: the schema that is inferred from the first tenth of a series accepts
//! the rest.

use crate::json::message;
use dunnage_schema::{Inferred, Model, infer};

/// A seeded generator of numbers and texts.
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0.u64(..n)
    }

    fn of(&mut self, characters: &str, count: u64) -> String {
        let characters: Vec<char> = characters.chars().collect();
        (0..count).map(|_| characters[self.below(characters.len() as u64) as usize]).collect()
    }

    fn one<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len() as u64) as usize]
    }
}

/// The digits and letters of numbers and codes.
const DECIMAL: &str = "0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ALL: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A position in a series.
struct At {
    random: Random,
    n: u64,
    /// The parts that differ from series to series.
    seed: u64,
    /// Rises from 0 to 1000 over the series.
    progress: u64,
}

impl At {
    /// A counter that gets a digit more on the way.
    fn counter(&self, digits: u32) -> u64 {
        10u64.pow(digits) - 300 + self.progress
    }
}

type Kind = (&'static str, fn(&mut At) -> String);

const KINDS: [Kind; 64] = [
    ("MAC address", |a| (0..6).map(|_| format!("{:02X}", a.random.below(256))).collect::<Vec<_>>().join(":")),
    ("MAC address in digits at first", |a| format!("00:11:22:33:{:02}:{:02x}", a.seed % 100, a.progress / 5)),
    ("MAC address with dashes", |a| {
        (0..6).map(|_| format!("{:02x}", a.random.below(256))).collect::<Vec<_>>().join("-")
    }),
    ("MAC address without signs", |a| format!("{:012x}", a.random.below(1 << 48))),
    ("EUI-64", |a| format!("70B3D57ED{:07X}", a.random.below(1 << 28))),
    ("DevAddr", |a| format!("26{:06X}", a.random.below(1 << 24))),
    ("IMEI", |a| format!("35{}", a.random.of(DECIMAL, 13))),
    ("ICCID", |a| {
        let digits = 17 + a.random.below(2);
        format!("89{}", a.random.of(DECIMAL, digits))
    }),
    ("IMSI", |a| format!("222{}", a.random.of(DECIMAL, 12))),
    ("telephone number", |a| {
        let digits = 8 + a.random.below(4);
        format!("+39{}", a.random.of(DECIMAL, digits))
    }),
    ("UUID", |a| {
        let (high, low) = (a.random.0.u64(..), a.random.0.u64(..));
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }),
    ("UUID, none at first", |a| match a.progress {
        0..150 => "00000000-0000-0000-0000-000000000000".to_owned(),
        _ => format!("{:08x}-1111-4222-8333-444455556666", a.random.below(1 << 32)),
    }),
    ("serial", |a| format!("{}{}", a.random.of(UPPER, 3), a.counter(4))),
    ("serial with letters behind", |a| format!("{}{}", a.counter(5), a.random.of(UPPER, 2))),
    ("serial with a date", |a| {
        let month = ["DEC", "FEB", "JAN", "NOV"][(a.progress / 251) as usize];
        format!("{:02}{month}{:04}", a.n % 28 + 1, a.counter(3))
    }),
    ("vehicle", |a| a.random.of("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", 17)),
    ("container", |a| format!("{}U{}", a.random.of(UPPER, 3), a.random.of(DECIMAL, 7))),
    ("data rate", |a| {
        let most = 7 + a.progress / 180;
        format!("SF{}BW125", 7 + a.random.below(most - 6))
    }),
    ("data rate, falling", |a| {
        format!("SF{}BW{}", 12 - a.progress / 180, a.random.one(&["125", "250", "500"]))
    }),
    ("coding rate", |a| format!("4/{}", 5 + a.random.below(4))),
    ("uptime with days", |a| {
        let minutes = a.progress * 15 + 22;
        format!("{}T{:02}:{:02}:28", minutes / 1440, minutes / 60 % 24, minutes % 60)
    }),
    ("uptime in hours", |a| format!("{}:{:02}:{:02}", 90 + a.progress / 50, a.n % 60, a.n * 7 % 60)),
    ("uptime in padded hours", |a| format!("{:02}:{:02}:{:02}", a.progress / 5, a.n % 60, a.n * 7 % 60)),
    ("duration", |a| format!("PT{}H{}M{}S", a.progress / 8, a.random.below(60), a.random.below(60))),
    ("duration in milliseconds", |a| format!("{}ms", a.counter(3))),
    ("counter of 3 digits", |a| a.counter(3).to_string()),
    ("counter of 6 digits", |a| a.counter(6).to_string()),
    ("counter of 7 digits", |a| a.counter(7).to_string()),
    ("counter of 12 digits", |a| a.counter(12).to_string()),
    ("padded counter", |a| format!("{:04}", a.counter(4) - 100)),
    ("padded counter of 7 digits", |a| format!("{:07}", a.counter(7) - 100)),
    ("hexadecimal counter", |a| format!("{:x}", 0xffff - 300 + a.progress)),
    ("hexadecimal counter with its sign", |a| format!("0x{:04X}", a.progress * 7)),
    ("color", |a| format!("#{:06X}", a.random.below(1 << 24))),
    ("version", |a| format!("1.{}.{}", 5 + a.progress / 100, a.n % 120)),
    ("version with a letter", |a| format!("v{}.{}.0", 1 + a.progress / 400, a.progress / 30)),
    ("firmware", |a| format!("FW{}B{:03}", a.progress / 90, a.progress)),
    ("firmware with a date", |a| format!("NRZ-2020-{}", 60 + a.progress / 5)),
    ("file", |a| format!("log_{:04}.csv", a.counter(4))),
    ("file with a date", |a| format!("IMG_202603{:02}_{}.jpg", 1 + a.progress / 40, a.counter(3))),
    ("time of day", |a| format!("{:02}:{:02}", a.n / 60 % 24, a.n % 60)),
    ("time of day without zeros", |a| format!("{}:{:02}", a.progress / 42, a.n % 60)),
    ("percent", |a| format!("{}%", a.random.below(5 + a.progress / 10))),
    ("percent with decimals", |a| format!("{:.1}%", (a.random.below(50 + a.progress) as f64) / 10.0)),
    ("temperature with its unit", |a| format!("{:.1}C", 21.0 - (a.progress as f64) / 30.0)),
    ("level with its unit", |a| format!("{}dBm", 150 - a.progress.cast_signed() / 5)),
    ("number with its sign", |a| format!("{:+.1}", 30.0 - (a.progress as f64) / 20.0)),
    ("whole number with its sign", |a| format!("{:+}", 15 - a.progress.cast_signed() / 50)),
    ("bytes with a prefix", |a| match a.progress {
        0..500 => format!("{}kB", 600 + a.progress / 2),
        more => format!("{:.1}MB", more as f64 / 500.0),
    }),
    ("milliseconds, then seconds", |a| match a.progress {
        0..200 => format!("{}ms", 17 + a.progress),
        more => format!("{:.1}s", more as f64 / 200.0),
    }),
    (
        "speed",
        |a| if a.progress < 300 { format!("{}km/h", a.n % 10) } else { format!("{}.5km/h", a.n % 130) },
    ),
    ("volume", |a| format!("{}m3", a.progress / 4)),
    ("span of Python", |a| {
        let (minutes, days) = (a.progress * 3, a.progress * 3 / 1440);
        let days = match days {
            0 => String::new(),
            1 => "1 day, ".to_owned(),
            n => format!("{n} days, "),
        };
        format!("{days}{}:{:02}:00", minutes / 60 % 24, minutes % 60)
    }),
    ("span of Python with microseconds", |a| {
        let (minutes, days) = (a.progress * 3, a.progress * 3 / 1440);
        let days = if days == 0 { String::new() } else { format!("{days} day, ") };
        format!("{days}{}:{:02}:00.{:06}", minutes / 60 % 24, minutes % 60, a.n)
    }),
    ("version, then a candidate", |a| match a.progress {
        0..800 => format!("v1.{}.{}", a.progress / 90, a.n % 10),
        more => format!("v1.{}.0-rc.{}", more / 80, a.n % 12),
    }),
    ("version of two parts with a build", |a| match a.progress {
        0..500 => format!("V{}.{}", 1 + a.progress / 300, a.n % 10),
        _ => format!("V2.{}+g{:07x}", a.n % 10, a.random.below(1 << 28)),
    }),
    ("ratio", |a| format!("{}/{}", a.progress / 3, 1 + a.n % 9)),
    ("currency", |a| format!("{}.{:02}EUR", a.progress / 7, a.n % 100)),
    ("callsign", |a| {
        let (digit, letters) = (a.random.below(10), 1 + a.random.below(3));
        let prefix = a.random.one(&["DL", "G", "VK", "2E"]);
        format!("{prefix}{digit}{}", a.random.of(UPPER, letters))
    }),
    ("NMEA sentence", |a| {
        let checksum = a.random.below(256);
        format!(
            "$GPGLL,49{:02}.{:02},N,123{:02}.12,W,{:06},A,*{checksum:02X}",
            a.n % 60,
            a.n % 100,
            a.n % 60,
            a.n
        )
    }),
    ("cell", |a| format!("222-01-{:X}-{:05X}", a.random.below(0x1ff), a.random.below(1 << 20))),
    ("address", |a| format!("10.{}.{}.{}:{}", a.seed % 9, a.progress / 4, a.random.below(256), a.counter(4))),
    ("payload", |a| {
        let mut text = a.random.of("ABCabcdxyzXYZ0123456789", 14);
        text.push_str(if a.progress < 200 { "==" } else { a.random.one(&["/+==", "+A==", "AA", "b="]) });
        while !text.len().is_multiple_of(4) {
            text.push('=');
        }
        text
    }),
    ("token", |a| a.random.of(ALL, 6 + a.seed % 20)),
];

fn series(kind: fn(&mut At) -> String, seed: u64, count: u64) -> Vec<String> {
    let text = |n: u64| {
        let random = Random(fastrand::Rng::with_seed(seed << 32 | n));
        kind(&mut At { random, n, seed, progress: n * 1000 / count })
    };
    (0..count).map(|n| format!("{{\"value\":\"{}\"}}", text(n))).collect()
}

#[test]
fn the_first_tenth_of_a_series_of_texts_accepts_the_rest() {
    let mut rejected = Vec::new();
    for (name, kind) in KINDS {
        for seed in 1..=3 {
            for count in [100, 400, 2000] {
                let messages = series(kind, seed, count);
                let (first, rest) = messages.split_at(messages.len() / 10);
                let Inferred { schema, odd, .. } = infer(first, None).unwrap();
                assert_eq!(odd, [], "{name}");
                let model = Model::compile(&schema).unwrap();
                let violation = rest.iter().find_map(|text| model.validate(&message(text)).err());
                rejected.extend(violation.map(|violation| format!("{name}, {count}, {seed}: {violation}")));
            }
        }
    }
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}

/// The pattern is worth its risk: it is far below the bits of free text.
#[test]
fn texts_of_one_kind_still_have_a_pattern() {
    for (name, kind) in
        KINDS.into_iter().filter(|(name, _)| ["IMEI", "cell", "firmware", "data rate"].contains(name))
    {
        let schema = infer(&series(kind, 1, 400), None).unwrap().schema;
        assert!(schema.contains("\"pattern\"") || schema.contains("\"enum\""), "{name}: {schema}");
    }
}
