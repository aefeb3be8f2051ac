//! The tables of the database: what they lack, and making it.

use super::{fault, place::Place, settings::Settings};
use crate::{Class, Failed};
use dunnage_codegen::sql::{Column, Period, Source, SqlType, Storage, Table, quoted};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Mutex, PoisonError},
};
use tokio_postgres::{Client, Error};

/// The name, the type, and whether it needs a value and has no default, of each column. The type of a domain is that below it.
const COLUMNS: &str = "SELECT a.attname::text, \
    format_type(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END, CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END), \
    a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' \
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped";
/// The columns of each key that every row has once.
const KEYS: &str = "SELECT ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (n, at) \
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n WHERE k.at <= i.indnkeyatts) \
    FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indimmediate \
    AND i.indpred IS NULL AND i.indexprs IS NULL";
/// The names of the conditions.
const CHECKS: &str =
    "SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'c'";
/// Several gateways may make the same tables.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtext('dunnage'))";

/// A table that has what is needed.
pub struct Ready {
    pub table: Table,
    /// The types of the columns as the database has them: the same as those of `table`, or wider.
    pub kinds: Vec<SqlType>,
    pub places: Place,
    /// Whether fields have columns.
    pub is_typed: bool,
    /// The columns of the key, with quotes and commas.
    pub key: String,
    /// All columns, with quotes and commas.
    pub columns: String,
    /// The periods whose partitions exist.
    partitions: Mutex<BTreeSet<i64>>,
}

/// What the database has.
struct Found {
    columns: HashMap<String, (String, bool)>,
    keys: Vec<HashSet<String>>,
    checks: HashSet<String>,
}

/// What a table lacks.
#[derive(Default)]
struct Lacks {
    reasons: Vec<String>,
    /// Makes what can be made without a loss.
    statements: Vec<String>,
    /// Whether more is lacking than they make.
    more: bool,
}

impl Ready {
    /// Looks whether the database has `table`, and makes it or what it lacks if the settings allow that.
    pub async fn find(
        client: &mut Client,
        table: Table,
        storage: &Storage,
        settings: &Settings,
    ) -> Result<Ready, Failed> {
        let failed = |e: &Error| fault::connection(e, &table.qualified());
        let mut found = Found::of(client, &table).await.map_err(|e| failed(&e))?;
        let mut lacks = found.lacks(&table, storage);
        if settings.create && !lacks.statements.is_empty() && !lacks.more {
            make(client, &lacks.statements).await.map_err(|e| failed(&e))?;
            tracing::info!(
                table = table.name,
                statements = lacks.statements.len(),
                "the table was made or changed"
            );
            found = Found::of(client, &table).await.map_err(|e| failed(&e))?;
            lacks = found.lacks(&table, storage);
        }
        if !lacks.reasons.is_empty() {
            return Err(lacks.failure(&table));
        }
        found.ready(table).map_err(Failed::retry)
    }

    /// Makes the partitions for rows that were received at these times.
    pub async fn divide(
        &self,
        client: &mut Client,
        period: Period,
        received_at: impl Iterator<Item = i64>,
    ) -> Result<(), Failed> {
        let new: BTreeSet<_> = {
            let known = self.partitions.lock().unwrap_or_else(PoisonError::into_inner);
            received_at.map(|micros| period.of(micros)).filter(|index| !known.contains(index)).collect()
        };
        if new.is_empty() {
            return Ok(());
        }
        let statements: Vec<_> = new.iter().map(|index| self.table.partition(period, *index)).collect();
        make(client, &statements).await.map_err(|e| fault::connection(&e, &self.table.qualified()))?;
        self.partitions.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        Ok(())
    }
}

async fn make(client: &mut Client, statements: &[String]) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(LOCK).await?;
    transaction.batch_execute(&statements.join(";\n")).await?;
    transaction.commit().await
}

impl Found {
    async fn of(client: &Client, table: &Table) -> Result<Found, Error> {
        let name = table.qualified();
        let columns = client.query(COLUMNS, &[&name]).await?;
        let keys = client.query(KEYS, &[&name]).await?;
        let checks = client.query(CHECKS, &[&name]).await?;
        Ok(Found {
            columns: columns.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect(),
            keys: keys.iter().map(|row| row.get::<_, Vec<String>>(0).into_iter().collect()).collect(),
            checks: checks.iter().map(|row| row.get(0)).collect(),
        })
    }

    /// Returns the key that identifies a message, if the table has one.
    fn key(&self) -> Option<&'static [&'static str]> {
        let divided = Storage::Partitions(Period::Day);
        let keys = [Storage::Plain.key(), divided.key()];
        keys.into_iter().find(|key| {
            self.keys
                .iter()
                .any(|known| known.len() == key.len() && key.iter().all(|name| known.contains(*name)))
        })
    }

    fn lacks(&self, table: &Table, storage: &Storage) -> Lacks {
        let name = table.qualified();
        if self.columns.is_empty() {
            let statements = table.create(storage);
            return Lacks { reasons: vec!["does not exist".into()], statements, more: false };
        }
        let mut lacks = Lacks::default();
        for column in &table.columns {
            match self.columns.get(&column.name) {
                None => {
                    lacks.reasons.push(format!("has no column {:?}", column.name));
                    lacks.statements.extend(table.add(column));
                }
                Some((known, _)) if effective(&column.kind, known).is_none() => lacks.needs(
                    format!(
                        "has the column {:?} as {known}, which cannot hold {}",
                        column.name,
                        column.kind.name()
                    ),
                    retype(&name, column),
                ),
                Some(_) => self.compare_check(&name, column, &mut lacks),
            }
        }
        if self.key().is_none() {
            let key: Vec<_> = storage.key().iter().map(|name| quoted(name)).collect();
            lacks.needs(
                "has no unique key of _name, or of _name and _received_at".into(),
                format!("ALTER TABLE {name} ADD PRIMARY KEY ({})", key.join(", ")),
            );
        }
        for (column, (_, required)) in &self.columns {
            if *required && !table.columns.iter().any(|ours| ours.name == *column) {
                lacks.needs(
                    format!("has a column {column:?} that must have a value, and that no message has"),
                    format!("ALTER TABLE {name} ALTER COLUMN {} DROP NOT NULL", quoted(column)),
                );
            }
        }
        lacks
    }

    /// Replaces a condition that allows other texts than the schema now does. A condition that someone has removed is not missed.
    fn compare_check(&self, name: &str, column: &Column, lacks: &mut Lacks) {
        let Some(check) = column.check() else { return };
        let is_old = |known: &&String| **known != check.name && check.is_of_column(known);
        let old: Vec<_> =
            self.checks.iter().filter(is_old).map(|old| format!("DROP CONSTRAINT {}", quoted(old))).collect();
        if old.is_empty() {
            return;
        }
        let new = if self.checks.contains(&check.name) {
            String::new()
        } else {
            format!(", ADD {} NOT VALID", check.definition)
        };
        lacks
            .reasons
            .push(format!("has the column {:?} with a condition that allows other texts", column.name));
        // Rows that are there may have texts of an earlier version.
        lacks.statements.push(format!("ALTER TABLE {name} {}{new}", old.join(", ")));
    }

    fn ready(&self, table: Table) -> Result<Ready, String> {
        let key = self.key().ok_or("the table has no key")?;
        let kind = |column: &Column| {
            let (known, _) = self.columns.get(&column.name)?;
            effective(&column.kind, known)
        };
        let kinds: Option<Vec<_>> = table.columns.iter().map(kind).collect();
        let names: Vec<_> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let key: Vec<_> = key.iter().map(|name| quoted(name)).collect();
        Ok(Ready {
            kinds: kinds.ok_or("the table has other columns")?,
            places: Place::of(&table.columns),
            is_typed: table.columns.iter().any(|column| column.source == Source::Rest),
            key: key.join(", "),
            columns: names.join(", "),
            partitions: Mutex::default(),
            table,
        })
    }
}

impl Lacks {
    fn needs(&mut self, reason: String, statement: String) {
        self.more = true;
        self.reasons.push(reason);
        self.statements.push(statement);
    }

    /// Returns the failure, and tells the log all statements: there may be too many for a reason.
    fn failure(&self, table: &Table) -> Failed {
        let name = table.qualified();
        let sql = self.statements.join(";\n");
        tracing::warn!(
            table = name,
            lacks = self.reasons.join(", "),
            sql,
            "the table needs a change before rows can be written"
        );
        let what = match self.statements.len() {
            1 => format!("run: {sql}"),
            _ if self.more => "run the statements that the log has".to_owned(),
            _ => "set create = true, or run the statements that the log has".to_owned(),
        };
        Failed::retry(format!("the table {name} {}; {what}", self.reasons[0])).because(Class::Missing)
    }
}

fn retype(table: &str, column: &Column) -> String {
    let (name, kind) = (quoted(&column.name), column.kind.name());
    format!("ALTER TABLE {table} ALTER COLUMN {name} TYPE {kind} USING {name}::{kind}")
}

/// Returns the type of a column that the database calls `known`, if it can hold all values of `kind`.
fn effective(kind: &SqlType, known: &str) -> Option<SqlType> {
    if let SqlType::Array(element) = kind {
        return Some(SqlType::Array(Box::new(effective(element, known.strip_suffix("[]")?)?)));
    }
    let digits = |kind: &SqlType| match kind {
        SqlType::SmallInt => Some((5, 0)),
        SqlType::Integer => Some((10, 0)),
        SqlType::BigInt => Some((19, 0)),
        SqlType::Numeric(digits) => *digits,
        _ => None,
    };
    let is_number = |kind: &SqlType| digits(kind).is_some() || *kind == SqlType::Numeric(None);
    let known = parse(known)?;
    let fits = match (kind, &known) {
        (SqlType::Time(_), SqlType::Time(_)) => return Some(kind.clone()),
        (kind, known) if kind == known => true,
        (kind, SqlType::Numeric(None)) => is_number(kind) || *kind == SqlType::Double,
        (SqlType::SmallInt, SqlType::Integer | SqlType::BigInt) | (SqlType::Integer, SqlType::BigInt) => true,
        (kind, SqlType::Numeric(Some((all, places)))) => digits(kind).is_some_and(|(digits, decimals)| {
            *places >= decimals && all.saturating_sub(*places) >= digits - decimals
        }),
        _ => false,
    };
    fits.then_some(known)
}

/// Returns the type that PostgreSQL's `format_type` calls `name`, if rows can have it.
fn parse(name: &str) -> Option<SqlType> {
    Some(match name {
        "boolean" => SqlType::Boolean,
        "smallint" => SqlType::SmallInt,
        "integer" => SqlType::Integer,
        "bigint" => SqlType::BigInt,
        "numeric" => SqlType::Numeric(None),
        "double precision" => SqlType::Double,
        "timestamp with time zone" => SqlType::Time(Vec::new()),
        "text" | "character varying" => SqlType::Text,
        "jsonb" | "json" => SqlType::Json,
        _ => {
            let (digits, places) = name.strip_prefix("numeric(")?.strip_suffix(')')?.split_once(',')?;
            SqlType::Numeric(Some((digits.parse().ok()?, places.parse().ok()?)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_may_be_wider_than_the_schema_needs() {
        let numeric = |digits, places| SqlType::Numeric(Some((digits, places)));
        for (kind, known, expected) in [
            (SqlType::SmallInt, "smallint", Some(SqlType::SmallInt)),
            (SqlType::SmallInt, "bigint", Some(SqlType::BigInt)),
            (SqlType::BigInt, "integer", None),
            (SqlType::BigInt, "numeric(20,0)", Some(numeric(20, 0))),
            (SqlType::BigInt, "numeric(20,2)", None),
            (numeric(6, 2), "numeric(6,2)", Some(numeric(6, 2))),
            (numeric(6, 2), "numeric(8,3)", Some(numeric(8, 3))),
            (numeric(6, 2), "numeric(6,3)", None),
            (numeric(6, 2), "numeric", Some(SqlType::Numeric(None))),
            (numeric(6, 2), "double precision", None),
            (SqlType::Double, "real", None),
            (SqlType::Text, "character varying", Some(SqlType::Text)),
            (SqlType::Text, "character varying(20)", None),
            (SqlType::Json, "text", None),
            (
                SqlType::Array(Box::new(SqlType::Text)),
                "text[]",
                Some(SqlType::Array(Box::new(SqlType::Text))),
            ),
            (SqlType::Array(Box::new(SqlType::Text)), "text", None),
        ] {
            assert_eq!(effective(&kind, known), expected, "{kind:?} in {known}");
        }
    }
}
