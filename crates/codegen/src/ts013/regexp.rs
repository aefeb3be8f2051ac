//! Translates regular expressions of the `regex` crate to ECMAScript 5.1. It has no flag `u`, so a character beyond U+FFFF is two units.

use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::fmt::Write;

/// Returns a literal such as `/^[a-z]+$/` that is equivalent to `expression`, or `None` if there is none.
pub(super) fn literal(expression: &str) -> Option<String> {
    let mut out = String::from("/");
    push(&regex_syntax::parse(expression).ok()?, &mut out)?;
    out.push('/');
    Some(out)
}

fn push(hir: &Hir, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => out.push_str("(?:)"),
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).ok()?.chars().for_each(|c| character(c, out));
        }
        HirKind::Class(class) => classes(class, out),
        HirKind::Look(Look::Start) => out.push('^'),
        HirKind::Look(Look::End) => out.push('$'),
        HirKind::Look(Look::WordAscii) => out.push_str("\\b"),
        HirKind::Look(_) => return None,
        HirKind::Repetition(repetition) => {
            group(&repetition.sub, out)?;
            let max = repetition.max.map_or(String::new(), |max| max.to_string());
            // Writing to a string cannot fail.
            let _ = write!(out, "{{{},{max}}}", repetition.min);
        }
        HirKind::Capture(capture) => group(&capture.sub, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| push(part, out))?,
        HirKind::Alternation(parts) => {
            out.push_str("(?:");
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    out.push('|');
                }
                push(part, out)?;
            }
            out.push(')');
        }
    }
    Some(())
}

fn group(hir: &Hir, out: &mut String) -> Option<()> {
    out.push_str("(?:");
    push(hir, out)?;
    out.push(')');
    Some(())
}

/// Appends a class: a single unit up to U+FFFF, or a surrogate pair.
fn classes(class: &Class, out: &mut String) {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => class.iter().map(|r| (r.start().into(), r.end().into())).collect(),
        Class::Bytes(class) => class.iter().map(|r| (r.start().into(), r.end().into())).collect(),
    };
    let units = ranges.iter().flat_map(|&(a, b)| [(a, b.min(0xd7ff)), (a.max(0xe000), b.min(0xffff))]);
    let mut alternatives = vec![unit_class(units)];
    for (start, end) in ranges.into_iter().filter(|(_, end)| *end > 0xffff) {
        pairs(start.max(0x10000) - 0x10000, end - 0x10000, &mut alternatives);
    }
    out.push_str("(?:");
    out.push_str(&alternatives.join("|"));
    out.push(')');
}

/// Appends the surrogate pairs of the code points from `start` to `end`, both minus 0x10000.
fn pairs(start: u32, end: u32, out: &mut Vec<String>) {
    let mut at = start;
    while at <= end {
        let high = at >> 10;
        // Combine all complete blocks of 1024 code points, or take the part of one block.
        let whole = at & 0x3ff == 0 && end - at >= 0x3ff;
        let last = if whole { ((end + 1) >> 10) - 1 } else { high };
        let stop = if whole { (last << 10) | 0x3ff } else { end.min((high << 10) | 0x3ff) };
        let lows = (0xdc00 + (at & 0x3ff), 0xdc00 + (stop & 0x3ff));
        out.push(unit_class([(0xd800 + high, 0xd800 + last)].into_iter()) + &unit_class([lows].into_iter()));
        at = stop + 1;
    }
}

fn unit_class(ranges: impl Iterator<Item = (u32, u32)>) -> String {
    let mut out = String::from("[");
    for (start, end) in ranges.filter(|(start, end)| start <= end) {
        unit(start, &mut out);
        if end > start {
            out.push('-');
            unit(end, &mut out);
        }
    }
    out.push(']');
    out
}

fn character(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        self::unit((*unit).into(), out);
    }
}

fn unit(unit: u32, out: &mut String) {
    match char::from_u32(unit) {
        Some(c) if c.is_ascii_alphanumeric() || c == ' ' || c == '_' => out.push(c),
        // Writing to a string cannot fail.
        _ => drop(write!(out, "\\u{unit:04x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn characters_beyond_16_bits_are_pairs() {
        for (expression, expected) in [
            (
                "^(?:ok|a.b)$",
                r"/^(?:ok|a(?:[\u0000-\u0009\u000b-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff])b)$/",
            ),
            ("[^a]", r"/(?:[\u0000-`b-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff])/"),
            ("[😀-😂]{2,}", r"/(?:(?:[]|[\ud83d][\ude00-\ude02])){2,}/"),
            (
                "[\u{103ff}-\u{10801}]",
                r"/(?:[]|[\ud800][\udfff]|[\ud801-\ud801][\udc00-\udfff]|[\ud802][\udc00-\udc01])/",
            ),
        ] {
            let expected = expected.replace('`', r"\u0060").replace("[\\ud801-\\ud801]", "[\\ud801]");
            assert_eq!(literal(expression).as_deref(), Some(expected.as_str()), "{expression}");
        }
        assert_eq!(literal("(?m:^a)"), None);
    }
}
