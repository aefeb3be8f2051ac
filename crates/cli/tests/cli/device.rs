//! The messages of the device library's Arduino examples on a simulated UNO. c/tests/arduino/run.sh compares the same bytes.

use crate::run::{dunnage, golden, root};
use std::fs;

fn sent(example: &str) -> String {
    fs::read_to_string(root().join("c/tests/arduino").join(format!("{example}.hex"))).unwrap()
}

#[test]
fn the_sensor_message_can_be_inspected_and_converted() {
    golden("inspect-arduino-sensor.txt", dunnage(&["inspect", "--hex"], sent("Sensor")).text());
    let json = dunnage(&["convert", "--from", "pson", "--to", "json", "--hex"], sent("Sensor"));
    assert_eq!(json.text().trim(), r#"{"sensor":"A0","n":1,"mv":2497}"#);
}

#[test]
fn a_message_in_chunks_is_one_message() {
    let json = dunnage(&["convert", "--from", "pson", "--to", "json", "--hex"], sent("Sink"));
    let samples: Vec<_> = (2497..2537).map(|sample: u16| sample.to_string()).collect();
    assert_eq!(json.text().trim(), format!(r#"{{"unit":"mV","samples":[{}]}}"#, samples.join(",")));
}
