//! Opens a buffer, and holds the state that is cached from its file.

use super::{
    Totals, changes,
    damage::is_damage,
    devices::Devices,
    duplicates::Duplicates,
    file::{self, BufferError, BufferFile},
    in_place::{Fault, Files, Identity},
    layouts,
    position::Position,
    quarantine::{self, InQuarantine, Left},
    register,
};
use crate::{
    Formats, LayoutKey,
    message::Sent,
    retention::Retention,
    settings::{BufferSettings, QuarantineSettings},
};
use dunnage_base::clock;
use rusqlite::{Connection, ErrorCode};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

/// The parameters for opening a buffer.
pub struct Options<'a> {
    /// The settings of the buffer.
    pub buffer: &'a BufferSettings,
    /// The settings of the quarantine.
    pub quarantine: &'a QuarantineSettings,
    /// The names that the format of a message may have.
    pub formats: Formats,
    /// The outputs that must have resolved a message before retention may drop it.
    pub outputs: Vec<Arc<str>>,
}

/// An open buffer, ready to start.
pub struct Opened {
    pub(super) file: BufferFile,
    pub(super) loaded: Loaded,
    pub(super) window: (Duration, usize),
    pub(super) retention: Retention,
    pub(super) batch_messages: usize,
    pub(super) queue_messages: usize,
    pub(super) queue_bytes: usize,
    pub(super) quarantine_limit: Kept,
}

impl Opened {
    /// Returns the counts over the life of the buffer.
    pub fn totals(&self) -> &Totals {
        &self.loaded.totals
    }

    /// Returns the path of the database, and its identity.
    pub(super) fn identity(&self) -> (&Path, Identity) {
        (self.file.path(), self.loaded.files.database())
    }

    /// Takes the quarantine counts of each device.
    pub fn take_quarantined(&mut self) -> HashMap<String, InQuarantine> {
        std::mem::take(&mut self.loaded.quarantined)
    }

    /// Takes the records of the register, as JSON.
    pub fn take_registered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.loaded.registered)
    }

    /// Returns the packed layouts that the buffer's messages were decoded with.
    pub fn layouts(&self) -> &HashSet<Arc<LayoutKey>> {
        &self.loaded.layouts
    }

    /// Returns the messages that are remembered to detect duplicates.
    pub fn duplicates(&self) -> &Duplicates {
        &self.loaded.duplicates
    }

    /// Returns how far each output is.
    pub fn positions(&self) -> &HashMap<Arc<str>, Position> {
        &self.loaded.positions
    }
}

/// An open file, and the state that is cached from it.
pub struct Loaded {
    pub connection: Connection,
    /// The files that the connection uses.
    pub files: Files,
    pub totals: Totals,
    pub kept: Kept,
    /// The quarantine counts of each device when the file was read. The observer takes this over.
    pub quarantined: HashMap<String, InQuarantine>,
    /// The records of the register when the file was read.
    pub registered: Vec<String>,
    /// The packed layouts that the buffer's messages were decoded with.
    pub layouts: HashSet<Arc<LayoutKey>>,
    /// The cursors of outputs.
    pub cursors: HashMap<Arc<str>, i64>,
    /// How far outputs were when the file was read.
    pub positions: HashMap<Arc<str>, Position>,
    pub duplicates: Duplicates,
    pub devices: Devices,
}

impl Loaded {
    /// Checks that the files at the buffer's path are those that are open, and complete.
    pub fn check_files(&mut self) -> Result<(), Fault> {
        self.files.check(&self.connection)
    }
}

/// How much the quarantine holds, or may hold.
#[derive(Clone, Copy)]
pub struct Kept {
    pub messages: u64,
    pub bytes: u64,
}

impl Kept {
    /// Adds a message of `bytes` bytes.
    pub fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }

    /// Subtracts the messages that have left the quarantine.
    pub fn less(&mut self, left: &Left) {
        self.messages = self.messages.saturating_sub(left.devices.len() as u64);
        self.bytes = self.bytes.saturating_sub(left.bytes);
    }
}

/// Opens a buffer, or creates it if it does not exist. A damaged one is moved aside, and a new one gets everything that can still be read.
/// `dedup_by_payload` returns whether messages of a device and with an origin, but without a key, are duplicates when their bytes are equal.
pub fn open(
    options: Options<'_>,
    dedup_by_payload: &dyn Fn(Sent<'_>) -> bool,
) -> Result<Opened, BufferError> {
    let Options { buffer, quarantine, formats, outputs } = options;
    let window = Duration::from_secs(buffer.duplicate_window_seconds);
    let window = (window, buffer.duplicate_limit_messages);
    let file = BufferFile::lock(&buffer.path, formats)?;
    if let Some(reason) = file.check()? {
        file.recover(reason, None)?;
    }
    let loaded = match load(&file, window, dedup_by_payload) {
        Err(BufferError::Sqlite { source, .. }) if is_damage(&source) || is_incomplete(&source) => {
            file.recover(&source.to_string(), None)?;
            load(&file, window, dedup_by_payload)
        }
        other => other,
    }?;
    file.remember(&loaded.totals.name)?;
    let retention = Retention::new(buffer, outputs, &loaded.cursors);
    let quarantine_limit = Kept { messages: quarantine.messages as u64, bytes: quarantine.bytes as u64 };
    Ok(Opened {
        file,
        loaded,
        window,
        retention,
        batch_messages: buffer.batch_messages,
        queue_messages: buffer.queue_messages,
        queue_bytes: buffer.queue_bytes,
        quarantine_limit,
    })
}

/// Returns whether tables or their rows are missing.
fn is_incomplete(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{QueryReturnedNoRows, SqlInputError};
    matches!(error, QueryReturnedNoRows | SqlInputError { .. })
        || error.sqlite_error_code() == Some(ErrorCode::Unknown)
}

/// Opens the file and loads what the writer caches. `window` is how long messages are remembered to detect duplicates, and how many at
/// most.
pub fn load(
    file: &BufferFile,
    window: (Duration, usize),
    dedup_by_payload: &dyn Fn(Sent<'_>) -> bool,
) -> Result<Loaded, BufferError> {
    let connection = file.open()?;
    let files = file.files()?;
    let read = || -> rusqlite::Result<_> {
        let totals = Totals::load(&connection)?;
        let about = (layouts::load(&connection)?, register::load(&connection)?);
        let cursors = changes::cursors(&connection)?;
        let positions = Position::load(&connection, &cursors)?;
        let (messages, bytes) = quarantine::size(&connection)?;
        let kept = (Kept { messages, bytes }, quarantine::counts(&connection)?);
        let mut duplicates = Duplicates::new(window.0, window.1);
        duplicates.load(&connection, clock::now(), dedup_by_payload)?;
        Ok((totals, about, (cursors, positions), kept, duplicates))
    };
    let (totals, (layouts, registered), (cursors, positions), (kept, quarantined), duplicates) =
        read().map_err(|source| file.failed(source))?;
    let devices = Devices::default();
    Ok(Loaded {
        connection,
        files,
        totals,
        registered,
        layouts,
        cursors,
        positions,
        kept,
        quarantined,
        duplicates,
        devices,
    })
}

/// Returns the records in the buffer at `path`, as JSON; none if it does not exist, or is from before the register. A gateway may have the
/// buffer open.
pub fn stored_register(path: &Path) -> rusqlite::Result<Vec<String>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let connection = file::open_to_read(path)?;
    if connection.table_exists(None, "register")? { register::load(&connection) } else { Ok(Vec::new()) }
}
