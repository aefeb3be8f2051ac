//! The characters of a pattern in a coded body: `spec/packed.md`, "Coded bodies", "Values".

use super::{GROUP, GROUP_DIGITS, digit, divided};
use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_schema::Segment;

/// A piece of a pattern: characters of one segment that a coded body has as one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternPiece {
    /// The index of the segment.
    pub segment: usize,
    /// The characters of the segment before this piece.
    pub after: u32,
    /// The most characters of the piece.
    pub most: u32,
    /// The number of characters in the class of the segment, at most 256.
    pub radix: u32,
}

impl PatternPiece {
    /// Returns the number of characters of the piece in a segment of `run` characters.
    fn length(&self, run: u32) -> u32 {
        run.saturating_sub(self.after).min(self.most)
    }

    /// Returns the number of values of `length` characters.
    pub(super) fn count(&self, length: u32) -> u64 {
        u64::from(self.radix).pow(length)
    }
}

/// Returns the pieces in which a coded body has the characters of a pattern.
///
/// ```
/// # use dunnage_packed::{Layout, Shape, pattern_pieces};
/// # use dunnage_schema::Model;
/// let layout = Layout::new(&Model::compile(r#"{"type": "string", "pattern": "^LMCU[0-9]{7}$"}"#)?)?;
/// let Shape::Pattern(segments) = &layout.root().shape else { panic!() };
/// assert_eq!(pattern_pieces(segments).len(), 1); // "LMCU" takes no bits
/// assert_eq!(layout.root().bits().max, Some(24)); // ceil(log2 10^7)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pattern_pieces(segments: &[Segment]) -> Vec<PatternPiece> {
    pieces(segments).collect()
}

/// Returns the pieces of the segments: as many characters at a time as have fewer than 2^32 values.
pub(super) fn pieces(segments: &[Segment]) -> impl Iterator<Item = PatternPiece> + '_ {
    let varied = segments.iter().enumerate().filter(|(_, segment)| segment.chars.len() > 1);
    varied.flat_map(|(index, segment)| {
        let radix = segment.chars.len() as u32;
        // The most characters that have fewer than 2^32 values.
        let most = (GROUP - 1).ilog(radix.into());
        let starts = (0..segment.max).step_by(most as usize);
        starts.map(move |after| PatternPiece {
            segment: index,
            after,
            most: most.min(segment.max - after),
            radix,
        })
    })
}

/// Writes the characters: those of each segment apart, so that each has statistics.
pub(super) fn write<S: Sink>(
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
        let value = chars
            .iter()
            .fold(0, |value, c| value * u64::from(piece.radix) + digit(segment, *c).unwrap_or_default());
        sink.nth(node, nth);
        sink.index(At { node, part: Part::Value }, value, piece.count(length))?;
    }
    Ok(())
}

/// Appends the characters to `text`.
pub(super) fn read<S: Source>(
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
            let mut value = source.index(At { node, part: Part::Value }, piece.count(length))? as u32;
            let mut digits = [0; GROUP_DIGITS];
            let digits = &mut digits[..length as usize];
            for digit in digits.iter_mut().rev() {
                (value, *digit) = divided(value, piece.radix);
            }
            text.extend(digits.iter().map(|digit| segment.chars[*digit as usize]));
        }
    }
    Ok(())
}
