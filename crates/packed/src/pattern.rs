//! Text of an exact pattern: first the number of characters of each segment, then the characters in groups below 2^32.

use crate::Error;
use crate::coded::pieces;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::Kind;
use dunnage_schema::Segment;

/// The limit of a group: the product of its radices stays below this.
const GROUP: u64 = 1 << 32;
/// The maximum number of characters in a group, not counting those of classes with a single character.
const GROUP_DIGITS: usize = 31;
/// The maximum number of bytes that are reserved for text before its characters are read.
const ROOM: u32 = 64;
/// The number of segments of a pattern whose counts are on the stack.
const FEW: usize = 16;

/// Returns whether `text` matches the pattern.
pub(crate) fn matches(segments: &[Segment], text: &str) -> bool {
    runs(segments, text).is_some()
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

/// Writes `text` by its segments.
pub(crate) fn write<S: Sink>(segments: &[Segment], node: u32, text: &str, sink: &mut S) -> Result<(), Error> {
    let runs = runs(segments, text).ok_or_else(mismatch)?;
    write_parts(segments, &runs, node, text, sink)
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
            let count = u64::from(segment.max - segment.min) + 1;
            sink.index(At { node, part: Part::Count }, u64::from(run - segment.min), count)?;
        }
    }
    if S::CODED {
        write_pieces(segments, runs, node, text, sink)
    } else {
        write_characters(segments, runs, node, text, sink)
    }
}

/// Writes the characters of a coded body: those of each segment apart, so that each has statistics.
fn write_pieces<S: Sink>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    text: &str,
    sink: &mut S,
) -> Result<(), Error> {
    let characters: Vec<char> = text.chars().collect();
    for (nth, piece) in pieces(segments).enumerate() {
        let segment = &segments[piece.segment];
        let start = runs[..piece.segment].iter().sum::<u32>() + piece.after.min(runs[piece.segment]);
        let length = piece.length(runs[piece.segment]);
        let chars = &characters[start as usize..][..length as usize];
        let value =
            chars.iter().fold(0, |value, c| value * piece.radix + digit(segment, *c).unwrap_or_default());
        sink.nth(node, nth);
        sink.index(At { node, part: Part::Value }, value, piece.radix.pow(length))?;
    }
    Ok(())
}

/// Appends the characters of a coded body to `text`.
fn read_pieces<S: Source>(
    segments: &[Segment],
    runs: &[u32],
    node: u32,
    source: &mut S,
    text: &mut String,
) -> Result<(), Error> {
    let mut pieces = pieces(segments).enumerate().peekable();
    for (i, (segment, run)) in segments.iter().zip(runs).enumerate() {
        if let [only] = segment.chars[..] {
            text.extend(std::iter::repeat_n(only, *run as usize));
        }
        // A class with a single character has no piece.
        while let Some((nth, piece)) = pieces.next_if(|(_, piece)| piece.segment == i) {
            source.nth(node, nth);
            let length = piece.length(*run);
            let mut value = source.index(At { node, part: Part::Value }, piece.radix.pow(length))? as u32;
            let mut digits = [0; GROUP_DIGITS];
            let digits = &mut digits[..length as usize];
            for digit in digits.iter_mut().rev() {
                (value, *digit) = divided(value, piece.radix as u32);
            }
            text.extend(digits.iter().map(|digit| segment.chars[*digit as usize]));
        }
    }
    Ok(())
}

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
                let count = u64::from(segment.max - segment.min) + 1;
                run += source.index(At { node, part: Part::Count }, count)? as u32;
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

/// Reads the text of the segments, in the memory of `text`, which is empty.
pub(crate) fn read<S: Source>(
    segments: &[Segment],
    node: u32,
    source: &mut S,
    mut text: String,
) -> Result<String, Error> {
    if S::CODED {
        let read = |source: &mut S| {
            let runs = Runs::read(segments, node, source)?;
            runs.reserve(&mut text);
            read_pieces(segments, runs.all(), node, source, &mut text)?;
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
