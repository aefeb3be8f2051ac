//! `bench/results/load.jsonl`: one JSON object per line, with the results of the last run of every command.

use crate::Failure;
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};

/// The lines of a run.
pub struct Results {
    operation: &'static str,
    lines: Vec<Value>,
}

/// The subject of a figure.
pub struct About<'a> {
    /// The number of connections or devices, and of replicas.
    pub target: &'a str,
    pub format: &'a str,
    /// The server, such as `dunnage`, `probe` or `node`, or the paper's title for its figures.
    pub library: &'a str,
    pub source: &'static str,
}

impl Results {
    /// Empty results of `operation`. When they are saved, they replace its lines in the file.
    pub fn of(operation: &'static str) -> Results {
        Results { operation, lines: Vec::new() }
    }

    pub fn add(&mut self, about: &About<'_>, metric: &str, value: f64, unit: &str) {
        let version = (about.source == "measured").then_some(env!("CARGO_PKG_VERSION"));
        self.lines.push(json!({
            "suite": "load", "target": about.target, "payload": "container", "format": about.format,
            "library": about.library, "version": version, "operation": self.operation, "metric": metric,
            "value": value, "unit": unit, "source": about.source,
        }));
    }

    pub fn save(self) -> Result<(), Failure> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../results"));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("load.jsonl");
        let mut text = String::new();
        for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
            let others = |line: &Value| line["operation"] != self.operation;
            if serde_json::from_str(line).is_ok_and(|line| others(&line)) {
                text.push_str(line);
                text.push('\n');
            }
        }
        for line in self.lines {
            let _ = writeln!(text, "{line}");
        }
        Ok(std::fs::write(path, text)?)
    }
}
