//! The SQL that makes a table.

use super::{
    Column, NAME, RECEIVED_AT, Table,
    names::{LONGEST, hash, identifier, literal, quoted, shortened},
    types::SqlType,
};
use std::fmt::Write;

/// How a table stores its rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Storage {
    /// One table. Its key is the stable ID.
    #[default]
    Plain,
    /// PostgreSQL's own partitions, each with the messages that were received in one period. The key has the time of receipt, too.
    Partitions(Period),
    /// A hypertable of TimescaleDB. The key has the time of receipt, too.
    Timescale(Timescale),
}

/// The time that a partition has, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// A day.
    Day,
    /// A calendar month.
    Month,
}

/// The policies of a hypertable, in days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timescale {
    /// The time that a chunk has; TimescaleDB's default without it.
    pub chunk_days: Option<u32>,
    /// The age at which chunks are compressed; never without it.
    pub compress_after_days: Option<u32>,
    /// The age at which chunks are dropped; never without it.
    pub drop_after_days: Option<u32>,
}

impl Period {
    /// Returns its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }
}

impl Storage {
    /// Returns the columns of the key.
    pub fn key(&self) -> &'static [&'static str] {
        match self {
            Storage::Plain => &[NAME],
            Storage::Partitions(_) | Storage::Timescale(_) => &[NAME, RECEIVED_AT],
        }
    }
}

impl Table {
    /// Returns the statements that make the table. Each does nothing if it was run before.
    pub fn create(&self, storage: &Storage) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(schema) = &self.schema {
            all.push(format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema)));
        }
        let mut lines: Vec<_> = self.columns.iter().map(Column::definition).collect();
        lines.extend(self.columns.iter().filter_map(|column| column.check()).map(|check| check.definition));
        let key: Vec<_> = storage.key().iter().map(|name| quoted(name)).collect();
        lines.push(format!("PRIMARY KEY ({})", key.join(", ")));
        let divided = match storage {
            Storage::Partitions(_) => format!(" PARTITION BY RANGE ({})", quoted(RECEIVED_AT)),
            Storage::Plain | Storage::Timescale(_) => String::new(),
        };
        let table = self.qualified();
        all.push(format!("CREATE TABLE IF NOT EXISTS {table} (\n    {}\n){divided}", lines.join(",\n    ")));
        if let Storage::Timescale(timescale) = storage {
            all.extend(self.hypertable(timescale));
        }
        let index = |what: &str| quoted(&identifier(&format!("{}_{what}", self.name)));
        let time = quoted(RECEIVED_AT);
        all.push(format!(
            "CREATE INDEX IF NOT EXISTS {} ON {table} (\"_device\", {time})",
            index("device_time")
        ));
        if *storage == Storage::Plain {
            // Rows are nearly in this order, so an index of a few pages lets a query skip those of other times.
            all.push(format!("CREATE INDEX IF NOT EXISTS {} ON {table} USING brin ({time})", index("time")));
        }
        all.extend(self.columns.iter().filter_map(|column| self.comment(column)));
        all
    }

    /// Returns the statements that add `column`.
    pub fn add(&self, column: &Column) -> Vec<String> {
        let table = self.qualified();
        let check = column.check().map(|check| format!(", ADD {}", check.definition)).unwrap_or_default();
        let add = format!("ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {}{check}", column.definition());
        std::iter::once(add).chain(self.comment(column)).collect()
    }

    /// Returns the statement that makes the partition of the period `index`: days since 1970, or months since January of the year 0.
    pub fn partition(&self, period: Period, index: i64) -> String {
        let (from, to) = (period.start(index), period.start(index + 1));
        let name = identifier(&format!("{}_{}", self.name, from.replace('-', "")));
        let name = Table { name, ..self.clone() }.qualified();
        format!(
            "CREATE TABLE IF NOT EXISTS {name} PARTITION OF {} FOR VALUES FROM ('{from} 00:00:00+00') TO ('{to} 00:00:00+00')",
            self.qualified()
        )
    }

    /// Returns a script that makes the table, for `psql`. `title` says what the messages are.
    pub fn script(&self, title: &str, storage: &Storage) -> String {
        let mut text = format!("-- {title}: messages as rows of PostgreSQL.\n\n");
        for statement in self.create(storage) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{statement};");
        }
        if let Storage::Partitions(period) = storage {
            text.push_str(&self.next_partitions(*period));
        }
        text
    }

    fn hypertable(&self, timescale: &Timescale) -> Vec<String> {
        let (table, time) = (self.qualified(), quoted(RECEIVED_AT));
        let name = literal(&table);
        let chunk = timescale.chunk_days;
        let chunk = chunk.map(|days| format!(", chunk_time_interval => INTERVAL '{days} days'"));
        let mut all = vec![format!(
            "SELECT create_hypertable({name}, {}{}, if_not_exists => TRUE)",
            literal(RECEIVED_AT),
            chunk.unwrap_or_default()
        )];
        if let Some(days) = timescale.compress_after_days {
            all.push(format!(
                "ALTER TABLE {table} SET (timescaledb.compress, timescaledb.compress_segmentby = '\"_device\"', \
                 timescaledb.compress_orderby = '{time}')"
            ));
            all.push(format!(
                "SELECT add_compression_policy({name}, INTERVAL '{days} days', if_not_exists => TRUE)"
            ));
        }
        if let Some(days) = timescale.drop_after_days {
            all.push(format!(
                "SELECT add_retention_policy({name}, INTERVAL '{days} days', if_not_exists => TRUE)"
            ));
        }
        all
    }

    fn comment(&self, column: &Column) -> Option<String> {
        let comment = literal(column.comment.as_ref()?);
        Some(format!("COMMENT ON COLUMN {}.{} IS {comment}", self.qualified(), quoted(&column.name)))
    }

    /// Returns the statements that make the partitions of the current period and the next twelve.
    fn next_partitions(&self, period: Period) -> String {
        let (period, parts) = (period.name(), if period == Period::Day { "YYYYMMDD" } else { "YYYYMM01" });
        let in_format = |name: &str| name.replace('\'', "''").replace('%', "%%");
        let schema = self.schema.as_ref().map(|schema| format!("{}.", quoted(schema))).unwrap_or_default();
        format!(
            "\n-- The partitions of this {period} and the next 12. Run it again before they end, unless the output has create = true.\n\
             DO $$\n\
             DECLARE first timestamp := date_trunc('{period}', now() AT TIME ZONE 'UTC');\n\
             BEGIN\n    \
             FOR n IN 0..12 LOOP\n        \
             EXECUTE format('CREATE TABLE IF NOT EXISTS {schema}%I PARTITION OF {table} FOR VALUES FROM (%L) TO (%L)',\n            \
             {name} || to_char(first + n * INTERVAL '1 {period}', '{parts}'),\n            \
             (first + n * INTERVAL '1 {period}') AT TIME ZONE 'UTC', (first + (n + 1) * INTERVAL '1 {period}') AT TIME ZONE 'UTC');\n    \
             END LOOP;\n\
             END $$;\n",
            schema = in_format(&schema),
            table = in_format(&self.qualified()),
            name = literal(&format!("{}_", self.name)),
        )
    }
}

/// A condition on a column. Its name changes with the texts that it allows.
pub struct Check {
    /// How the names of all conditions of this column begin.
    prefix: String,
    /// Its name.
    pub name: String,
    /// `CONSTRAINT "NAME" CHECK (...)`
    pub definition: String,
}

impl Check {
    /// Returns whether `name` is that of a condition on the same column, with the same or other texts.
    pub fn is_of_column(&self, name: &str) -> bool {
        name.len() == self.name.len() && name.starts_with(&self.prefix)
    }
}

impl Column {
    /// Returns its name and type in SQL.
    pub fn definition(&self) -> String {
        let required = match &*self.name {
            NAME | RECEIVED_AT | "_device" => " NOT NULL",
            _ => "",
        };
        format!("{} {}{required}", quoted(&self.name), self.kind.name())
    }

    /// Returns the condition that it is one of the allowed texts, if these are known.
    pub fn check(&self) -> Option<Check> {
        if self.allowed.is_empty() || self.kind != SqlType::Text {
            return None;
        }
        let texts: Vec<_> = self.allowed.iter().map(|text| literal(text)).collect();
        let prefix = format!("{}_in_", shortened(&self.name, LONGEST - 12));
        let name = format!("{prefix}{}", hash(&self.allowed.join("\0")));
        let definition =
            format!("CONSTRAINT {} CHECK ({} IN ({}))", quoted(&name), quoted(&self.name), texts.join(", "));
        Some(Check { prefix, name, definition })
    }
}

impl Period {
    /// Returns the period of a time in microseconds since 1970: days since 1970, or months since January of the year 0.
    pub fn of(self, micros: i64) -> i64 {
        let day = micros.div_euclid(86_400_000_000);
        match self {
            Period::Day => day,
            Period::Month => {
                let (year, month, _) = date(day);
                year * 12 + month - 1
            }
        }
    }

    /// Returns the first day of a period.
    fn start(self, index: i64) -> String {
        let (year, month, day) = match self {
            Period::Day => date(index),
            Period::Month => (index.div_euclid(12), index.rem_euclid(12) + 1, 1),
        };
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Returns the year, month and day of a day since 1970, in the proleptic Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Years that begin in March have their leap day at the end, and 400 of them have always the same days.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_where_the_calendar_says() {
        // 2026-02-28T23:59:59.999999Z, and the microsecond after.
        let last = 1_772_323_199_999_999;
        for (period, first, second) in
            [(Period::Day, "2026-02-28", "2026-03-01"), (Period::Month, "2026-02-01", "2026-03-01")]
        {
            let index = period.of(last);
            assert_eq!(period.start(index), first);
            assert_eq!(period.of(last + 1), index + 1);
            assert_eq!(period.start(index + 1), second);
        }
        assert_eq!(Period::Day.start(Period::Day.of(0)), "1970-01-01");
        assert_eq!(Period::Month.start(Period::Month.of(-1)), "1969-12-01");
        assert_eq!(Period::Day.start(11_016), "2000-02-29");
    }
}
