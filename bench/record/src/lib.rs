//! The records that every benchmark writes: one JSON object per line of `bench/results/<suite>.jsonl`.
//!
//! `bench/record.schema.json` specifies the format for programs in all languages. `bench/report` reads it.

mod environment;

pub use environment::environment;

use serde::{Deserialize, Serialize, Serializer};
use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// The version of the format.
pub const VERSION: u32 = 1;

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always [`VERSION`].
    pub record: u32,
    /// The name of the file without `.jsonl`.
    pub suite: String,
    /// The platform or load: `host`, `atmega328p`, a number of connections, the ID of a link.
    pub target: String,
    /// The message, such as `Test10`.
    pub payload: String,
    /// The format's ID, such as `pson`.
    pub format: String,
    /// The library that encoded or decoded; `dunnage` for ours.
    pub library: String,
    /// The library's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `encode`, `decode`, `bind`, `ingest`, ...
    pub operation: String,
    /// `bytes`, `ns`, `cycles`, `rps`, ...
    pub metric: String,
    /// The figure.
    #[serde(serialize_with = "short_number")]
    pub value: f64,
    /// The unit of the figure and its spread; `1` for a count or a ratio.
    pub unit: String,
    /// The number of measurements of the figure; 1 if it is deterministic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u64>,
    /// The interval around the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// The processor or simulator, the number of cores, and the version of the compiler or runtime. Every measured record has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Compiler options, or settings of the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
    /// `exact` if fractions were kept as binary64, `single` if they were stored as binary32, where that is a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floats: Option<String>,
    /// Whether the figure was measured or quoted.
    pub source: Source,
    /// Where a quoted figure comes from. Every quoted record has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// A remark for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The interval around a figure, in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The lower end.
    #[serde(serialize_with = "short_number")]
    pub low: f64,
    /// The upper end.
    #[serde(serialize_with = "short_number")]
    pub high: f64,
    /// The meaning of the ends, such as `range` or `95 % confidence interval`.
    pub of: String,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A program of this project measured it.
    Measured,
    /// It is quoted from a publication.
    Quoted,
}

/// Writes 12 rather than 12.0.
fn short_number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

impl Record {
    /// A measured figure of this machine without repetitions. `subject` is the payload, the format and the library.
    pub fn measured(
        suite: &str,
        target: &str,
        [payload, format, library]: [&str; 3],
        operation: &str,
        (metric, value, unit): (&str, f64, &str),
    ) -> Record {
        Record {
            record: VERSION,
            suite: suite.into(),
            target: target.into(),
            payload: payload.into(),
            format: format.into(),
            library: library.into(),
            version: None,
            operation: operation.into(),
            metric: metric.into(),
            value,
            unit: unit.into(),
            repetitions: None,
            spread: None,
            environment: Some(environment().to_owned()),
            options: None,
            floats: None,
            source: Source::Measured,
            reference: None,
            note: None,
        }
    }

    /// Sets the library's version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Record {
        self.version = Some(version.into());
        self
    }

    /// Returns an error that names the field if a field has a value that the format does not allow.
    fn check(&self) -> Result<(), String> {
        if self.record != VERSION {
            return Err(format!("record: version {}; this program reads version {VERSION}", self.record));
        }
        let (field, missing) = match self.source {
            Source::Quoted => ("reference", self.reference.is_none()),
            Source::Measured => ("environment", self.environment.is_none()),
        };
        if missing {
            return Err(format!("{field}: missing in a record with this source"));
        }
        if !self.value.is_finite() {
            return Err("value: not a finite number".into());
        }
        Ok(())
    }
}

/// A file of records that cannot be read or written.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    /// The number of the line, from 1.
    line: Option<usize>,
    reason: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for Error {}

/// The folder of the measured records.
pub fn results() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../results"))
}

/// The folder of the records that are quoted from the papers.
pub fn papers() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../papers"))
}

/// Reads the records of a file; none if the file does not exist. Fails at the first line that is not a record of [`VERSION`].
pub fn read(path: &Path) -> Result<Vec<Record>, Error> {
    let failed = |line, reason: String| Error { path: path.to_owned(), line, reason };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(None, e.to_string())),
    };
    let mut records = Vec::new();
    for (at, line) in text.lines().enumerate() {
        records.push(parse(line).map_err(|reason| failed(Some(at + 1), reason))?);
    }
    Ok(records)
}

fn parse(line: &str) -> Result<Record, String> {
    // The version is read first, because the fields of another version differ.
    #[derive(Deserialize)]
    struct Version {
        record: u32,
    }
    let version: Version = serde_json::from_str(line).map_err(|e| e.to_string())?;
    if version.record != VERSION {
        return Err(format!("record: version {}; this program reads version {VERSION}", version.record));
    }
    let record: Record = serde_json::from_str(line).map_err(|e| e.to_string())?;
    record.check()?;
    Ok(record)
}

/// Writes `records` as the whole content of the file. Readers see the old or the new content, never a part.
pub fn write(path: &Path, records: &[Record]) -> Result<(), Error> {
    let failed = |reason: String| Error { path: path.to_owned(), line: None, reason };
    let mut text = String::new();
    for record in records {
        record.check().map_err(failed)?;
        text.push_str(&serde_json::to_string(record).map_err(|e| failed(e.to_string()))?);
        text.push('\n');
    }
    let unfinished = path.with_extension("unfinished");
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&unfinished, text))
        .and_then(|()| fs::rename(&unfinished, path))
        .map_err(|e| failed(e.to_string()))
}

/// Replaces the records of the file for which `replaced` returns true with `records`. Returns all records of the file.
pub fn update(
    path: &Path,
    replaced: impl Fn(&Record) -> bool,
    records: Vec<Record>,
) -> Result<Vec<Record>, Error> {
    let mut all = read(path)?;
    all.retain(|record| !replaced(record));
    all.extend(records);
    write(path, &all)?;
    Ok(all)
}

#[cfg(test)]
mod tests;
