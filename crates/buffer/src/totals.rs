//! Counts over the whole life of the buffer, kept in memory and written with every batch.

use super::dead_letters;
use rusqlite::Connection;
use std::{collections::BTreeMap, sync::Arc};

/// Counts over the life of a buffer.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// The buffer ID: eight random hexadecimal digits.
    pub name: Arc<str>,
    /// The last message ID.
    pub last_message_id: i64,
    /// The last ID in the quarantine.
    pub last_quarantine_id: i64,
    /// Messages stored.
    pub stored: u64,
    /// Messages quarantined, including those that were discarded since. One that is decoded again and stored is no longer counted.
    pub quarantined: u64,
    /// Messages that were neither stored nor quarantined.
    pub refused: u64,
    /// Duplicates.
    pub duplicates: u64,
    /// Devices that have stored messages.
    pub devices: u64,
    /// Messages that retention has dropped.
    pub dropped: u64,
    /// Retention has examined the messages up to this ID; they may have been dropped.
    pub dropped_to: i64,
    /// Messages lost to damage.
    pub lost: u64,
    /// How often the buffer was damaged and recovered.
    pub damages: u64,
    /// Counts by the name of the format.
    pub formats: BTreeMap<String, FormatTotals>,
    /// The number of dead letters by output. Outputs without any are missing.
    pub dead_letters: Arc<BTreeMap<String, u64>>,
}

/// Counts of one format.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FormatTotals {
    /// Messages.
    pub messages: u64,
    /// Raw bytes.
    pub bytes: u64,
    /// Bytes of the same messages as compact JSON.
    pub json_bytes: u64,
}

impl FormatTotals {
    /// Adds one message.
    pub fn add(&mut self, bytes: usize, json_bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
        self.json_bytes += json_bytes as u64;
    }
}

impl Totals {
    /// Loads the counts from the database.
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

    /// Adds `more` dead letters of `output`. `more` may be negative.
    pub fn dead_letters_by(&mut self, output: &str, more: i64) {
        let counts = Arc::make_mut(&mut self.dead_letters);
        let count = counts.entry(output.to_owned()).or_default();
        *count = count.saturating_add_signed(more);
        if *count == 0 {
            counts.remove(output);
        }
    }

    /// Writes the counts; of the formats only those that differ from `before`.
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

    /// Returns how many messages arrived.
    pub fn received(&self) -> u64 {
        self.stored + self.quarantined + self.refused + self.duplicates
    }

    /// Adds one message of `format`.
    pub fn add(&mut self, format: &str, bytes: usize, json_bytes: usize) {
        match self.formats.get_mut(format) {
            Some(totals) => totals.add(bytes, json_bytes),
            None => self.formats.entry(format.to_owned()).or_default().add(bytes, json_bytes),
        }
    }

    /// Returns the sums over all formats.
    pub fn sum(&self) -> FormatTotals {
        self.formats.values().fold(FormatTotals::default(), |sum, f| FormatTotals {
            messages: sum.messages + f.messages,
            bytes: sum.bytes + f.bytes,
            json_bytes: sum.json_bytes + f.json_bytes,
        })
    }
}
