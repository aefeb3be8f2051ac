//! The rows of `bench/results/mcu.jsonl`, one object per line.

use crate::{Failure, shape::Floats};
use serde::{Deserialize, Serialize, Serializer};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Always `mcu`.
    pub suite: String,
    /// Such as `atmega328p`, `cortex-m3`.
    pub target: String,
    /// Such as `Test10`; the name of a JSON file without `.json`.
    pub payload: String,
    /// Such as `pson`.
    pub format: String,
    /// `dunnage` for ours.
    pub library: String,
    /// The library's version.
    pub version: String,
    /// `encode`, `decode` (walks every value, or fills a document) or `bind` (fills a struct); for flash also `encode+decode`.
    pub operation: String,
    /// `cycles`, `instructions`, `stack`, `flash`, `ram`, `bytes`; `fits` is 0 when the payload does not fit, and `note` gives the reason.
    pub metric: String,
    /// The figure.
    #[serde(serialize_with = "short_number")]
    pub value: f64,
    /// The unit of the figure: `cycles`, `instructions`, `bytes`, ...
    pub unit: String,
    /// `measured` here, or `reference` when it is quoted.
    pub source: String,
    /// The compiler options, such as `-Os -flto`.
    pub options: String,
    /// How the numbers of the message that are not integers were stored.
    pub floats: Floats,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// 12 rather than 12.0.
fn short_number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

/// The folder of the results of all benchmarks.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../results"))
}

/// The file of the results of the libraries.
pub fn path() -> PathBuf {
    folder().join("mcu.jsonl")
}

/// All results so far; empty if nothing was measured yet.
pub fn load() -> Result<Vec<Row>, Failure> {
    let Ok(text) = fs::read_to_string(path()) else { return Ok(Vec::new()) };
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Replaces all rows of the same target, library, options, floats and source with `rows`. Returns all rows.
pub fn replace(rows: &[Row]) -> Result<Vec<Row>, Failure> {
    let same = |a: &Row, b: &Row| {
        (&a.target, &a.library, &a.options, a.floats, &a.source)
            == (&b.target, &b.library, &b.options, b.floats, &b.source)
    };
    let mut all = load()?;
    all.retain(|old| !rows.iter().any(|new| same(old, new)));
    all.extend_from_slice(rows);
    write(&path(), &all)?;
    Ok(all)
}

/// Writes `rows` as the file at `path`.
pub fn write(path: &Path, rows: &[Row]) -> Result<(), Failure> {
    fs::create_dir_all(folder())?;
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for row in rows {
        writeln!(file, "{}", serde_json::to_string(row)?)?;
    }
    Ok(file.flush()?)
}
