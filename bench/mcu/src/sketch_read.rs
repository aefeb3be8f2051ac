//! Reads what a sketch of `bench/board` printed on a board.

use crate::{
    Failure,
    results::{self, Record},
    trace::Pulse,
};
use std::{fs, path::Path};

/// The suite of the figures, and its file in `bench/results`.
const SUITE: &str = "board";
const HEADER: &str = "payload,format,library,operation,bytes,us,first_us,calls";
/// The simulated targets beside which a board is shown, with what they count.
const BESIDE: [(&str, &str); 3] =
    [("atmega328p", "cycles"), ("rv32imc", "instructions"), ("lx106", "instructions")];

/// Prints the figures in the file `csv` beside simulated ones. Stores them as those of `board`, in place of its former ones, unless it is only to
/// print. `pulses` are those of a power analyzer's trace.
pub fn run(csv: &Path, board: &str, pulses: Option<&[Pulse]>, print_only: bool) -> Result<(), Failure> {
    let text = fs::read_to_string(csv).map_err(|error| format!("{}: {error}", csv.display()))?;
    let mut records = records(&text, board).map_err(|error| format!("{}: {error}", csv.display()))?;
    if let Some(pulses) = pulses {
        let energy = energy(&records, pulses)?;
        records.extend(energy);
    }
    let count = records.len();
    table(&records, board)?;
    if print_only {
        return Ok(());
    }
    dunnage_bench_record::update(&results::path(SUITE), |old| old.target == board, records)?;
    println!("\n{count} results in bench/results/{SUITE}.jsonl");
    Ok(())
}

/// The records of the last complete run in `text`, which may have other lines before and after it.
fn records(text: &str, board: &str) -> Result<Vec<Record>, Failure> {
    let lines: Vec<_> = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).collect();
    let end =
        lines.iter().rposition(|(_, line)| *line == "end").ok_or("no line `end`: the run is not complete")?;
    let begin = lines[..end].iter().rposition(|(_, line)| *line == HEADER);
    let begin = begin.ok_or_else(|| format!("no line `{HEADER}`"))?;
    let mut records = Vec::new();
    for (at, line) in &lines[begin + 1..end] {
        records.extend(row(line, board).map_err(|error| format!("line {at}: {error}"))?);
    }
    Ok(records)
}

fn row(line: &str, board: &str) -> Result<Vec<Record>, Failure> {
    let fields: Vec<&str> = line.split(',').collect();
    let [payload, format, library, operation, bytes, us, first, calls] = fields[..] else {
        return Err(format!("{} fields, and not 8", fields.len()).into());
    };
    let number = |name: &str, text: &str| text.parse::<f64>().map_err(|error| format!("{name}: {error}"));
    let calls = calls.parse::<u64>().map_err(|error| format!("calls: {error}"))?;
    // The library cannot hold the message on this board.
    if calls == 0 {
        return Ok(Vec::new());
    }
    let record = |metric: &str, value: f64, unit: &str, repetitions: u64| {
        let subject = [payload, format, library];
        let mut record = Record::measured(SUITE, board, subject, operation, (metric, value, unit));
        record.repetitions = Some(repetitions);
        record.environment = Some(board.into());
        record
    };
    Ok(vec![
        record("us", number("us", us)?, "us", calls),
        record("first_us", number("first_us", first)?, "us", 1),
        record("bytes", number("bytes", bytes)?, "bytes", 1),
    ])
}

/// The energy of a call of each measurement: the mean power while it lasted times its time.
fn energy(records: &[Record], pulses: &[Pulse]) -> Result<Vec<Record>, Failure> {
    let times: Vec<&Record> = records.iter().filter(|record| record.metric == "us").collect();
    if times.len() != pulses.len() {
        let [measured, marked] = [times.len(), pulses.len()];
        return Err(format!("the board measured {measured} times, and the mark was high {marked} times in the trace: record one run").into());
    }
    let energy = |(time, pulse): (&&Record, &Pulse)| {
        let mut record = Record::clone(time);
        (record.metric, record.unit) = ("uj".into(), "µJ".into());
        record.value = time.value * pulse.watts();
        record
    };
    Ok(times.iter().zip(pulses).map(energy).collect())
}

/// Prints the board's times beside cycles and instructions of the suites `pson-paper` and `mcu-json`, where these have run.
fn table(records: &[Record], board: &str) -> Result<(), Failure> {
    let mut simulated = Vec::new();
    for suite in ["pson-paper", "mcu-json"] {
        if results::path(suite).exists() {
            simulated.extend(dunnage_bench_record::read(&results::path(suite))?);
        }
    }
    println!(
        "{board}: microseconds of a call, and of the first one. Beside it: cycles or instructions, simulated"
    );
    let beside: String = BESIDE.iter().map(|(target, _)| format!("{target:>12}")).collect();
    let has_energy = records.iter().any(|record| record.metric == "uj");
    let joules = if has_energy { format!("{:>12}", "µJ") } else { String::new() };
    println!("{:<44}{:>6}{:>12}{:>9}{joules}{beside}", "", "bytes", "us", "first");
    for record in records.iter().filter(|record| record.metric == "us") {
        let same = |other: &&Record| {
            (&other.payload, &other.format, &other.library, &other.operation)
                == (&record.payload, &record.format, &record.library, &record.operation)
        };
        let own =
            |metric: &str| records.iter().filter(same).find(|r| r.metric == metric).map_or(0.0, |r| r.value);
        let target = |(target, counts): (&str, &str)| {
            let is_it = |r: &&Record| {
                r.target == target
                    && r.metric == counts
                    && r.options.as_deref().is_none_or(|options| options == crate::REFERENCE_OPTIONS)
            };
            let found = simulated.iter().filter(same).find(is_it);
            found.map_or_else(|| format!("{:>12}", "-"), |r| format!("{:>12}", r.value))
        };
        let label = format!("{} {} {} {}", record.payload, record.format, record.library, record.operation);
        let beside: String = BESIDE.into_iter().map(target).collect();
        let joules = if has_energy { format!("{:>12.3}", own("uj")) } else { String::new() };
        println!(
            "{label:<44}{:>6}{:>12.3}{:>9}{joules}{beside}",
            own("bytes"),
            record.value,
            own("first_us")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "Keys: h measures\r\npayload,format,library,operation,bytes,us,first_us,calls\r
Test05,pson,dunnage,serialize,7,5.125,12,9756\r
Test05,json,snprintf,serialize,0,,,0\r
end\r\n";

    #[test]
    fn the_last_complete_run_is_read() {
        let twice = format!("{}{}payload,form", RUN.replace("5.125", "9.000"), RUN);
        let records = records(&twice, "UNO").expect("a complete run");
        let figures: Vec<_> = records.iter().map(|r| (&*r.metric, r.value, r.repetitions)).collect();
        assert_eq!(
            figures,
            [("us", 5.125, Some(9756)), ("first_us", 12.0, Some(1)), ("bytes", 7.0, Some(1))]
        );
        assert!(records.iter().all(|record| record.target == "UNO" && record.library == "dunnage"));
    }

    #[test]
    fn the_energy_of_a_call_is_its_time_at_the_power_of_its_pulse() {
        let records = records(RUN, "UNO").expect("a complete run");
        let pulse = Pulse { seconds: 0.05, joules: 0.001 };
        let found = energy(&records, &[pulse]).expect("one pulse for one measurement");
        assert_eq!(
            (&*found[0].metric, found[0].value, found[0].repetitions),
            ("uj", 5.125 * 0.02, Some(9756))
        );
        let error = energy(&records, &[pulse, pulse]).expect_err("too many pulses").to_string();
        assert!(error.contains("measured 1 times, and the mark was high 2 times"), "{error}");
    }

    #[test]
    fn a_damaged_run_is_an_error_with_its_line() {
        let error = |text: &str| records(text, "UNO").expect_err("a damaged run").to_string();
        assert_eq!(error("Keys"), "no line `end`: the run is not complete");
        assert_eq!(error("end"), format!("no line `{HEADER}`"));
        assert_eq!(error(&RUN.replace(",9756", "")), "line 3: 7 fields, and not 8");
        assert_eq!(error(&RUN.replace("5.125", "5.1.5")), "line 3: us: invalid float literal");
    }
}
