//! The status output of the running demo: one live line on a terminal, otherwise a line at intervals.

use super::{report::Reports, tally::Tally};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Time between two lines when standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

pub struct Status {
    /// Hidden when standard error is not a terminal.
    bar: ProgressBar,
    last: Instant,
}

impl Status {
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}") {
            bar.set_style(style);
        }
        Status { bar, last: Instant::now() }
    }

    pub fn show(&mut self, tally: &Tally, reports: &Reports) {
        if !self.bar.is_hidden() {
            self.bar.set_message(line(tally, reports));
            self.bar.tick();
        } else if self.last.elapsed() >= LINE_INTERVAL {
            self.last = Instant::now();
            anstream::eprintln!("{}", line(tally, reports));
        }
    }

    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// For example: `1200/1200 acknowledged, 38/50 at sea, http 100, coap 200, mqtt 200, satellite 700, cbor 300, json 379, packed 56 B`.
fn line(tally: &Tally, reports: &Reports) -> String {
    let Tally { sent, acknowledged, .. } = tally;
    let (at_sea, containers) = reports.at_sea();
    let mean = |(format, (messages, bytes)): (&&str, &(u64, u64))| format!("{format} {}", bytes / messages);
    let sizes: Vec<_> = tally.formats.iter().map(mean).collect();
    let trouble = tally.trouble.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let sizes = sizes.join(", ");
    let inputs: String =
        tally.inputs.iter().map(|(input, messages)| format!(" {input} {messages},")).collect();
    format!("{acknowledged}/{sent} acknowledged{trouble}, {at_sea}/{containers} at sea,{inputs} {sizes} B")
}
