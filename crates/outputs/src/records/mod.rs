//! Messages as records of files: lines of NDJSON, records of CSV, and tables of Parquet. The output to files and the one to object stores
//! write them.

pub mod columns;
pub mod csv;
pub mod declared;
pub mod ndjson;
pub mod parquet;
pub mod row;

use serde::{Deserialize, Serialize};

/// The format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// One JSON object per line.
    Ndjson,
    /// Comma-separated values (RFC 4180): a file for each schema, with a column for each part of the message.
    Csv,
    /// Apache Parquet: files for each schema, with a column for each part of the message.
    Parquet,
}

impl FileFormat {
    /// Returns the end of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            FileFormat::Ndjson => "ndjson",
            FileFormat::Csv => "csv",
            FileFormat::Parquet => "parquet",
        }
    }
}
