//! Text of an exact pattern: the numbers of characters, then the characters in groups below 2^32.

use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::Kind;
use dunnage_schema::Segment;

/// Where a group ends: no product of its radices reaches this.
const GROUP: u64 = 1 << 32;

/// Writes the segments of `text`.
pub(crate) fn write<S: Sink>(segments: &[Segment], node: u32, text: &str, sink: &mut S) -> Result<(), Error> {
    let mut rest = text.chars();
    let mut runs = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut ahead = rest.clone();
        let most = segment.max as usize;
        let run = ahead.by_ref().take(most).take_while(|c| digit(segment, *c).is_some()).count() as u32;
        if run < segment.min {
            return Err(mismatch());
        }
        for _ in 0..run {
            rest.next();
        }
        if segment.min < segment.max {
            let count = u64::from(segment.max - segment.min) + 1;
            sink.index(At { node, part: Part::Count }, u64::from(run - segment.min), count)?;
        }
        runs.push(run);
    }
    if rest.next().is_some() {
        return Err(mismatch());
    }
    write_characters(segments, &runs, node, text, sink)
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

/// Reads the text of the segments.
pub(crate) fn read<S: Source>(segments: &[Segment], node: u32, source: &mut S) -> Result<String, Error> {
    let mut runs = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut run = segment.min;
        if segment.min < segment.max {
            let count = u64::from(segment.max - segment.min) + 1;
            run += source.index(At { node, part: Part::Count }, count)? as u32;
        }
        runs.push(run);
    }
    let mut text = String::new();
    // What is left of the group: its value, and the product of the radices that are still to come.
    let (mut value, mut product) = (0, 1);
    for (i, segment) in segments.iter().enumerate() {
        let radix = segment.chars.len() as u64;
        for done in 0..runs[i] {
            if radix > 1 {
                if product == 1 {
                    product = group(&segments[i..], &runs[i..], done);
                    value = source.index(At { node, part: Part::Value }, product)?;
                }
                product /= radix;
            }
            text.push(segment.chars[(value / product) as usize]);
            value %= product;
        }
    }
    Ok(text)
}

/// The product of the next group's radices, `done` characters of the first run being behind.
fn group(segments: &[Segment], runs: &[u32], done: u32) -> u64 {
    let mut product = 1;
    let mut skipped = done;
    for (segment, run) in segments.iter().zip(runs) {
        let radix = segment.chars.len() as u64;
        let left = if radix > 1 { run - skipped } else { 0 };
        skipped = 0;
        for _ in 0..left {
            if product * radix >= GROUP {
                return product;
            }
            product *= radix;
        }
    }
    product
}

/// The index of `c` in its class.
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
