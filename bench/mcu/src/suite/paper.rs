//! The suite `pson-paper`: the ten messages of *PSON: A Serialization Format for IoT Sensor Networks* on an 8-bit and a 32-bit target.

use super::paper_tables::{self, ESP32_CLASS, SUITE};
use crate::{
    Failure, avr, combine_failures,
    measure::Measured,
    payloads::{self, PAPER_GROUP},
    results::{self, Record},
};

/// Measures, writes `bench/results/pson-paper.jsonl`, and prints the paper's tables beside ours.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let mut boards = super::boards()?;
    boards.retain(|board| [avr::TARGET, ESP32_CLASS, "lx106"].contains(&board.target()));
    let libraries = super::libraries(&["json", "msgpack", "protobuf", "pson", "bson"])?;
    let groups: Vec<_> = payloads::groups()?.into_iter().filter(|group| group.name == PAPER_GROUP).collect();
    let Measured { mut rows, failures } = super::measure(SUITE, &boards, &libraries, &groups, options)?;
    rows.extend(times(&rows));
    let quoted = results::quoted(SUITE)?;
    rows.extend(increases(&rows, &quoted));
    rows.extend(super::table_2::records(SUITE, &libraries)?);
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        rows.extend(super::sizes::sizes(SUITE, payload)?);
    }
    results::write(SUITE, &rows)?;
    super::table_2::print(&rows);
    paper_tables::print(&rows, &quoted);
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

/// What each library adds, in percent of the paper's empty program for the Arduino UNO or the ESP32: the unit of its Figures 5 and 6.
fn increases(records: &[Record], quoted: &[Record]) -> Vec<Record> {
    let empty = |target: &str| {
        let board = if target == avr::TARGET { "arduino-uno" } else { "esp32-wrover-b" };
        let is_empty = |r: &&Record| (&*r.target, &*r.operation, &*r.metric) == (board, "program", "flash");
        quoted.iter().find(is_empty).map(|record| record.value)
    };
    let flash = records.iter().filter(|record| record.metric == "flash");
    let increase = |record: &Record| {
        let empty = empty(&record.target)?;
        Some(Record {
            metric: "flash_increase".into(),
            value: record.value / empty * 100.0,
            unit: "%".into(),
            note: Some(format!("of the paper's empty program, {empty} bytes")),
            ..record.clone()
        })
    };
    flash.filter_map(increase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::AVERAGE;

    /// The paper's own averages show that no figure was lost or mistyped.
    #[test]
    fn the_averages_of_tables_3_and_4_follow_from_their_figures() {
        let quoted = results::quoted(SUITE).expect("the figures can be read");
        let times: Vec<_> = quoted.iter().filter(|record| record.metric == "time").collect();
        let mut checked = 0;
        for average in times.iter().filter(|record| record.payload == AVERAGE) {
            let key = |r: &Record| (r.target.clone(), r.format.clone(), r.operation.clone());
            let row: Vec<f64> = times
                .iter()
                .filter(|record| record.payload != AVERAGE && key(record) == key(average))
                .map(|record| record.value)
                .collect();
            assert_eq!(row.len(), if average.target == "arduino-uno" { 8 } else { 10 });
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            assert!((mean - average.value).abs() <= 0.06, "{average:?}: {mean}");
            checked += 1;
        }
        assert_eq!(checked, 12 + 6);
    }

    #[test]
    fn flash_is_a_share_of_the_papers_empty_program() {
        let quoted = results::quoted(SUITE).expect("the figures can be read");
        let mut row = crate::figures::tests::row("dunnage", "Test10", "serialize", 1184.0);
        row.metric = "flash".into();
        let increases = increases(&[row], &quoted);
        // An empty program for the UNO has 592 bytes.
        assert_eq!((increases.len(), increases[0].value, &*increases[0].unit), (1, 200.0, "%"));
    }

    #[test]
    fn a_thousand_operations_of_16_cycles_take_1000_us() {
        let records = [crate::figures::tests::row("dunnage", "Test05", "serialize", 16.0)];
        let times = times(&records);
        assert_eq!((times.len(), times[0].value, &*times[0].metric), (1, 1000.0, "time"));
    }
}
