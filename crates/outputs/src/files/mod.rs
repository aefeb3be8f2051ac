//! The output `[output.files]`: files by day, as NDJSON, CSV or Parquet.
//!
//! The day and the buffer of a message determine its file, and in CSV and Parquet its schema does, too. IDs ascend in each file, so the
//! last ID in a file tells which messages it has: a message that is delivered again is not written again. Bytes after the saved cursor may
//! not have been synchronized, and are checked before they count.

mod csv;
mod growing;
mod ndjson;
mod parquet;

pub use crate::records::{FileFormat, csv::Formulas};

use super::{Catalog, Failed, Message, Output, Partitions, Shape};
use crate::records::{
    csv::Style,
    row::{self, Row},
};
use dunnage_base::folders;
use serde::{Deserialize, Serialize};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

/// Example for the default configuration, commented out.
pub const EXAMPLE: &str = "\
# Files by day (UTC) in a folder: ndjson, csv or parquet.
# [[output]]
# name = \"files\"
# [output.files]
# path = \"data/files\"
# kind = \"ndjson\"
# Also formulas and bom (csv), and readable_after_seconds (parquet): docs/outputs.md.
";

/// The settings in `[output.files]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The folder. It is created if it is missing.
    pub path: PathBuf,
    /// The format of the files.
    pub kind: FileFormat,
    /// What to do with texts in CSV that a spreadsheet would take for formulas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formulas: Option<Formulas>,
    /// Whether each CSV file begins with a byte order mark, for spreadsheets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bom: Option<bool>,
    /// How many seconds a message may wait until it is in a finished Parquet file; by default 600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable_after_seconds: Option<u64>,
}

/// The default of `readable_after_seconds`.
const READABLE_AFTER: u64 = 600;
/// How often to check whether a file is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The output.
pub struct Files {
    folder: PathBuf,
    kind: FileFormat,
    archive: Arc<Mutex<Box<dyn Archive>>>,
    /// The last message ID up to which files are synchronized.
    durable_to: Arc<AtomicI64>,
}

/// Writes files of one format.
trait Archive: Send {
    /// Makes those of `rows` durable that are not in a file yet. After an error, some of them may be durable, and the same rows may come
    /// again. Rows up to the ID `durable_to` that are in a file are durable.
    fn write(&mut self, folder: &Path, rows: &[Row<'_>], durable_to: i64) -> io::Result<()>;

    /// Finishes the files of `buffer` that are due.
    fn tend(&mut self, _folder: &Path, _buffer: &str, _: &dyn Catalog, _durable_to: i64) -> io::Result<()> {
        Ok(())
    }
}

impl Files {
    /// Creates the output. Returns an error for invalid settings.
    pub fn new(settings: &Settings) -> Result<Files, String> {
        if settings.path.as_os_str().is_empty() {
            return Err("path: must name a folder".into());
        }
        if settings.formulas.is_some() && settings.kind != FileFormat::Csv {
            return Err("formulas: needs kind = \"csv\"".into());
        }
        if settings.bom.is_some() && settings.kind != FileFormat::Csv {
            return Err("bom: needs kind = \"csv\"".into());
        }
        if settings.readable_after_seconds.is_some() && settings.kind != FileFormat::Parquet {
            return Err(
                "readable_after_seconds: needs kind = \"parquet\"; files of other kinds are readable at once"
                    .into(),
            );
        }
        let after = settings.readable_after_seconds.unwrap_or(READABLE_AFTER);
        if !(1..=86_400).contains(&after) {
            return Err("readable_after_seconds: must be 1 to 86400".into());
        }
        let style =
            Style { formulas: settings.formulas.unwrap_or_default(), bom: settings.bom.unwrap_or_default() };
        let archive: Box<dyn Archive> = match settings.kind {
            FileFormat::Ndjson => Box::new(ndjson::Ndjson::default()),
            FileFormat::Csv => Box::new(csv::Csv::new(style)),
            FileFormat::Parquet => Box::new(parquet::Parquet::new(Duration::from_secs(after))),
        };
        Ok(Files {
            folder: settings.path.clone(),
            kind: settings.kind,
            archive: Arc::new(Mutex::new(archive)),
            durable_to: Arc::default(),
        })
    }
}

#[async_trait::async_trait]
impl Output for Files {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::One, batch: 4096, linger: Duration::from_millis(100) }
    }

    fn resume(&self, _buffer: &str, delivered_to: i64) {
        self.durable_to.store(delivered_to, Ordering::Relaxed);
    }

    fn tends_every(&self) -> Option<Duration> {
        (self.kind == FileFormat::Parquet).then_some(CHECK_INTERVAL)
    }

    async fn tend(&self, buffer: &str, catalog: Arc<dyn Catalog>) {
        let (folder, archive, buffer) = (self.folder.clone(), Arc::clone(&self.archive), buffer.to_owned());
        let durable_to = self.durable_to.load(Ordering::Relaxed);
        let tended = tokio::task::spawn_blocking(move || {
            let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
            archive.tend(&folder, &buffer, &*catalog, durable_to).map_err(|e| (folder, e))
        });
        if let Ok(Err((folder, error))) = tended.await {
            tracing::warn!(folder = %folder.display(), %error, "a file could not be completed; the output will retry");
        }
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        let (folder, archive, messages) = (self.folder.clone(), Arc::clone(&self.archive), messages.to_vec());
        let durable_to = Arc::clone(&self.durable_to);
        // After a timeout the write still runs to its end, and the next call waits for that.
        let written = tokio::task::spawn_blocking(move || {
            let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
            write(&mut **archive, &folder, &messages, &durable_to)
        });
        written.await.unwrap_or_else(|e| Err(Failed::retry(e.to_string())))
    }
}

/// Writes the messages up to the first that cannot be in a file.
fn write(
    archive: &mut dyn Archive,
    folder: &Path,
    messages: &[Message],
    durable_to: &AtomicI64,
) -> Result<(), Failed> {
    let to = durable_to.load(Ordering::Relaxed);
    // The last ID in a file says what it has, so a line before that would be lost at the next start, or repeat all after it.
    let late = messages.iter().position(|message| message.is_dead_letter && message.id <= to);
    let (rows, mut refused) = row::rows(&messages[..late.unwrap_or(messages.len())]);
    if let (Some(at), true) = (late, refused.is_ok()) {
        let reason = "files are in the order of the message IDs, and have later messages already";
        refused = Err(Failed::refused(reason).after(at));
    }
    let failed = |e: io::Error| Failed::retry(format!("{}: {e}", folder.display()));
    folders::create(folder).map_err(failed)?;
    archive.write(folder, &rows, to).map_err(failed)?;
    if let Some(last) = rows.last() {
        durable_to.fetch_max(last.message.id, Ordering::Relaxed);
    }
    refused
}

/// Returns the rows with IDs above `last_id`. The others are in the file already.
fn new_rows<'r, 'm>(rows: &'r [&'r Row<'m>], last_id: i64, file: &Path) -> &'r [&'r Row<'m>] {
    let there = rows.partition_point(|row| row.message.id <= last_id);
    if there > 0 {
        tracing::info!(file = %file.display(), messages = there, "messages were delivered again; the file already has them");
    }
    &rows[there..]
}

#[cfg(test)]
mod tests;
