//! The files that a power failure leaves: all synchronized writes, and some of the later ones.

use super::recording::{Call, FileId, Kind};
use fastrand::Rng;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// The part of unsynchronized writes that survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Nothing.
    All,
    /// The first ones.
    Last,
    /// A random half.
    Half,
    /// A random half of their sectors of this many bytes.
    Sectors(u64),
}

pub const LOSSES: [Loss; 5] = [Loss::Sectors(4096), Loss::Sectors(512), Loss::Half, Loss::Last, Loss::All];

#[derive(Default)]
struct File<'a> {
    synchronized: Vec<u8>,
    since: Vec<&'a Kind>,
}

#[derive(Default)]
struct Disk<'a> {
    files: BTreeMap<FileId, File<'a>>,
    names: BTreeMap<PathBuf, FileId>,
    folders: BTreeSet<PathBuf>,
    /// Creations, renamings and removals in folders that were not synchronized since.
    renamings: Vec<&'a Kind>,
}

/// Writes to `folder` the files that remain after `calls` and a power failure. A name counts at once, or if `strict` only after its folder
/// was
/// synchronized; of the later ones, a random number of the first remain.
pub fn write(calls: &[Call], loss: Loss, strict: bool, random: &mut Rng, folder: &Path) -> io::Result<()> {
    let mut disk = Disk::default();
    for call in calls {
        disk.apply(&call.kind);
    }
    let renamings = std::mem::take(&mut disk.renamings);
    let remaining = if strict { random.usize(..=renamings.len()) } else { renamings.len() };
    renamings[..remaining].iter().for_each(|call| disk.rename(call));
    for path in &disk.folders {
        fs::create_dir_all(folder.join(path))?;
    }
    for (path, file) in &disk.names {
        let path = folder.join(path);
        // A name whose folder was lost is lost as well.
        if path.parent().is_some_and(Path::is_dir) {
            fs::write(path, disk.files.get(file).map(|file| file.left(loss, random)).unwrap_or_default())?;
        }
    }
    Ok(())
}

impl<'a> Disk<'a> {
    fn apply(&mut self, call: &'a Kind) {
        match call {
            Kind::Create { .. } | Kind::Rename { .. } | Kind::Remove { .. } | Kind::Folder { .. } => {
                self.renamings.push(call);
            }
            Kind::Write { file, .. } | Kind::Truncate { file, .. } => {
                self.files.entry(*file).or_default().since.push(call);
            }
            Kind::Sync { file } => {
                let file = self.files.entry(*file).or_default();
                for call in std::mem::take(&mut file.since) {
                    change(&mut file.synchronized, call);
                }
            }
            Kind::SyncFolder { path } => {
                let is_here = |call: &&Kind| changed_name(call).parent() == Some(path);
                let (here, elsewhere) = std::mem::take(&mut self.renamings).into_iter().partition(is_here);
                self.renamings = elsewhere;
                let here: Vec<_> = here;
                here.into_iter().for_each(|call| self.rename(call));
            }
        }
    }

    fn rename(&mut self, call: &Kind) {
        match call {
            Kind::Create { file, path } => drop(self.names.insert(path.clone(), *file)),
            Kind::Rename { from, to } => {
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            Kind::Remove { path } => drop(self.names.remove(path)),
            Kind::Folder { path } => drop(self.folders.insert(path.clone())),
            _ => {}
        }
    }
}

/// The path that a call creates or removes.
fn changed_name(call: &Kind) -> &Path {
    match call {
        Kind::Create { path, .. } | Kind::Remove { path } | Kind::Folder { path } => path,
        Kind::Rename { to, .. } => to,
        _ => Path::new(""),
    }
}

impl File<'_> {
    /// Returns the content after a power failure.
    fn left(&self, loss: Loss, random: &mut Rng) -> Vec<u8> {
        let mut bytes = self.synchronized.clone();
        let first = random.usize(..=self.since.len());
        for (number, call) in self.since.iter().enumerate() {
            match (loss, call) {
                (Loss::All, _) => {}
                (Loss::Last, _) if number >= first => {}
                (Loss::Last, _) => change(&mut bytes, call),
                (Loss::Sectors(sector), Kind::Write { offset, bytes: written, .. }) => {
                    change_sectors(&mut bytes, *offset, written, sector, random);
                }
                (Loss::Half | Loss::Sectors(_), _) => {
                    if random.bool() {
                        change(&mut bytes, call);
                    }
                }
            }
        }
        bytes
    }
}

fn change(bytes: &mut Vec<u8>, call: &Kind) {
    match call {
        Kind::Write { offset, bytes: written, .. } => put(bytes, *offset, written),
        Kind::Truncate { length, .. } => bytes.resize(*length as usize, 0),
        _ => {}
    }
}

/// Writes a random half of the sectors. The length is known to the file system before its data, so lost sectors are zeros there.
fn change_sectors(bytes: &mut Vec<u8>, offset: u64, written: &[u8], sector: u64, random: &mut Rng) {
    if random.bool() && bytes.len() < offset as usize + written.len() {
        bytes.resize(offset as usize + written.len(), 0);
    }
    let (mut at, end) = (offset, offset + written.len() as u64);
    while at < end {
        let next = (at / sector + 1) * sector;
        let here = next.min(end);
        if random.bool() {
            put(bytes, at, &written[(at - offset) as usize..(here - offset) as usize]);
        }
        at = here;
    }
}

fn put(bytes: &mut Vec<u8>, offset: u64, written: &[u8]) {
    let (from, to) = (offset as usize, offset as usize + written.len());
    if bytes.len() < to {
        bytes.resize(to, 0);
    }
    bytes[from..to].copy_from_slice(written);
}
