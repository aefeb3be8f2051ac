//! Checks that the buffer's files are still in place, and repairs what it can.
//!
//! A deleted or replaced file is repaired if no message is lost by that, and a file that was cut off is recovered. In all other cases the
//! writer refuses messages until the files are back.

use super::{
    Observer, Writer,
    file::BufferError,
    in_place::{Fault, FaultKind, Part},
    opened::load,
};

/// The result of a check of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The files were in place.
    InPlace,
    /// The files are in place again after a fault. The buffer was reloaded.
    Again,
}

impl<O: Observer> Writer<O> {
    /// Checks that the files at the buffer's path are those that are open, and repairs them if possible. After an error, no message may be
    /// acknowledged.
    pub(super) fn find_files(&mut self) -> Result<Found, Fault> {
        let mut looked = self.loaded.check_files();
        if self.fault.is_some() {
            looked = looked.and_then(|()| self.loaded.files.check_writable());
        } else if looked.is_ok() {
            return Ok(Found::InPlace);
        }
        if let Err(fault) = looked {
            self.note(&fault);
            if fault.kind == FaultKind::Cut {
                return if self.recover(&fault.to_string()) { Ok(Found::Again) } else { Err(fault) };
            }
            self.repair(&fault)?;
        }
        match self.load_again() {
            true => Ok(Found::Again),
            false => self.fault.clone().map_or(Ok(Found::Again), Err),
        }
    }

    /// Returns whether messages can probably be written. Writes nothing to find out.
    pub(super) fn is_well(&mut self) -> bool {
        let looked = self.loaded.check_files().and_then(|()| self.loaded.files.check_writable());
        if let Err(fault) = &looked {
            self.note(fault);
        }
        looked.is_ok() && self.fault.is_none() && !self.failed
    }

    /// Records a fault and logs it once.
    pub(super) fn note(&mut self, fault: &Fault) {
        if self.fault.as_ref() != Some(fault) {
            let stored = self.loaded.totals.stored;
            tracing::error!(
                %fault, stored,
                "the buffer's files cannot be used; no message is acknowledged until they are restored or the gateway is \
                 restarted"
            );
        }
        self.fault = Some(fault.clone());
    }

    /// Repairs a fault that can be repaired without losing a message.
    fn repair(&mut self, fault: &Fault) -> Result<(), Fault> {
        let repaired = match (fault.part, fault.kind) {
            // Checkpoint everything in the open log into the database; SQLite then starts a new log file.
            (Part::Log, FaultKind::Gone | FaultKind::Replaced) if self.loaded.files.log_is_missing() => {
                self.empty_log()
            }
            (Part::Lock, FaultKind::Gone) => self.file.lock_again(&self.loaded.totals.name),
            _ => return Err(fault.clone()),
        };
        repaired.map_err(|error| {
            tracing::warn!(%error, "the buffer could not be repaired; the gateway will retry");
            fault.clone()
        })
    }

    /// Checkpoints the log into the database, from the file that is still open.
    fn empty_log(&self) -> Result<(), BufferError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.loaded.connection.query_row(sql, [], |row| row.get::<_, bool>(0));
        match busy.map_err(|e| self.file.failed(e))? {
            false => Ok(()),
            true => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                Err(self.file.failed(rusqlite::Error::SqliteFailure(busy, None)))
            }
        }
    }

    /// Reopens the files and reloads what is cached in memory, because the files may contain a batch that was not acknowledged. Returns
    /// whether it succeeded.
    fn load_again(&mut self) -> bool {
        let before = self.loaded.files.database();
        let loaded = load(&self.file, self.window, &|sent| self.observer.dedup_by_payload(sent));
        match loaded {
            Ok(loaded) if loaded.files.database() == before => {
                self.loaded = loaded;
                self.observer.reopened(std::mem::take(&mut self.loaded.quarantined));
                self.readers.renew(before);
                self.retention.forget();
                self.stats.show(&self.loaded.totals);
                self.fault = None;
                tracing::info!("the buffer's files are in place again");
                return true;
            }
            // The database was replaced once more; the next check finds that.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the buffer cannot be reopened; the gateway will retry"),
        }
        false
    }
}
