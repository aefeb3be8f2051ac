//! Reads the write-ahead log without SQLite, which ignores everything after the first damaged frame.
//!
//! The format is at <https://www.sqlite.org/fileformat2.html#walformat>. The checksum of a frame continues that of the frame before it, so a
//! frame can be verified if the header of its predecessor is intact.

use super::{PAGE, read_at};
use std::{collections::HashMap, fs::File, path::Path};

const HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;
const FRAME: usize = FRAME_HEADER + PAGE;
/// How many times a log can have begun anew since a frame that was never overwritten. Each time adds one to the first half of the salt.
const EARLIER_LOGS: u32 = 1 << 20;

/// The states of pages in a log.
#[derive(Default)]
pub struct Wal {
    /// The offset of the state of each page that SQLite reads: the newest one up to the last commit before the first damaged frame.
    pub sqlite: HashMap<u32, u64>,
    /// The offset of the newest verified state of each page, up to the last commit in the log.
    pub newest: HashMap<u32, u64>,
    /// The page and the offset of every frame of this log up to its last commit, whether verified or not.
    pub frames: Vec<(u32, u64)>,
    /// Whether SQLite would ignore transactions that may have been acknowledged.
    pub damaged: bool,
}

/// A frame of the log.
struct Frame {
    page: u32,
    salt: [u8; 8],
    commits: bool,
    /// Whether the checksum continues that of the frame before it, or that of the header.
    verified: bool,
    at: u64,
}

/// Reads the log at `path`, if there is one.
pub fn read(path: &Path) -> Wal {
    let Ok(file) = File::open(path) else { return Wal::default() };
    let length = file.metadata().map_or(0, |about| about.len());
    if length < HEADER {
        return Wal { damaged: length > 0, ..Wal::default() };
    }
    let (header_salt, frames) = read_frames(&file, length);
    // If the header is damaged, the first verified frame tells the salt of this log.
    let first = || frames.iter().find(|frame| frame.verified).map(|frame| frame.salt);
    let Some(salt) = header_salt.or_else(first) else { return Wal::default() };
    let is_ours = |frame: &Frame| frame.salt == salt && frame.page != 0;
    let commits = |frame: &Frame| is_ours(frame) && frame.commits;
    let whole = frames.iter().take_while(|frame| header_salt.is_some() && is_ours(frame) && frame.verified);
    let whole = whole.count();
    let committed = frames[..whole].iter().rposition(commits).map_or(0, |last| last + 1);
    let end = frames.iter().rposition(commits).map_or(0, |last| last + 1);
    let ignored = &frames[committed.min(end)..end];
    let ours = || frames[..end].iter().filter(|frame| is_ours(frame));
    Wal {
        sqlite: pages(frames[..committed].iter()),
        newest: pages(ours().filter(|frame| frame.verified)),
        frames: ours().map(|frame| (frame.page, frame.at)).collect(),
        damaged: !ignored.is_empty() && (header_salt.is_none() || !is_unfinished(ignored, salt)),
    }
}

/// Returns whether frames that SQLite ignores are those of one transaction that did not reach the disk completely before a power failure.
/// That transaction was not acknowledged. A write can be missing as a whole or from one sector on, so each 8 bytes of a frame's header are
/// new, or zero, or those of an earlier log.
fn is_unfinished(frames: &[Frame], salt: [u8; 8]) -> bool {
    let half = |salt: [u8; 8]| word(&salt, 0);
    let unwritten = |frame: &Frame| {
        frame.salt == [0; 8] || (1..=EARLIER_LOGS).contains(&half(salt).wrapping_sub(half(frame.salt)))
    };
    let commits = frames.iter().filter(|frame| frame.salt == salt && frame.page != 0 && frame.commits);
    commits.count() == 1 && frames.iter().all(|frame| frame.salt == salt || unwritten(frame))
}

fn pages<'a>(frames: impl Iterator<Item = &'a Frame>) -> HashMap<u32, u64> {
    frames.map(|frame| (frame.page, frame.at)).collect()
}

/// Reads the salt of the header, if the header is intact, and all frames.
fn read_frames(file: &File, length: u64) -> (Option<[u8; 8]>, Vec<Frame>) {
    let mut header = [0; HEADER as usize];
    read_at(file, &mut header, 0);
    let little = header[..4] == 0x377f_0682_u32.to_be_bytes();
    let confirmed = (little || header[..4] == 0x377f_0683_u32.to_be_bytes())
        && sum(little, (0, 0), &header[..24]) == (word(&header, 24), word(&header, 28));
    let little = little || !confirmed && cfg!(target_endian = "little");
    let salt = |bytes: &[u8]| bytes.try_into().unwrap_or_default();
    let mut before = confirmed.then(|| (salt(&header[16..24]), (word(&header, 24), word(&header, 28))));
    let header_salt = before.map(|(salt, _)| salt);
    let mut bytes = vec![0; FRAME];
    let frames = (0..(length - HEADER).div_ceil(FRAME as u64)).map(|number| {
        let at = HEADER + number * FRAME as u64;
        bytes.fill(0);
        read_at(file, &mut bytes, at);
        let (salt, says) = (salt(&bytes[8..16]), (word(&bytes, 16), word(&bytes, 20)));
        let verified = before.is_some_and(|(salt_before, start)| {
            salt_before == salt
                && sum(little, sum(little, start, &bytes[..8]), &bytes[FRAME_HEADER..]) == says
        });
        before = (salt != [0; 8]).then_some((salt, says));
        let (page, commits) = (word(&bytes, 0), word(&bytes, 4) != 0);
        Frame { page, salt, commits, verified, at: at + FRAME_HEADER as u64 }
    });
    (header_salt, frames.collect())
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
