//! A row of the table.

use crate::Failure;
use std::{fmt::Write, path::Path, time::Duration};

/// The number of messages and of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// A few seconds per row.
    Short,
    /// The scale of the published table.
    Long,
}

impl Scale {
    pub fn pick<T>(self, short: T, long: T) -> T {
        match self {
            Scale::Short => short,
            Scale::Long => long,
        }
    }
}

/// A fault and the function that causes it.
pub struct Scenario {
    /// The name of the test.
    pub name: &'static str,
    /// The title of the row.
    pub title: &'static str,
    pub measure: fn(Scale) -> Result<Row, Failure>,
}

impl Scenario {
    /// Causes the fault and counts the messages.
    pub fn measure(&self, scale: Scale) -> Result<Row, Failure> {
        Ok(Row { title: self.title, ..(self.measure)(scale)? })
    }
}

/// The results of a scenario.
#[derive(Default)]
pub struct Row {
    pub title: &'static str,
    /// A summary for people.
    pub details: String,
    /// Messages that were acknowledged to devices.
    pub acknowledged: u64,
    /// Messages in the buffer.
    pub stored: u64,
    /// Messages in the CSE.
    pub delivered: u64,
    /// Messages that the CSE has a second time.
    pub duplicates: u64,
    /// Messages that were stored in a destroyed page, and are therefore lost.
    pub destroyed: u64,
    /// Messages that the CSE was creating when it was killed.
    pub unfinished: u64,
    /// Messages in quarantine.
    pub quarantined: u64,
    pub duration: Duration,
    /// Other problems.
    pub problems: Vec<String>,
}

impl Row {
    /// Returns all problems of the row: empty if the counts are n, n, n and 0, and the order is kept.
    pub fn problems(&self) -> Vec<String> {
        let Row { acknowledged, stored, delivered, duplicates, destroyed, .. } = self;
        let mut problems = self.problems.clone();
        let left = acknowledged.saturating_sub(*destroyed);
        if left == 0 || *stored != left || *delivered != left || *duplicates != 0 {
            problems.push(format!(
                "{}: {acknowledged} acknowledged, {stored} stored, {delivered} delivered, {duplicates} duplicates",
                self.title
            ));
        }
        problems
    }
}

/// Renders the table as Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| fault | acknowledged | stored | delivered | duplicates | in order | seconds | details |\n\
         |---|--:|--:|--:|--:|:-:|--:|---|\n",
    );
    for row in rows {
        let Row { title, details, acknowledged, stored, delivered, duplicates, .. } = row;
        let order = if row.problems().is_empty() { "yes" } else { "**no**" };
        let seconds = row.duration.as_secs_f64();
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "| {title} | {acknowledged} | {stored} | {delivered} | {duplicates} | {order} | {seconds:.0} | {details} |"
        );
    }
    text
}

/// Writes a table into `docs/faults.md`, between the marks with its name.
pub fn write(name: &str, table: &str) -> Result<(), Failure> {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = std::fs::read_to_string(&path)?;
    let missing = || format!("{}: there is no place for the {name}", path.display());
    let (before, rest) = text.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(std::fs::write(&path, format!("{before}{begin}{table}{end}{after}"))?)
}
