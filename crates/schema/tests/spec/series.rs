//! Series split in time: the schema that is inferred from the first tenth of the messages accepts the rest.

use crate::json::message;
use dunnage_schema::{Inferred, Model, infer};

/// Returns noise from 0 to 1 for message `n`, the same in every run.
fn noise(n: usize, salt: u64) -> f64 {
    let mut x = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
    x = (x ^ x >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((x ^ x >> 29) >> 11) as f64 / (1u64 << 53) as f64
}

/// Formats a number as JavaScript and Python do after rounding: without trailing zeros.
fn rounded(value: f64, places: i32) -> String {
    let unit = 10f64.powi(places);
    let value = (value * unit).round() / unit;
    format!("{}", if value == 0.0 { 0.0 } else { value })
}

/// Returns year, month, day, hour, minute and second of Unix time `t`.
fn civil(t: i64) -> (i64, i64, i64, i64, i64, i64) {
    let (days, second) = (t.div_euclid(86_400) + 719_468, t.rem_euclid(86_400));
    let (era, doe) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, doy - (153 * mp + 2) / 5 + 1, second / 3600, second / 60 % 60, second % 60)
}

/// 2026-03-01T00:00:00Z; summer time of Europe begins 28 days later.
const START: i64 = 1_772_323_200;
const SUMMER: i64 = 1_774_746_000;

/// RFC 3339 in local time: `offset` in minutes is an hour more in summer.
fn local(t: i64, offset: i64, zero: &str, fraction: &str) -> String {
    let offset = offset + if t >= SUMMER { 60 } else { 0 };
    let (y, m, d, hh, mm, ss) = civil(t + 60 * offset);
    let sign = if offset < 0 { '-' } else { '+' };
    let zone = match offset {
        0 => zero.to_owned(),
        _ => format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60),
    };
    format!("{y:04}-{m:02}-{d:02}T{hh:02}:{mm:02}:{ss:02}{fraction}{zone}")
}

/// The position of message `n` of `count` in a series, at Unix time `t`.
struct At {
    n: usize,
    count: usize,
    t: i64,
}

impl At {
    fn noise(&self, salt: u64) -> f64 {
        noise(self.n, salt)
    }

    /// Returns 0 at the first message, and almost 1 at the last.
    fn progress(&self) -> f64 {
        self.n as f64 / self.count as f64
    }

    /// Returns -1 at midnight to 1 at noon.
    fn sun(&self) -> f64 {
        (std::f64::consts::TAU * (self.t as f64 / 86_400.0 - 0.25)).sin()
    }
}

type Series = (&'static str, fn(&At) -> String);

const SERIES: [Series; 18] = [
    ("a weather station with local time", |at| {
        let temp = 16.0 - 30.0 * at.progress() + 6.0 * at.sun() + at.noise(1);
        let rain = if at.progress() > 0.3 && at.noise(2) > 0.9 { 14.0 * at.noise(3) } else { 0.0 };
        format!(
            r#"{{"time":"{}","temp":{},"humidity":{},"rain":{},"wind_speed":{},"wind_dir":{}}}"#,
            local(at.t, 60, "Z", ""),
            rounded(temp, 1),
            rounded(60.0 + 35.0 * at.noise(4), 1),
            rounded(rain, 1),
            rounded(25.0 * at.progress() * at.noise(5), 1),
            (360.0 * at.noise(6)) as u32
        )
    }),
    ("local times of London, with and without decimals", |at| {
        let fraction = ["", ".5", ".125"][at.n % 3];
        format!(r#"{{"at":"{}"}}"#, local(at.t, 0, "Z", fraction))
    }),
    ("local times of London as Python writes them", |at| {
        format!(r#"{{"at":"{}"}}"#, local(at.t, 0, "+00:00", ".500000"))
    }),
    ("local times of New York and Kathmandu", |at| {
        format!(r#"{{"ny":"{}","ktm":"{}"}}"#, local(at.t, -300, "Z", ""), local(at.t, 345, "Z", ".25"))
    }),
    ("other notations of dates", |at| {
        let (y, m, d, hh, mm, _) = civil(at.t);
        format!(
            r#"{{"a":"{d:02}.{m:02}.{y} {hh:02}:{mm:02}:00","b":"{y}-{m:02}-{d:02}T{hh:02}:{mm:02}","c":{y}{m:02}{d:02},
               "d":"{y}/{m}/{d}","e":"{y}{m:02}{d:02}","f":"{y}-{m:02}-{d:02}"}}"#
        )
    }),
    ("Unix times", |at| format!(r#"{{"ts":{},"ms":{},"s":"{}"}}"#, at.t, at.t * 1000 + 250, at.t)),
    ("Unix times of three devices that take turns", |at| {
        let t = START + (at.n as i64 / 3) * 30 + [0, 7, 3][at.n % 3];
        format!(r#"{{"t":{t},"x":{}}}"#, t * 1000)
    }),
    ("counters", |at| {
        format!(
            r#"{{"uptime":{},"frames":{},"kwh":{},"v":{},"text":"{}"}}"#,
            30 * (at.n % (at.count / 3 + 1)),
            5 * at.n + 7,
            rounded(1204.5 + 0.37 * at.n as f64, 2),
            at.n * at.n,
            100 + at.n
        )
    }),
    ("numbers that cross zero and grow", |at| {
        format!(
            r#"{{"v":{},"w":{},"power":{}}}"#,
            rounded(4.0 - 12.0 * at.progress() + at.noise(1), 2),
            (3.0 + 20.0 * (at.progress() - 0.5) * at.noise(2)).round() as i64,
            (400.0 * at.sun().max(0.0) * (0.2 + at.progress()) - 80.0 * at.progress()).round() as i64
        )
    }),
    ("a voyage from the quay", |at| {
        let under_way = (at.progress() - 0.15).max(0.0);
        format!(
            r#"{{"lat":{},"lon":{},"alt":{},"speed":{},"course":{},"rssi":{},"snr":{},"sats":{}}}"#,
            rounded(44.40563 - 90.0 * under_way, 5),
            rounded(8.92571 - 150.0 * under_way, 5),
            (4.0 - 12.0 * at.noise(1) * at.progress()).round() as i64,
            if under_way > 0.0 { rounded(17.0 + at.noise(2), 1) } else { "0".into() },
            if under_way > 0.0 { (360.0 * at.noise(3)) as u32 } else { 0 },
            -60 - (60.0 * at.progress() * at.noise(4)) as i64,
            rounded(9.0 - 25.0 * at.progress() * at.noise(5), 1),
            (12.0 * at.noise(6)) as u32
        )
    }),
    ("a fix, a state and a firmware that change", |at| {
        let (fix, firmware) = if at.progress() < 0.2 { ("3d", "1.9.2") } else { ("none", "1.10.0-rc1") };
        // The first tenth has this state at most twice, so the other two must not become the only ones.
        let state = if at.n % 97 == 96 { "fault" } else { ["idle", "run"][at.n % 2] };
        format!(r#"{{"fix":"{fix}","firmware":"{firmware}","state":"{state}"}}"#)
    }),
    ("devices that join", |at| {
        let device = (at.noise(1) * 4000.0 * (0.02 + at.progress())) as usize;
        format!(
            r#"{{"name":"node-{device}","eui":"70B3D57ED00{:05X}","fcnt":{}}}"#,
            0x41a3c + 77 * device,
            at.n / 7
        )
    }),
    ("a battery that empties", |at| {
        format!(
            r#"{{"battery":{},"mv":{},"soc":{}}}"#,
            rounded(4.12 - 0.9 * at.progress(), 2),
            4120 - 5 * (180.0 * at.progress()) as i64,
            (99.0 - 95.0 * at.progress()) as i64
        )
    }),
    ("decimals with a comma, and pairs of whole numbers", |at| {
        let comma = |value: f64, places: usize| format!("{value:.places$}").replace('.', ",");
        format!(
            r#"{{"temp":"{}","pressure":"{}","xy":"{},{}"}}"#,
            comma(9.0 - 30.0 * at.progress() + at.noise(1), 1),
            comma(1010.0 + 20.0 * at.noise(2), 2),
            (at.n % 12) as i64 - 6,
            (7.0 * at.noise(3) - 40.0 * (at.progress() - 0.2).max(0.0)) as i64
        )
    }),
    ("numbers that fall slowly, far from zero at first", |at| {
        format!(
            r#"{{"t1":{},"text":"{}","level":{}}}"#,
            rounded(24.0 - 40.0 * at.progress() + at.noise(1), 1),
            50 - (100.0 * at.progress()) as i64,
            rounded(980.0 - 1200.0 * at.progress(), 2)
        )
    }),
    ("counters that begin late", |at| {
        let late = |of: f64| if at.progress() < 0.2 { 0.0 } else { of * (at.n as f64) };
        format!(
            r#"{{"errors":{},"rain":{},"text":"{}"}}"#,
            late(1.0),
            rounded(late(0.2), 1),
            late(1.0) as u64
        )
    }),
    ("humidity above 100 % and headings left of north", |at| {
        format!(
            r#"{{"humidity":{},"rh":{},"heading":{},"yaw":{}}}"#,
            rounded(55.0 + 52.0 * at.progress(), 1),
            (40.0 - 44.0 * at.progress()) as i64,
            (90.0 - 260.0 * at.progress()) as i64,
            (90.0 - 260.0 * at.progress()) as i64
        )
    }),
    ("accelerations and texts", |at| {
        let g = |salt| rounded((at.noise(salt) - 0.5) * (100.0 + 6000.0 * at.progress()), 1);
        let note = "wind from the west, ".repeat(1 + (at.progress() * 4.0) as usize);
        format!(r#"{{"acc":[{},{},{}],"note":"{note}"}}"#, g(1), g(2), g(3))
    }),
];

fn messages(series: fn(&At) -> String, count: usize, every: i64) -> Vec<String> {
    (0..count).map(|n| series(&At { n, count, t: START + n as i64 * every })).collect()
}

#[test]
fn schema_inferred_from_the_first_tenth_accepts_the_rest() {
    let mut rejected = Vec::new();
    for (name, series) in SERIES {
        // Two months of messages: three a day, one an hour, and every half an hour.
        for (count, every) in [(180, 28_800), (1_440, 3_600), (2_880, 1_800)] {
            let messages = messages(series, count, every);
            let (first, rest) = messages.split_at(count / 10);
            let Inferred { schema, odd, .. } = infer(first, None).unwrap();
            assert_eq!(odd, [], "{name}");
            let model = Model::compile(&schema).unwrap();
            let mut violations = rest.iter().filter_map(|text| model.validate(&message(text)).err());
            rejected.extend(violations.next().map(|violation| format!("{name}, {count}: {violation}")));
        }
    }
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}
