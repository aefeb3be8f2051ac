//! Takes a batch apart.

use crate::{
    MAX_READINGS, SEQUENCES,
    entry::{
        ANY, CONTROL, Content, DELTA, Entry, KIND_SHIFT, LAST, LONG, MAX_VARINT, NUMBER, SKIP, Sender, TIME,
    },
};

/// Why bytes are not a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The byte where it was found, from 0.
    pub offset: usize,
    /// The reason, for people.
    pub reason: &'static str,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The batch ends too early.
    Truncated,
    /// The bytes have no meaning.
    Malformed,
    /// There are more readings than a batch may have.
    Limit,
}

impl FaultKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Truncated => "truncated",
            FaultKind::Malformed => "malformed",
            FaultKind::Limit => "limit",
        }
    }
}

/// Returns the readings of the batch `bytes`, in order.
///
/// # Errors
///
/// If any part of the batch is at fault, it has no readings.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry<'_>>, Fault> {
    let mut batch = Reader { bytes, at: 0 };
    let first = batch.take(3)?;
    let mut sequence = u32::from_be_bytes([0, first[0], first[1], first[2]]);
    let mut time = None;
    let mut entries = Vec::new();
    loop {
        let start = batch.at;
        let head = batch.byte()?;
        // A control entry is never the last one.
        match head ^ CONTROL << KIND_SHIFT {
            skip @ 0..SKIP => {
                sequence = after(sequence, u32::from(skip) + 1);
                continue;
            }
            SKIP => {
                sequence = after(sequence, batch.number()?);
                continue;
            }
            TIME => {
                time = Some(batch.time()?);
                continue;
            }
            _ => {}
        }
        if entries.len() == MAX_READINGS {
            let reason = "a batch has at most 1024 readings";
            return Err(Fault { kind: FaultKind::Limit, offset: start, reason });
        }
        entries.push(batch.entry(head, sequence, time)?);
        if head & LAST != 0 {
            return Ok(entries);
        }
        sequence = after(sequence, 1);
    }
}

fn after(sequence: u32, count: u32) -> u32 {
    sequence.wrapping_add(count) % SEQUENCES
}

fn malformed(offset: usize, reason: &'static str) -> Fault {
    Fault { kind: FaultKind::Malformed, offset, reason }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// Reads the entry after `head`.
    fn entry(&mut self, head: u8, sequence: u32, time: Option<u32>) -> Result<Entry<'b>, Fault> {
        let start = self.at - 1;
        let kind = head >> KIND_SHIFT & 3;
        let number = match (kind, head & NUMBER) {
            (CONTROL, ANY) | (0..CONTROL, LONG) => self.number()?,
            (CONTROL, _) => return Err(malformed(start, "this control entry is not defined")),
            (_, number) => number.into(),
        };
        if kind == CONTROL && number == 0 {
            return Err(malformed(start, "a device has a number from 1 on"));
        }
        if kind != CONTROL && head & NUMBER == LONG && number < u32::from(LONG) {
            return Err(malformed(start, "the number of the device fits into the first byte"));
        }
        let length = match head & LAST {
            0 => self.number()? as usize,
            _ => self.bytes.len() - self.at,
        };
        let end = self.at.saturating_add(length);
        if end > self.bytes.len() {
            return Err(self.truncated("the batch ends within a reading"));
        }
        let mut inner = Reader { bytes: &self.bytes[..end], at: self.at };
        self.at = end;
        let received_at = time.map(|time| inner.number().map(|age| time.saturating_sub(age))).transpose()?;
        let sender = match number {
            0 if kind != DELTA => {
                return Err(malformed(start, "a packed reading needs the number of its device"));
            }
            0 => Sender::Device(inner.device()?),
            number => Sender::Number(number),
        };
        let content = match (kind, number) {
            (CONTROL, _) | (DELTA, 0) => Content::Other { format: inner.byte()?, bytes: inner.rest() },
            (DELTA, _) => Content::Delta(inner.rest()),
            (mode, _) => Content::Packed { mode, body: inner.rest() },
        };
        Ok(Entry { sequence, received_at, sender, content })
    }

    fn truncated(&self, reason: &'static str) -> Fault {
        Fault { kind: FaultKind::Truncated, offset: self.bytes.len(), reason }
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], Fault> {
        let taken = self.bytes.get(self.at..self.at + count);
        let taken = taken.ok_or_else(|| self.truncated("the batch ends before its last reading"))?;
        self.at += count;
        Ok(taken)
    }

    fn rest(&mut self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    fn time(&mut self) -> Result<u32, Fault> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a device ID after its length.
    fn device(&mut self) -> Result<&'b str, Fault> {
        let start = self.at;
        let length = self.byte()?.into();
        let text = std::str::from_utf8(self.take(length)?);
        match text {
            Ok(device) if !device.is_empty() => Ok(device),
            _ => Err(malformed(start, "the ID of the device is empty or no UTF-8")),
        }
    }

    /// Reads a number: seven bits a byte, the lowest first; the highest bit of a byte says that another one follows.
    fn number(&mut self) -> Result<u32, Fault> {
        let start = self.at;
        let mut number = 0u64;
        for place in 0..MAX_VARINT {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                let is_shortest = byte != 0 || place == 0;
                let number = u32::try_from(number).ok().filter(|_| is_shortest);
                return number.ok_or_else(|| malformed(start, "a number is too large or has too many bytes"));
            }
        }
        Err(malformed(start, "a number has too many bytes"))
    }
}
