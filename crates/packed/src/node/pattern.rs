//! Text of an exact pattern: `spec/packed.md`, "Patterns".
//!
//! The number of characters of each segment comes first, then the characters in groups below 2^32.

mod pieces;

pub use pieces::{PatternPiece, pattern_pieces};

use crate::coded::{Leaves, expected};
use crate::decode::{Decoder, reused};
use crate::encode::{Encoder, text_of};
use crate::explain::Words;
use crate::size::index_bits;
use crate::wire::{At, Part, Sink, Source};
use crate::{Bits, Error, json};
use dunnage_pson::{Kind, Value};
use dunnage_schema::Segment;

/// The limit of a group or piece: the product of its radices stays below this.
const GROUP: u64 = 1 << 32;
/// The maximum number of characters in a group, not counting those of classes with a single character.
const GROUP_DIGITS: usize = 31;
/// The maximum number of bytes that are reserved for text before its characters are read.
const ROOM: u32 = 64;
/// The number of segments of a pattern whose counts are on the stack.
const FEW: usize = 16;

/// Returns whether the end of each segment can be recognized from the segments after it.
pub fn is_exact(segments: &[Segment]) -> bool {
    segments.iter().enumerate().all(|(i, segment)| {
        let behind = &segments[i + 1..];
        let end = behind.iter().position(|next| next.min > 0).map_or(behind.len(), |first| first + 1);
        let meets = |next: &Segment| next.chars.iter().any(|c| segment.chars.binary_search(c).is_ok());
        segment.min == segment.max || !behind[..end].iter().any(meets)
    })
}

pub(super) fn carries(segments: &[Segment], value: &Value) -> bool {
    matches!(value, Value::Text(text) if runs(segments, text).is_some())
}

/// Returns the number of characters of `text` in each segment, or `None` if it does not match the pattern.
fn runs(segments: &[Segment], text: &str) -> Option<Vec<u32>> {
    let mut rest = text.chars();
    let mut runs = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut ahead = rest.clone();
        let most = segment.max as usize;
        let run = ahead.by_ref().take(most).take_while(|c| digit(segment, *c).is_some()).count() as u32;
        if run < segment.min {
            return None;
        }
        for _ in 0..run {
            rest.next();
        }
        runs.push(run);
    }
    rest.next().is_none().then_some(runs)
}

pub(super) fn write<S: Sink>(
    segments: &[Segment],
    node: u32,
    value: &Value,
    encoder: &mut Encoder<'_, S>,
) -> Result<(), Error> {
    let text = text_of(value, "text")?;
    let runs = runs(segments, text).ok_or_else(mismatch)?;
    write_parts(segments, &runs, node, text, encoder.sink)?;
    encoder.values.take_text(text, 0)
}

/// Writes `text`, which has `runs` characters of the segments.
fn write_parts<S: Sink>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    text: &str,
    sink: &mut S,
) -> Result<(), Error> {
    for (i, (segment, run)) in segments.iter().zip(runs).enumerate() {
        if segment.min < segment.max {
            sink.nth(node, i);
            sink.index(At { node, part: Part::Count }, u64::from(run - segment.min), counts(segment))?;
        }
    }
    if S::CODED {
        pieces::write(segments, runs, node, text, sink)
    } else {
        write_characters(segments, runs, node, text, sink)
    }
}

/// Writes the characters of a plain or modelled body, in groups.
fn write_characters<S: Sink>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    text: &str,
    sink: &mut S,
) -> Result<(), Error> {
    let at = At { node, part: Part::Value };
    let mut chars = text.chars();
    let (mut value, mut product) = (0, 1);
    for (segment, run) in segments.iter().zip(runs) {
        let radix = segment.chars.len() as u64;
        for c in chars.by_ref().take(*run as usize) {
            if product * radix >= GROUP {
                sink.index(at, value, product)?;
                (value, product) = (0, 1);
            }
            value = value * radix + digit(segment, c).unwrap_or_default();
            product *= radix;
        }
    }
    if product > 1 { sink.index(at, value, product) } else { Ok(()) }
}

/// The number of characters of each segment.
struct Runs {
    /// Most patterns have few segments, whose counts need no memory of their own.
    few: [u32; FEW],
    many: Vec<u32>,
    segments: usize,
}

impl Runs {
    fn read<S: Source>(segments: &[Segment], node: u32, source: &mut S) -> Result<Runs, Error> {
        let many = if segments.len() > FEW { vec![0; segments.len()] } else { Vec::new() };
        let mut runs = Runs { few: [0; FEW], many, segments: segments.len() };
        for (i, segment) in segments.iter().enumerate() {
            let mut run = segment.min;
            if segment.min < segment.max {
                source.nth(node, i);
                run += source.index(At { node, part: Part::Count }, counts(segment))? as u32;
            }
            *if segments.len() > FEW { &mut runs.many[i] } else { &mut runs.few[i] } = run;
        }
        Ok(runs)
    }

    fn all(&self) -> &[u32] {
        self.few.get(..self.segments).unwrap_or(&self.many)
    }

    /// Reserves memory for the characters.
    fn reserve(&self, text: &mut String) {
        text.reserve(self.all().iter().sum::<u32>().min(ROOM) as usize);
    }
}

#[inline]
pub(super) fn read<S: Source>(
    segments: &[Segment],
    node: u32,
    decoder: &mut Decoder<'_, S>,
    out: &mut Value,
) -> Result<(), Error> {
    let offset = decoder.source.offset();
    let text = read_text(segments, node, decoder.source, reused(out))?;
    *out = decoder.text(text, offset)?;
    Ok(())
}

/// Reads the text of the segments, in the memory of `text`, which is empty.
fn read_text<S: Source>(
    segments: &[Segment],
    node: u32,
    source: &mut S,
    mut text: String,
) -> Result<String, Error> {
    if S::CODED {
        let read = |source: &mut S| {
            let runs = Runs::read(segments, node, source)?;
            runs.reserve(&mut text);
            pieces::read(segments, runs.all(), node, source, &mut text)?;
            Ok((runs, text))
        };
        let (_, text) = source
            .read_other(read, |(runs, text), plain| write_parts(segments, runs.all(), node, text, plain))?;
        return Ok(text);
    }
    let runs = Runs::read(segments, node, source)?;
    runs.reserve(&mut text);
    let runs = runs.all();
    let mut group = Group { digits: [0; GROUP_DIGITS], next: 0, end: 0 };
    for (i, segment) in segments.iter().enumerate() {
        for done in 0..runs[i] {
            let digit = if segment.chars.len() > 1 {
                if group.next == group.end {
                    group.read(&segments[i..], &runs[i..], done, node, source)?;
                }
                group.next += 1;
                group.digits[group.next - 1]
            } else {
                0
            };
            text.push(segment.chars[digit as usize]);
        }
    }
    Ok(text)
}

/// The characters of one group: their indices in their classes. Classes with a single character are left out.
struct Group {
    digits: [u32; GROUP_DIGITS],
    next: usize,
    end: usize,
}

impl Group {
    /// Reads the group that begins in the first run, after its first `done` characters.
    fn read<S: Source>(
        &mut self,
        segments: &[Segment],
        runs: &[u32],
        done: u32,
        node: u32,
        source: &mut S,
    ) -> Result<(), Error> {
        let (mut radices, mut end, mut product) = ([1; GROUP_DIGITS], 0, 1);
        let mut skipped = done;
        'group: for (segment, run) in segments.iter().zip(runs) {
            let radix = segment.chars.len() as u64;
            let left = if radix > 1 { run - skipped } else { 0 };
            skipped = 0;
            for _ in 0..left {
                if product * radix >= GROUP {
                    break 'group;
                }
                product *= radix;
                radices[end] = radix as u32;
                end += 1;
            }
        }
        let mut value = source.index(At { node, part: Part::Value }, product)? as u32;
        for i in (0..end).rev() {
            (value, self.digits[i]) = divided(value, radices[i]);
        }
        (self.next, self.end) = (0, end);
        Ok(())
    }
}

/// Returns how many numbers of characters a segment may have.
fn counts(segment: &Segment) -> u64 {
    u64::from(segment.max - segment.min) + 1
}

/// Returns the quotient and the remainder of a value by the number of characters of a class.
fn divided(value: u32, radix: u32) -> (u32, u32) {
    match radix {
        // A division by a constant is faster, and most classes are decimal digits.
        10 => (value / 10, value % 10),
        _ => (value / radix, value % radix),
    }
}

/// Returns the index of `c` in its class.
fn digit(segment: &Segment, c: char) -> Option<u64> {
    let (first, last) = (*segment.chars.first()?, *segment.chars.last()?);
    let above = u32::from(c).checked_sub(u32::from(first))?;
    if u32::from(last) - u32::from(first) + 1 == segment.chars.len() as u32 {
        return (c <= last).then_some(above.into());
    }
    segment.chars.binary_search(&c).ok().map(|index| index as u64)
}

fn mismatch() -> Error {
    Error::new(Kind::Range, 0, "text that does not match the pattern")
}

pub(super) fn bits(segments: &[Segment]) -> Bits {
    let counts = Bits::sum(segments.iter().map(|segment| Bits::index(counts(segment))));
    let fewest = groups(segments.iter().map(|s| (s.chars.len() as u64, s.min)));
    let most = groups(segments.iter().map(|s| (s.chars.len() as u64, s.max)));
    counts.and(Bits { min: fewest, max: Some(most) })
}

/// Returns the bits of characters in groups. Each run has the size of its class and the number of its characters.
fn groups(runs: impl Iterator<Item = (u64, u32)>) -> u64 {
    let (mut bits, mut product) = (0, 1u64);
    for (size, characters) in runs.filter(|(size, _)| *size > 1) {
        for _ in 0..characters {
            if product * size >= GROUP {
                bits += u64::from(index_bits(product));
                product = 1;
            }
            product *= size;
        }
    }
    bits + u64::from(index_bits(product))
}

pub(super) fn canonical(segments: &[Segment], out: &mut String) {
    json::tagged("pattern", out, |out| {
        json::list(out, '[', segments, ']', |segment, out| {
            out.push('[');
            json::string(&segment.chars.iter().collect::<String>(), out);
            out.push_str(&format!(",{},{}]", segment.min, segment.max));
        });
    });
}

pub(super) fn leaves(segments: &[Segment], node: u32, leaves: &mut Leaves) {
    for (nth, segment) in segments.iter().enumerate() {
        leaves.index(node, Part::Count, nth, counts(segment));
    }
    for (nth, piece) in pieces::pieces(segments).enumerate() {
        leaves.index(node, Part::Value, nth, piece.count(piece.most));
    }
}

pub(super) fn expected(
    segments: &[Segment],
    node: u32,
    times: expected::Times,
    walk: &mut expected::Walk<'_>,
) {
    let run = |(nth, segment)| walk.index(node, Part::Count, nth, counts(segment), times);
    let runs: Vec<_> = segments.iter().enumerate().map(run).collect();
    for (nth, piece) in pieces::pieces(segments).enumerate() {
        let segment = &segments[piece.segment];
        let least = (piece.after + 1).saturating_sub(segment.min);
        let there = walk.from(runs[piece.segment], counts(segment), least.into());
        walk.index(node, Part::Value, nth, piece.count(piece.most), times.by(there, 1.0));
    }
}

pub(super) fn explain(segments: &[Segment]) -> Words {
    let mut range = String::new();
    for segment in segments {
        range.push_str(&class(&segment.chars));
        match (segment.min, segment.max) {
            (1, 1) => {}
            (min, max) if min == max => range.push_str(&format!("{{{max}}}")),
            (min, max) => range.push_str(&format!("{{{min},{max}}}")),
        }
    }
    let counted = segments.iter().any(|segment| segment.min < segment.max);
    Words::says(&range, if counted { "the numbers of characters, then these" } else { "its characters" })
}

/// Formats a character class. Runs of three or more characters are written as ranges.
fn class(chars: &[char]) -> String {
    if let [only] = chars {
        return only.to_string();
    }
    let mut text = String::from("[");
    for run in chars.chunk_by(|a, b| u32::from(*a) + 1 == u32::from(*b)) {
        match run {
            [first, _, .., last] => text.extend([*first, '-', *last]),
            few => text.extend(few),
        }
    }
    text + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(pattern: &str) -> bool {
        is_exact(&dunnage_schema::Pattern::new(pattern).unwrap().segments.unwrap())
    }

    #[test]
    fn a_pattern_is_exact_when_its_segments_are_told_apart_from_left_to_right() {
        assert!(exact("^[A-Z]{3}[UJZ][0-9]{7}$"));
        assert!(exact("^[0-9]{3}-[0-9]{2,3}-[0-9A-F]{1,4}-[0-9A-F]{1,7}$"));
        assert!(exact("^[1-9][0-9]{6,14}$"));
        assert!(exact("^[a-z]{0,3}[0-9]{0,3}$"));
        assert!(!exact("^[0-9]{1,3}[0-9A-F]$"));
        assert!(!exact("^[0-9]{0,3}-?[0-9]$"));
    }
}
