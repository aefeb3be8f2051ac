//! `dunnage generate sql`: the table of a schema in PostgreSQL.

use clap::{Args, ValueEnum};
use dunnage_codegen::sql::{Decimals, Period, Storage, Table, Timescale};
use dunnage_schema::Model;

/// The options of `sql`.
#[derive(Args, PartialEq, Eq)]
pub struct Sql {
    /// Name of the table, by default that of the schema in a gateway: the name of its file without .json (sql only)
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Type of numbers with decimal places: numeric is exact, double takes less space (sql only)
    #[arg(long, value_name = "TYPE")]
    decimals: Option<DecimalType>,
    /// Also a column with the whole message (sql only)
    #[arg(long)]
    json: bool,
    /// Divide the table by the time of receipt, into partitions of PostgreSQL for each month (the default) or day: this one and the next 12 (sql only)
    #[arg(long, value_name = "PERIOD", num_args = 0..=1, default_missing_value = "month", require_equals = true, conflicts_with = "timescale")]
    partitions: Option<PartitionPeriod>,
    /// Make the table a hypertable of TimescaleDB (sql only)
    #[arg(long)]
    timescale: bool,
    /// Time in each chunk of the hypertable
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..), requires = "timescale")]
    chunk_days: Option<u32>,
    /// Age at which chunks of the hypertable are compressed
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..), requires = "timescale")]
    compress_after_days: Option<u32>,
    /// Age at which chunks of the hypertable are dropped
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..), requires = "timescale")]
    drop_after_days: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecimalType {
    Numeric,
    Double,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartitionPeriod {
    Day,
    Month,
}

impl Sql {
    /// Whether any option is given.
    pub fn is_given(&self) -> bool {
        let none = Sql {
            table: None,
            decimals: None,
            json: false,
            partitions: None,
            timescale: false,
            chunk_days: None,
            compress_after_days: None,
            drop_after_days: None,
        };
        *self != none
    }

    /// Returns the script that makes the table of `model`, the schema in `text`. `name` is its name without `--table`.
    pub fn script(&self, model: &Model, text: &str, name: &str) -> String {
        self.table(model, text, name).script(model.name(), &self.storage())
    }

    /// Returns that table.
    pub fn table(&self, model: &Model, text: &str, name: &str) -> Table {
        let decimals = match self.decimals {
            Some(DecimalType::Double) => Decimals::Double,
            Some(DecimalType::Numeric) | None => Decimals::Numeric,
        };
        let name = self.table.as_deref().unwrap_or(name);
        Table::new(name, &[model], &dunnage_schema::units(text), decimals, self.json)
    }

    fn storage(&self) -> Storage {
        match self.partitions {
            Some(PartitionPeriod::Day) => Storage::Partitions(Period::Day),
            Some(PartitionPeriod::Month) => Storage::Partitions(Period::Month),
            None if self.timescale => Storage::Timescale(Timescale {
                chunk_days: self.chunk_days,
                compress_after_days: self.compress_after_days,
                drop_after_days: self.drop_after_days,
            }),
            None => Storage::Plain,
        }
    }
}
