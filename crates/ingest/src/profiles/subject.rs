//! What is known of a message before it is decoded, by which its profile is chosen.

use crate::origin::Facts;
use dunnage_buffer::{Provenance, Sent};
use dunnage_register::{Record, Register};
use std::{cell::OnceCell, sync::Arc};

/// A message, or a device alone.
pub struct Subject<'a> {
    /// The device's ID.
    pub device: &'a str,
    origin: Option<&'a str>,
    facts: OnceCell<Facts<'a>>,
    record: OnceCell<Option<Arc<Record>>>,
}

impl<'a> Subject<'a> {
    /// Creates the subject of a message of `device` with `origin`, a JSON object.
    pub fn new(device: &'a str, origin: Option<&'a str>) -> Subject<'a> {
        Subject { device, origin, facts: OnceCell::new(), record: OnceCell::new() }
    }

    /// Sets the record of the device, which [`Profiles`](super::Profiles) otherwise look up in their register.
    pub fn with_record(self, record: Option<Arc<Record>>) -> Subject<'a> {
        Subject { record: record.into(), ..self }
    }

    /// Looks up the record of the device, unless it is known already.
    pub(super) fn look_up(&self, register: &Register) -> Option<&Record> {
        self.record.get_or_init(|| register.get(self.device)).as_deref()
    }

    /// Returns the record of the device, if it has one that was looked up.
    pub fn record(&self) -> Option<&Record> {
        self.record.get()?.as_deref()
    }

    /// Returns what the origin says. It is parsed the first time, because most profiles need only the device.
    pub fn facts(&self) -> &Facts<'a> {
        self.facts.get_or_init(|| Facts::read(self.origin))
    }
}

/// A device of which no message is at hand. Conditions on messages do not hold.
impl<'a> From<&'a str> for Subject<'a> {
    fn from(device: &'a str) -> Self {
        Subject::new(device, None)
    }
}

/// A device and the origin of its message.
impl<'a> From<Sent<'a>> for Subject<'a> {
    fn from((device, origin): Sent<'a>) -> Self {
        Subject::new(device, origin)
    }
}

impl<'a> From<&'a Provenance> for Subject<'a> {
    fn from(provenance: &'a Provenance) -> Self {
        Subject::new(&provenance.device, provenance.origin.as_deref())
    }
}
