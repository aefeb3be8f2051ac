//! A figure and its goal.

use dunnage_bench_record::Record;

/// The goal of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Wanted {
    AtMost(f64),
    AtLeast(f64),
    /// No goal: reported for comparison.
    Nothing,
}

/// A figure.
#[derive(Debug, Clone)]
pub struct Goal {
    /// The messages.
    pub payload: String,
    /// How they were sent.
    pub sent: String,
    pub metric: &'static str,
    pub value: f64,
    pub unit: &'static str,
    pub wanted: Wanted,
    /// The number of messages or trials of the figure.
    pub repetitions: u64,
}

impl Goal {
    fn verdict(&self) -> &'static str {
        match self.wanted {
            Wanted::AtMost(most) if self.value <= most => "hit",
            Wanted::AtLeast(least) if self.value >= least => "hit",
            Wanted::Nothing => "",
            _ => "MISS",
        }
    }

    fn wanted(&self) -> String {
        match self.wanted {
            Wanted::AtMost(most) => format!("<= {most}"),
            Wanted::AtLeast(least) => format!(">= {least}"),
            Wanted::Nothing => String::new(),
        }
    }

    /// Returns the figure as a record.
    pub fn record(&self) -> Record {
        // The unit of a count or a ratio is 1.
        let metric = (self.metric, self.value, if self.unit.is_empty() { "1" } else { self.unit });
        let subject = [self.payload.as_str(), "packed", "dunnage"];
        let mut record = Record::measured("link", "host", subject, &self.sent, metric);
        record.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        record.repetitions = Some(self.repetitions);
        record.options = Some(match self.wanted() {
            wanted if wanted.is_empty() => "none".to_owned(),
            wanted => format!("{wanted}: {}", self.verdict()),
        });
        record
    }
}

/// Prints the table.
pub fn print(goals: &[Goal]) {
    let head = ["messages", "sent", "metric", "value", "goal", "", "of"].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(head)
        .chain(goals.iter().map(|goal| {
            [
                goal.payload.clone(),
                goal.sent.clone(),
                goal.metric.to_owned(),
                format!("{} {}", rounded(goal.value), goal.unit),
                goal.wanted(),
                goal.verdict().to_owned(),
                goal.repetitions.to_string(),
            ]
        }))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}

fn rounded(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.3}") }
}
