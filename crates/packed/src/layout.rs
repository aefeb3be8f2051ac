//! The layout: computed once from a model, then used to encode and decode messages.

use crate::bits::{Reader, Writer};
use crate::carries::Carrier;
use crate::check::Check;
use crate::coded::{self, Leaves, Statistics, Trained};
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::limits::{MAX_BYTES, Nesting, Values};
use crate::modelled::{ModelledSink, ModelledSource};
use crate::node::Node;
use crate::wire::{Sink, Source};
use crate::{Error, Known, checks, derive};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dunnage_pson::{Budget, Kind, Value};
use dunnage_schema::{Model, SchemaError, Violation};

/// The maximum size of a message of a plain layout in bytes, slot byte included. Layouts with larger messages are modelled.
pub const MAX_PLAIN_BYTES: u64 = 1024;

/// The bits of the slot byte that hold the slot. The other bits are the mode.
const SLOT: u8 = 0x3f;

/// The bits of the messages of a schema.
#[derive(Debug, Clone)]
pub struct Layout {
    pub(crate) model: Model,
    root: Node,
    definitions: Vec<Node>,
    max_bytes: Option<u64>,
    check: Option<Check>,
    trained: Option<Box<Trained>>,
    /// Whether the schema has rules that the bits do not enforce, so that messages must be validated too.
    validates: bool,
    /// Whether writing may round numbers.
    rounds: bool,
    /// Whether the schema explains the errors of the encoder.
    explains: bool,
}

impl Layout {
    /// Computes the layout of the messages of `model`. The error is about `x-dunnage-statistics` or `x-dunnage-slot-from`.
    pub fn new(model: &Model) -> Result<Layout, SchemaError> {
        let mut layout = Layout::untrained(model);
        layout.check_slot_from(model)?;
        layout.model.statistics.clone_from(&model.statistics);
        layout.check = layout.new_check();
        layout.trained = layout.read_statistics().map_err(SchemaError::of_statistics)?.map(Box::new);
        Ok(layout)
    }

    /// Computes the layout that the messages of `model` would have without `x-dunnage-statistics`.
    pub fn untrained(model: &Model) -> Layout {
        let model = &Model { statistics: None, ..model.clone() };
        let (root, definitions) = derive::derive(model);
        let around = u64::from(!model.slot_from_port) + u64::from(model.check);
        let most = root.bits().max.map(|bits| around + bits.div_ceil(8));
        let max_bytes = most.filter(|max| *max <= MAX_PLAIN_BYTES);
        let (validates, rounds) = (checks::has_more_than_bits(model), model.rounds());
        let mut layout = Layout {
            model: model.clone(),
            root,
            definitions,
            max_bytes,
            check: None,
            trained: None,
            validates,
            rounds,
            explains: true,
        };
        layout.check = layout.new_check();
        layout
    }

    /// Returns the layout as libraries know it that interpret its export: without the rules that only restrict. The error of a message is
    /// that of the first part that it does not fit.
    pub fn exported(&self) -> Layout {
        Layout { validates: false, explains: false, ..self.clone() }
    }

    fn new_check(&self) -> Option<Check> {
        Some(Check::new(self.check_bytes()?, &self.fingerprint()))
    }

    /// Returns the check of the bytes of a message, whose slot counts even if it is not among them.
    fn check_of_bytes(&self) -> Option<Check> {
        Some(if self.has_slot_byte() { self.check? } else { self.check?.after(&[self.slot()]) })
    }

    /// Checks that messages without a slot byte can be told from each other and from no message at all.
    fn check_slot_from(&self, model: &Model) -> Result<(), SchemaError> {
        let fault = match self.max_bytes {
            _ if !model.slot_from_port => return Ok(()),
            _ if model.statistics.is_some() => {
                "messages with statistics need their first byte: leave out x-dunnage-slot-from or x-dunnage-statistics"
            }
            None => "a message without a slot byte needs a schema whose largest message has a bound",
            Some(_) if self.root.bits().max == Some(0) => {
                "a message without a slot byte needs a value that takes bits"
            }
            Some(_) => return Ok(()),
        };
        Err(SchemaError::of_slot_from(fault))
    }

    fn read_statistics(&self) -> Result<Option<Trained>, String> {
        let Some(text) = &self.model.statistics else { return Ok(None) };
        if !self.is_plain() {
            return Err("statistics need a schema whose largest message has a bound".to_owned());
        }
        let bytes = BASE64_STANDARD.decode(text).map_err(|error| format!("not Base64: {error}"))?;
        let leaves = Leaves::of(&self.root);
        let statistics = Statistics::from_bytes(&bytes, leaves.list(), &self.untrained_fingerprint())?;
        Ok(Some(Trained { leaves, statistics, name: Check::new(2, &self.fingerprint()) }))
    }

    /// Returns whether the schema has statistics, so that messages have a prior form and deltas.
    pub fn has_statistics(&self) -> bool {
        self.trained.is_some()
    }

    /// Returns what the statistics of the schema tell, if it has any.
    pub(crate) fn trained(&self) -> Option<&Trained> {
        self.trained.as_deref()
    }

    /// Returns the name of the schema, for generated code.
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// Returns the slot, 1 to 63. It is in the first byte of each message, or the port of the link, see [`Layout::has_slot_byte`].
    pub fn slot(&self) -> u8 {
        self.model.slot
    }

    /// Returns whether messages begin with a slot byte. Otherwise the slot is the port of the link (`x-dunnage-slot-from`), and all
    /// messages have mode 0.
    pub fn has_slot_byte(&self) -> bool {
        !self.model.slot_from_port
    }

    /// Returns the bytes before the body of a plain message: 1 or 0.
    pub(crate) fn before_body(&self) -> usize {
        usize::from(self.has_slot_byte())
    }

    /// Returns the tree of the message.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Returns the trees to which [`Shape::Definition`](crate::Shape::Definition) refers.
    pub fn definitions(&self) -> &[Node] {
        &self.definitions
    }

    /// Returns the model that the layout was computed from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the check behind each message, if the schema asks for one.
    pub fn check(&self) -> Option<Check> {
        self.check
    }

    pub(crate) fn check_bytes(&self) -> Option<u8> {
        Some(self.model.check).filter(|bytes| *bytes > 0)
    }

    /// Returns the size of the smallest plain message in bytes, slot byte and check included.
    pub fn min_bytes(&self) -> u64 {
        u64::from(self.has_slot_byte()) + self.root.bits().min.div_ceil(8) + u64::from(self.model.check)
    }

    /// Returns the size of the largest message in bytes, slot byte and check included; `None` if the layout is modelled.
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// Returns whether messages are plain bits. Otherwise they are modelled.
    pub fn is_plain(&self) -> bool {
        self.max_bytes.is_some()
    }

    /// Appends `message` to `out`, slot byte first if it has one, in the shortest form that needs no reference.
    ///
    /// Numbers with `x-dunnage-round` are rounded. A message that the schema does not allow is an error of kind `type` or
    /// `range` that names the value, the limit and the place. A message that is too large or nested too deeply is an error of kind `limit`. After an error, `out` is
    /// unchanged.
    pub fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        self.encode_plain(message, out)?;
        if let Some(trained) = self.trained() {
            let mut prior = vec![coded::PRIOR << 6 | self.slot()];
            self.encode_prior(message, trained, &mut prior)?;
            if prior.len() <= out.len() - start {
                out.truncate(start);
                out.extend(prior);
            }
        }
        self.seal(start, out);
        Ok(())
    }

    /// Appends `message` to `out` as [`Layout::encode`] does, but never in the prior form: generated encoders have only this one.
    pub fn encode_without_statistics(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        self.encode_plain(message, out)?;
        self.seal(start, out);
        Ok(())
    }

    /// Appends the check of the message that begins at `start`, if the layout has one.
    fn seal(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(check) = self.check_of_bytes() {
            let check: Vec<u8> = check.of(&out[start..]).collect();
            out.extend(check);
        }
    }

    /// Appends `message` as plain or modelled bits without a check.
    pub(crate) fn encode_plain(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        if self.has_slot_byte() {
            out.push(self.slot());
        }
        self.encode_body(message, start, out).map_err(|error| {
            out.truncate(start);
            self.explained(error, message)
        })
    }

    fn encode_body(&self, message: &Value, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.is_plain() {
            let mut writer = Writer::new(out);
            self.write(message, &mut writer)?;
            writer.finish();
        } else {
            let mut sink = ModelledSink::new(out);
            self.write(message, &mut sink)?;
            sink.finish()?;
        }
        self.validate_with(message, Kind::Type)?;
        if self.rounds && self.validates {
            // The reader validates the rounded numbers, so they must be valid, too.
            let texts = self.root.known_texts(message);
            self.decode_plain(&out[start..], Known::from(&texts), &Budget::default(), &mut Value::Null)?;
        }
        Ok(())
    }

    /// Validates a decoded message against the rules that the bits do not enforce.
    pub(crate) fn validate(&self, message: &Value) -> Result<(), Error> {
        self.validate_with(message, Kind::Range)
    }

    /// `unknown` is the kind of error for a property that the schema does not have. Only the caller of an encoder can cause one.
    fn validate_with(&self, message: &Value, unknown: Kind) -> Result<(), Error> {
        if !self.validates {
            return Ok(());
        }
        let kind = |violation: &Violation| if violation.is_unknown_field() { unknown } else { Kind::Range };
        self.model.validate(message).map_err(|violation| Error::violation(kind(&violation), &violation))
    }

    /// Passes the parts of `message` to `sink`.
    pub(crate) fn write<S: Sink>(&self, message: &Value, sink: &mut S) -> Result<(), Error> {
        let carrier = Carrier::new(&self.definitions);
        let mut encoder = Encoder { sink, values: Values::new(), carrier };
        encoder.value(&self.root, message, Nesting::default())
    }

    /// Replaces an error of the encoder by that of the validation, which names the value and the limit.
    fn explained(&self, error: Error, message: &Value) -> Error {
        if !self.explains {
            return error;
        }
        match self.model.validate(message) {
            // Validation visits fields in another order, so the encoder may have reported a missing field first.
            Err(violation) if violation.is_unknown_field() => Error::violation(Kind::Type, &violation),
            Err(violation) if error.kind() != Kind::Limit => Error::violation(error.kind(), &violation),
            _ => error,
        }
    }

    /// Decodes `bytes`. `known` has the texts of `x-dunnage-known`: the ID of the sender, or a [`Known`].
    pub fn decode<'a>(&self, bytes: &[u8], known: impl Into<Known<'a>>) -> Result<Value, Error> {
        self.decode_within(bytes, known, &Budget::default())
    }

    /// Decodes `bytes` as [`Layout::decode`] does. Memory is taken from `memory`.
    pub fn decode_within<'a>(
        &self,
        bytes: &[u8],
        known: impl Into<Known<'a>>,
        memory: &Budget,
    ) -> Result<Value, Error> {
        let mut message = Value::Null;
        self.decode_in(bytes, known.into(), memory, &mut message)?;
        Ok(message)
    }

    /// Decodes `bytes` as [`Layout::decode`] does, and replaces `message`, whose memory is used again: for many messages, one after the
    /// other. After an error, `message` is any value.
    pub fn decode_into<'a>(
        &self,
        bytes: &[u8],
        known: impl Into<Known<'a>>,
        message: &mut Value,
    ) -> Result<(), Error> {
        self.decode_in(bytes, known.into(), &Budget::default(), message)
    }

    fn decode_in(
        &self,
        bytes: &[u8],
        known: Known<'_>,
        memory: &Budget,
        out: &mut Value,
    ) -> Result<(), Error> {
        self.check_start(bytes)?;
        self.sealed(bytes, |bytes| match self.trained() {
            Some(trained) if bytes[0] >> 6 == coded::PRIOR => {
                self.decode_prior(bytes, trained, known, memory, out)
            }
            _ => self.decode_plain(bytes, known, memory, out),
        })
    }

    /// Calls `read` with the message without its check, then verifies the check.
    pub(crate) fn sealed<T>(
        &self,
        bytes: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Some(check) = self.check_of_bytes() else { return read(bytes) };
        let Some(end) = bytes.len().checked_sub(check.bytes()).filter(|end| *end > 0) else {
            return Err(Error::new(Kind::Truncated, bytes.len(), "the message ends before its check"));
        };
        let result = read(&bytes[..end]);
        match &result {
            // The check of a truncated message does not match either, so truncation is reported first.
            Err(error) if error.kind() == Kind::Truncated => Err(Error::new(
                Kind::Truncated,
                bytes.len(),
                "the message ends before its layout and check do",
            )),
            _ if !check.of(&bytes[..end]).eq(bytes[end..].iter().copied()) => {
                let message = "the check does not match: the message is damaged, or of another schema";
                Err(Error::new(Kind::Malformed, end, message))
            }
            _ => result,
        }
    }

    pub(crate) fn decode_plain(
        &self,
        bytes: &[u8],
        known: Known<'_>,
        memory: &Budget,
        out: &mut Value,
    ) -> Result<(), Error> {
        if self.is_plain() {
            let mut reader = Reader::new(bytes, self.before_body());
            self.read(&mut reader, known, memory, out)?;
            reader.finish()?;
        } else {
            let mut source = ModelledSource::new(bytes, self.before_body());
            self.read(&mut source, known, memory, out)?;
            source.finish()?;
        }
        self.validate(out)
    }

    /// Reads the message whose parts `source` returns, in the memory of `out`.
    pub(crate) fn read<S: Source>(
        &self,
        source: &mut S,
        given: Known<'_>,
        memory: &Budget,
        out: &mut Value,
    ) -> Result<(), Error> {
        let carrier = Carrier::new(&self.definitions);
        let mut decoder = Decoder { source, values: Values::new(), memory, carrier, given };
        decoder.value_into(&self.root, Nesting::default(), out)
    }

    /// Checks the size of the message and its slot byte.
    pub(crate) fn check_start(&self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() > MAX_BYTES {
            return Err(Error::new(Kind::Limit, MAX_BYTES, format!("a message of {} bytes", bytes.len())));
        }
        if !self.has_slot_byte() {
            return Ok(());
        }
        let Some(&first) = bytes.first() else {
            return Err(Error::new(Kind::Truncated, 0, "no bytes, not even the slot byte"));
        };
        match first & SLOT {
            _ if first >> 6 > coded::DELTA => Err(Error::new(Kind::Malformed, 0, "mode 3 is reserved")),
            _ if first >> 6 > 0 && self.trained.is_none() => {
                let message = format!("mode {}, but the schema has no x-dunnage-statistics", first >> 6);
                Err(Error::new(Kind::Malformed, 0, message))
            }
            _ if first >> 6 == coded::DELTA => {
                Err(Error::new(Kind::Reference, 0, "a delta, which needs the message that it refers to"))
            }
            0 => Err(Error::new(Kind::Malformed, 0, "slot 0 has no layout")),
            slot if slot == self.slot() => Ok(()),
            slot => Err(Error::new(Kind::Range, 0, format!("slot {slot}; the layout's is {}", self.slot()))),
        }
    }
}
