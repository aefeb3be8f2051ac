//! The characters and names that XML 1.0 allows, and an escape for other characters.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether `c` matches production 2, `Char`.
pub(super) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether `text` matches production 5, `Name`, but without the colon, which separates namespace prefixes.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

/// Whether `text` is a name, or two with a colon between them: a namespace prefix and a local name.
pub(super) fn is_qualified_name(text: &str) -> bool {
    match text.split_once(':') {
        Some((prefix, local)) => is_name(prefix) && is_name(local),
        None => is_name(text),
    }
}

fn is_name_start(c: char) -> bool {
    matches!(c, 'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

pub(super) fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Writes `\` as `\\` and every character that `keeps` rejects as `\uXXXX`. Four digits are enough: all characters that XML cannot carry
/// lie below U+10000.
pub(super) fn escape(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(|c| c != '\\' && keeps(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if keeps(c) => out.push(c),
            // Writing to a string cannot fail.
            c => write!(out, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
        }
    }
    Cow::Owned(out)
}

/// Reverses [`escape`]; `None` for any other escape.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        if let Some(after) = escape.strip_prefix('\\') {
            out.push('\\');
            rest = after;
        } else {
            let digits = escape.strip_prefix('u')?.get(..4)?;
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
            rest = escape.get(5..)?;
        }
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_xml() {
        for name in ["a", "_", "ble-m", "bat.soc", "x1", "été", "漢"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "1a", "-a", "a b", "a:b", "a>", "×"] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn other_escapes_are_refused() {
        for text in [r"\", r"\n", r"\u12", r"\u12g4", r"\u+123", r"\ud800", r"\u00é9"] {
            assert_eq!(unescape(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_comes_back(text: String) {
            let escaped = escape(&text, is_char);
            prop_assert!(escaped.chars().all(is_char));
            prop_assert_eq!(unescape(&escaped), Some(text));
        }
    }
}
