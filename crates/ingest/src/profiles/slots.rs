//! The packed layouts of a schema. The slot of a message selects one: its first byte, or what its link or sender states
//! (`spec/packed.md`).

use crate::{
    encoding::Stated,
    profiles::settings::ProfileError,
    rejected::{Code, Rejected},
};
use dunnage_base::hex::hex;
use dunnage_buffer::LayoutKey;
use dunnage_formats::{Error, Kind, Packed};
use dunnage_schema::Model;
use std::sync::Arc;

/// The first of the modes without a slot, in the two highest bits of the first byte of a packed message.
const WITHOUT_SLOT: u8 = 2;
/// The bits of that byte that are the slot, in the other modes.
const SLOT: u8 = 0x3f;

/// A layout and where it comes from.
#[derive(Clone)]
pub struct Slot {
    /// Identifies the layout.
    pub key: Arc<LayoutKey>,
    /// The file of its schema, or the name of a bundled one.
    pub origin: String,
    /// The codec of its messages.
    pub codec: Packed,
}

/// The layouts of one schema, each in its slot.
#[derive(Clone)]
pub struct Slots {
    schema: Arc<str>,
    /// Whether messages of a layout without a check are rejected.
    require_check: bool,
    slots: Vec<Slot>,
}

impl Slot {
    /// Checks that the fingerprint of the layout begins with `asked`, if the sender states it.
    pub fn has_fingerprint(&self, asked: Option<&str>) -> Result<(), Rejected> {
        let Some(asked) = asked else { return Ok(()) };
        let fingerprint = hex(&self.key.fingerprint);
        if fingerprint.starts_with(&asked.to_ascii_lowercase()) {
            return Ok(());
        }
        let (slot, has) = (self.key.slot, &fingerprint[..asked.len().min(fingerprint.len())]);
        Err(unknown(format!("the layout in slot {slot} is {has}, not {asked}; the message was not decoded")))
    }
}

impl Slots {
    /// Creates an empty set of layouts of `schema`.
    pub fn new(schema: &str, require_check: bool) -> Slots {
        Slots { schema: schema.into(), require_check, slots: Vec::new() }
    }

    /// Adds the layout of `model`, a version of the schema that comes from `origin`. Does nothing if the layout is there already; fails if
    /// its slot has a different one.
    pub fn add(&mut self, origin: &str, model: &Model) -> Result<(), ProfileError> {
        let codec = Packed::new(model)
            .map_err(|error| ProfileError { origin: origin.into(), message: error.to_string() })?;
        let (slot, fingerprint) = (codec.layout().slot(), codec.layout().fingerprint());
        match self.slots.iter().find(|other| other.key.slot == slot) {
            None => {
                let key = Arc::new(LayoutKey { schema: Arc::clone(&self.schema), slot, fingerprint });
                self.slots.push(Slot { key, origin: origin.into(), codec });
                Ok(())
            }
            Some(other) if other.key.fingerprint == fingerprint => Ok(()),
            Some(other) => {
                let message = format!(
                    "slot {slot} of the schema {:?} has another layout in {}; give one of the two another x-dunnage-slot",
                    self.schema, other.origin
                );
                Err(ProfileError { origin: origin.into(), message })
            }
        }
    }

    /// Returns the layouts of the slots `numbers`. Fails if one of these has no layout.
    pub fn only(&self, numbers: &[u8]) -> Result<Slots, String> {
        let mut slots = Vec::new();
        for number in numbers {
            let slot = self.slots.iter().find(|slot| slot.key.slot == *number).ok_or_else(|| {
                let (schema, there) = (&self.schema, self.listed());
                format!("slot {number} of the schema {schema:?} has no layout; slots with a layout: {there}")
            })?;
            slots.push(slot.clone());
        }
        Ok(Slots { slots, ..self.with_none() })
    }

    /// Returns the same set without layouts.
    fn with_none(&self) -> Slots {
        Slots::new(&self.schema, self.require_check)
    }

    /// Returns all layouts.
    pub fn all(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the layouts with statistics, whose messages may be deltas.
    pub fn trained(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.codec.layout().has_statistics())
    }

    /// Returns whether a message of which this is stated begins with a slot byte.
    pub fn has_slot_byte(&self, stated: Option<Stated>) -> bool {
        match stated {
            Some(Stated::Slot(_)) => false,
            Some(Stated::Port(port)) => self.without_slot_byte(port).is_none(),
            None => true,
        }
    }

    /// Returns the layout of the slot `number` if its messages have no slot byte.
    fn without_slot_byte(&self, number: u8) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.key.slot == number && !slot.codec.layout().has_slot_byte())
    }

    /// Returns the layout of the message `body`, which must not be a delta. `stated` is the slot or port that is known from outside the
    /// message. `asked` is the beginning of the fingerprint that the sender states, which must match.
    pub fn pick(&self, body: &[u8], stated: Option<Stated>, asked: Option<&str>) -> Result<&Slot, Rejected> {
        let slot = match stated {
            Some(Stated::Slot(number)) => self.without_slot_byte(number).ok_or_else(|| {
                let listed = self.listed();
                let detail =
                    format!("slot {number} has no layout without a slot byte; slots with a layout: {listed}");
                unknown(detail).at(Kind::Range.as_str(), 0)
            })?,
            Some(Stated::Port(port)) => match self.without_slot_byte(port) {
                Some(slot) => slot,
                None => self.of_slot_byte(body, Some(port))?,
            },
            None => self.of_slot_byte(body, None)?,
        };
        if self.require_check && slot.codec.layout().check().is_none() {
            let detail = format!(
                "the layout in slot {} has no check, but [schemas] require_check is true; add x-dunnage-check to {}",
                slot.key.slot, slot.origin
            );
            return Err(unknown(detail).at(Kind::Range.as_str(), 0));
        }
        slot.has_fingerprint(asked)?;
        Ok(slot)
    }

    /// Returns the layout that the first byte of `body` selects. The message arrived on `port`, if its link has ports.
    fn of_slot_byte(&self, body: &[u8], port: Option<u8>) -> Result<&Slot, Rejected> {
        if !self.slots.is_empty() && self.slots.iter().all(|slot| !slot.codec.layout().has_slot_byte()) {
            let listed = self.listed();
            let detail = match port {
                Some(port) => {
                    format!("port {port} is not the slot of a layout; slots with a layout: {listed}")
                }
                None => format!(
                    "the message has no slot byte, so its slot must be the port of its link or the parameter slot; slots with a layout: {listed}"
                ),
            };
            return Err(unknown(detail).at(Kind::Range.as_str(), 0));
        }
        let damaged = |kind, reason: &str| Rejected::undecodable(&Error::new(kind, 0, reason));
        let number = match body.first() {
            None => return Err(damaged(Kind::Truncated, "the message has no slot byte")),
            Some(byte) if byte >> 6 >= WITHOUT_SLOT => {
                return Err(damaged(Kind::Malformed, "the mode is reserved"));
            }
            Some(byte) if byte & SLOT == 0 => return Err(damaged(Kind::Malformed, "slot 0 is not valid")),
            Some(byte) => byte & SLOT,
        };
        let has_byte = |slot: &&Slot| slot.key.slot == number && slot.codec.layout().has_slot_byte();
        self.slots.iter().find(has_byte).ok_or_else(|| {
            let detail = format!("slot {number} has no layout; slots with a layout: {}", self.listed());
            unknown(detail).at(Kind::Range.as_str(), 0)
        })
    }

    fn listed(&self) -> String {
        self.slots.iter().map(|slot| slot.key.slot.to_string()).collect::<Vec<_>>().join(", ")
    }
}

fn unknown(detail: String) -> Rejected {
    Rejected::new(Code::UnknownLayout, detail)
}
