//! One transaction: a batch of the queue, and everything that changes with it.

use super::{
    Change,
    devices::Devices,
    layouts,
    opened::{Kept, Loaded},
    quarantine::{self, Left},
    queue::{Ticket, WriteOp},
    record::{self, Record},
    retention::{self, Retention},
    totals::Totals,
    waypoints,
};
use crate::{LayoutKey, NewMessage, message::NewQuarantined};
use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior};
use std::{collections::HashSet, sync::Arc};

/// The result of a transaction.
pub struct Written {
    pub totals: Totals,
    pub kept: Kept,
    pub retained: retention::Kept,
    /// Positions in the batch of messages that were not stored: duplicates, and messages that have left the quarantine since they were
    /// read.
    pub again: Vec<usize>,
    /// The messages that have left the quarantine.
    pub left: Left,
}

impl Loaded {
    /// Writes a batch and enforces retention. Of the state in memory, changes only `duplicates` and `devices`; the rest is returned.
    /// `refused` is the number of messages refused over the life of the buffer.
    pub fn transact(
        &mut self,
        batch: &[WriteOp],
        refused: u64,
        quarantine_limit: Kept,
        retention: &Retention,
    ) -> rusqlite::Result<Written> {
        self.devices.trim();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut totals, mut kept) = (self.totals.clone(), self.kept);
        let (mut again, mut left) = (Vec::new(), Left::default());
        {
            let mut insert = transaction.prepare_cached(record::INSERT)?;
            let mut quarantine = transaction
                .prepare_cached("INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
            for (at, op) in batch.iter().enumerate() {
                if let WriteOp::Message(_, Ticket { requeued: Some(id), .. }) = op {
                    if !quarantine::remove(&transaction, *id, &mut left)? {
                        // It was discarded after it was read, and stays discarded.
                        again.push(at);
                        continue;
                    }
                    totals.quarantined = totals.quarantined.saturating_sub(1);
                }
                match op {
                    WriteOp::Message(message, _) if self.duplicates.is_known(message) => {
                        totals.duplicates += 1;
                        again.push(at);
                    }
                    WriteOp::Message(message, _) => {
                        store(message, &mut self.devices, &mut totals, &mut insert, &transaction)?;
                    }
                    WriteOp::Quarantine(new, _) => {
                        totals.last_quarantine_id += 1;
                        totals.quarantined += 1;
                        insert_quarantined(&mut quarantine, totals.last_quarantine_id, new)?;
                        kept.add(new.raw.len());
                    }
                    WriteOp::Change(change, _) => change.apply(&transaction, &mut totals, &mut left)?,
                    WriteOp::Duplicate(_) => totals.duplicates += 1,
                    WriteOp::Damaged(..)
                    | WriteOp::EnforceRetention
                    | WriteOp::CheckFiles
                    | WriteOp::Stop => {}
                }
            }
        }
        self.devices.save(&transaction)?;
        let new: HashSet<_> = layouts_of(batch).filter(|layout| !self.layouts.contains(*layout)).collect();
        layouts::save(&transaction, new)?;
        trim_quarantine(&transaction, kept, &mut left, quarantine_limit)?;
        kept.less(&left);
        let mut cursors = self.cursors.clone();
        cursors.extend(cursors_of(batch));
        let retained = retention.apply(&transaction, &mut totals, &cursors, batch.len())?;
        totals.refused = refused;
        totals.save(&self.totals, &transaction)?;
        transaction.commit()?;
        Ok(Written { totals, kept, retained, again, left })
    }
}

/// Writes a message as the next one of its device.
fn store(
    message: &NewMessage,
    devices: &mut Devices,
    totals: &mut Totals,
    insert: &mut CachedStatement<'_>,
    transaction: &Transaction<'_>,
) -> rusqlite::Result<()> {
    totals.last_message_id += 1;
    totals.stored += 1;
    totals.add(message.format, message.raw.len(), message.json.len());
    let device = devices.find(transaction, &message.provenance.device)?;
    totals.devices += u64::from(device.last_id.is_none());
    let id = totals.last_message_id;
    device.messages += 1;
    Record::new(id, device.last_id, device.messages, message).insert(insert)?;
    device.add(id, message.raw.len(), message.provenance.received_at);
    waypoints::add(transaction, &message.provenance.device, device.messages, id)
}

/// Returns the layouts of a batch's messages.
pub fn layouts_of(batch: &[WriteOp]) -> impl Iterator<Item = &Arc<LayoutKey>> {
    batch.iter().filter_map(|op| match op {
        WriteOp::Message(message, _) => message.layout.as_ref(),
        _ => None,
    })
}

/// Returns the cursors that a batch moves.
pub fn cursors_of(batch: &[WriteOp]) -> impl Iterator<Item = (Arc<str>, i64)> {
    batch.iter().filter_map(|op| match op {
        WriteOp::Change(Change::Position { output, position }, _) => {
            Some((Arc::clone(output), position.cursor()))
        }
        _ => None,
    })
}

fn insert_quarantined(
    statement: &mut CachedStatement<'_>,
    id: i64,
    new: &NewQuarantined,
) -> rusqlite::Result<()> {
    let from = &new.provenance;
    statement.execute((
        id,
        from.received_at,
        &from.device,
        &from.schema,
        &from.link,
        &new.content_type,
        new.kind,
        new.offset.map(|offset| i64::try_from(offset).unwrap_or(i64::MAX)),
        &new.reason,
        &new.raw[..],
        &from.key,
        &from.request,
        &from.origin,
        from.is_answered,
    ))?;
    Ok(())
}

/// Deletes the oldest messages of the quarantine until it is within its limit. `kept` still counts those in `left`.
fn trim_quarantine(
    connection: &Connection,
    kept: Kept,
    left: &mut Left,
    limit: Kept,
) -> rusqlite::Result<()> {
    loop {
        let mut now = kept;
        now.less(left);
        if now.messages == 0 || (now.messages <= limit.messages && now.bytes <= limit.bytes) {
            return Ok(());
        }
        quarantine::remove_oldest(connection, left)?;
    }
}
