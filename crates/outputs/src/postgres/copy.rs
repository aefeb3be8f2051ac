//! Writes rows in one transaction.

use super::{
    fault::{self, Fault},
    row,
    table::Ready,
};
use crate::Message;
use bytes::Bytes;
use futures_util::SinkExt;
use std::{
    mem,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio_postgres::{Client, Error, Transaction};

/// The temporary table.
const STAGE: &str = "dunnage_stage";
/// The bytes of lines that are sent at a time. The server takes them while the next ones are made.
const PART: usize = 64 << 10;

/// The row of a message, and its table.
pub struct Row<'m> {
    pub table: Arc<Ready>,
    pub message: &'m Message,
}

/// Returns the tables of `rows`, each once.
pub fn tables(rows: &[Row<'_>]) -> Vec<Arc<Ready>> {
    let mut tables: Vec<Arc<Ready>> = Vec::new();
    for row in rows {
        if !tables.iter().any(|table| Arc::ptr_eq(table, &row.table)) {
            tables.push(Arc::clone(&row.table));
        }
    }
    tables
}

/// Writes all of `rows`, or none. Counts those that were there already in `repeated`.
pub async fn write(client: &mut Client, rows: &[Row<'_>], repeated: &AtomicU64) -> Result<(), Fault> {
    // Only after a failure or a restart are messages delivered again.
    match transact(client, rows, None).await {
        Err(Fault::Repeated) => transact(client, rows, Some(repeated)).await,
        other => other,
    }
}

async fn transact(client: &mut Client, rows: &[Row<'_>], repeated: Option<&AtomicU64>) -> Result<(), Fault> {
    let server = |e: Error| Fault::Server(fault::connection(&e, "PostgreSQL"));
    let transaction = client.transaction().await.map_err(server)?;
    let mut there = 0;
    for table in tables(rows) {
        let own: Vec<_> =
            rows.iter().enumerate().filter(|(_, row)| Arc::ptr_eq(&row.table, &table)).collect();
        let messages = own.iter().map(|(_, row)| row.message);
        let written = match repeated {
            None => copy(&transaction, &table, &table.table.qualified(), messages).await,
            Some(_) => stage(&transaction, &table, messages).await,
        };
        // The line of the copy is that of a row among all.
        let written = written.map_err(|stopped| match stopped.fault(&table, repeated.is_none()) {
            Fault::Row(line, reason) => {
                Fault::Row(line.and_then(|line| own.get(line)).map(|(at, _)| *at), reason)
            }
            other => other,
        })?;
        there += own.len() as u64 - written.min(own.len() as u64);
    }
    transaction.commit().await.map_err(server)?;
    if let Some(repeated) = repeated {
        repeated.fetch_add(there, Ordering::Relaxed);
    }
    Ok(())
}

/// Why a copy stopped.
enum Stopped {
    /// The message at this place has no row, and why.
    Row(usize, String),
    Server(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Server(error)
    }
}

impl Stopped {
    fn fault(&self, table: &Ready, direct: bool) -> Fault {
        let name = table.table.qualified();
        match self {
            Stopped::Row(at, reason) => Fault::Row(Some(*at), format!("table {name}: {reason}")),
            Stopped::Server(error) => fault::of(error, &name, direct),
        }
    }
}

/// Copies the rows of messages of `table` into the table `name`, which has its columns. Returns how many.
async fn copy<'m>(
    transaction: &Transaction<'_>,
    table: &Ready,
    name: &str,
    messages: impl Iterator<Item = &'m Message>,
) -> Result<u64, Stopped> {
    let statement = format!("COPY {name} ({}) FROM STDIN", table.columns);
    let mut sink = pin!(transaction.copy_in::<_, Bytes>(&statement).await?);
    let mut lines = Vec::new();
    for (at, message) in messages.enumerate() {
        row::write(table, message, &mut lines).map_err(|reason| Stopped::Row(at, reason))?;
        if lines.len() >= PART {
            sink.send(mem::take(&mut lines).into()).await?;
            lines.reserve(PART + PART / 8);
        }
    }
    sink.send(lines.into()).await?;
    Ok(sink.finish().await?)
}

/// Copies the rows of messages into a temporary table, and from there those that are not in `table` yet. Returns how many.
async fn stage<'m>(
    transaction: &Transaction<'_>,
    table: &Ready,
    messages: impl Iterator<Item = &'m Message>,
) -> Result<u64, Stopped> {
    let (name, columns, key) = (table.table.qualified(), &table.columns, &table.key);
    transaction
        .batch_execute(&format!(
            "DROP TABLE IF EXISTS pg_temp.{STAGE}; \
             CREATE TEMPORARY TABLE {STAGE} ON COMMIT DROP AS SELECT {columns} FROM {name} WITH NO DATA"
        ))
        .await?;
    copy(transaction, table, &format!("pg_temp.{STAGE}"), messages).await?;
    let insert = format!(
        "INSERT INTO {name} ({columns}) SELECT {columns} FROM pg_temp.{STAGE} ON CONFLICT ({key}) DO NOTHING"
    );
    Ok(transaction.execute(&insert, &[]).await?)
}
