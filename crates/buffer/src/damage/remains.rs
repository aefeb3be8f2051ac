//! What there is in a damaged file.

use super::{
    pages::{Cell, Pages},
    rows::{self, Found},
};
use crate::{Formats, Totals, totals::FormatTotals};
use std::collections::{BTreeMap, HashMap};

/// Every row that could be read. Those with messages in them are looked up again when they are needed.
#[derive(Default)]
pub struct Remains {
    /// By ascending id.
    pub messages: Vec<(i64, Cell)>,
    /// The last message of each device.
    pub last: HashMap<String, i64>,
    /// By ascending id.
    pub rejects: Vec<(i64, Cell)>,
    pub totals: Option<Totals>,
    /// Messages and bytes.
    pub devices: HashMap<String, [u64; 2]>,
    pub formats: HashMap<&'static str, FormatTotals>,
    pub cursors: HashMap<String, i64>,
    /// By output and message: when and why.
    pub undelivered: BTreeMap<(String, i64), (i64, String)>,
    /// By schema and slot.
    pub layouts: BTreeMap<(String, u8), [u8; 32]>,
    pub gaps: Vec<(i64, i64)>,
}

impl Remains {
    /// Looks at every page.
    pub fn find(pages: &mut Pages, formats: Formats) -> Remains {
        let mut remains = Remains::default();
        for image in pages.images() {
            let mut counts = Vec::new();
            for cell in pages.cells(image) {
                if let Some(row) = pages.row(cell)
                    && let Some(columns) = row.columns()
                    && let Some(found) = rows::of(row.id, &columns, formats)
                {
                    remains.add(cell, found, &mut counts);
                }
            }
            remains.add_counts(counts, formats);
        }
        for rows in [&mut remains.messages, &mut remains.rejects] {
            rows.sort_unstable_by_key(|(id, _)| *id);
            rows.dedup_by_key(|(id, _)| *id);
        }
        remains
    }

    /// A row can be there twice, in the file and in its log: what only grows is then where it is larger.
    fn add(&mut self, cell: Cell, found: Found<'_>, counts: &mut Vec<(String, [u64; 3])>) {
        match found {
            Found::Message(record) => {
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
        }
    }

    /// The counts of a page are those of formats, or those of devices, of which some may be called like a format.
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
                _ => {
                    let known = self.devices.entry(key).or_default();
                    if known[0] < messages {
                        *known = [messages, bytes];
                    }
                }
            }
        }
    }
}
