//! Patterns as tables.

use super::plan::Plan;
use dunnage_schema::Segment;
use std::fmt::Write as _;

/// The tables of all patterns, and the types that they need.
pub(super) fn tables(plan: &Plan) -> String {
    let longest = plan.patterns.iter().flatten().map(|segment| segment.max).max().unwrap_or_default();
    let total = plan
        .patterns
        .iter()
        .map(|segments| segments.iter().map(|s| s.max).sum::<u32>())
        .max()
        .unwrap_or_default();
    let most = plan.patterns.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let wide = longest.max(total) > 255;
    let mut out = format!("typedef {} pattern_size;\n", if wide { "uint16_t" } else { "uint8_t" });
    let _ = writeln!(out, "#define FLASH_SIZE(place) FLASH_{}(place)", if wide { "16" } else { "8" });
    let _ = writeln!(out, "#define MOST_SEGMENTS {most}\n");
    out.push_str(include_str!("support/segments.c"));

    let mut classes: Vec<&[char]> = Vec::new();
    let (mut characters, mut firsts) = (Vec::new(), Vec::new());
    let mut rows = String::new();
    for (i, segments) in plan.patterns.iter().enumerate() {
        let _ = writeln!(rows, "static const segment pattern_{i}[{}] FLASH = {{", segments.len().max(1));
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
            let _ = writeln!(rows, "    {{0, 1, 1, 0, 0, 0}},");
        }
        let inverses: Vec<_> = segments.iter().map(|s| format!("{}u", inverse(s))).collect();
        let inverses = if inverses.is_empty() { "0".to_owned() } else { inverses.join(", ") };
        let _ = writeln!(rows, "}};\nstatic const uint16_t inverse_{i}[] FLASH = {{{inverses}}};");
    }
    let characters: Vec<_> = characters.iter().map(|(first, more)| format!("{first}, {more}")).collect();
    let characters = if characters.is_empty() { "0, 0".to_owned() } else { characters.join(", ") };
    let _ = writeln!(out, "/* Ranges of characters: the first, and how many follow it. */");
    let _ = writeln!(out, "static const uint8_t characters[] FLASH = {{{characters}}};\n{rows}");
    out
}

fn row(segment: &Segment, first: usize) -> String {
    let radix = segment.chars.len() as u32;
    let ranges = ranges(&segment.chars).len();
    let (most, min, max) = (u32::MAX / radix.max(1), segment.min, segment.max);
    format!("{{{most}ul, {radix}, {ranges}, {}, {min}, {max}}}", first * 2)
}

/// 65536 / radix, by which a reader divides. It stands apart, so that a program that only writes does not have it.
fn inverse(segment: &Segment) -> usize {
    if segment.chars.len() > 1 { 65536 / segment.chars.len() } else { 0 }
}

/// The characters, which are ASCII, as ranges: the first of each, and how many follow it.
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
