//! Counts over the whole life of the buffer, kept in memory and written with every batch.

use super::dead_letters;
use rusqlite::Connection;
use std::{collections::BTreeMap, sync::Arc};

/// How much was stored.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// The buffer's name: 8 hexadecimal digits that it was given when it was made.
    pub name: Arc<str>,
    /// The last message's id.
    pub last_message_id: i64,
    /// The last quarantined message's id.
    pub last_quarantine_id: i64,
    /// Messages stored.
    pub stored: u64,
    /// Messages quarantined, also those that gave way to others since.
    pub quarantined: u64,
    /// Messages that were neither stored nor quarantined.
    pub refused: u64,
    /// Messages that were stored already when they came again.
    pub duplicates: u64,
    /// Devices that have stored messages.
    pub devices: u64,
    /// Messages that were dropped when every output was done with them.
    pub dropped: u64,
    /// Messages up to this id may have been dropped.
    pub dropped_to: i64,
    /// Messages that could not be read any more.
    pub lost: u64,
    /// How often the file was damaged and made anew.
    pub damages: u64,
    /// By the names of formats.
    pub formats: BTreeMap<String, FormatTotals>,
    /// How many dead letters each output has; outputs without one are missing.
    pub dead_letters: Arc<BTreeMap<String, u64>>,
}

/// How much was stored in one format.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FormatTotals {
    /// Messages.
    pub messages: u64,
    /// Bytes as they arrived.
    pub bytes: u64,
    /// Bytes of the same messages as compact JSON.
    pub json_bytes: u64,
}

impl FormatTotals {
    /// Counts one message.
    pub fn add(&mut self, bytes: usize, json_bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
        self.json_bytes += json_bytes as u64;
    }
}

impl Totals {
    /// What the buffer says.
    pub fn load(connection: &Connection) -> rusqlite::Result<Totals> {
        let mut totals = connection.query_row(
            "SELECT last_message_id, last_quarantine_id, stored, quarantined, refused, devices, name, duplicates,
             dropped, dropped_to, lost, damages FROM totals",
            [],
            |row| {
                Ok(Totals {
                    last_message_id: row.get(0)?,
                    last_quarantine_id: row.get(1)?,
                    stored: row.get(2)?,
                    quarantined: row.get(3)?,
                    refused: row.get(4)?,
                    devices: row.get(5)?,
                    name: row.get::<_, String>(6)?.into(),
                    duplicates: row.get(7)?,
                    dropped: row.get(8)?,
                    dropped_to: row.get(9)?,
                    lost: row.get(10)?,
                    damages: row.get(11)?,
                    formats: BTreeMap::new(),
                    dead_letters: Arc::new(dead_letters::counts(connection)?),
                })
            },
        )?;
        let mut statement = connection.prepare("SELECT format, messages, bytes, json_bytes FROM formats")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let counted = FormatTotals { messages: row.get(1)?, bytes: row.get(2)?, json_bytes: row.get(3)? };
            totals.formats.insert(row.get(0)?, counted);
        }
        Ok(totals)
    }

    /// Counts `more` dead letters of `output`, or fewer if it is negative.
    pub fn dead_letters_by(&mut self, output: &str, more: i64) {
        let counts = Arc::make_mut(&mut self.dead_letters);
        let count = counts.entry(output.to_owned()).or_default();
        *count = count.saturating_add_signed(more);
        if *count == 0 {
            counts.remove(output);
        }
    }

    /// Writes them; of the formats, those that differ from `before`.
    pub fn save(&self, before: &Totals, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached(
                "UPDATE totals SET last_message_id = ?, last_quarantine_id = ?, stored = ?, quarantined = ?,
                 refused = ?, devices = ?, duplicates = ?, dropped = ?, dropped_to = ?",
            )?
            .execute((
                self.last_message_id,
                self.last_quarantine_id,
                self.stored,
                self.quarantined,
                self.refused,
                self.devices,
                self.duplicates,
                self.dropped,
                self.dropped_to,
            ))?;
        let mut statement =
            connection.prepare_cached("INSERT OR REPLACE INTO formats VALUES (?, ?, ?, ?)")?;
        for (format, now) in &self.formats {
            if before.formats.get(format) != Some(now) {
                statement.execute((format, now.messages, now.bytes, now.json_bytes))?;
            }
        }
        Ok(())
    }

    /// All messages that arrived.
    pub fn received(&self) -> u64 {
        self.stored + self.quarantined + self.refused + self.duplicates
    }

    /// Counts one message in the format `format`.
    pub fn add(&mut self, format: &str, bytes: usize, json_bytes: usize) {
        match self.formats.get_mut(format) {
            Some(totals) => totals.add(bytes, json_bytes),
            None => self.formats.entry(format.to_owned()).or_default().add(bytes, json_bytes),
        }
    }

    /// The sums over all formats.
    pub fn sum(&self) -> FormatTotals {
        self.formats.values().fold(FormatTotals::default(), |sum, f| FormatTotals {
            messages: sum.messages + f.messages,
            bytes: sum.bytes + f.bytes,
            json_bytes: sum.json_bytes + f.json_bytes,
        })
    }
}
