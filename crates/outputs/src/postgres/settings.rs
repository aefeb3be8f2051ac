//! The settings in `[output.postgres]`.

use dunnage_codegen::sql::{self, Storage};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Rows in PostgreSQL or TimescaleDB: a table for each schema, with typed columns.
# [[output]]
# name = \"database\"
# [output.postgres]
# url = \"postgresql://dunnage@127.0.0.1/telemetry\"
# create = true
# table = \"{schema}\"
# json = false
# decimals = \"numeric\"
# Also password_file, password_variable, ca_file, schema, partitions, and a table timescale: docs/outputs.md.
";

/// The place of the schema's name in the name of a table.
pub(super) const SCHEMA: &str = "{schema}";

/// The settings in `[output.postgres]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `postgresql://USER@HOST:PORT/DATABASE`, with options of libpq after `?`.
    pub url: String,
    /// A file with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// An environment variable with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_variable: Option<String>,
    /// Certificates to trust, as PEM; by default the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// Whether to make missing tables, columns and partitions.
    #[serde(default)]
    pub create: bool,
    /// The schema of the database; by default the first one of the connection's `search_path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name of a table; `{schema}` is the name of the messages' schema.
    #[serde(default = "table")]
    pub table: String,
    /// Whether each row also has the whole message.
    #[serde(default)]
    pub json: bool,
    /// The type of numbers with decimal places.
    #[serde(default)]
    pub decimals: Decimals,
    /// The period of each partition, for tables that are divided by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions: Option<Period>,
    /// The settings of hypertables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timescale: Option<Timescale>,
}

fn table() -> String {
    SCHEMA.to_owned()
}

/// The type of numbers with decimal places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimals {
    /// Exact.
    #[default]
    Numeric,
    /// `double precision`.
    Double,
}

/// The time that a partition has, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// A day.
    Day,
    /// A calendar month.
    Month,
}

/// The settings in `[output.postgres.timescale]`, in days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timescale {
    /// The time that a chunk has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_days: Option<u32>,
    /// The age at which chunks are compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress_after_days: Option<u32>,
    /// The age at which chunks are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_after_days: Option<u32>,
}

impl Settings {
    /// Returns how tables store their rows. An error begins with the setting that cannot work.
    pub(super) fn storage(&self) -> Result<Storage, String> {
        if !self.table.contains(SCHEMA) {
            return Err(format!("table: must contain {SCHEMA}, because each schema has a table of its own"));
        }
        if self.schema.as_ref().is_some_and(String::is_empty) {
            return Err("schema: must not be empty".into());
        }
        let storage = match (self.partitions, self.timescale) {
            (Some(_), Some(_)) => return Err("partitions, timescale: only one may be set".into()),
            (Some(Period::Day), None) => Storage::Partitions(sql::Period::Day),
            (Some(Period::Month), None) => Storage::Partitions(sql::Period::Month),
            (None, Some(timescale)) => Storage::Timescale(timescale.checked()?),
            (None, None) => Storage::Plain,
        };
        Ok(storage)
    }

    pub(super) fn decimals(&self) -> sql::Decimals {
        match self.decimals {
            Decimals::Numeric => sql::Decimals::Numeric,
            Decimals::Double => sql::Decimals::Double,
        }
    }
}

impl Timescale {
    fn checked(self) -> Result<sql::Timescale, String> {
        let Timescale { chunk_days, compress_after_days, drop_after_days } = self;
        let all = [
            ("chunk_days", chunk_days),
            ("compress_after_days", compress_after_days),
            ("drop_after_days", drop_after_days),
        ];
        match all.into_iter().find(|(_, days)| *days == Some(0)) {
            Some((key, _)) => Err(format!("timescale.{key}: must be at least 1")),
            None => Ok(sql::Timescale { chunk_days, compress_after_days, drop_after_days }),
        }
    }
}
