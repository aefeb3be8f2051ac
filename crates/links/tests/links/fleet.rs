//! The messages of a simulated fleet.

use dunnage_links::fleet::{Container, Fleet, Place};
use dunnage_pson::Value;
use dunnage_schema::{Model, bundled_named};
use std::collections::{HashMap, HashSet};

const KEYS: [&str; 20] = [
    "msisdn",
    "iso6346",
    "time",
    "rssi",
    "cgi",
    "ble-m",
    "bat-soc",
    "acc",
    "temperature",
    "humidity",
    "pressure",
    "door",
    "gnss",
    "latitude",
    "longitude",
    "altitude",
    "speed",
    "heading",
    "nsat",
    "hdop",
];

fn text(container: &Container, key: &str) -> String {
    match container.message().get(key) {
        Some(Value::Text(text)) => text.clone(),
        other => panic!("{key} is {other:?}"),
    }
}

fn number(container: &Container, key: &str) -> f64 {
    let text = text(container, key);
    text.parse().unwrap_or_else(|_| panic!("{key} is {text:?}"))
}

/// Returns the values of a message as one line.
fn line(container: &Container) -> String {
    let Value::Map(entries) = container.message() else { panic!("the message is no map") };
    let texts: Vec<String> = entries
        .into_iter()
        .map(|(key, value)| match value {
            Value::Text(text) => text,
            other => panic!("{key} is {other:?}"),
        })
        .collect();
    texts.join("|")
}

#[test]
fn messages_have_the_twenty_fields_and_are_valid() {
    let model = Model::compile(bundled_named("container").unwrap()).unwrap();
    let mut fleet = Fleet::new(1, 50);
    for _ in 0..200 {
        for container in fleet.containers() {
            let message = container.message();
            let Value::Map(entries) = &message else { panic!("{message:?}") };
            assert!(entries.iter().map(|(key, _)| key.as_str()).eq(KEYS));
            model.validate(&message).unwrap_or_else(|violation| panic!("{violation} in {message:?}"));
        }
        fleet.step(2500.0);
    }
}

#[test]
fn a_seed_determines_the_messages() {
    let mut fleet = Fleet::new(7, 3);
    let first: Vec<String> = fleet.containers().iter().map(line).collect();
    assert_eq!(first, FIRST);
    fleet.step(6.0 * 3600.0);
    let later: Vec<String> = fleet.containers().iter().map(line).collect();
    assert_eq!(later, SIX_HOURS_LATER);
}

const FIRST: [&str; 3] = [
    "393897407796|DNGU3101390|010326 000000.0|99|286-01-10-313C0|0|72|-991.7296 -1.4649 -16.8462|7.92|78.81|1014.3969|D|1|35.2615|26.5758|41.76|23.1|307.79|08|1.5",
    "393897415715|LMCU3180580|010326 000000.0|99|202-01-E-31340|0|70|-994.6594 26.3680 -71.0471|7.72|82.06|1014.6521|D|1|37.5354|24.0971|28.31|32.5|214.22|08|1.5",
    "393897423634|MNHU3259773|010326 000000.0|30|606-01-17-31580|0|58|-998.3216 16.1138 24.9031|10.76|78.56|1011.7648|D|1|32.4100|15.2700|9.31|0.0|256.19|10|1.3",
];
const SIX_HOURS_LATER: [&str; 3] = [
    "393897407796|DNGU3101390|010326 060000.0|99|286-01-10-313C0|0|72|-1001.9838 -8.0569 -32.9600|11.18|76.64|1015.7186|D|1|35.9661|25.3083|38.51|23.0|301.05|06|1.8",
    "393897415715|LMCU3180580|010326 060000.0|99|202-01-E-31340|0|70|-988.7998 10.2542 -64.4551|9.54|77.78|1012.6304|D|1|36.3693|22.7545|29.64|32.6|247.10|11|1.2",
    "393897423634|MNHU3259773|010326 060000.0|28|606-01-17-31580|0|58|-998.3216 16.1138 23.4382|12.87|78.80|1011.5909|D|1|32.4100|15.2700|4.65|0.0|256.19|10|1.3",
];

#[test]
fn another_seed_gives_another_fleet() {
    assert_ne!(line(&Fleet::new(1, 1).containers()[0]), line(&Fleet::new(2, 1).containers()[0]));
}

#[test]
fn messages_depend_on_the_time_and_not_on_the_steps_or_the_size_of_the_fleet() {
    let mut small_steps = Fleet::new(3, 5);
    for _ in 0..3600 {
        small_steps.step(2.5);
    }
    let mut one_step = Fleet::new(3, 20);
    one_step.step(9000.0);
    let lines = |fleet: &Fleet| fleet.containers().iter().take(5).map(line).collect::<Vec<_>>();
    assert_eq!(lines(&small_steps), lines(&one_step));
}

#[test]
fn time_does_not_go_backwards() {
    let mut fleet = Fleet::new(3, 1);
    let before = line(&fleet.containers()[0]);
    for seconds in [-1e9, f64::NAN, 0.0, 29.9] {
        fleet.step(seconds);
        assert_eq!(line(&fleet.containers()[0]), before);
    }
    fleet.step(0.1);
    assert_ne!(line(&fleet.containers()[0]), before);
}

#[test]
fn container_numbers_are_distinct_and_have_valid_check_digits() {
    // The index of a character is its value in ISO 6346, which skips the multiples of eleven.
    let values = "0123456789A?BCDEFGHIJK?LMNOPQRSTU?VWXYZ";
    let fleet = Fleet::new(9, 2000);
    let mut seen = HashSet::new();
    for container in fleet.containers() {
        let device = container.device();
        let sum: usize = device.chars().take(10).enumerate().map(|(i, c)| values.find(c).unwrap() << i).sum();
        assert_eq!(device.len(), 11);
        assert_eq!(device.chars().nth(10).unwrap(), char::from(b'0' + (sum % 11 % 10) as u8), "{device}");
        assert_eq!(text(container, "iso6346"), device);
        assert!(seen.insert(device.to_owned()) && seen.insert(text(container, "msisdn")));
    }
}

#[test]
fn cells_change_near_ports_and_the_last_one_stays_at_sea() {
    let mut fleet = Fleet::new(5, 20);
    let seen = |container: &Container| (text(container, "cgi"), container.at_sea());
    let mut last: Vec<(String, bool)> = fleet.containers().iter().map(seen).collect();
    let (mut changes, mut departures) = (0, 0);
    for _ in 0..10 * 24 * 12 {
        fleet.step(300.0);
        for (container, before) in fleet.containers().iter().zip(&mut last) {
            let now = seen(container);
            assert_eq!(now.1, text(container, "rssi") == "99");
            if now.0 != before.0 {
                changes += 1;
                assert!(!(now.1 && before.1), "{} changed its cell at sea", container.device());
            }
            departures += u32::from(now.1 && !before.1);
            *before = now;
        }
    }
    assert!(changes > 100 && departures > 10, "{changes} changes of cell, {departures} departures");
}

#[test]
fn containers_move_from_the_sea_to_the_yard_to_the_quay_and_leave_again() {
    let mut fleet = Fleet::new(5, 20);
    let mut last: Vec<Place> = fleet.containers().iter().map(Container::place).collect();
    let mut moves: HashMap<(Place, Place), usize> = HashMap::new();
    for _ in 0..10 * 24 * 12 {
        fleet.step(300.0);
        for (container, before) in fleet.containers().iter().zip(&mut last) {
            let now = container.place();
            if now != *before {
                *moves.entry((*before, now)).or_default() += 1;
            }
            *before = now;
        }
    }
    let transitions = [
        (Place::Sea, Place::Approach),
        (Place::Approach, Place::Yard),
        (Place::Yard, Place::Terminal),
        (Place::Terminal, Place::Approach),
        (Place::Approach, Place::Sea),
    ];
    let seen: Vec<_> =
        transitions.iter().map(|transition| moves.remove(transition).unwrap_or_default()).collect();
    assert!(seen.iter().all(|count| *count > 5), "{transitions:?}: {seen:?}");
    // A ship that passes a port, or ends its stay within a step, skips a place.
    assert!(moves.values().sum::<usize>() * 10 < seen.iter().sum(), "{moves:?}");
}

#[test]
fn readings_change_slowly() {
    let mut fleet = Fleet::new(11, 10);
    let mut seen: HashMap<&str, HashSet<String>> = HashMap::new();
    for _ in 0..10 * 24 {
        for container in fleet.containers() {
            for (key, text) in KEYS.iter().zip(line(container).split('|')) {
                seen.entry(key).or_default().insert(text.to_owned());
            }
        }
        let before: Vec<f64> = fleet.containers().iter().map(|c| number(c, "temperature")).collect();
        fleet.step(30.0);
        for (container, before) in fleet.containers().iter().zip(before) {
            assert!((number(container, "temperature") - before).abs() < 0.5);
        }
        fleet.step(3570.0);
    }
    for key in KEYS {
        assert!(seen[key].len() > 1, "{key} is always {:?}", seen[key]);
    }
    assert!(seen["latitude"].len() > 1000 && seen["pressure"].len() > 2000);
    assert_eq!(seen["gnss"].len(), 2);
}

#[test]
fn the_position_matches_the_fix_if_there_is_one() {
    let mut fleet = Fleet::new(13, 20);
    let mut fixes = 0;
    for _ in 0..500 {
        fleet.step(300.0);
        for container in fleet.containers().iter().filter(|container| text(container, "gnss") == "1") {
            fixes += 1;
            assert!((number(container, "latitude") - container.position().latitude).abs() < 0.000_051);
            assert!((number(container, "longitude") - container.position().longitude).abs() < 0.000_051);
            assert!(number(container, "nsat") >= 4.0);
        }
    }
    assert!(fixes > 9000, "{fixes} of 10000 with a fix");
}
