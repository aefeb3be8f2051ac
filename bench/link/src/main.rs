//! The bytes of packed messages on lossy links, with their goals: `make bench-link`.
//!
//! The container's statistics are trained on other containers than those that are measured. Results go to
//! `bench/results/link.jsonl`. `--quick` sends few messages, in minutes instead of half an hour. Two studies are
//! computed: `mesh`, what formats cost over several hops, and `deadline`, which messages arrive in time. `series` and `fit` print the figures of
//! series, and of messages that fit a limit, alone.

mod bound;
mod container;
mod corpus;
mod deadline;
mod fit;
mod goal;
mod mesh;
mod series;
mod text;
mod trials;
mod vendors;

use dunnage_bench_record::{Record, results, write};
use goal::Goal;
use std::{process::ExitCode, thread};

fn main() -> ExitCode {
    let is_given = |name: &str| std::env::args().skip(1).any(|argument| argument == name);
    let outcome = match () {
        () if is_given("mesh") => mesh::run(),
        () if is_given("deadline") => deadline::run(),
        () if is_given("series") => series::goals(is_given("--quick")).map(|goals| goal::print(&goals)),
        () if is_given("fit") => fit::goals(is_given("--quick")).map(|goals| goal::print(&goals)),
        () => run(is_given("--quick")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench/link: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(quick: bool) -> Result<(), Box<dyn std::error::Error>> {
    // They count bytes, which do not depend on what else runs.
    let mut goals: Vec<Goal> = thread::scope(|scope| {
        let sent = scope.spawn(|| container::goals(quick).map_err(|error| error.to_string()));
        let others = [trials::goals(quick)?, series::goals(quick)?, fit::goals(quick)?].concat();
        let mut goals = sent.join().map_err(|_| "the simulation panicked")??;
        goals.extend(others);
        Ok::<_, Box<dyn std::error::Error>>(goals)
    })?;
    goals.extend(vendors::goals()?);
    goal::print(&goals);
    let records: Vec<Record> = goals.iter().map(Goal::record).collect();
    write(&results().join("link.jsonl"), &records)?;
    Ok(())
}
