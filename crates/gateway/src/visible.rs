//! The devices that a client may read, by its token and by the register as it is now.

use dunnage_access::Scope;
use dunnage_register::{Record, Register};
use std::{fmt, sync::Arc};

/// The devices that a client may read. A change of the register applies at once: each question asks the register again.
#[derive(Clone)]
pub struct Visible {
    scope: Scope,
    register: Arc<Register>,
}

impl fmt::Debug for Visible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.scope, f)
    }
}

impl Visible {
    /// The devices of `scope`, whose tags are those in `register`.
    pub fn new(scope: Scope, register: Arc<Register>) -> Visible {
        Visible { scope, register }
    }

    /// All devices.
    pub fn everything(register: Arc<Register>) -> Visible {
        Visible::new(Scope::EVERYTHING, register)
    }

    /// Whether these are all devices.
    pub fn is_everything(&self) -> bool {
        self.scope.is_everything()
    }

    /// Whether a change of the register can change which devices these are.
    pub fn depends_on_tags(&self) -> bool {
        self.scope.has_tags()
    }

    /// Whether the client may read a device. One that may not be read is treated like one that does not exist.
    pub fn has(&self, device: &str) -> bool {
        self.scope.fits(device)
            && (!self.scope.has_tags()
                || self.register.get(device).is_some_and(|record| self.has_tags(Some(&record))))
    }

    /// Returns the record of a device.
    pub fn record(&self, device: &str) -> Option<Arc<Record>> {
        self.register.get(device)
    }

    /// Whether the client may read the device of `record`.
    pub fn has_record(&self, record: &Record) -> bool {
        self.scope.fits(&record.device) && self.has_tags(Some(record))
    }

    /// Whether the client may read `device` with only one of two records.
    pub fn differs(&self, device: &str, before: Option<&Record>, now: Option<&Record>) -> bool {
        self.scope.fits(device) && self.has_tags(before) != self.has_tags(now)
    }

    fn has_tags(&self, record: Option<&Record>) -> bool {
        self.scope.accepts(|key| record?.tags.get(key))
    }
}
