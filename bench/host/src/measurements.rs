//! Measurements of times: those that criterion stored, and those that the program `codecs` prints.

use std::{collections::HashMap, env, error::Error, fs, path::PathBuf};

pub struct Measurements {
    folder: PathBuf,
}

impl Measurements {
    /// Finds criterion's folder as criterion does: `CRITERION_HOME`, otherwise `criterion` in `CARGO_TARGET_DIR` or in `target`. Fails if the
    /// folder does not exist.
    pub fn find() -> Result<Self, Box<dyn Error>> {
        let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../target").into());
        let folder = env::var_os("CRITERION_HOME").map_or_else(|| target.join("criterion"), PathBuf::from);
        if !folder.is_dir() {
            return Err("no measurements; run `cargo bench -p dunnage-bench-host`".into());
        }
        Ok(Measurements { folder })
    }

    /// The time of one operation. On a machine with other load, the median would mainly reflect that load, so the fastest sample counts.
    pub fn time(&self, operation: &str, payload: &str, library: &str) -> Result<Time, Box<dyn Error>> {
        let path = self.folder.join(format!("{operation}_{payload}/{library}/new/sample.json"));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let samples: Samples = serde_json::from_str(&text)?;
        let times = samples.times.iter().zip(&samples.iters).map(|(time, iterations)| time / iterations);
        Ok(Time {
            fastest_ns: times.clone().fold(f64::INFINITY, f64::min),
            slowest_ns: times.fold(0.0, f64::max),
            samples: samples.times.len(),
        })
    }
}

/// The times of the codecs and of other libraries, by operation, payload and library.
#[derive(Default)]
pub struct Times(HashMap<(String, String, String), Time>);

/// A line of the program `codecs`.
#[derive(serde::Deserialize)]
struct Line {
    operation: String,
    payload: String,
    library: String,
    #[serde(flatten)]
    time: Time,
}

impl Times {
    /// Adds the output of one run of the program.
    pub fn add(&mut self, printed: &str) -> Result<(), Box<dyn Error>> {
        for line in printed.lines() {
            let Line { operation, payload, library, time } = serde_json::from_str(line)?;
            let known = self.0.entry((operation, payload, library)).or_insert(Time { samples: 0, ..time });
            known.fastest_ns = known.fastest_ns.min(time.fastest_ns);
            known.slowest_ns = known.slowest_ns.max(time.slowest_ns);
            known.samples += time.samples;
        }
        Ok(())
    }

    /// The time of one operation.
    pub fn time(&self, operation: &str, payload: &str, library: &str) -> Result<Time, Box<dyn Error>> {
        let key = (operation.to_owned(), payload.to_owned(), library.to_owned());
        self.0.get(&key).copied().ok_or_else(|| format!("no time of {key:?}").into())
    }
}

/// The time of one operation.
#[derive(Clone, Copy, serde::Deserialize)]
pub struct Time {
    pub fastest_ns: f64,
    pub slowest_ns: f64,
    pub samples: usize,
}

/// The samples of `sample.json`: each of `times` is the duration, in nanoseconds, of the number of iterations in `iters`.
#[derive(serde::Deserialize)]
struct Samples {
    iters: Vec<f64>,
    times: Vec<f64>,
}
