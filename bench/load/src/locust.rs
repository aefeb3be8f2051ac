//! Locust's measurements, and their tables.

use crate::{
    paper::{self, Paper},
    report::Report,
    server::Server,
};
use serde::Deserialize;

/// The measurement of one number of devices and one format.
#[derive(Debug, Clone, Deserialize)]
pub struct Measurement {
    pub devices: usize,
    pub format: String,
    /// Successful requests per second.
    pub rps: f64,
    pub requests: u64,
    pub failures: u64,
    pub mean_ms: f64,
    pub p95_ms: f64,
    /// The first few distinct errors.
    pub errors: Vec<String>,
}

impl Measurement {
    /// The share of requests that failed, in percent.
    pub fn failed_percent(&self) -> f64 {
        100.0 * self.failures as f64 / (self.requests as f64).max(1.0)
    }

    /// The Figure of Merit of section 4.5.3: requests per second times the share of successes, divided by the 95th percentile in seconds.
    /// The reference latency, squared, is 1 s².
    pub fn merit(&self) -> f64 {
        let succeeded = 1.0 - self.failed_percent() / 100.0;
        self.rps * succeeded / (self.p95_ms.max(1.0) / 1000.0)
    }
}

/// The measurements of all tables, each with its server and number of replicas, and the paper's.
pub struct Tables {
    measured: Vec<(Server, usize, Measurement)>,
    paper: Paper,
}

impl Tables {
    /// Empty tables beside the paper's figures.
    pub fn beside(paper: Paper) -> Tables {
        Tables { measured: Vec::new(), paper }
    }

    pub fn extend(&mut self, server: Server, replicas: usize, measurements: Vec<Measurement>) {
        self.measured.extend(measurements.into_iter().map(|measurement| (server, replicas, measurement)));
    }

    pub fn all(&self) -> impl Iterator<Item = (Server, usize, &Measurement)> {
        self.measured.iter().map(|(server, replicas, measurement)| (*server, *replicas, measurement))
    }

    fn find(&self, server: Server, replicas: usize, devices: usize, format: &str) -> Option<&Measurement> {
        let found = self.measured.iter().find(|(s, r, measurement)| {
            (*s, *r, measurement.devices) == (server, replicas, devices) && measurement.format == format
        });
        found.map(|(_, _, measurement)| measurement)
    }

    /// Prints tables 3 to 5 where they have measurements, then table 6 and the errors.
    pub fn print(&self, report: &mut Report) {
        report.line(&format!(
            "The paper's columns are those of {} tables 3 to 6: another machine, and a network between.\n",
            paper::TITLE
        ));
        for (title, replicas) in [
            ("Table 3: a single replica", &[1][..]),
            ("Table 4: two replicas", &[2]),
            ("Table 5: 2000 devices, one and four replicas", &[1, 4]),
        ] {
            let devices = (title.starts_with("Table 5")).then_some(2000);
            self.table(title, replicas, devices, report);
        }
        self.merits(report);
        for (server, replicas, measurement) in
            self.all().filter(|(_, _, measurement)| measurement.failures > 0)
        {
            let Measurement { devices, format, errors, .. } = measurement;
            report.line(&format!(
                "{}, {replicas} replicas, {devices} devices, {format}: {errors:?}",
                server.name()
            ));
        }
    }

    fn table(&self, title: &str, replicas: &[usize], devices: Option<usize>, report: &mut Report) {
        let rows = self.rows(replicas, devices);
        if rows.is_empty() {
            return;
        }
        report.line(&format!("**{title}**: requests/s, mean and 95th percentile in ms, failures in %\n"));
        report.line("| format | devices | replicas | paper | mean | p95 | fail | Node | mean | p95 | fail | gateway | mean | p95 | fail |");
        report.line("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
        for (format, replicas, devices) in rows {
            let quoted = |metric| self.paper.fleet(format, devices, replicas, metric);
            let quoted: Option<Vec<String>> = ["rps", "mean_ms", "p95_ms", "failures_percent"]
                .map(|metric| quoted(metric).map(|value| value.to_string()))
                .into_iter()
                .collect();
            let paper = quoted.map_or_else(|| " | | |".into(), |figures| figures.join(" | "));
            let ours = |server| match self.find(server, replicas, devices, format) {
                Some(c) => {
                    format!("{:.0} | {:.0} | {:.0} | {:.1}", c.rps, c.mean_ms, c.p95_ms, c.failed_percent())
                }
                None => " | | |".into(),
            };
            let (node, gateway) = (ours(Server::Node), ours(Server::Dunnage));
            report.line(&format!("| {format} | {devices} | {replicas} | {paper} | {node} | {gateway} |"));
        }
        report.line("");
    }

    fn merits(&self, report: &mut Report) {
        report.line("**Table 6**: Figure of Merit, requests/s x success / p95 (s)\n");
        report.line("| format | devices | replicas | paper | Node | gateway |\n|---|--:|--:|--:|--:|--:|");
        for (format, replicas, devices) in self.rows(&[1, 2, 4], None) {
            let Some(paper) = self.paper.fleet(format, devices, replicas, "merit") else { continue };
            let ours = |server| {
                let measurement = self.find(server, replicas, devices, format);
                measurement.map(|measurement| format!("{:.0}", measurement.merit())).unwrap_or_default()
            };
            let (node, gateway) = (ours(Server::Node), ours(Server::Dunnage));
            report.line(&format!("| {format} | {devices} | {replicas} | {paper} | {node} | {gateway} |"));
        }
    }

    /// The measured formats, replicas and devices, in the paper's order. `devices` selects one number of devices, and the formats that the
    /// paper measured with four replicas.
    fn rows(&self, replicas: &[usize], devices: Option<usize>) -> Vec<(&str, usize, usize)> {
        let mut rows: Vec<(&str, usize, usize)> = Vec::new();
        for (_, r, measurement) in self.all() {
            let row = (measurement.format.as_str(), r, measurement.devices);
            let in_paper = || self.paper.fleet(row.0, row.2, 4, "rps").is_some();
            if replicas.contains(&r)
                && devices.is_none_or(|n| n == measurement.devices && in_paper())
                && !rows.contains(&row)
            {
                rows.push(row);
            }
        }
        let order = |name: &str| paper::FORMATS.iter().position(|format| *format == name);
        rows.sort_by_key(|row| (order(row.0).unwrap_or(usize::MAX), *row));
        rows
    }
}
