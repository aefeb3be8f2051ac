//! Reads the pages of a database file without SQLite, which cannot read a B-tree with a damaged page.
//!
//! The format is at <https://www.sqlite.org/fileformat2.html#b_tree_pages>. A row is returned if it is well-formed; the caller checks its
//! content.

use super::{PAGE, read_at, wal::Wal};
use rusqlite::types::ValueRef;
use std::{fs::File, path::Path};

/// Longest row that is accepted. A message has up to 1 MiB, and its JSON a few times that.
const LONGEST: usize = 32 << 20;

/// The pages of a database and its log.
pub struct Pages {
    file: Option<File>,
    log: Option<File>,
    wal: Wal,
    count: u32,
    /// The page that was read last.
    kept: (Option<Image>, Box<[u8]>),
}

/// A state of a page, in the database or in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    number: u32,
    log: Option<u64>,
    view: View,
}

/// The source of a state of a page, the most trusted first. The first state that has a row wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum View {
    /// The database as SQLite reads it.
    Sqlite,
    /// The database with every verified frame of the log.
    Newest,
    /// Neither: the state is older, or cannot be verified.
    Other,
}

impl Image {
    /// Returns whether only rows with a checksum of their own can be believed.
    pub fn needs_checksum(self) -> bool {
        self.view == View::Other
    }
}

/// The place where a row begins.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    image: Image,
    index: u16,
}

/// A row of a table, with its ID, or of an index.
pub struct Row {
    /// The row ID, in a table.
    pub id: Option<i64>,
    /// The record: its header and its columns.
    pub bytes: Vec<u8>,
}

impl Pages {
    /// Opens the database at `path` and the log from which `wal` was read.
    pub fn open(path: &Path, log: &Path, wal: Wal) -> Pages {
        let file = File::open(path).ok();
        let length = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |about| about.len());
        let count = u32::try_from(length.div_ceil(PAGE as u64)).unwrap_or(u32::MAX);
        Pages { file, log: File::open(log).ok(), wal, count, kept: (None, vec![0; PAGE].into()) }
    }

    /// Returns every state of every page: first those that SQLite reads, then those after a damaged frame, then the rest. Page 1 of the
    /// database is skipped: it has only the schema.
    pub fn images(&self) -> Vec<Image> {
        let Wal { sqlite, newest, frames, .. } = &self.wal;
        let image = |number: u32, at: u64| {
            let view = match (sqlite.get(&number), newest.get(&number)) {
                (Some(read), _) if *read == at => View::Sqlite,
                (_, Some(newest)) if *newest == at => View::Newest,
                _ => View::Other,
            };
            Image { number, log: Some(at), view }
        };
        let filed = (2..=self.count).map(|number| {
            let view = if sqlite.contains_key(&number) { View::Other } else { View::Sqlite };
            Image { number, log: None, view }
        });
        let mut images: Vec<_> = filed.chain(frames.iter().map(|(number, at)| image(*number, *at))).collect();
        images.sort_by_key(|image| image.view);
        images
    }

    /// Returns the state of the page `number` in the view of `image`.
    fn beside(&self, image: Image, number: u32) -> Image {
        let pages = if image.view == View::Sqlite { &self.wal.sqlite } else { &self.wal.newest };
        Image { number, log: pages.get(&number).copied(), view: image.view }
    }

    /// Returns the bytes of a page, with zeros where they cannot be read.
    fn page(&mut self, image: Image) -> &[u8] {
        if self.kept.0 != Some(image) {
            self.kept.1.fill(0);
            let (file, at) = match image.log {
                Some(at) => (&self.log, at),
                None => (&self.file, u64::from(image.number - 1) * PAGE as u64),
            };
            if let Some(file) = file {
                read_at(file, &mut self.kept.1, at);
            }
            self.kept.0 = Some(image);
        }
        &self.kept.1
    }

    /// Returns the rows that begin in a page.
    pub fn cells(&mut self, image: Image) -> impl Iterator<Item = Cell> + use<> {
        let page = self.page(image);
        let fits = page.len().saturating_sub(first_pointer(page)) / 2;
        let count = if matches!(page[0], TABLE_LEAF | INDEX_LEAF | INDEX_NODE) {
            usize::from(half(page, 3))
        } else {
            0
        };
        (0..count.min(fits) as u16).map(move |index| Cell { image, index })
    }

    /// Reads a row with its overflow pages. Returns `None` if its length or the chain of pages is invalid.
    pub fn row(&mut self, cell: Cell) -> Option<Row> {
        let page = self.page(cell.image);
        let kind = page[0];
        let pointer = first_pointer(page) + 2 * usize::from(cell.index);
        let mut at = usize::from(half(page, pointer));
        if kind == INDEX_NODE {
            at += 4;
        }
        let length = usize::try_from(varint(page, &mut at)?).ok().filter(|length| *length <= LONGEST)?;
        let id = match kind {
            TABLE_LEAF => Some(varint(page, &mut at)?),
            _ => None,
        };
        let here = local(length, kind == TABLE_LEAF);
        let mut bytes = page.get(at..at + here)?.to_vec();
        if here < length {
            let mut next = page.get(at + here..at + here + 4)?.try_into().map(u32::from_be_bytes).ok()?;
            while bytes.len() < length {
                if next < 2 {
                    return None;
                }
                let image = self.beside(cell.image, next);
                if image.log.is_none() && next > self.count {
                    return None;
                }
                let page = self.page(image);
                next = page.get(..4)?.try_into().map(u32::from_be_bytes).ok()?;
                bytes.extend_from_slice(&page[4..PAGE.min(4 + length - bytes.len())]);
            }
        }
        Some(Row { id, bytes })
    }
}

impl Row {
    /// Decodes the columns. Returns `None` if the record is malformed.
    pub fn columns(&self) -> Option<Vec<ValueRef<'_>>> {
        let mut at = 0;
        let header = usize::try_from(varint(&self.bytes, &mut at)?).ok()?;
        let mut body = header;
        let mut columns = Vec::new();
        while at < header {
            let kind = varint(&self.bytes, &mut at)?;
            let length = match kind {
                0 | 8 | 9 => 0,
                1..=4 => kind as usize,
                5 => 6,
                6 => 8,
                12.. => usize::try_from((kind - 12) / 2).ok()?,
                _ => return None,
            };
            let bytes = self.bytes.get(body..body.checked_add(length)?)?;
            body += length;
            columns.push(match kind {
                0 => ValueRef::Null,
                8 => ValueRef::Integer(0),
                9 => ValueRef::Integer(1),
                1..=6 => ValueRef::Integer(integer(bytes)),
                _ if kind % 2 == 0 => ValueRef::Blob(bytes),
                _ => ValueRef::Text(bytes),
            });
        }
        (at == header && body == self.bytes.len()).then_some(columns)
    }
}

const TABLE_LEAF: u8 = 0x0d;
const INDEX_LEAF: u8 = 0x0a;
const INDEX_NODE: u8 = 0x02;

/// Returns the offset of the first cell pointer.
fn first_pointer(page: &[u8]) -> usize {
    if page[0] == INDEX_NODE { 12 } else { 8 }
}

fn half(page: &[u8], at: usize) -> u16 {
    page.get(at..at + 2).and_then(|half| half.try_into().ok()).map_or(0, u16::from_be_bytes)
}

/// Returns how many bytes of a row of `length` bytes are in the page where it begins.
fn local(length: usize, table: bool) -> usize {
    let most = if table { PAGE - 35 } else { (PAGE - 12) * 64 / 255 - 23 };
    let least = (PAGE - 12) * 32 / 255 - 23;
    if length <= most {
        return length;
    }
    let here = least + (length - least) % (PAGE - 4);
    if here <= most { here } else { least }
}

/// Reads an SQLite varint of 1 to 9 bytes, the most significant first.
fn varint(bytes: &[u8], at: &mut usize) -> Option<i64> {
    let mut value: u64 = 0;
    for index in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if index == 8 {
            return Some((value << 8 | u64::from(byte)) as i64);
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            break;
        }
    }
    Some(value as i64)
}

/// Reads a big-endian integer in two's complement.
fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte))
}
