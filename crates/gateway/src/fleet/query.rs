//! A page of the devices: which of them match, their order, and the cursor between two pages.
//!
//! A page takes one pass over all devices in memory, and locks them for a few at a time, so that commits do not wait for it. The cursor is
//! the sort key and the ID of a device at the end of a page. Devices that have not changed are therefore on exactly one page, whatever
//! happens to the others meanwhile.

use super::index::{Entry, Index, Kind, most_used};
use crate::visible::Visible;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use dunnage_register::Filter;
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};
use utoipa::ToSchema;

/// How many devices are examined while the index is locked.
const STEP: usize = 2048;
/// Most names of a kind in an answer.
const NAMES: usize = 50;

/// The sort key of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    Name,
    /// When the last message was received.
    Last,
    Messages,
    Bytes,
    /// By how much the next message is late. Devices of which no interval is known are the least late.
    Late,
}

/// The direction of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Asc,
    Desc,
}

/// Where a page begins or ends: the place of a device in the order, which need not exist any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    key: i64,
    device: Arc<str>,
    /// Whether the page ends before this place. Otherwise it begins after it.
    is_end: bool,
}

/// The devices to return.
#[derive(Debug, Clone)]
pub struct Query {
    /// The devices that the client may read. The page has nothing of others.
    pub visible: Visible,
    /// What the register must have of the devices. One that is not in the register has its ID alone.
    pub filter: Filter,
    /// The names that devices must have, in the order of [`Kind`]; an empty one selects devices without a name.
    pub names: [Option<String>; 4],
    /// Whether the next message of the devices must be late, or must not be.
    pub late: Option<bool>,
    /// Whether the devices must have messages in the quarantine, or must not have any.
    pub quarantined: Option<bool>,
    pub sort: Sort,
    pub direction: Direction,
    pub limit: usize,
    pub cursor: Option<Cursor>,
    /// Microseconds since 1970.
    pub now: i64,
}

/// A page.
pub struct Page {
    /// The devices, and how many messages of each are in the quarantine.
    pub devices: Vec<(Entry, u64)>,
    /// How many devices match the query.
    pub matches: usize,
    /// How many of them come before this page.
    pub offset: usize,
    pub previous: Option<String>,
    pub next: Option<String>,
    /// How many devices there are in memory, and how many of them have stored messages.
    pub listed: usize,
    pub stored: u64,
    /// The most used names in the order of [`Kind`], with their numbers of devices.
    pub names: [BTreeMap<Arc<str>, u32>; 4],
}

impl Query {
    /// Collects the page.
    pub fn run(&self, index: &Mutex<Index>) -> Page {
        let lock = || index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = First { query: self, rows: Vec::new(), last: None };
        let mut seen = Counts::new(self.visible.is_everything());
        let (mut matches, mut before, mut place) = (0, 0, 0);
        while let index = lock()
            && let Some(entries) = index.at(place..place + STEP)
        {
            for entry in entries.iter().flatten() {
                if !self.visible.has(&entry.device) {
                    continue;
                }
                seen.add(entry);
                if !self.takes(entry, &index) {
                    continue;
                }
                matches += 1;
                before += usize::from(self.add(entry, &mut first));
            }
            place += STEP;
        }
        let rows = first.into_rows();
        let offset = match &self.cursor {
            Some(cursor) if cursor.is_end => before - rows.len(),
            _ => before,
        };
        let cursor = |row: Option<&(i64, Entry)>, is_end| {
            let (key, entry) = row?;
            Some(self.write(&Cursor { key: *key, device: Arc::clone(&entry.device), is_end }))
        };
        let previous = if offset > 0 { cursor(rows.first(), true) } else { None };
        let next = if offset + rows.len() < matches { cursor(rows.last(), false) } else { None };
        let index = lock();
        let quarantined = |(_, entry): (i64, Entry)| {
            let count = index.quarantined(&entry.device);
            (entry, count)
        };
        Page {
            devices: rows.into_iter().map(quarantined).collect(),
            matches,
            offset,
            previous,
            next,
            listed: seen.listed,
            stored: seen.stored,
            names: seen.names(&index),
        }
    }

    /// Adds `entry` to the page if it may be on it. Returns whether it comes before the page.
    fn add(&self, entry: &Entry, first: &mut First<'_>) -> bool {
        let key = self.key(entry);
        match &self.cursor {
            Some(cursor) if self.compare((key, &entry.device), (cursor.key, &cursor.device)).is_le() => {
                let is_at = key == cursor.key && entry.device == cursor.device;
                if cursor.is_end && !is_at {
                    first.add(key, entry);
                }
                !(cursor.is_end && is_at)
            }
            Some(cursor) if cursor.is_end => false,
            _ => {
                first.add(key, entry);
                false
            }
        }
    }

    fn takes(&self, entry: &Entry, index: &Index) -> bool {
        let is_named = |(wanted, name): (&Option<String>, &Option<Arc<str>>)| match wanted {
            None => true,
            Some(wanted) => wanted == name.as_deref().unwrap_or_default(),
        };
        self.names.iter().zip(&entry.names).all(is_named)
            && self.finds(&entry.device)
            && self.late.is_none_or(|late| late == entry.cadence.late(entry.received_at, self.now).is_some())
            && self.quarantined.is_none_or(|wanted| wanted == (index.quarantined(&entry.device) > 0))
    }

    fn finds(&self, device: &str) -> bool {
        let Filter { text, tags } = &self.filter;
        if text.is_empty() && tags.is_empty() {
            return true;
        }
        match self.visible.record(device) {
            Some(record) => self.filter.accepts(&record),
            None => tags.is_empty() && device.to_lowercase().contains(text),
        }
    }

    /// Returns the sort key of a device, which precedes its ID. It does not depend on the time of the query.
    fn key(&self, entry: &Entry) -> i64 {
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        match self.sort {
            Sort::Name => 0,
            Sort::Last => entry.received_at,
            Sort::Messages => number(entry.messages),
            Sort::Bytes => number(entry.bytes),
            // The later it is, the earlier it was due.
            Sort::Late => entry.cadence.due(entry.received_at).map_or(i64::MIN, i64::saturating_neg),
        }
    }

    /// Compares two places in the order. Devices with equal keys are in the order of their IDs.
    fn compare(&self, a: (i64, &str), b: (i64, &str)) -> Ordering {
        let by_key = a.0.cmp(&b.0);
        let by_device = a.1.cmp(b.1);
        match (self.direction, self.sort) {
            (Direction::Asc, _) => by_key.then(by_device),
            (Direction::Desc, Sort::Name) => by_device.reverse(),
            (Direction::Desc, _) => by_key.reverse().then(by_device),
        }
    }

    fn write(&self, cursor: &Cursor) -> String {
        let (sort, side) = (self.order(), if cursor.is_end { "end" } else { "begin" });
        URL_SAFE_NO_PAD.encode(format!("{sort} {side} {} {}", cursor.key, cursor.device))
    }

    /// Reads a cursor that [`Query::run`] has returned. `None` if it is not one of this order.
    pub fn read(&self, text: &str) -> Option<Cursor> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let rest = text.strip_prefix(&self.order())?.strip_prefix(' ')?;
        let (side, rest) = rest.split_once(' ')?;
        let (key, device) = rest.split_once(' ')?;
        let is_end = match side {
            "end" => true,
            "begin" => false,
            _ => return None,
        };
        Some(Cursor { key: key.parse().ok()?, device: device.into(), is_end })
    }

    fn order(&self) -> String {
        format!("{:?} {:?}", self.sort, self.direction)
    }
}

/// The counts of the devices that the client may read.
struct Counts {
    listed: usize,
    stored: u64,
    /// The names in the order of [`Kind`], with their numbers of devices; `None` if these are all, which the index counts.
    names: Option<[HashMap<Arc<str>, u32>; 4]>,
}

impl Counts {
    fn new(is_everything: bool) -> Counts {
        Counts { listed: 0, stored: 0, names: (!is_everything).then(Default::default) }
    }

    fn add(&mut self, entry: &Entry) {
        self.listed += 1;
        self.stored += u64::from(entry.last_id > 0);
        let Some(names) = &mut self.names else { return };
        for (counts, name) in names.iter_mut().zip(&entry.names) {
            let Some(name) = name else { continue };
            *counts.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    fn names(self, index: &Index) -> [BTreeMap<Arc<str>, u32>; 4] {
        match self.names {
            None => Kind::ALL.map(|kind| index.most_used(kind, NAMES)),
            Some(names) => names.map(|counts| most_used(&counts, NAMES)),
        }
    }
}

/// Collects the rows nearest to the cursor, as many as a page has.
struct First<'q> {
    query: &'q Query,
    rows: Vec<(i64, Entry)>,
    /// The last place that is still on the page.
    last: Option<(i64, Arc<str>)>,
}

impl First<'_> {
    fn compare(&self, a: (i64, &str), b: (i64, &str)) -> Ordering {
        let order = self.query.compare(a, b);
        if self.is_reverse() { order.reverse() } else { order }
    }

    fn is_reverse(&self) -> bool {
        self.query.cursor.as_ref().is_some_and(|cursor| cursor.is_end)
    }

    fn add(&mut self, key: i64, entry: &Entry) {
        let is_beyond =
            |last: &(i64, Arc<str>)| self.compare((key, &entry.device), (last.0, &last.1)).is_ge();
        if self.last.as_ref().is_some_and(is_beyond) {
            return;
        }
        self.rows.push((key, entry.clone()));
        if self.rows.len() >= 2 * self.query.limit {
            self.cut();
        }
    }

    /// Keeps the rows of the page.
    fn cut(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable_by(|a, b| self.compare((a.0, &a.1.device), (b.0, &b.1.device)));
        rows.truncate(self.query.limit);
        if rows.len() == self.query.limit {
            self.last = rows.last().map(|(key, entry)| (*key, Arc::clone(&entry.device)));
        }
        self.rows = rows;
    }

    fn into_rows(mut self) -> Vec<(i64, Entry)> {
        self.cut();
        if self.is_reverse() {
            self.rows.reverse();
        }
        self.rows
    }
}
