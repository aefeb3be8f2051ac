//! Writes rows in one transaction.

use super::{
    fault::{self, Fault},
    table::Ready,
};
use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio_postgres::{Client, Error, Transaction};

/// The temporary table.
const STAGE: &str = "dunnage_stage";

/// A row, and its table.
pub struct Row {
    pub table: Arc<Ready>,
    /// Its line for `COPY`.
    pub line: Bytes,
    /// In microseconds since 1970.
    pub received_at: i64,
}

/// Returns the tables of `rows`, each once.
pub fn tables(rows: &[Row]) -> Vec<Arc<Ready>> {
    let mut tables: Vec<Arc<Ready>> = Vec::new();
    for row in rows {
        if !tables.iter().any(|table| Arc::ptr_eq(table, &row.table)) {
            tables.push(Arc::clone(&row.table));
        }
    }
    tables
}

/// Writes all of `rows`, or none. Counts those that were there already in `repeated`.
pub async fn write(client: &mut Client, rows: &[Row], repeated: &AtomicU64) -> Result<(), Fault> {
    // Only after a failure or a restart are messages delivered again.
    match transact(client, rows, None).await {
        Err(Fault::Repeated) => transact(client, rows, Some(repeated)).await,
        other => other,
    }
}

async fn transact(client: &mut Client, rows: &[Row], repeated: Option<&AtomicU64>) -> Result<(), Fault> {
    let server = |e: Error| Fault::Server(fault::connection(&e, "PostgreSQL"));
    let transaction = client.transaction().await.map_err(server)?;
    let mut there = 0;
    for table in tables(rows) {
        let own: Vec<_> =
            rows.iter().enumerate().filter(|(_, row)| Arc::ptr_eq(&row.table, &table)).collect();
        let lines = own.iter().map(|(_, row)| &row.line);
        let written = match repeated {
            None => copy(&transaction, &table.table.qualified(), &table.columns, lines).await,
            Some(_) => stage(&transaction, &table, lines).await,
        };
        // The line of the copy is that of a row among all.
        let written =
            written.map_err(|e| match fault::of(&e, &table.table.qualified(), repeated.is_none()) {
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

/// Copies lines into a table. Returns how many.
async fn copy(
    transaction: &Transaction<'_>,
    table: &str,
    columns: &str,
    lines: impl Iterator<Item = &Bytes>,
) -> Result<u64, Error> {
    let mut data = BytesMut::new();
    lines.for_each(|line| data.extend_from_slice(line));
    let sink = transaction.copy_in::<_, Bytes>(&format!("COPY {table} ({columns}) FROM STDIN")).await?;
    let mut sink = pin!(sink);
    sink.send(data.freeze()).await?;
    sink.finish().await
}

/// Copies lines into a temporary table, and from there those whose message is not in `table` yet. Returns how many.
async fn stage(
    transaction: &Transaction<'_>,
    table: &Ready,
    lines: impl Iterator<Item = &Bytes>,
) -> Result<u64, Error> {
    let (name, columns, key) = (table.table.qualified(), &table.columns, &table.key);
    transaction
        .batch_execute(&format!(
            "DROP TABLE IF EXISTS pg_temp.{STAGE}; \
             CREATE TEMPORARY TABLE {STAGE} ON COMMIT DROP AS SELECT {columns} FROM {name} WITH NO DATA"
        ))
        .await?;
    copy(transaction, &format!("pg_temp.{STAGE}"), columns, lines).await?;
    let insert = format!(
        "INSERT INTO {name} ({columns}) SELECT {columns} FROM pg_temp.{STAGE} ON CONFLICT ({key}) DO NOTHING"
    );
    transaction.execute(&insert, &[]).await
}
