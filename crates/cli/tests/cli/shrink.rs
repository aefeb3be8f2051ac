//! `dunnage schema shrink`, and the path from messages to code for a narrow link.

use crate::run::{dunnage, finish};
use serde_json::{Value, json};
use std::{
    fs,
    process::{Command, Stdio},
};

/// Numbers that look measured: a slow wave with noise.
fn wave(n: usize, low: f64, high: f64, places: u32) -> f64 {
    let (turn, noise) = (n as f64 / 23.0, (n * 7919 % 97) as f64 / 97.0);
    let unit = 10f64.powi(places as i32);
    ((low + (high - low) * (0.5 + 0.4 * turn.sin() + 0.1 * noise)) * unit).round() / unit
}

fn one<'a>(n: usize, usual: &'a str, rare: &[&'a str]) -> &'a str {
    if n % 41 == 7 { rare[n / 41 % rare.len()] } else { usual }
}

/// A name, and the message with a number.
type Device = (&'static str, fn(usize) -> Value);

/// Six devices, none of which was made for a narrow link.
const DEVICES: [Device; 6] = [
    ("hive", |n| {
        let brood: Vec<f64> = (0..3).map(|at| wave(n + 5 * at, 33.0, 36.0, 1)).collect();
        let mut message = json!({"id": format!("hive-{:02}", n % 6), "ts": format!("2026-05-{:02}T{:02}:00:00+02:00", 1 + n / 24, n % 24),
            "weight_kg": wave(n, 28.0, 52.0, 2), "brood_c": brood, "state": one(n, "normal", &["swarm", "robbed", "tipped"])});
        if n.is_multiple_of(3) {
            message["position"] = json!({"lat": wave(n, 47.37, 47.39, 5), "lon": wave(n, 8.53, 8.55, 5)});
        }
        message
    }),
    ("tracker", |n| {
        json!({"vehicle": format!("TR-{:04}", 1000 + n % 12), "time": format!("2026-03-29 {:02}:{:02}:00", n / 60 % 24, n % 60),
            "gps": {"lat": wave(n, 52.2, 53.1, 5), "lng": wave(n, 12.9, 13.8, 5), "speed": wave(n, 0.0, 92.0, 1)}, "ignition": n % 5 < 3, "alarm": one(n, "none", &["tow", "panic"])})
    }),
    ("tank", |n| {
        json!({"level_percent": wave(n, 12.0, 88.0, 1), "temperature": wave(n, -8.0, 31.0, 2), "valve": one(n, "closed", &["open", "fault"]), "battery_v": wave(n, 3.3, 3.7, 2),
            "at": format!("2026-04-{:02}T{:02}:30:00Z", 1 + n / 24, n % 24)})
    }),
    ("buoy", |n| {
        let from = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"][n / 3 % 8];
        let wind = json!({"speed_kn": wave(n, 0.0, 44.0, 1), "from": from});
        json!({"name": "NORTH", "wave_height_m": wave(n, 0.2, 4.8, 2), "period_s": wave(n, 2.0, 11.0, 1),
            "water_c": wave(n, 6.0, 19.0, 2), "wind": wind, "ts": 1_774_000_000 + 3600 * n})
    }),
    ("meter", |n| {
        json!({"serial": "LG-4711-0815", "m3": (123_400 + n as i64) as f64 / 10.0, "flow_lph": wave(n, 0.0, 900.0, 0), "status": one(n, "OK", &["LEAK", "AIR", "REVERSE"]),
            "read": format!("{:02}.05.2026 {:02}:15:00", 1 + n / 24, n % 24)})
    }),
    ("cage", |n| {
        json!({"trap": n % 4, "door": one(n, "set", &["sprung", "blocked"]), "bait_g": wave(n, 10.0, 80.0, 0), "light_lux": wave(n, 0.0, 4000.0, 0),
            "when": format!("2026-06-{:02}T{:02}:00:00.000Z", 1 + n / 24, n % 24), "firmware": "1.4.2"})
    }),
];

#[test]
fn messages_of_any_device_become_code_for_a_link_of_30_bytes() {
    for (name, message) in DEVICES {
        let folder = tempfile::tempdir().unwrap();
        let path = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
        let lines: Vec<String> = (0..240).map(|n| message(n).to_string()).collect();
        let messages = path(&format!("{name}.jsonl"));
        fs::write(&messages, lines.join("\n")).unwrap();
        let (wide, narrow) = (path("wide.json"), path("narrow.json"));
        fs::write(&wide, dunnage(&["schema", "infer", "--lines", &messages], "").text()).unwrap();
        let generate = |schema: &str| {
            let output = path("generated");
            dunnage(&["generate", "c", "--schema", schema, "--link", "kineis", "-o", &output], "")
        };
        let refused = generate(&wide);
        let advice = "dunnage schema shrink SCHEMA --messages FILE --link kineis";
        assert!(refused.code == 0 || refused.stderr.contains(advice), "{name}: {}", refused.stderr);

        let run = dunnage(&["schema", "shrink", &wide, "--messages", &messages, "--link", "kineis"], "");
        fs::write(&narrow, run.text()).unwrap();
        assert_eq!(generate(&narrow).code, 0, "{name}: {}", run.text());
        let packed = ["convert", "--from", "json", "--to", "packed", "--lines", "--schema", &narrow];
        let packed = dunnage(&packed, lines.join("\n"));
        assert_eq!(packed.text().lines().count(), lines.len(), "{name}: {}", packed.stderr);
        assert!(packed.text().lines().all(|line| line.len() <= 60), "{name}: {}", packed.text());
    }
}

#[test]
fn changes_are_listed_best_first_and_a_link_that_needs_more_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
    let (schema, messages) = (path("s.json"), path("m.jsonl"));
    let numbers = |n: usize| (0..40).map(|at| wave(n * 40 + at, 0.0, 99.99, 2)).collect::<Vec<_>>();
    let lines: Vec<String> = (0..30).map(|n| json!({"v": numbers(n), "s": "x"}).to_string()).collect();
    fs::write(&messages, lines.join("\n")).unwrap();
    fs::write(&schema, dunnage(&["schema", "infer", "--lines", &messages], "").text()).unwrap();
    let listed = dunnage(&["schema", "shrink", &schema, "--messages", &messages], "");
    let fields: Vec<&str> =
        listed.text().lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(fields.first(), Some(&"v[]"), "{}", listed.text());
    assert!(listed.text().contains("\"items\": { \"type\": \"number\""), "{}", listed.text());

    let short = dunnage(&["schema", "shrink", &schema, "--messages", &messages, "--link", "kineis"], "");
    assert_eq!(short.code, 1);
    assert!(short.stderr.contains("rounded to multiples of 0.1"), "{}", short.stderr);
    assert!(short.stderr.contains("Kinéis carries 30 bytes: "), "{}", short.stderr);

    // Without headroom, other messages are rejected.
    let closed = dunnage(&["schema", "infer", "--lines", "--closed", &messages], "");
    assert!(
        closed.stderr.contains("closed: ") && closed.stderr.contains(" in place of "),
        "{}",
        closed.stderr
    );
    let tight = path("tight.json");
    fs::write(&tight, closed.text()).unwrap();
    fs::write(path("other.json"), r#"{"v":[100.5],"s":"x"}"#).unwrap();
    assert_eq!(dunnage(&["schema", "check", &tight, &path("other.json")], "").code, 1);
}

/// `script` (bsdutils, which every Debian has) gives the program a terminal.
#[test]
fn on_a_terminal_it_asks_about_what_the_link_needs_and_then_about_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: &str| folder.path().join(file).to_str().unwrap().to_owned();
    let (schema, messages) = (path("s.json"), path("m.jsonl"));
    let line =
        |n: usize, alarm: &str| json!({"at": format!("2026-11-02T05:{n}:00Z"), "alarm": alarm, "co": 10 * n});
    let lines = [(10, "none"), (20, "warn"), (30, "evacuate")].map(|(n, alarm)| line(n, alarm).to_string());
    fs::write(&messages, lines.join("\n")).unwrap();
    fs::write(&schema, dunnage(&["schema", "infer", "--lines", &messages], "").text()).unwrap();
    let asked = |answers: &str| {
        let program = env!("CARGO_BIN_EXE_dunnage");
        let command =
            format!("{program} schema shrink {schema} --messages {messages} --link lorawan-eu868-dr0");
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]);
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = finish(script.spawn().unwrap(), answers.as_bytes());
        let lines = run
            .any_text()
            .lines()
            .filter(|line| [": only", ": at most"].iter().any(|what| line.contains(what)));
        lines.map(|line| line.trim_end().rsplit("] ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(asked("y\ny\n"), ["alarm: only the 3 texts that were seen"]);
    let all = asked("n\nn\nq\n");
    assert!(all[0].contains("alarm: only the 3 texts") && all.len() >= 3, "{all:?}");
    assert!(all[1..].iter().all(|line| !line.contains("3 texts") && !line.contains("at:")), "{all:?}");
}
