//! A codec: its file, checked.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A vendor's codec, which all threads share. An [`Engine`](crate::Engine) runs it.
#[derive(Debug)]
pub struct Codec {
    pub(crate) file: Arc<str>,
    pub(crate) text: String,
    /// Whether every message needs globals of its own, because the codec changes built-in objects.
    fresh: AtomicBool,
}

impl Codec {
    /// Creates a codec of a file's text, unchecked.
    pub(crate) fn new(file: &str, text: String) -> Codec {
        Codec { file: file.into(), text, fresh: AtomicBool::new(false) }
    }

    /// Returns the name of its file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether every message gets globals of its own, which takes longer.
    pub fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    pub(crate) fn set_fresh(&self) {
        self.fresh.store(true, Ordering::Relaxed);
    }
}
