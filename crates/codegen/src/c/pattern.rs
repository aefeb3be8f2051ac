//! Generates tables for patterns.

use super::plan::Plan;
use dunnage_schema::Segment;
use std::fmt::Write as _;

/// Generates the tables of all patterns.
pub(super) fn tables(plan: &Plan) -> String {
    let mut classes: Vec<&[char]> = Vec::new();
    let (mut characters, mut firsts) = (Vec::new(), Vec::new());
    let mut rows = String::new();
    for (i, segments) in plan.patterns.iter().enumerate() {
        let _ = writeln!(
            rows,
            "static const dunnage_segment pattern_{i}[{}] DUNNAGE_FLASH = {{",
            segments.len().max(1)
        );
        for segment in segments {
            let class = classes.iter().position(|class| *class == segment.chars).unwrap_or_else(|| {
                classes.push(&segment.chars);
                firsts.push(characters.len());
                characters.extend(ranges(&segment.chars));
                classes.len() - 1
            });
            let _ = writeln!(rows, "    {},", row(segment, firsts[class]));
        }
        if segments.is_empty() {
            let _ = writeln!(rows, "    {{0, characters, 1, 1, 0, 0}},");
        }
        let inverses: Vec<_> = segments.iter().map(|s| format!("{}u", inverse(s))).collect();
        let inverses = if inverses.is_empty() { "0".to_owned() } else { inverses.join(", ") };
        let _ = writeln!(rows, "}};\nstatic const uint16_t inverse_{i}[] DUNNAGE_FLASH = {{{inverses}}};");
    }
    let characters: Vec<_> = characters.iter().map(|(first, more)| format!("{first}, {more}")).collect();
    let characters = if characters.is_empty() { "0, 0".to_owned() } else { characters.join(", ") };
    format!(
        "/* Ranges of characters: the first, and how many follow it. */
static const uint8_t characters[] DUNNAGE_FLASH = {{{characters}}};\n{rows}\n"
    )
}

fn row(segment: &Segment, first: usize) -> String {
    let radix = segment.chars.len() as u32;
    let ranges = ranges(&segment.chars).len();
    let (most, min, max) = (u32::MAX / radix.max(1), segment.min, segment.max);
    format!("{{{most}ul, &characters[{}], {radix}, {ranges}, {min}, {max}}}", first * 2)
}

/// Returns 65536 / radix, which a reader uses for division. It has its own table, so that a program that only writes does not contain it.
fn inverse(segment: &Segment) -> usize {
    if segment.chars.len() > 1 { 65536 / segment.chars.len() } else { 0 }
}

/// Returns the characters, which are ASCII, as ranges: the first of each, and how many follow it.
fn ranges(characters: &[char]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in characters.iter().map(|c| u32::from(*c)) {
        match ranges.last_mut() {
            Some((first, more)) if *first + *more + 1 == code => *more += 1,
            _ => ranges.push((code, 0)),
        }
    }
    ranges
}
