//! Files that grow by whole lines. An append that was under way when the power failed may be in the file in part: without its end, or with a
//! later page and without an earlier one. It was never acknowledged, so its messages come again. Everything from its first line that is not
//! whole is cut off.

use dunnage_base::folders;
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// How many bytes at the end of a file are read at first.
const WINDOW: u64 = 64 << 10;
/// The size of the write buffer, in bytes.
const BUFFERED: usize = 64 << 10;
/// Largest number of damaged lines in a file. Only the last append can be damaged, so a file with more is not one of ours.
const DAMAGED: usize = 5000;

/// A file to which lines are appended.
#[derive(Debug)]
pub struct Growing {
    path: PathBuf,
    /// How many bytes of it are durable.
    len: u64,
    /// Whether a failed append may have left bytes after these.
    torn: bool,
}

/// How the lines of a file are read. Both functions return the message ID of a line.
pub struct Lines<I, W> {
    /// The last message ID whose line was synchronized.
    pub durable_to: i64,
    /// Recognizes a line that may have been synchronized.
    pub id_of: I,
    /// Checks every byte of a line.
    pub whole: W,
}

impl Growing {
    /// Opens the file at `path`, and returns its last message ID. The file need not exist. Checks all lines that may not have been synchronized,
    /// and cuts the file off at the first that is not whole. Returns an error if more than [`DAMAGED`] lines are not lines of this file.
    pub fn open(
        path: PathBuf,
        lines: &Lines<impl Fn(&[u8]) -> Option<i64>, impl Fn(&[u8]) -> Option<i64>>,
    ) -> io::Result<(Growing, Option<i64>)> {
        let mut file = match File::options().read(true).write(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok((Growing { path, len: 0, torn: false }, None));
            }
            opened => opened?,
        };
        let found = file.metadata()?.len();
        let (mut from, mut len, mut last, mut damaged) = (found, 0, None, 0);
        while let Some((start, end)) = last_line(&mut file, from)? {
            from = start;
            match (lines.id_of)(&read(&mut file, start, end)?) {
                Some(id) if id <= lines.durable_to => {
                    (len, last) = (end + 1, Some(id));
                    break;
                }
                Some(_) => {}
                None => damaged += 1,
            }
            if damaged > DAMAGED {
                let message = "this output did not write these lines; move the file away";
                return Err(io::Error::other(format!("{}: {message}", path.display())));
            }
        }
        file.seek(SeekFrom::Start(len))?;
        let (mut reader, mut line) = (BufReader::new((&mut file).take(found - len)), Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0
            && line.pop() == Some(b'\n')
            && let Some(id) = (lines.whole)(&line).filter(|id| last.is_none_or(|last| last < *id))
        {
            (len, last) = (len + line.len() as u64 + 1, Some(id));
            line.clear();
        }
        drop(reader);
        if len < found {
            tracing::warn!(file = %path.display(), bytes = found - len, "removed an append that is not complete from the end of the file");
            file.set_len(len)?;
        }
        // The file may not be on disk yet, but from here on its content counts as written.
        file.sync_all()?;
        Ok((Growing { path, len, torn: false }, last))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many bytes are durable.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the last append failed.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// Returns whether the file still has the size that it was left with, or more after a failed append. Otherwise somebody has moved or
    /// changed it.
    pub fn is_as_left(&self) -> bool {
        let found = fs::metadata(&self.path).map_or(0, |about| about.len());
        found == self.len || (self.torn && found > self.len)
    }

    /// Appends the lines that `write` writes. They are durable on return. After an error, none of them count: the next append overwrites
    /// them.
    pub fn append(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut file = File::options().create(true).truncate(false).write(true).open(&self.path)?;
        if self.torn {
            file.set_len(self.len)?;
        }
        self.torn = true;
        file.seek(SeekFrom::Start(self.len))?;
        let mut lines = BufWriter::with_capacity(BUFFERED, &mut file);
        write(&mut lines)?;
        lines.flush()?;
        drop(lines);
        let end = file.stream_position()?;
        file.sync_data()?;
        if self.len == 0 {
            folders::sync_above(&self.path)?;
        }
        self.torn = false;
        self.len = end;
        Ok(())
    }
}

/// Returns the start and the end of the last complete line in the first `len` bytes.
fn last_line(file: &mut File, len: u64) -> io::Result<Option<(u64, u64)>> {
    let mut window = WINDOW;
    loop {
        let from = len.saturating_sub(window);
        let bytes = read(file, from, len)?;
        let newline = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n');
        if let Some(end) = newline(&bytes) {
            match newline(&bytes[..end]) {
                Some(before) => return Ok(Some((from + before as u64 + 1, from + end as u64))),
                None if from == 0 => return Ok(Some((0, end as u64))),
                None => {}
            }
        } else if from == 0 {
            return Ok(None);
        }
        window *= 4;
    }
}

fn read(file: &mut File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(line: &[u8]) -> Option<i64> {
        std::str::from_utf8(line).ok()?.trim_start_matches('x').parse().ok()
    }

    fn open(path: &Path, durable_to: i64) -> io::Result<(Growing, Option<i64>)> {
        let whole = |line: &[u8]| number(line).filter(|_| !line.starts_with(b"x"));
        Growing::open(path.to_owned(), &Lines { durable_to, id_of: number, whole })
    }

    #[test]
    fn what_is_not_whole_is_cut_and_the_last_line_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let long = format!("{}3", "0".repeat(200_000));
        for (durable_to, before, last, after) in [
            (0, "", None, ""),
            (0, "12", None, ""),
            (0, "12\n", Some(12), "12\n"),
            (0, "12\n34", Some(12), "12\n"),
            (0, "12\n34\n", Some(34), "12\n34\n"),
            (0, "12\n\0\0\0\n\0\0", Some(12), "12\n"),
            (0, "y\ny\n", None, ""),
            (0, &*format!("2\n{long}\n{long}"), Some(3), &*format!("2\n{long}\n")),
            // A hole: the bytes after it were not synchronized either, even if they look complete.
            (2, "1\n2\n3\n\0\0\0y\n6\n", Some(3), "1\n2\n3\n"),
            (2, "1\n2\n\0\0\0\0\n4\n5\n", Some(2), "1\n2\n"),
            (0, "\0\0\0\n4\n5\n", None, ""),
            // Remains of another file.
            (2, "1\n2\n3\n3\n4\n", Some(3), "1\n2\n3\n"),
            // Synchronized bytes are never cut off, even if they look damaged.
            (4, "1\ny\nx3\nx4\n5\nx6\n", Some(5), "1\ny\nx3\nx4\n5\n"),
        ] {
            fs::write(&path, before).unwrap();
            let (file, found) = open(&path, durable_to).unwrap();
            assert_eq!((found, file.len), (last, after.len() as u64), "{before:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[test]
    fn another_program_s_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let theirs = "not ours\n".repeat(DAMAGED + 1);
        fs::write(&path, &theirs).unwrap();
        assert!(open(&path, 0).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    }

    #[test]
    fn an_append_that_failed_leaves_nothing_once_the_next_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let (mut file, _) = open(&path, 0).unwrap();
        file.append(|to| to.write_all(b"1\n")).unwrap();
        // As if the disk became full in the middle of a batch.
        file.torn = true;
        fs::write(&path, "1\n2\n3").unwrap();
        assert!(file.is_as_left());
        file.append(|to| to.write_all(b"2\n")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
        fs::remove_file(&path).unwrap();
        assert!(!file.is_as_left());
    }
}
