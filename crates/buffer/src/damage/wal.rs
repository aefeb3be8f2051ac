//! Reads the write-ahead log without SQLite, which ignores everything after the first damaged frame.
//!
//! The format is at <https://www.sqlite.org/fileformat2.html#walformat>.

use super::{PAGE, read_at};
use std::{collections::HashMap, fs::File, path::Path};

const HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;
const FRAME: usize = FRAME_HEADER + PAGE;

/// The pages in a log, up to its last commit.
#[derive(Default)]
pub struct Wal {
    /// The offset in the file of the newest state of each page.
    pub pages: HashMap<u32, u64>,
    /// Whether SQLite would ignore transactions that were committed.
    pub damaged: bool,
    /// Whether the header is intact. It tells the frames of this log from those of an earlier one in the same file.
    pub confirmed: bool,
}

/// A frame of the log that is not known to be damaged.
struct Frame {
    page: u32,
    commits: bool,
    at: u64,
    /// How many frames before it are damaged.
    behind: usize,
}

/// Reads the log at `path`, if there is one.
pub fn read(path: &Path) -> Wal {
    let Ok(file) = File::open(path) else { return Wal::default() };
    let length = file.metadata().map_or(0, |about| about.len());
    let Some(frames) = length.checked_sub(HEADER).map(|frames| frames.div_ceil(FRAME as u64)) else {
        return Wal { damaged: length > 0, ..Wal::default() };
    };
    let mut header = [0; HEADER as usize];
    read_at(&file, &mut header, 0);
    let little = header[..4] == 0x377f_0682_u32.to_be_bytes();
    let confirmed = (little || header[..4] == 0x377f_0683_u32.to_be_bytes())
        && sum(little, (0, 0), &header[..24]) == (word(&header, 24), word(&header, 28));
    let mut reader =
        Reader { little: little || !confirmed && cfg!(target_endian = "little"), salt: None, last: None };
    if confirmed {
        reader.salt = header[16..24].try_into().ok();
        reader.last = Some((word(&header, 24), word(&header, 28)));
    }
    let mut found: Vec<Frame> = Vec::new();
    let (mut bytes, mut damaged) = (vec![0; FRAME], 0);
    for number in 0..frames {
        let at = HEADER + number * FRAME as u64;
        bytes.fill(0);
        read_at(&file, &mut bytes, at);
        match reader.frame(&bytes) {
            Some((page, commits)) => {
                found.push(Frame { page, commits, at: at + FRAME_HEADER as u64, behind: damaged });
            }
            None => damaged += 1,
        }
    }
    let commits = found.iter().filter(|frame| frame.commits);
    // A power failure can also leave the last transaction in pieces; it was not acknowledged then. That looks the same as damage, and
    // treating it as damage loses nothing.
    let damaged = commits.filter(|frame| frame.behind > 0 || !confirmed).count() > 0;
    let last = found.iter().rposition(|frame| frame.commits).map_or(0, |last| last + 1);
    let pages = found[..last].iter().map(|frame| (frame.page, frame.at)).collect();
    Wal { pages, damaged, confirmed }
}

/// Verifies one frame after the other.
struct Reader {
    little: bool,
    salt: Option<[u8; 8]>,
    /// The checksum of the previous frame, if it is known.
    last: Option<(u32, u32)>,
}

impl Reader {
    /// Returns the page number of a frame, and whether it commits a transaction. Returns `None` for a frame that is damaged or of another
    /// log. If the previous checksum is unknown, only the salt of the frame is compared.
    fn frame(&mut self, bytes: &[u8]) -> Option<(u32, bool)> {
        let salt: [u8; 8] = bytes[8..16].try_into().ok()?;
        let (before, says) = (self.last, (word(bytes, 16), word(bytes, 20)));
        let page = word(bytes, 0);
        let known = self.salt.is_none_or(|known| known == salt) && salt != [0; 8] && page != 0;
        self.last = known.then_some(says);
        if !known {
            return None;
        }
        if let Some(before) = before {
            let first = sum(self.little, before, &bytes[..8]);
            if sum(self.little, first, &bytes[FRAME_HEADER..]) != says {
                return None;
            }
            // If the header is damaged, the first frame whose checksum continues that of its predecessor tells the salt of this log.
            self.salt = Some(salt);
        } else if self.salt.is_none() {
            return None;
        }
        Some((page, word(bytes, 4) != 0))
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// Continues the log's checksum over pairs of words.
fn sum(little: bool, start: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let word = |word: &[u8]| {
        let word = word.try_into().unwrap_or_default();
        if little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
    };
    bytes.chunks_exact(8).fold(start, |(mut a, mut b), pair| {
        a = a.wrapping_add(word(&pair[..4])).wrapping_add(b);
        b = b.wrapping_add(word(&pair[4..])).wrapping_add(a);
        (a, b)
    })
}
