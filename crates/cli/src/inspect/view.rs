//! The table of items: offset, bytes, meaning.

use crate::{failure::RED, input::to_hex};
use anstyle::{AnsiColor, Style};
use dunnage_explain::{Item, Sink};
use std::io::{self, Write};

/// Bytes per row: a binary64 and its header.
const BYTES: usize = 9;
/// Width of the bytes column, in characters.
const BYTES_WIDTH: usize = 3 * BYTES - 1;
/// Width of the last column, including the indentation, on a terminal of 80 columns.
const MEANING_WIDTH: usize = 80 - 7 - 2 - BYTES_WIDTH - 2;
/// Minimum width of the meaning, at any indentation.
const MEANING_MIN: usize = 24;

const DIM: Style = Style::new().dimmed();
const HEADING: Style = Style::new().bold();
const NOTE: Style = AnsiColor::Yellow.on_default();
const PLAIN: Style = Style::new();

/// Writes items as rows of a table.
pub struct View<'w, W> {
    output: &'w mut W,
    end: usize,
}

/// A piece of text in one style.
type Piece = (Style, String);

impl<'w, W: Write> View<'w, W> {
    /// Writes the heading.
    pub fn new(output: &'w mut W) -> io::Result<Self> {
        writeln!(output, "{HEADING} offset  {:BYTES_WIDTH$}  meaning{HEADING:#}", "bytes")?;
        Ok(View { output, end: 0 })
    }

    /// The offset of the byte after the last item.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Writes the bytes after the last item, which were not decoded because of an error at byte `error`.
    pub fn rest(&mut self, bytes: &[u8], error: usize) -> io::Result<()> {
        let meaning = vec![vec![(RED, format!("not decoded: error at byte {error}"))]];
        self.rows(self.end, bytes, 0, &meaning)
    }

    /// Writes `bytes`, which begin at `offset`, next to the lines of their meaning.
    fn rows(&mut self, offset: usize, bytes: &[u8], indent: usize, lines: &[Vec<Piece>]) -> io::Result<()> {
        let count = bytes.len().div_ceil(BYTES).max(lines.len());
        for row in 0..count {
            let start = (row * BYTES).min(bytes.len());
            let chunk = &bytes[start..bytes.len().min(start + BYTES)];
            let hex = chunk.iter().map(|byte| to_hex(&[*byte])).collect::<Vec<_>>().join(" ");
            let place =
                if chunk.is_empty() && row > 0 { String::new() } else { (offset + start).to_string() };
            write!(self.output, "{DIM}{place:>7}{DIM:#}  ")?;
            match lines.get(row) {
                None => write!(self.output, "{hex}")?,
                Some(line) => {
                    write!(self.output, "{hex:BYTES_WIDTH$}  {:indent$}", "")?;
                    for (style, text) in line {
                        write!(self.output, "{style}{text}{style:#}")?;
                    }
                }
            }
            writeln!(self.output)?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for View<'_, W> {
    fn item(&mut self, item: &Item<'_>) -> io::Result<()> {
        let indent = 2 * item.depth;
        let lines = lines(item, MEANING_WIDTH.saturating_sub(indent).max(MEANING_MIN));
        self.rows(item.offset, item.bytes, indent, &lines)?;
        self.end = item.offset + item.bytes.len();
        Ok(())
    }
}

/// The meaning of an item, its size and its note, in lines of `width` columns where possible.
fn lines(item: &Item<'_>, width: usize) -> Vec<Vec<Piece>> {
    let mut lines: Vec<Vec<Piece>> =
        cut(&item.meaning, width).into_iter().map(|line| vec![(PLAIN, line.to_owned())]).collect();
    let mut used = lines.last().map_or(0, |line| columns(line));
    let note = item.note.as_deref().map(|note| format!("! {note}"));
    for (style, text) in [(DIM, Some(item.about.clone())), (NOTE, note)] {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        let length = text.chars().count();
        match lines.last_mut() {
            Some(line) if used + 2 + length <= width => {
                line.push((style, format!("  {text}")));
                used += 2 + length;
            }
            _ => {
                lines.push(vec![(style, text)]);
                used = length;
            }
        }
    }
    lines
}

fn columns(line: &[Piece]) -> usize {
    line.iter().map(|(_, text)| text.chars().count()).sum()
}

/// Cuts `text` into pieces of `width` characters.
pub fn cut(text: &str, width: usize) -> Vec<&str> {
    let starts: Vec<usize> = text.char_indices().step_by(width).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("äbcdé", 2), ["äb", "cd", "é"]);
        assert_eq!(cut("", 2), [""; 0]);
    }

    #[test]
    fn a_note_that_does_not_fit_moves_to_its_own_line() {
        let item = Item { meaning: "0".into(), note: Some("a note".into()), ..Item::default() };
        assert_eq!(lines(&item, 24).len(), 1);
        assert_eq!(lines(&item, 8).len(), 2);
    }
}
