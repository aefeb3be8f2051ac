//! The fault table. Messages go from devices through the real `dunnage gateway` to a real oneM2M CSE while something fails.
//! Afterwards every message is looked up: of n acknowledged messages, n are stored and n are delivered, none twice, and in order
//! per device.
//!
//! `cargo test -p dunnage --test faults` runs every row in its short form. `make faults` runs the long form and writes its table
//! to `docs/faults.md`. The arguments are those of other tests: part of a row's name runs that row.

#![allow(clippy::unwrap_used)]

mod chain;
mod cse;
mod damage;
mod delta_sender;
mod disk;
mod fleet;
mod gateway;
mod lossy;
mod power;
mod process;
mod row;
mod rows;
mod script;
mod sender;

// Servers that the gateway's own tests start as well.
#[path = "../../../gateway/tests/support/acme.rs"]
#[allow(dead_code)]
mod acme;
#[path = "../../../gateway/tests/support/mosquitto.rs"]
#[allow(dead_code)]
mod mosquitto;
#[path = "../../../gateway/tests/support/nats.rs"]
#[allow(dead_code)]
mod nats;
#[path = "../../../gateway/tests/support/postgres.rs"]
mod postgres;
#[path = "../../../gateway/tests/support/proxy.rs"]
#[allow(dead_code)]
mod proxy;
#[path = "../../../gateway/tests/support/tools.rs"]
#[allow(dead_code)]
mod tools;
#[path = "../../../gateway/tests/support/wait.rs"]
mod wait;

use libtest_mimic::{Arguments, Failed, Trial};
use row::{Row, Scale, Scenario};
use std::{
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

/// An error that prevents a row from being measured.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A client that returns error statuses as answers, not as errors.
fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(Duration::from_secs(60))).build().into()
}

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
    Trial::test(scenario.name, move || {
        let row = scenario.measure(scale).map_err(|e| Failed::from(e.to_string()))?;
        let problems = row.problems();
        table.lock().unwrap().push(row);
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.join("\n").into()),
        }
    })
}
