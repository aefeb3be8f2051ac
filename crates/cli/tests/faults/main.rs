//! The fault table. Messages go from devices through the real `dunnage gateway` to a real oneM2M CSE while something fails.
//! Afterwards every message is looked up: of n acknowledged messages, n are stored and n are delivered, none twice, and in order
//! per device.
//!
//! `cargo test -p dunnage --test faults` runs the short form, without the rows that take long even so; `-- --include-ignored` adds them.
//! `make faults` runs the long form and writes its table to `docs/faults.md`. The arguments are those of other tests: part of a row's name
//! runs that row.

#![allow(clippy::unwrap_used)]

mod chain;
mod cse;
mod damage;
mod delta_sender;
mod disk;
mod fleet;
mod gateway;
mod power;
mod process;
mod row;
mod rows;
mod script;
mod sender;

use dunnage_test_support::{
    acme, agent, influx, kafka, lossy, mosquitto, nats, postgres, proxy, s3, subscriber, tools,
};
use libtest_mimic::{Arguments, Failed, Trial};
use row::{Row, Scale, Scenario};
use std::{
    process::ExitCode,
    sync::{Arc, Mutex},
};

/// An error that prevents a row from being measured.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let scale =
        if std::env::var("FAULTS").is_ok_and(|form| form == "long") { Scale::Long } else { Scale::Short };
    // One row at a time, so that each has the machine to itself.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let table = Arc::new(Mutex::new(Vec::new()));
    let mut trials: Vec<_> = rows::ALL.iter().map(|scenario| trial(scenario, scale, &table)).collect();
    trials.push(Trial::test("power_failures", move || power_failures(scale)));
    let conclusion = libtest_mimic::run(&arguments, trials);
    cse::end();
    let table = table.lock().unwrap();
    println!("{}", row::markdown(&table));
    if scale == Scale::Long && table.len() == rows::ALL.len() {
        row::write("fault table", &row::markdown(&table)).unwrap();
    }
    conclusion.exit_code()
}

/// Counts what power failures leave. The long form writes its table to `docs/faults.md`.
fn power_failures(scale: Scale) -> Result<(), Failed> {
    let (failures, counts) = power::measure(scale).map_err(|e| Failed::from(e.to_string()))?;
    let table = power::markdown(&counts);
    println!("{failures} power failures\n{table}");
    if scale == Scale::Long {
        row::write("power table", &table).map_err(|e| Failed::from(e.to_string()))?;
    }
    match counts.values().all(power::Count::is_right) {
        true => Ok(()),
        false => Err(format!("messages were lost or written twice:\n{table}").into()),
    }
}

fn trial(scenario: &'static Scenario, scale: Scale, table: &Arc<Mutex<Vec<Row>>>) -> Trial {
    let table = Arc::clone(table);
    let takes_long = scale == Scale::Short && rows::LONG.contains(&scenario.name);
    Trial::test(scenario.name, move || {
        let row = scenario.measure(scale).map_err(|e| Failed::from(e.to_string()))?;
        let problems = row.problems();
        table.lock().unwrap().push(row);
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.join("\n").into()),
        }
    })
    .with_ignored_flag(takes_long)
}
