//! The table for packed messages: offset, number of bits, the bytes that contain them, meaning.

use super::view::cut;
use crate::{failure::RED, input::to_hex};
use anstyle::Style;
use dunnage_explain::Bits;
use std::{
    io::{self, Write},
    ops::Range,
};

/// Bytes per row.
const BYTES: usize = 8;
/// Width of the bytes column, in characters.
const BYTES_WIDTH: usize = 3 * BYTES - 1;
/// Width of the last column on a terminal of 80 columns.
const MEANING_WIDTH: usize = 80 - 8 - 6 - 2 - BYTES_WIDTH - 2;

const DIM: Style = Style::new().dimmed();
const HEADING: Style = Style::new().bold();
const PLAIN: Style = Style::new();

/// Writes rows that describe the bits of one message.
pub struct BitView<'w, W> {
    output: &'w mut W,
    bytes: &'w [u8],
    end: usize,
}

impl<'w, W: Write> BitView<'w, W> {
    /// Writes the heading.
    pub fn new(output: &'w mut W, bytes: &'w [u8]) -> io::Result<Self> {
        writeln!(output, "{HEADING}  offset  bits  {:BYTES_WIDTH$}  meaning{HEADING:#}", "bytes")?;
        Ok(BitView { output, bytes, end: 0 })
    }

    /// Writes the bits after the last row, which were not decoded because of an error at byte `error`.
    pub fn rest(&mut self, error: usize) -> io::Result<()> {
        let all = 8 * self.bytes.len();
        self.write(self.end.min(all)..all, "", &format!("not decoded: error at byte {error}"), RED)
    }

    fn write(&mut self, bits: Range<usize>, path: &str, meaning: &str, style: Style) -> io::Result<()> {
        let place = format!("{}.{}", bits.start / 8, bits.start % 8);
        let holders = if bits.is_empty() { 0..0 } else { bits.start / 8..bits.end.div_ceil(8) };
        self.lines(&place, &bits.len().to_string(), holders, path, meaning, style)
    }

    fn lines(
        &mut self,
        place: &str,
        count: &str,
        bytes: Range<usize>,
        path: &str,
        meaning: &str,
        style: Style,
    ) -> io::Result<()> {
        let hex: Vec<_> = self.bytes[bytes]
            .chunks(BYTES)
            .map(|row| row.iter().map(|byte| to_hex(&[*byte])).collect::<Vec<_>>().join(" "))
            .collect();
        let text = if path.is_empty() { meaning.to_owned() } else { format!("{path}  {meaning}") };
        let text = cut(&text, MEANING_WIDTH);
        for row in 0..hex.len().max(text.len()) {
            let (place, count) = if row == 0 { (place, count) } else { ("", "") };
            let hex = hex.get(row).map_or("", String::as_str);
            write!(self.output, "{DIM}{place:>8}{DIM:#}{count:>6}  ")?;
            match text.get(row) {
                Some(text) => writeln!(self.output, "{hex:BYTES_WIDTH$}  {style}{text}{style:#}")?,
                None => writeln!(self.output, "{hex}")?,
            }
        }
        Ok(())
    }
}

impl<W: Write> Bits for BitView<'_, W> {
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()> {
        self.end = bits.end;
        self.write(bits, path, meaning, PLAIN)
    }

    fn share(&mut self, bits: Option<f64>, path: &str, meaning: &str) -> io::Result<()> {
        let count = bits.map(|bits| format!("{bits:.1}")).unwrap_or_default();
        self.lines("", &count, 0..0, path, meaning, PLAIN)
    }
}
