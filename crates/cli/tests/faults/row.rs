//! A row of the table.

use crate::Failure;
use std::{fmt::Write, path::Path, time::Duration};

/// How many messages, and how often things die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// A few seconds a row.
    Short,
    /// What the document quotes.
    Long,
}

impl Scale {
    pub fn of<T>(self, short: T, long: T) -> T {
        match self {
            Scale::Short => short,
            Scale::Long => long,
        }
    }
}

/// Something that goes wrong, and how it is made to.
pub struct Scenario {
    /// What the test is called.
    pub name: &'static str,
    /// What the row is called.
    pub title: &'static str,
    pub measure: fn(Scale) -> Result<Row, Failure>,
}

impl Scenario {
    /// Makes it go wrong, and counts.
    pub fn measure(&self, scale: Scale) -> Result<Row, Failure> {
        Ok(Row { title: self.title, ..(self.measure)(scale)? })
    }
}

/// What became of the messages.
#[derive(Default)]
pub struct Row {
    pub title: &'static str,
    /// What happened, for people.
    pub happened: String,
    /// Messages that devices were told are safe.
    pub acknowledged: u64,
    /// Messages in the buffer.
    pub stored: u64,
    /// Messages at the other end.
    pub delivered: u64,
    /// Messages that the other end has once more.
    pub duplicates: u64,
    /// Messages that stood in a destroyed page, which is where they end.
    pub destroyed: u64,
    /// Messages at the other end that was killed in the midst of taking them, and left them unfinished.
    pub unfinished: u64,
    /// Messages in quarantine.
    pub quarantined: u64,
    pub took: Duration,
    /// What else is wrong.
    pub problems: Vec<String>,
}

impl Row {
    /// What is wrong; nothing in a row n, n, n, 0 in order.
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

/// The table.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from(
        "| what goes wrong | acknowledged | stored | delivered | duplicates | in order | seconds | what happened |\n\
         |---|--:|--:|--:|--:|:-:|--:|---|\n",
    );
    for row in rows {
        let Row { title, happened, acknowledged, stored, delivered, duplicates, .. } = row;
        let order = if row.problems().is_empty() { "yes" } else { "**no**" };
        let seconds = row.took.as_secs_f64();
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "| {title} | {acknowledged} | {stored} | {delivered} | {duplicates} | {order} | {seconds:.0} | {happened} |"
        );
    }
    text
}

/// Puts the table into the document.
pub fn write(rows: &[Row]) -> Result<(), Failure> {
    const MARKS: [&str; 2] = ["<!-- begin fault table -->\n", "<!-- end fault table -->"];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
    let text = std::fs::read_to_string(&path)?;
    let (before, rest) = text.split_once(MARKS[0]).ok_or("the document has no place for the table")?;
    let (_, after) = rest.split_once(MARKS[1]).ok_or("the document has no place for the table")?;
    Ok(std::fs::write(&path, format!("{before}{}{}{}{after}", MARKS[0], markdown(rows), MARKS[1]))?)
}
