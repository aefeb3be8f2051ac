//! Collects what can be read of a damaged buffer.

use super::{
    pages::{Cell, Pages},
    rows::{self, Found},
};
use crate::{Formats, Totals, totals::FormatTotals};
use std::collections::{BTreeMap, HashMap};

/// All rows that could be read. For messages and the quarantine only the places are kept; the rows are read again when they are written.
#[derive(Default)]
pub struct Remains {
    /// In ascending order of IDs.
    pub messages: Vec<(i64, Cell)>,
    /// The ID of the last message of each device.
    pub last: HashMap<String, i64>,
    /// In ascending order of IDs.
    pub rejects: Vec<(i64, Cell)>,
    pub totals: Option<Totals>,
    /// Messages and bytes by device.
    pub devices: HashMap<String, [u64; 2]>,
    /// When the first message of a device was received, if that is known.
    pub first: HashMap<String, i64>,
    pub formats: HashMap<&'static str, FormatTotals>,
    pub cursors: HashMap<String, i64>,
    /// Time and reason, by output and message ID.
    pub undelivered: BTreeMap<(String, i64), (i64, String)>,
    /// Fingerprints, by schema and slot.
    pub layouts: BTreeMap<(String, u8), [u8; 32]>,
    pub gaps: Vec<(i64, i64)>,
    /// The records of the register, by device.
    pub registered: BTreeMap<String, String>,
}

impl Remains {
    /// Reads every page.
    pub fn find(pages: &mut Pages, formats: Formats) -> Remains {
        let mut remains = Remains::default();
        for image in pages.images() {
            let mut counts = Vec::new();
            for cell in pages.cells(image) {
                if let Some(row) = pages.row(cell)
                    && let Some(columns) = row.columns()
                    && let Some(found) = rows::of(row.id, &columns, formats)
                    && (!image.needs_checksum() || matches!(found, Found::Message(_, true)))
                {
                    remains.add(cell, found, &mut counts);
                }
            }
            remains.add_counts(counts, formats);
        }
        for rows in [&mut remains.messages, &mut remains.rejects] {
            // Keeps the order of images in which a row was found.
            rows.sort_by_key(|(id, _)| *id);
            rows.dedup_by_key(|(id, _)| *id);
        }
        remains
    }

    /// Adds a row. A row may occur in several states of its page. Cursors and totals only grow, so the larger one is newer.
    fn add(&mut self, cell: Cell, found: Found<'_>, counts: &mut Vec<(String, [u64; 3])>) {
        match found {
            Found::Message(record, _) => {
                self.messages.push((record.id, cell));
                match self.last.get_mut(record.device) {
                    Some(last) => *last = record.id.max(*last),
                    None => drop(self.last.insert(record.device.to_owned(), record.id)),
                }
            }
            Found::NewQuarantined(id) => self.rejects.push((id, cell)),
            Found::Totals(totals) => {
                let age = |totals: &Totals| {
                    (totals.last_message_id, totals.stored + totals.refused + totals.duplicates)
                };
                if self.totals.as_ref().is_none_or(|known| age(known) < age(&totals)) {
                    self.totals = Some(*totals);
                }
            }
            Found::Device(device, numbers, first) => {
                self.add_device(device.to_owned(), numbers);
                if let Some(first) = first {
                    let known = self.first.entry(device.to_owned()).or_insert(first);
                    *known = first.min(*known);
                }
            }
            Found::Counts(key, numbers) => counts.push((key.to_owned(), numbers)),
            Found::Cursor(output, id) => {
                let known = self.cursors.entry(output.to_owned()).or_default();
                *known = id.max(*known);
            }
            Found::DeadLetter(output, id, at, reason) => {
                self.undelivered.insert((output.to_owned(), id), (at, reason.to_owned()));
            }
            Found::Layout(schema, slot, fingerprint) => {
                self.layouts.insert((schema.to_owned(), slot), fingerprint);
            }
            Found::Gap(first, last) => self.gaps.push((first, last)),
            Found::Registered(device, about) => {
                self.registered.insert(device.to_owned(), about.to_owned());
            }
        }
    }

    /// Adds the counts of a page: of formats, or of devices in rows from before version 10 of the tables. They are those of formats if all
    /// their keys are names of formats; otherwise they are those of devices, of which one may be named like a format.
    fn add_counts(&mut self, counts: Vec<(String, [u64; 3])>, formats: Formats) {
        let known = |key: &str| formats.iter().find(|format| **format == key).copied();
        let are_formats = counts.iter().all(|(key, _)| known(key).is_some());
        for (key, [messages, bytes, json_bytes]) in counts {
            match known(&key) {
                Some(format) if are_formats => {
                    let known = self.formats.entry(format).or_default();
                    if known.messages < messages {
                        *known = FormatTotals { messages, bytes, json_bytes };
                    }
                }
                _ => self.add_device(key, [messages, bytes]),
            }
        }
    }

    fn add_device(&mut self, device: String, numbers: [u64; 2]) {
        let known = self.devices.entry(device).or_default();
        if known[0] < numbers[0] {
            *known = numbers;
        }
    }
}
