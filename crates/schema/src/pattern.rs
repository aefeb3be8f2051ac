//! Compiles regular expressions, and recognizes those that are a plain sequence of character classes.

use crate::{Pattern, SchemaError, Segment, ecma};
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use std::sync::Arc;

/// The sizes of compiled expressions, in bytes. The last is the limit.
const COMPILED: [usize; 3] = [16 << 10, 128 << 10, 1 << 20];
/// The largest character class of a [`Segment`].
const MAX_CLASS: usize = 256;
/// The most segments. `(ab){9}` counts as its expansion.
const MAX_SEGMENTS: usize = 256;

impl Pattern {
    /// Compiles an ECMA-262 expression with the flag `u` and no other. The error names what is not supported.
    ///
    /// # Errors
    /// `source` is not a regular expression of ECMAScript, or uses a part of it that the crate does not have.
    ///
    /// ```
    /// # use dunnage_schema::Pattern;
    /// let pattern = Pattern::new("^LMCU[0-9]{7}$")?;
    /// assert!(pattern.is_match("LMCU0000001") && !pattern.is_match("LMCU1"));
    /// assert_eq!(pattern.longest(), Some(11));
    /// assert!(Pattern::new("(").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(source: &str) -> Result<Pattern, SchemaError> {
        let measured = Pattern::measured(source).map_err(|reason| SchemaError::new("", "pattern", reason))?;
        Ok(measured.0)
    }

    /// Compiles an expression, and returns the most bytes that it may take.
    pub(crate) fn measured(source: &str) -> Result<(Pattern, usize), String> {
        let translated = ecma::translate(source)?;
        let hir = regex_syntax::parse(&translated).map_err(|e| reason(&e.to_string()))?;
        let (regex, bytes) = compile(&translated).map_err(|e| reason(&e.to_string()))?;
        let anchored = is_anchored(&hir);
        let (segments, longest) = if anchored { (segments(&hir), longest(&hir)) } else { (None, None) };
        let is_ascii = anchored && is_ascii(&hir);
        Ok((
            Pattern { source: source.to_owned(), segments, longest, is_ascii, regex: Arc::new(regex) },
            bytes,
        ))
    }

    /// Whether the expression matches anywhere in `text`; an anchor limits where.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the expression in the syntax of the `regex` crate.
    pub fn translated(&self) -> &str {
        self.regex.as_str()
    }

    /// Returns the length of the longest text that matches, in code points; `None` if there is no limit.
    pub fn longest(&self) -> Option<u32> {
        self.longest
    }

    /// Whether all texts that match are known to be ASCII.
    pub fn is_ascii(&self) -> bool {
        self.is_ascii
    }
}

impl PartialEq for Pattern {
    /// Compares the sources, because everything else follows from them.
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

/// Compiles an expression to the smallest of the sizes that suffices. Each thread that matches with it keeps a cache of at most this size, too.
fn compile(translated: &str) -> Result<(Regex, usize), regex::Error> {
    let of_size = |bytes| RegexBuilder::new(translated).size_limit(bytes).dfa_size_limit(bytes).build();
    let [small, medium, large] = COMPILED;
    for bytes in [small, medium] {
        match of_size(bytes) {
            Err(regex::Error::CompiledTooBig(_)) => {}
            other => return other.map(|regex| (regex, bytes)),
        }
    }
    of_size(large).map(|regex| (regex, large))
}

/// Returns the last line of a regex error. The lines before it show the expression.
fn reason(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn is_anchored(hir: &Hir) -> bool {
    let properties = hir.properties();
    properties.look_set_prefix().contains(Look::Start) && properties.look_set_suffix().contains(Look::End)
}

fn longest(hir: &Hir) -> Option<u32> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => {
            u32::try_from(std::str::from_utf8(&literal.0).ok()?.chars().count()).ok()
        }
        HirKind::Class(_) => Some(1),
        HirKind::Repetition(repetition) => longest(&repetition.sub)?.checked_mul(repetition.max?),
        HirKind::Capture(capture) => longest(&capture.sub),
        HirKind::Concat(parts) => parts.iter().try_fold(0u32, |sum, part| sum.checked_add(longest(part)?)),
        HirKind::Alternation(parts) => parts.iter().map(longest).try_fold(0, |max, n| Some(n?.max(max))),
    }
}

/// Whether the expression names only ASCII characters.
fn is_ascii(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => literal.0.is_ascii(),
        HirKind::Class(class) => class.is_utf8() && class.maximum_len() == Some(1),
        HirKind::Repetition(repetition) => is_ascii(&repetition.sub),
        HirKind::Capture(capture) => is_ascii(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(is_ascii),
    }
}

/// Returns the classes between `^` and `$`, if the expression has no other parts.
fn segments(hir: &Hir) -> Option<Vec<Segment>> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let [first, middle @ .., last] = parts.as_slice() else { return None };
    let anchored =
        matches!(first.kind(), HirKind::Look(Look::Start)) && matches!(last.kind(), HirKind::Look(Look::End));
    let mut out = Vec::new();
    (anchored && middle.iter().all(|part| push(part, &mut out).is_some())).then_some(out)
}

fn push(hir: &Hir, out: &mut Vec<Segment>) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => Some(()),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
            .ok()?
            .chars()
            .try_for_each(|c| append(Segment { chars: vec![c], min: 1, max: 1 }, out)),
        HirKind::Class(class) => append(Segment { chars: chars(class)?, min: 1, max: 1 }, out),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| push(part, out)),
        HirKind::Repetition(repetition) => {
            let max = repetition.max?;
            let mut inner = Vec::new();
            push(&repetition.sub, &mut inner)?;
            match inner.as_slice() {
                [one] if one.min == 1 && one.max == 1 => {
                    append(Segment { chars: one.chars.clone(), min: repetition.min, max }, out)
                }
                _ if max == repetition.min => {
                    (0..max).try_for_each(|_| inner.iter().try_for_each(|one| append(one.clone(), out)))
                }
                _ => None,
            }
        }
        HirKind::Look(_) | HirKind::Capture(_) | HirKind::Alternation(_) => None,
    }
}

/// Appends a segment, or extends the last one if it has the same class.
fn append(next: Segment, out: &mut Vec<Segment>) -> Option<()> {
    if let Some(last) = out.last_mut()
        && last.chars == next.chars
    {
        last.min = last.min.checked_add(next.min)?;
        last.max = last.max.checked_add(next.max)?;
        return Some(());
    }
    out.push(next);
    (out.len() <= MAX_SEGMENTS).then_some(())
}

fn chars(class: &Class) -> Option<Vec<char>> {
    let Class::Unicode(class) = class else { return None };
    let mut chars = Vec::new();
    for range in class.iter() {
        for c in range.start()..=range.end() {
            if chars.len() == MAX_CLASS {
                return None;
            }
            chars.push(c);
        }
    }
    Some(chars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(chars: &str, min: u32, max: u32) -> Segment {
        Segment { chars: chars.chars().collect(), min, max }
    }

    fn segments_of(source: &str) -> Option<Vec<Segment>> {
        Pattern::new(source).unwrap().segments
    }

    #[test]
    fn an_anchored_sequence_of_classes_has_segments() {
        let digits = "0123456789";
        assert_eq!(
            segments_of("^[A-C]{3}[UJZ]\\d{7}$"),
            Some(vec![segment("ABC", 3, 3), segment("JUZ", 1, 1), segment(digits, 7, 7)])
        );
        assert_eq!(
            segments_of("^[0-9]{3}-[0-9]{2,3}x?$"),
            Some(vec![segment(digits, 3, 3), segment("-", 1, 1), segment(digits, 2, 3), segment("x", 0, 1)])
        );
        assert_eq!(
            segments_of("^([AB]:){2}[AB]$"),
            Some([("AB", 1), (":", 1), ("AB", 1), (":", 1), ("AB", 1)].map(|(c, n)| segment(c, n, n)).into())
        );
        assert_eq!(segments_of("^aa[a]b{0}$"), Some(vec![segment("a", 3, 3)]));
        assert_eq!(segments_of("^(?:a|c)é$"), Some(vec![segment("ac", 1, 1), segment("é", 1, 1)]));
        assert_eq!(segments_of("^$"), Some(vec![]));
    }

    #[test]
    fn anything_else_has_none() {
        for source in [
            "abc",
            "^abc",
            "abc$",
            "^[a-z]+$",
            "^(?:ab|cd)$",
            "^a|b$",
            "^\\p{L}$",
            "^(ab){1,2}$",
            "^a\\bb$",
            "^a{0,3}*?$",
        ] {
            if let Ok(pattern) = Pattern::new(source) {
                assert_eq!(pattern.segments, None, "{source}");
            }
        }
    }

    #[test]
    fn the_longest_text_counts_code_points() {
        for (source, longest) in [
            ("^é{2,3}(?:abc|d)$", Some(6)),
            ("^a+$", None),
            ("a{2}", None),
            ("^(a|bb){3}$", Some(6)),
            ("^$", Some(0)),
            ("^[^a]{70000}$", Some(70_000)),
        ] {
            match Pattern::new(source) {
                Ok(pattern) => assert_eq!(pattern.longest(), longest, "{source}"),
                Err(error) => assert!(error.message().contains("size limit"), "{source}: {error}"),
            }
        }
    }

    #[test]
    fn an_expression_that_would_be_huge_is_refused() {
        let error = Pattern::new("^(?:\\p{L}{1000}){1000}$").unwrap_err();
        assert!(error.message().contains("size limit"), "{error}");
    }

    #[test]
    fn patterns_are_equal_by_their_source() {
        assert_eq!(Pattern::new("^a$"), Pattern::new("^a$"));
        assert_ne!(Pattern::new("^a$").unwrap(), Pattern::new("^[a]$").unwrap());
    }

    /// Whether `text` matches the segments, by trying every number of repetitions.
    fn is_segments(segments: &[Segment], text: &[char]) -> bool {
        let Some((first, rest)) = segments.split_first() else { return text.is_empty() };
        let run = text.iter().take_while(|c| first.chars.contains(c)).count().min(first.max as usize);
        (first.min as usize..=run).any(|n| is_segments(rest, &text[n..]))
    }

    proptest! {
        #[test]
        fn segments_are_what_the_expression_matches(
            source in "(\\[[abc]{1,3}\\]|[abc]|\\([ab]c\\))([?]|\\{[0-2]\\}|\\{[01],[12]\\}|)(\\[ab\\]|[abc]|(c|b)){0,3}",
            texts in proptest::collection::vec("[abc]{0,6}", 20),
        ) {
            let Ok(pattern) = Pattern::new(&format!("^{source}$")) else { return Ok(()) };
            for text in texts {
                let chars: Vec<char> = text.chars().collect();
                if let Some(segments) = &pattern.segments {
                    prop_assert_eq!(is_segments(segments, &chars), pattern.is_match(&text), "{} and {}", source, text);
                }
                if let Some(longest) = pattern.longest().filter(|_| pattern.is_match(&text)) {
                    prop_assert!(chars.len() <= longest as usize);
                }
            }
        }

        #[test]
        fn any_text_is_an_expression_or_an_error(source in "[\\[\\](){}?*+|^$\\\\.\\-&~#:<>=!,0-9abcdkpPuxé]{0,24}") {
            let _ = Pattern::new(&source);
        }
    }
}
