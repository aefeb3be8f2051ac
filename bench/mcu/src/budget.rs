//! The budget: cycles, stack, flash and RAM of the library and of the C of modes 1 and 2, in the golden file `c/tests/budget.txt`. A change
//! of the code shows as a change of this file.

use crate::{Failure, results::Record, toolchain};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// The tolerated drift of a figure, in percent.
const TOLERANCE: f64 = 1.0;

/// The metrics that have a budget.
const METRICS: [&str; 5] = ["cycles", "instructions", "stack", "flash", "ram"];

const HEAD: &str = "\
# What the library costs on each target, built with the reference options, and the generated C of modes 1 and 2 on the ATmega328P. A drift
# of more than 1 % fails `make test`.
# Written by `cargo run --release -p dunnage-bench-mcu -- budget --accept`.
";

/// Target, payload, operation, metric.
type FigureKey = [String; 4];

fn path() -> PathBuf {
    toolchain::root().join("c/tests/budget.txt")
}

fn figures_with_budget(rows: &[Record]) -> impl Iterator<Item = (FigureKey, u64)> {
    rows.iter().filter(|row| METRICS.contains(&row.metric.as_str())).map(|row| {
        // A column has no spaces.
        let operation = row.operation.replace(", ", "-").replace(' ', "-");
        ([row.target.clone(), row.payload.clone(), operation, row.metric.clone()], row.value as u64)
    })
}

fn read() -> Result<Vec<(FigureKey, u64)>, Failure> {
    let path = path();
    let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let [target, payload, operation, metric, value] = words[..] else {
                return Err(format!("{}: expected five columns: {line}", path.display()).into());
            };
            Ok(([target, payload, operation, metric].map(str::to_owned), value.parse()?))
        })
        .collect()
}

/// Writes `rows` as the new budget of their targets; other targets keep theirs.
pub fn accept(rows: &[Record]) -> Result<(), Failure> {
    let mut budget = read()?;
    budget.retain(|(key, _)| !rows.iter().any(|row| row.target == key[0]));
    budget.extend(figures_with_budget(rows));

    let mut text = HEAD.to_owned();
    for ([target, payload, operation, metric], value) in &budget {
        text.push_str(&format!("{target:<14} {payload:<16} {operation:<14} {metric:<12} {value:>7}\n"));
    }
    fs::write(path(), text)?;
    println!("{} figures in c/tests/budget.txt", budget.len());
    Ok(())
}

/// Compares `rows` with the budget of their targets, and prints the changes. Fails if a figure drifted by more than [`TOLERANCE`].
pub fn check(rows: &[Record]) -> Result<(), Failure> {
    let mut budget = read()?;
    budget.retain(|(key, _)| rows.iter().any(|row| row.target == key[0]));
    let measured: Vec<_> = figures_with_budget(rows).collect();

    let changes = changes(budget, &measured);
    for change in &changes {
        println!("{} {}", if change.drift { "DRIFT" } else { "     " }, change.text);
    }
    let drifted = changes.iter().filter(|change| change.drift).count();
    if drifted > 0 {
        return Err(format!(
            "{drifted} figures differ by more than {TOLERANCE} %; to accept them: \
             cargo run --release -p dunnage-bench-mcu -- budget --accept"
        )
        .into());
    }
    println!("{} figures are within {TOLERANCE} % of c/tests/budget.txt", measured.len());
    Ok(())
}

/// A figure that differs from the budget.
#[derive(Debug, PartialEq)]
struct Change {
    /// Whether it differs by more than [`TOLERANCE`].
    drift: bool,
    text: String,
}

fn changes(budget: Vec<(FigureKey, u64)>, measured: &[(FigureKey, u64)]) -> Vec<Change> {
    let mut budget: BTreeMap<_, _> = budget.into_iter().collect();
    let mut changes = Vec::new();
    for (key, value) in measured {
        let (drift, text) = match budget.remove(key) {
            Some(was) if was == *value => continue,
            Some(was) => {
                let percent = (*value as f64 - was as f64) / was as f64 * 100.0;
                (percent.abs() > TOLERANCE, format!("was {was}, {percent:+.1} %"))
            }
            None => (true, "is not in the budget".into()),
        };
        changes.push(Change { drift, text: format!("{}: {value}, {text}", key.join(" ")) });
    }
    let removed = |(key, was): (FigureKey, u64)| Change {
        drift: true,
        text: format!("{}: was {was}, is no longer measured", key.join(" ")),
    };
    changes.extend(budget.into_iter().map(removed));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(payload: &str, value: u64) -> (FigureKey, u64) {
        (["atmega328p", payload, "encode", "cycles"].map(str::to_owned), value)
    }

    #[test]
    fn one_percent_is_tolerated_and_more_is_a_drift() {
        let budget = vec![figure("a", 1000), figure("b", 1000), figure("c", 1000), figure("d", 1000)];
        let measured = [figure("a", 1000), figure("b", 1010), figure("c", 989)];
        let changes = changes(budget, &measured);
        let found: Vec<_> = changes.iter().map(|change| (change.drift, change.text.as_str())).collect();
        assert_eq!(
            found,
            [
                (false, "atmega328p b encode cycles: 1010, was 1000, +1.0 %"),
                (true, "atmega328p c encode cycles: 989, was 1000, -1.1 %"),
                (true, "atmega328p d encode cycles: was 1000, is no longer measured"),
            ]
        );
    }

    #[test]
    fn a_figure_that_was_zero_or_missing_is_a_drift() {
        assert!(changes(vec![figure("a", 0)], &[figure("a", 1)])[0].drift);
        assert!(changes(Vec::new(), &[figure("a", 1)])[0].drift);
    }
}
