//! The suite `pson-paper`: the ten messages of *PSON: A Serialization Format for IoT Sensor Networks* on an 8-bit and a 32-bit target.

use crate::{
    Failure, avr, combine_failures,
    measure::Measured,
    payloads::{self, PAPER_GROUP},
    results::{self, Record},
};

/// The name of the suite.
pub const SUITE: &str = "pson-paper";

/// The target that stands for the paper's ESP32: a 32-bit core of the ESP32-C3's class.
pub const ESP32_CLASS: &str = "rv32imc";

/// Measures, writes `bench/results/pson-paper.jsonl`, and prints the paper's tables beside ours.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let mut boards = super::boards()?;
    boards.retain(|board| [avr::TARGET, ESP32_CLASS, "lx106"].contains(&board.target()));
    let libraries = super::libraries(&["json", "msgpack", "protobuf", "pson"])?;
    let groups: Vec<_> = payloads::groups()?.into_iter().filter(|group| group.name == PAPER_GROUP).collect();
    let Measured { mut rows, failures } = super::measure(SUITE, &boards, &libraries, &groups, options)?;
    rows.extend(times(&rows));
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        rows.extend(super::sizes::sizes(SUITE, payload)?);
    }
    results::write(SUITE, &rows)?;
    super::paper_tables::print(&rows, &results::quoted(SUITE)?);
    println!("\n{} results in bench/results/{SUITE}.jsonl", rows.len());
    combine_failures(&failures)
}

/// The time of 1000 operations on the Arduino UNO, for each figure in cycles.
fn times(records: &[Record]) -> Vec<Record> {
    let counted = records.iter().filter(|record| record.metric == "cycles");
    let time = |record: &Record| Record {
        metric: "time".into(),
        value: record.value / crate::reference::CYCLES_PER_MICROSECOND,
        unit: "us per 1000 operations".into(),
        ..record.clone()
    };
    counted.map(time).collect()
}
