//! Messages with statistics: the prior form, and deltas against a message that the receiver has acknowledged.

use super::{CodedSink, CodedSource, Knowledge, Leaves, Record, Recorded, Recorder, Statistics};
use crate::check::Check;
use crate::{Error, Known, Layout};
use dunnage_pson::{Budget, Kind, Value};

/// The mode of a message in the prior form, in the two highest bits of the first byte.
pub(crate) const PRIOR: u8 = 1;
/// The mode of a delta, in the two highest bits of the first byte.
pub(crate) const DELTA: u8 = 2;
/// The bits of the first byte of a delta that are those of the reference's name.
const TAG: u16 = 0x3f;
/// The length of the first byte and the name, which come before the body of a delta.
pub const DELTA_HEADER: usize = 3;
/// How many more plain bytes than its reference a message may have before memory is allocated again.
const ROOM: usize = 4;
/// The most references that are tried for one message.
const MAX_TRIALS: usize = 8;

/// The state of a layout with statistics.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    pub leaves: Leaves,
    pub statistics: Statistics,
    /// The CRC of a message's plain bytes, seeded with the fingerprint: its name.
    pub name: Check,
}

impl Trained {
    pub fn knowledge<'a>(&'a self, reference: Option<&'a Record>) -> Knowledge<'a> {
        Knowledge { leaves: &self.leaves, statistics: &self.statistics, reference }
    }

    fn name_of(&self, plain: &[u8]) -> u16 {
        self.name.of(plain).fold(0, |name, byte| name << 8 | u16::from(byte))
    }
}

/// A message that the receiver has acknowledged, as the reference of later ones.
///
/// ```
/// # use dunnage_packed::{Layout, Training, Value};
/// # use dunnage_schema::Model;
/// # let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 999999, "x-dunnage-changes": 2}"#)?;
/// # let model = model.clone().with_statistics(Training::assumed(&Layout::untrained(&model))?.as_deref());
/// let layout = Layout::new(&model)?; // a schema with statistics
/// let reference = layout.reference(&Value::U64(500_000))?;
/// let again = layout.reference_from(reference.plain(), None)?; // as after a restart
/// assert_eq!(again.name(), reference.name());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reference {
    name: u16,
    plain: Vec<u8>,
    record: Record,
}

impl Reference {
    /// Returns the name of the message: a CRC of its plain bytes.
    pub fn name(&self) -> u16 {
        self.name
    }

    /// Returns the plain bytes of the message, slot byte first, without a check.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Returns about how much memory the reference takes, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Reference>() + self.plain.capacity() + self.record.memory()
    }

    /// Returns whether a delta with this first byte may refer to the message.
    pub fn is_tagged(&self, first: u8) -> bool {
        may_refer(first, self.name)
    }
}

/// Returns whether a delta with this first byte may refer to the message of this name.
///
/// ```
/// use dunnage_packed::may_refer;
/// assert!(may_refer(0xb4, 0x1234)); // the low 6 bits are those of the name
/// assert!(!may_refer(0xb5, 0x1234));
/// ```
pub fn may_refer(first: u8, name: u16) -> bool {
    name & TAG == u16::from(first) & TAG
}

/// Returns whether the first byte of a packed message is that of a delta.
///
/// ```
/// use dunnage_packed::is_delta;
/// assert!(is_delta(&[0x80, 0x12, 0x34]) && !is_delta(&[0x01, 0x12]));
/// ```
pub fn is_delta(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first >> 6 == DELTA)
}

/// A message that was decoded, and its name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Decoded {
    /// The message.
    pub value: Value,
    /// The message as the reference of later ones.
    pub reference: Reference,
    /// The name of the message that it referred to.
    pub used: u16,
}

/// A delta, before its reference is known.
struct Delta<'a> {
    bytes: &'a [u8],
    name: u16,
    known: Known<'a>,
}

impl Layout {
    /// Returns `message` as the reference of later ones. Only layouts with statistics have references.
    ///
    /// # Errors
    /// As those of [`Layout::encode`], and `malformed` if the layout has no statistics.
    pub fn reference(&self, message: &Value) -> Result<Reference, Error> {
        let trained = self.trained_or_error().map_err(Error::without_offset)?;
        let mut plain = Vec::new();
        self.encode_plain(message, &mut plain)?;
        let mut recorder = Recorder::default();
        self.write(message, &mut recorder)?;
        Ok(Reference { name: trained.name_of(&plain), plain, record: recorder.finish() })
    }

    /// Restores a reference from [`Reference::plain`].
    ///
    /// # Errors
    /// As those of [`Layout::decode`], and `malformed` if the layout has no statistics.
    pub fn reference_from<'a>(&self, plain: &[u8], known: impl Into<Known<'a>>) -> Result<Reference, Error> {
        self.check_start(plain)?;
        let mut message = Value::Null;
        self.decode_plain(plain, known.into(), &Budget::default(), &mut message)?;
        self.reference(&message)
    }

    /// Appends `message` as a delta against `reference`. After an error, `out` is unchanged.
    ///
    /// # Errors
    /// As those of [`Layout::reference`].
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Training, Value};
    /// # use dunnage_schema::Model;
    /// # let model = Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 999999, "x-dunnage-changes": 2}"#)?;
    /// # let model = model.clone().with_statistics(Training::assumed(&Layout::untrained(&model))?.as_deref());
    /// let layout = Layout::new(&model)?; // a schema with statistics
    /// let acknowledged = layout.reference(&Value::U64(500_000))?;
    /// let mut delta = Vec::new();
    /// layout.encode_delta(&Value::U64(500_001), &acknowledged, &mut delta)?;
    /// assert_eq!(delta.len(), 4); // three bytes are the tag and the name
    ///
    /// let decoded = layout.decode_delta(&delta, [&acknowledged], [], None)?;
    /// assert_eq!(decoded.value, Value::U64(500_001));
    /// assert_eq!(decoded.used, acknowledged.name());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_delta(
        &self,
        message: &Value,
        reference: &Reference,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let trained = self.trained_or_error().map_err(Error::without_offset)?;
        let name = self.reference(message)?.name;
        out.push(DELTA << 6 | (reference.name & TAG) as u8);
        out.extend(name.to_be_bytes());
        self.encode_coded(message, trained.knowledge(Some(&reference.record)), out)
    }

    /// Appends `message` in the prior form, without its slot byte and check.
    pub(crate) fn encode_prior(
        &self,
        message: &Value,
        trained: &Trained,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.encode_coded(message, trained.knowledge(None), out)
    }

    fn encode_coded(
        &self,
        message: &Value,
        knowledge: Knowledge<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut sink = CodedSink::new(knowledge, out);
        self.write(message, &mut sink)?;
        sink.finish();
        Ok(())
    }

    pub(crate) fn decode_prior(
        &self,
        bytes: &[u8],
        trained: &Trained,
        known: Known<'_>,
        memory: &Budget,
        out: &mut Value,
    ) -> Result<(), Error> {
        let mut source = CodedSource::new(trained.knowledge(None), bytes, 1);
        self.read(&mut source, known, memory, out)?;
        source.finish()?;
        self.validate(out)
    }

    /// Decodes a delta against `used`. Returns `None` if that is not its reference: the name of the message is another one.
    fn decode_against(
        &self,
        delta: &Delta<'_>,
        used: &Reference,
        trained: &Trained,
    ) -> Result<Option<Decoded>, Error> {
        let source = CodedSource::new(trained.knowledge(Some(&used.record)), delta.bytes, DELTA_HEADER);
        // Only layouts with a slot byte have statistics.
        let mut plain = Vec::with_capacity(used.plain.len() + ROOM);
        plain.push(self.slot());
        let mut source = Recorded::new(source, &used.record, &mut plain);
        let mut value = Value::Null;
        self.read(&mut source, delta.known, &Budget::default(), &mut value)?;
        let (source, record) = source.finish();
        source.finish()?;
        if trained.name_of(&plain) != delta.name {
            return Ok(None);
        }
        self.validate(&value)?;
        let reference = Reference { name: delta.name, plain, record };
        Ok(Some(Decoded { value, reference, used: used.name }))
    }

    /// Decodes a delta. `likely` are the acknowledged messages of this device from the one on that was referred to last, `late` the
    /// older ones, which only a message that was overtaken refers to; both from the latest to the oldest.
    ///
    /// # Errors
    /// - `reference`: none of the messages gives one of the delta's name, or two give different ones.
    /// - `malformed`: `bytes` are not a delta, or the layout has no statistics.
    /// - `truncated`: `bytes` have no name.
    pub fn decode_delta<'r, 'a>(
        &self,
        bytes: &[u8],
        likely: impl IntoIterator<Item = &'r Reference>,
        late: impl IntoIterator<Item = &'r Reference>,
        known: impl Into<Known<'a>>,
    ) -> Result<Decoded, Error> {
        if !bytes.is_empty() && !is_delta(bytes) {
            return Err(Error::new(Kind::Malformed, 0, "not a delta"));
        }
        let Some(header) = bytes.first_chunk::<DELTA_HEADER>() else {
            return Err(Error::new(Kind::Truncated, bytes.len(), "a delta has a name of two bytes"));
        };
        let delta = Delta { bytes, name: u16::from_be_bytes([header[1], header[2]]), known: known.into() };
        let found = match self.find(&delta, likely)? {
            Some(found) => Some(found),
            None => self.find(&delta, late)?,
        };
        found.ok_or_else(|| {
            Error::new(Kind::Reference, 0, "the message that the delta refers to is not known")
        })
    }

    /// Returns the message that the delta is, if one of `references` is its reference.
    fn find<'r>(
        &self,
        delta: &Delta<'_>,
        references: impl IntoIterator<Item = &'r Reference>,
    ) -> Result<Option<Decoded>, Error> {
        let trained = self.trained_or_error()?;
        let mut found: Option<Decoded> = None;
        let tagged = references.into_iter().filter(|one| one.is_tagged(delta.bytes[0]));
        let mut tried: Vec<&Reference> = Vec::new();
        for used in tagged {
            // A device that repeats a message must not use up the trials.
            if tried.iter().any(|one| one.plain == used.plain) {
                continue;
            }
            if tried.len() == MAX_TRIALS {
                break;
            }
            tried.push(used);
            let Ok(Some(decoded)) = self.decode_against(delta, used, trained) else { continue };
            match &found {
                None => found = Some(decoded),
                Some(found) if found.reference.plain == decoded.reference.plain => {}
                Some(_) => {
                    return Err(Error::new(Kind::Reference, 0, "two references give different messages"));
                }
            }
        }
        Ok(found)
    }

    /// Returns what a reader of a delta against `reference` knows.
    pub(crate) fn knowledge_of<'a>(&'a self, reference: &'a Reference) -> Result<Knowledge<'a>, Error> {
        Ok(self.trained_or_error()?.knowledge(Some(&reference.record)))
    }

    pub(crate) fn trained_or_error(&self) -> Result<&Trained, Error> {
        let message = "the schema has no x-dunnage-statistics, which deltas need";
        self.trained().ok_or_else(|| Error::new(Kind::Malformed, 0, message))
    }
}
