//! The budget: what the library costs, as golden text in `c/tests/budget.txt`. A change of the code shows as a change of this file.

use crate::{Failure, results::Row, toolchain};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// Of the figures that may drift, how far they may, in percent.
const TOLERANCE: f64 = 1.0;

/// The metrics that have a budget.
const METRICS: [&str; 5] = ["cycles", "instructions", "stack", "flash", "ram"];

const HEAD: &str = "\
# What the library costs on each target, built with the reference options. A drift of more than 1 % fails `make test`.
# Written by `cargo run --release -p dunnage-bench-mcu -- budget --accept`.
";

/// Target, payload, operation, metric.
type Place = [String; 4];

fn path() -> PathBuf {
    toolchain::root().join("c/tests/budget.txt")
}

fn places(rows: &[Row]) -> impl Iterator<Item = (Place, u64)> {
    rows.iter().filter(|row| METRICS.contains(&row.metric.as_str())).map(|row| {
        ([&row.target, &row.payload, &row.operation, &row.metric].map(Clone::clone), row.value as u64)
    })
}

fn read() -> Result<Vec<(Place, u64)>, Failure> {
    let path = path();
    let Ok(text) = fs::read_to_string(&path) else { return Ok(Vec::new()) };
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let [target, payload, operation, metric, value] = words[..] else {
                return Err(format!("{}: not five columns: {line}", path.display()).into());
            };
            Ok(([target, payload, operation, metric].map(str::to_owned), value.parse()?))
        })
        .collect()
}

/// Writes `rows` as the new budget of their targets; other targets keep theirs.
pub fn accept(rows: &[Row]) -> Result<(), Failure> {
    let mut budget = read()?;
    budget.retain(|(place, _)| !rows.iter().any(|row| row.target == place[0]));
    budget.extend(places(rows));

    let mut text = HEAD.to_owned();
    for ([target, payload, operation, metric], value) in &budget {
        text.push_str(&format!("{target:<14} {payload:<16} {operation:<14} {metric:<12} {value:>7}\n"));
    }
    fs::write(path(), text)?;
    println!("{} figures in c/tests/budget.txt", budget.len());
    Ok(())
}

/// Compares `rows` with the budget of their targets, prints what changed, and fails when something drifted too far.
pub fn check(rows: &[Row]) -> Result<(), Failure> {
    let measured: BTreeMap<_, _> = places(rows).collect();
    let mut budget: BTreeMap<_, _> = read()?.into_iter().collect();
    budget.retain(|place, _| rows.iter().any(|row| row.target == place[0]));

    let mut drifted = 0;
    for (place, value) in &measured {
        let [target, payload, operation, metric] = place;
        let (change, too_far) = match budget.remove(place) {
            None => ("is not in the budget".to_owned(), true),
            Some(was) if was == *value => continue,
            Some(was) => {
                let percent = (*value as f64 - was as f64) / was as f64 * 100.0;
                (format!("was {was}, {percent:+.1} %"), percent.abs() > TOLERANCE)
            }
        };
        let mark = if too_far { "DRIFT" } else { "     " };
        println!("{mark} {target} {payload} {operation} {metric}: {value}, {change}");
        drifted += usize::from(too_far);
    }
    for ([target, payload, operation, metric], was) in &budget {
        println!("DRIFT {target} {payload} {operation} {metric}: was {was}, is not measured any more");
        drifted += 1;
    }
    if drifted > 0 {
        return Err(format!(
            "{drifted} figures drifted by more than {TOLERANCE} %; if that is right: \
             cargo run --release -p dunnage-bench-mcu -- budget --accept"
        )
        .into());
    }
    println!("{} figures are within {TOLERANCE} % of c/tests/budget.txt", measured.len());
    Ok(())
}
