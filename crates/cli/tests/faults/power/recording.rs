//! The writes of the gateway, in order, as `recorder.c` recorded them.

use crate::{Failure, process};
use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A recorded call.
pub struct Call {
    /// When it had returned, in microseconds since 1970.
    pub at: u64,
    pub kind: Kind,
}

/// A file or folder that existed during the recording, under any name.
pub type FileId = usize;

pub enum Kind {
    Create {
        file: FileId,
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    Folder {
        path: PathBuf,
    },
    Write {
        file: FileId,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: FileId,
        length: u64,
    },
    Sync {
        file: FileId,
    },
    /// Names in this folder are on disk.
    SyncFolder {
        path: PathBuf,
    },
}

/// Compiles the recorder in `folder`.
pub fn recorder(folder: &Path) -> Result<PathBuf, Failure> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/power/recorder.c");
    let library = folder.join("recorder.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    process::run(&mut compiler)?;
    Ok(library)
}

/// Reads a recording of `folder`. Paths become relative to it.
pub fn read(recording: &Path, folder: &Path) -> Result<Vec<Call>, Failure> {
    let bytes = fs::read(recording)?;
    let mut reader =
        Reader { rest: &bytes, folder, files: HashMap::new(), folders: HashMap::new(), count: 0 };
    let mut calls = Vec::new();
    while !reader.rest.is_empty() {
        // The last record is incomplete if the process was killed while it was written.
        match reader.call() {
            Some((at, Some(kind))) => calls.push(Call { at, kind }),
            Some((_, None)) => {}
            None => break,
        }
    }
    Ok(calls)
}

struct Reader<'a> {
    rest: &'a [u8],
    folder: &'a Path,
    /// Files by inode, which another file may have later.
    files: HashMap<u64, FileId>,
    folders: HashMap<u64, PathBuf>,
    count: usize,
}

impl Reader<'_> {
    /// Reads a record. Returns its time and the call, or `None` in its place if it changes nothing.
    fn call(&mut self) -> Option<(u64, Option<Kind>)> {
        let end = self.rest.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&self.rest[..end]).ok()?;
        self.rest = &self.rest[end + 1..];
        let (at, line) = line.split_once(' ')?;
        let (name, rest) = line.split_once(' ')?;
        let mut words = rest.splitn(3, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let kind =
            match name {
                "create" => {
                    let (inode, path) = rest.split_once(' ')?;
                    let file = self.new_file(inode.parse().ok()?);
                    Some(Kind::Create { file, path: self.path(path) })
                }
                "open" => {
                    let (inode, path) = rest.split_once(' ')?;
                    let (inode, relative) = (inode.parse().ok()?, self.path(path));
                    if Path::new(path).is_dir() {
                        self.folders.insert(inode, relative);
                        None
                    } else if self.files.contains_key(&inode) {
                        None
                    } else {
                        // It existed before the recording began, and is not part of it.
                        self.new_file(inode);
                        None
                    }
                }
                "rename" => {
                    let (from, to) = rest.split_once('\t')?;
                    Some(Kind::Rename { from: self.path(from), to: self.path(to) })
                }
                "remove" => Some(Kind::Remove { path: self.path(rest) }),
                "folder" => Some(Kind::Folder { path: self.path(rest) }),
                "write" => {
                    let (inode, offset, length) = (number()?, number()?, number()? as usize);
                    let bytes = self.rest.get(..length)?.to_vec();
                    self.rest = &self.rest[length..];
                    Some(Kind::Write { file: self.file(inode), offset, bytes })
                }
                "truncate" => {
                    let (inode, length) = (number()?, number()?);
                    Some(Kind::Truncate { file: self.file(inode), length })
                }
                "sync" => {
                    let inode = number()?;
                    let folder = self.folders.get(&inode).cloned();
                    Some(folder.map_or_else(
                        || Kind::Sync { file: self.file(inode) },
                        |path| Kind::SyncFolder { path },
                    ))
                }
                _ => return None,
            };
        Some((at.parse().ok()?, kind))
    }

    fn file(&mut self, inode: u64) -> FileId {
        match self.files.get(&inode) {
            Some(file) => *file,
            None => self.new_file(inode),
        }
    }

    fn new_file(&mut self, inode: u64) -> FileId {
        self.folders.remove(&inode);
        self.files.insert(inode, self.count);
        self.count += 1;
        self.count - 1
    }

    fn path(&self, path: &str) -> PathBuf {
        let path = Path::new(path.strip_suffix("/.").unwrap_or(path));
        path.strip_prefix(self.folder).unwrap_or(path).to_owned()
    }
}
