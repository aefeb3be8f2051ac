//! Makes batches.

use crate::{
    MAX_READINGS, SEQUENCES,
    entry::{ANY, CONTROL, Content, DELTA, Entry, KIND_SHIFT, LAST, LONG, SKIP, Sender, TIME},
};

/// The bytes of the first sequence number.
const FIRST: usize = 3;

/// Makes a batch of limited size.
pub struct Writer {
    limit: usize,
    /// The batch, without the last reading.
    bytes: Vec<u8>,
    /// The last reading, which has no length unless another one follows.
    last: Option<Part>,
    /// The time of the newest reading.
    newest: u32,
    /// The time from which ages count, once it is in the batch.
    time: Option<u32>,
    sequence: u32,
    count: usize,
}

/// A reading as bytes.
struct Part {
    /// Its control entries, if it has any.
    control: Vec<u8>,
    /// Its first byte, and the number of its device.
    head: Vec<u8>,
    rest: Vec<u8>,
}

impl Part {
    /// Its size as the last reading.
    fn size(&self) -> usize {
        self.control.len() + self.head.len() + self.rest.len()
    }
}

impl Writer {
    /// Begins a batch of at most `limit` bytes. If its readings have times, they count from `newest`, which should be the last of them: a later one
    /// takes 5 bytes more.
    pub fn new(limit: usize, newest: u32) -> Writer {
        Writer { limit, newest, bytes: Vec::new(), last: None, time: None, sequence: 0, count: 0 }
    }

    /// Returns how many readings the batch has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns how many bytes of content are left for a reading like `entry`, whose own content is empty.
    pub fn room_for(&self, entry: &Entry<'_>) -> usize {
        self.room().saturating_sub(self.part(entry).0.size())
    }

    /// Returns how many bytes are left for a reading.
    fn room(&self) -> usize {
        let length = self.last.as_ref().map_or(0, |last| last.size() + varint_size(last.rest.len()));
        self.limit.saturating_sub(FIRST.max(self.bytes.len()) + length)
    }

    /// Adds a reading, whose sequence number must be above that of the one before. Returns `false` if it has no room. The first reading
    /// decides whether the readings have times.
    pub fn add(&mut self, entry: &Entry<'_>) -> bool {
        if self.count == MAX_READINGS || entry.received_at.is_some() != self.time.is_some() && self.count > 0
        {
            return false;
        }
        let (part, time) = self.part(entry);
        if part.size() > self.room() {
            return false;
        }
        match self.last.take() {
            None => self.bytes.extend_from_slice(&entry.sequence.to_be_bytes()[1..]),
            Some(last) => {
                self.bytes.extend_from_slice(&last.control);
                self.bytes.extend_from_slice(&last.head);
                write_number(last.rest.len() as u32, &mut self.bytes);
                self.bytes.extend_from_slice(&last.rest);
            }
        }
        self.last = Some(part);
        self.time = time;
        self.sequence = entry.sequence;
        self.count += 1;
        true
    }

    /// Returns `entry` as bytes, and the time from which ages count.
    fn part(&self, entry: &Entry<'_>) -> (Part, Option<u32>) {
        let mut control = Vec::new();
        if self.count > 0 {
            let skipped = (entry.sequence + SEQUENCES - self.sequence - 1) % SEQUENCES;
            match u8::try_from(skipped) {
                Ok(0) => {}
                Ok(skipped @ 1..=SKIP) => control.push(CONTROL << KIND_SHIFT | (skipped - 1)),
                _ => {
                    control.push(CONTROL << KIND_SHIFT | SKIP);
                    write_number(skipped, &mut control);
                }
            }
        }
        let mut rest = Vec::new();
        let time = entry.received_at.map(|at| match self.time {
            Some(time) if time >= at => time,
            _ => {
                let time = at.max(self.newest);
                control.push(CONTROL << KIND_SHIFT | TIME);
                control.extend_from_slice(&time.to_be_bytes());
                time
            }
        });
        if let (Some(time), Some(at)) = (time, entry.received_at) {
            write_number(time - at, &mut rest);
        }
        let mut head = Vec::new();
        match (entry.content, entry.sender) {
            (_, Sender::Device(device)) => {
                head.push(DELTA << KIND_SHIFT);
                rest.push(device.len() as u8);
                rest.extend_from_slice(device.as_bytes());
            }
            (Content::Packed { mode, .. }, Sender::Number(number)) => write_head(mode, number, &mut head),
            (Content::Delta(_), Sender::Number(number)) => write_head(DELTA, number, &mut head),
            (Content::Other { .. }, Sender::Number(number)) => {
                head.push(CONTROL << KIND_SHIFT | ANY);
                write_number(number, &mut head);
            }
        }
        match entry.content {
            Content::Packed { body, .. } | Content::Delta(body) => rest.extend_from_slice(body),
            Content::Other { format, bytes } => {
                rest.push(format);
                rest.extend_from_slice(bytes);
            }
        }
        (Part { control, head, rest }, time)
    }

    /// Returns the batch; without readings, no bytes.
    pub fn finish(mut self) -> Vec<u8> {
        if let Some(mut last) = self.last {
            last.head[0] |= LAST;
            self.bytes.extend([last.control, last.head, last.rest].concat());
        }
        self.bytes
    }
}

fn write_head(kind: u8, number: u32, out: &mut Vec<u8>) {
    match u8::try_from(number) {
        Ok(number @ 0..LONG) => out.push(kind << KIND_SHIFT | number),
        _ => {
            out.push(kind << KIND_SHIFT | LONG);
            write_number(number, out);
        }
    }
}

fn varint_size(number: usize) -> usize {
    (number.checked_ilog2().unwrap_or(0) / 7 + 1) as usize
}

fn write_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
