//! Files with the credentials of inputs and outputs and the certificates that they trust. They are read at the start, and again by a
//! reload, or by a new connection.
//!
//! A reload reads all of them before it uses any, so that one invalid file leaves everything as it was.

use crate::mqtt::Trust;
use arc_swap::ArcSwap;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A file with a token, a password, credentials or certificates. Its text is never shown.
pub struct SecretFile {
    key: &'static str,
    path: PathBuf,
    /// Checks a text.
    check: fn(&str) -> Result<(), String>,
    text: ArcSwap<String>,
    changes: AtomicU64,
}

impl SecretFile {
    /// Reads the file that the setting `key` names. An error begins with the key.
    pub fn open(
        key: &'static str,
        path: PathBuf,
        check: fn(&str) -> Result<(), String>,
    ) -> Result<Arc<SecretFile>, String> {
        let (text, changes) = (ArcSwap::default(), AtomicU64::new(0));
        let file = SecretFile { key, path, check, text, changes };
        file.text.store(Arc::new(file.read()?));
        Ok(Arc::new(file))
    }

    /// Returns the text, without surrounding white space.
    pub fn text(&self) -> Arc<String> {
        self.text.load_full()
    }

    /// Reads the file again, and returns its text. If that is invalid or cannot be read, returns the last one.
    pub fn read_again(&self) -> Arc<String> {
        match self.read() {
            Ok(text) => self.replace(text),
            Err(why) => tracing::warn!(why, "a file cannot be used; its last content is used instead"),
        }
        self.text()
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how often a reload has found another text.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn read(&self) -> Result<String, String> {
        let failed = |e: &dyn std::fmt::Display| format!("{}: {}: {e}", self.key, self.path.display());
        let text = std::fs::read_to_string(&self.path).map_err(|e| failed(&e))?;
        let text = text.trim().to_owned();
        (self.check)(&text).map_err(|e| format!("{}: {e}", self.key))?;
        Ok(text)
    }

    fn replace(&self, text: String) {
        if *self.text.load_full() != text {
            self.text.store(Arc::new(text));
            self.changes.fetch_add(1, Ordering::Release);
        }
    }
}

/// Accepts any text.
pub fn any(_: &str) -> Result<(), String> {
    Ok(())
}

/// Accepts PEM certificates to trust.
pub fn certificates(text: &str) -> Result<(), String> {
    Trust::new(Some(text.as_bytes())).map(drop)
}

/// The files of all inputs and outputs, each with the table that names it.
pub struct SecretFiles(pub Vec<(String, Arc<SecretFile>)>);

/// The texts of all files, read again and not used yet.
pub struct NewSecrets(Vec<(Arc<SecretFile>, String)>);

/// A file that cannot be used, with its table and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{table}: {message}")]
pub struct SecretError {
    table: String,
    message: String,
}

impl SecretFiles {
    /// Reads all of them again.
    pub fn read(&self) -> Result<NewSecrets, SecretError> {
        let read = |(table, file): &(String, Arc<SecretFile>)| match file.read() {
            Ok(text) => Ok((Arc::clone(file), text)),
            Err(message) => Err(SecretError { table: table.clone(), message }),
        };
        self.0.iter().map(read).collect::<Result<_, _>>().map(NewSecrets)
    }
}

impl NewSecrets {
    /// Makes them the current texts.
    pub fn replace(self) {
        self.0.into_iter().for_each(|(file, text)| file.replace(text));
    }
}
