//! The messages of a layout: the slot byte, the body in one of its forms, and the check.

use crate::bits::{Reader, Writer};
use crate::carries::Carrier;
use crate::coded;
use crate::decode::Decoder;
use crate::encode::Encoder;
use crate::limits::{MAX_BYTES, Nesting, Values};
use crate::modelled::{ModelledSink, ModelledSource};
use crate::wire::{Sink, Source};
use crate::{Error, Known, Layout};
use dunnage_pson::{Budget, Kind, Value};
use dunnage_schema::Violation;

/// The bits of the slot byte that hold the slot. The other bits are the mode.
const SLOT: u8 = 0x3f;

impl Layout {
    /// Appends `message` to `out`, slot byte first if it has one, in the shortest form that needs no reference.
    ///
    /// Numbers with `x-dunnage-round` are rounded.
    ///
    /// # Errors
    /// - `type`: a value of another type, or a property that the schema does not have.
    /// - `range`: any other value that the schema does not allow.
    /// - `limit`: a message that is nested too deeply, or too large.
    ///
    /// The error names the value, the limit and the JSON pointer of the value. It has no offset, and `out` is unchanged.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0, "maximum": 99}}"#)?;
    /// let layout = Layout::new(&model)?;
    /// let error = layout.encode(&Value::Array(vec![7u64.into(), 100u64.into()]), &mut Vec::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "range: 100 is above the maximum 99 at /1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// # Errors
    /// As those of [`Layout::encode`].
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
            self.explained(error, message).without_offset()
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
            check_size(out.len() - start + usize::from(self.check_bytes().unwrap_or(0)))?;
        }
        self.validate_with(message, Kind::Type)?;
        if self.rounds && self.validates {
            // The reader validates the rounded numbers, so they must be valid, too.
            let texts = self.root().known_texts(message);
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
        let carrier = Carrier::new(self.definitions());
        let mut encoder = Encoder { sink, values: Values::new(), carrier };
        encoder.value(self.root(), message, Nesting::default())
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
    ///
    /// # Errors
    /// - `truncated`: `bytes` end too early.
    /// - `malformed`: slot 0, a check that does not match, bytes after the message, a value that has another encoding, or a delta if the schema has
    ///   no statistics.
    /// - `range`: another slot, or a value that the schema does not allow.
    /// - `reference`: a delta, which [`Layout::decode_delta`] decodes.
    /// - `type`: a text of `x-dunnage-known` that `known` does not have.
    /// - `limit`: a message above 1 MiB, or with too many values.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// # use dunnage_packed::Kind;
    /// let layout = Layout::new(&Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 1000}"#)?)?;
    /// assert_eq!(layout.decode(&[0x01, 0xfa, 0x00], None)?, Value::U64(1000));
    ///
    /// let error = |bytes: &[u8]| layout.decode(bytes, None).map_err(|error| (error.kind(), error.offset())).unwrap_err();
    /// assert_eq!(error(&[0x01, 0xfa]), (Kind::Truncated, Some(2)));
    /// assert_eq!(error(&[0x01, 0xfa, 0x01]), (Kind::Malformed, Some(2))); // the last 6 bits must be 0
    /// assert_eq!(error(&[0x02, 0xfa, 0x00]), (Kind::Range, Some(0))); // slot 2
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode<'a>(&self, bytes: &[u8], known: impl Into<Known<'a>>) -> Result<Value, Error> {
        self.decode_within(bytes, known, &Budget::default())
    }

    /// Decodes `bytes` as [`Layout::decode`] does. Memory is taken from `memory`.
    ///
    /// # Errors
    /// As those of [`Layout::decode`], and `limit` if `memory` is used up.
    ///
    /// ```
    /// # use dunnage_packed::{Kind, Layout};
    /// # use dunnage_pson::Budget;
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{"type": "array", "maxItems": 60000, "items": {"const": "a text of the schema, without bits"}}"#)?;
    /// let layout = Layout::new(&model)?;
    /// // Three bytes that would become 60,000 texts.
    /// let error = layout.decode_within(&[0x01, 0xea, 0x60], None, &Budget::new(100_000)).unwrap_err();
    /// assert_eq!(error.kind(), Kind::Limit);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// # Errors
    /// As those of [`Layout::decode`].
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// let layout = Layout::new(&Model::compile(r#"{"type": "integer", "minimum": 0, "maximum": 255}"#)?)?;
    /// let mut message = Value::Null;
    /// let mut sum = 0;
    /// for bytes in [[0x01, 0x05], [0x01, 0x06]] {
    ///     layout.decode_into(&bytes, None, &mut message)?;
    ///     sum += message.as_integer().unwrap();
    /// }
    /// assert_eq!(sum, 11);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let carrier = Carrier::new(self.definitions());
        let mut decoder = Decoder { source, values: Values::new(), memory, carrier, given };
        decoder.value_into(self.root(), Nesting::default(), out)
    }

    /// Checks the size of the message and its slot byte.
    pub(crate) fn check_start(&self, bytes: &[u8]) -> Result<(), Error> {
        check_size(bytes.len())?;
        if !self.has_slot_byte() {
            return Ok(());
        }
        let Some(&first) = bytes.first() else {
            return Err(Error::new(Kind::Truncated, 0, "no bytes, not even the slot byte"));
        };
        match first & SLOT {
            _ if first >> 6 > coded::DELTA => Err(Error::new(Kind::Malformed, 0, "mode 3 is reserved")),
            _ if first >> 6 > 0 && !self.has_statistics() => {
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

fn check_size(bytes: usize) -> Result<(), Error> {
    if bytes > MAX_BYTES {
        return Err(Error::new(Kind::Limit, MAX_BYTES, format!("a message of {bytes} bytes")));
    }
    Ok(())
}
