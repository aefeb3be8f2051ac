//! Translates ECMA-262 regular expressions, which JSON Schema uses, to the syntax of the `regex` crate.
//!
//! The expression is read with the flag `u` and no other. Features that a linear-time engine cannot support (lookaround, backreferences)
//! are rejected by name, and so is everything that has another meaning in `regex` and no translation.

use std::{iter::Peekable, str::Chars};

const DIGIT: &str = "[0-9]";
const WORD: &str = "[0-9A-Za-z_]";
/// WhiteSpace and LineTerminator of ECMA-262.
const SPACE: &str =
    r"[\x{9}-\x{D}\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]";

/// Translates an expression for the `regex` crate. The error gives the reason why it has no translation.
pub(crate) fn translate(source: &str) -> Result<String, String> {
    let mut translator = Translator { rest: source.chars().peekable(), out: String::new() };
    translator.expression()?;
    Ok(translator.out)
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
}

/// The meaning of an escape: one character, or a class.
enum Atom {
    Char(char),
    Class(String),
}

impl Translator<'_> {
    fn expression(&mut self) -> Result<(), String> {
        // Whether a quantifier may follow.
        let mut repeatable = false;
        while let Some(c) = self.rest.next() {
            repeatable = match c {
                '*' | '+' | '?' | '{' if !repeatable => {
                    return Err(format!("nothing to repeat before `{c}`"));
                }
                '*' | '+' | '?' | '{' => self.quantifier(c)?,
                '(' => self.group()?,
                '[' => self.class()?,
                '.' => self.push(r"[^\n\r\x{2028}\x{2029}]", true),
                ')' => self.push(")", true),
                '|' | '^' | '$' => self.push(c.encode_utf8(&mut [0; 4]), false),
                ']' | '}' => return Err(format!("lone `{c}`; write `\\{c}`")),
                '\\' if self.rest.next_if_eq(&'b').is_some() => self.push(r"(?-u:\b)", false),
                '\\' => match self.escape(false)? {
                    Atom::Char(c) => self.push_char(c),
                    Atom::Class(class) => self.push(&class, true),
                },
                _ => self.push_char(c),
            };
        }
        Ok(())
    }

    // The next three functions return whether a quantifier may follow.

    /// Translates a quantifier after its first character: `*`, `+`, `?` or `{`.
    fn quantifier(&mut self, first: char) -> Result<bool, String> {
        self.out.push(first);
        if first == '{' {
            let (mut digits, mut commas) = (0, 0);
            loop {
                let c = self.rest.next().ok_or("`{` without `}`")?;
                match c {
                    '0'..='9' => digits += 1,
                    ',' if digits > 0 && commas == 0 => commas = 1,
                    '}' if digits > 0 => break,
                    _ => return Err(format!("`{c}` in `{{}}`, which takes {{n}}, {{n,}} or {{n,m}}")),
                }
                self.out.push(c);
            }
            self.out.push('}');
        }
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(false)
    }

    /// Translates the start of a group after `(`. Groups do not capture.
    fn group(&mut self) -> Result<bool, String> {
        self.out.push_str("(?:");
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(false);
        }
        match (self.rest.next(), self.rest.peek()) {
            (Some(':'), _) => Ok(false),
            (Some('='), _) | (Some('!'), _) => Err("lookahead is not supported".into()),
            (Some('<'), Some('=' | '!')) => Err("lookbehind is not supported".into()),
            (Some('<'), _) => {
                match self.rest.by_ref().find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '$'))) {
                    Some('>') => Ok(false),
                    _ => Err("bad name of a group".into()),
                }
            }
            _ => Err("`(?` must be `(?:` or `(?<name>`; flags are not supported".into()),
        }
    }

    /// Translates a class after `[`.
    fn class(&mut self) -> Result<bool, String> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            if !negated {
                return Err("`[]` matches nothing".into());
            }
            self.out.push_str(r"[\x{0}-\x{10FFFF}]");
            return Ok(true);
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        loop {
            let low = match self.class_atom()? {
                None => break,
                Some(Atom::Class(class)) => {
                    self.out.push_str(&class);
                    continue;
                }
                Some(Atom::Char(c)) => c,
            };
            let high = if self.next_is_range() { self.range_end(low)? } else { low };
            self.out.push_str(&format!(r"\x{{{:X}}}-\x{{{:X}}}", u32::from(low), u32::from(high)));
        }
        self.out.push(']');
        Ok(true)
    }

    fn class_atom(&mut self) -> Result<Option<Atom>, String> {
        match self.rest.next() {
            None => Err("`[` without `]`".into()),
            Some(']') => Ok(None),
            Some('\\') => self.escape(true).map(Some),
            Some(c) => Ok(Some(Atom::Char(c))),
        }
    }

    /// Consumes a `-` that is not the last character of its class.
    fn next_is_range(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        let is_range = ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']');
        if is_range {
            self.rest = ahead;
        }
        is_range
    }

    fn range_end(&mut self, low: char) -> Result<char, String> {
        match self.class_atom()? {
            Some(Atom::Char(high)) if low <= high => Ok(high),
            Some(Atom::Char(high)) => Err(format!("the range `{low}-{high}` is upside down")),
            _ => Err(format!("the range `{low}-` ends in a class")),
        }
    }

    /// Translates an escape after `\`.
    fn escape(&mut self, in_class: bool) -> Result<Atom, String> {
        let c = self.rest.next().ok_or("`\\` at the end")?;
        let class = |positive: &str, negative: bool| {
            Atom::Class(if negative { positive.replacen('[', "[^", 1) } else { positive.to_owned() })
        };
        Ok(match c {
            'd' | 'D' => class(DIGIT, c == 'D'),
            'w' | 'W' => class(WORD, c == 'W'),
            's' | 'S' => class(SPACE, c == 'S'),
            'p' | 'P' => self.property(c)?,
            'b' if in_class => Atom::Char('\u{8}'),
            'B' => return Err("`\\B` is not supported".into()),
            'k' | '1'..='9' => return Err(format!("backreferences (`\\{c}`) are not supported")),
            '0' if !self.rest.peek().is_some_and(char::is_ascii_digit) => Atom::Char('\0'),
            '0' => return Err("octal escapes are not supported".into()),
            't' => Atom::Char('\t'),
            'n' => Atom::Char('\n'),
            'v' => Atom::Char('\u{B}'),
            'f' => Atom::Char('\u{C}'),
            'r' => Atom::Char('\r'),
            'c' => match self.rest.next() {
                Some(letter) if letter.is_ascii_alphabetic() => Atom::Char(char::from(letter as u8 % 32)),
                _ => return Err("`\\c` without a letter".into()),
            },
            'x' => {
                Atom::Char(self.hex(2)?.and_then(char::from_u32).ok_or("`\\x` takes two hexadecimal digits")?)
            }
            'u' => Atom::Char(self.unicode()?),
            _ if c.is_ascii_punctuation() => Atom::Char(c),
            _ => return Err(format!("the escape `\\{c}` is not supported")),
        })
    }

    /// Translates a property after `\p` or `\P`: `{Name}` or `{Name=Value}`.
    fn property(&mut self, p: char) -> Result<Atom, String> {
        let name: String = match self.rest.next() {
            Some('{') => self.rest.by_ref().take_while(|c| *c != '}').collect(),
            _ => return Err(format!("`\\{p}` without `{{}}`")),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '=')) {
            return Err(format!("no property is called {name:?}"));
        }
        Ok(Atom::Class(format!("\\{p}{{{name}}}")))
    }

    /// Parses a code point after `\u`: four digits, a surrogate pair of two times four, or digits in braces.
    fn unicode(&mut self) -> Result<char, String> {
        const WRONG: &str = "`\\u` takes four hexadecimal digits or a code point in braces";
        if self.rest.next_if_eq(&'{').is_some() {
            let digits: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
            return u32::from_str_radix(&digits, 16)
                .ok()
                .and_then(char::from_u32)
                .ok_or_else(|| WRONG.into());
        }
        let first = self.hex(4)?.ok_or(WRONG)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or_else(|| "lone surrogates are not supported".into());
        }
        let pair = self.rest.next_if_eq(&'\\').and_then(|_| self.rest.next_if_eq(&'u'));
        let second = if pair.is_some() { self.hex(4)? } else { None };
        match second {
            Some(low @ 0xDC00..=0xDFFF) => {
                char::from_u32(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00))
                    .ok_or_else(|| WRONG.into())
            }
            _ => Err("lone surrogates are not supported".into()),
        }
    }

    fn hex(&mut self, digits: usize) -> Result<Option<u32>, String> {
        let mut n = 0;
        for _ in 0..digits {
            match self.rest.next().and_then(|c| c.to_digit(16)) {
                Some(digit) => n = n * 16 + digit,
                None => return Ok(None),
            }
        }
        Ok(Some(n))
    }

    fn push_char(&mut self, c: char) -> bool {
        self.push(&regex_syntax::escape(c.encode_utf8(&mut [0; 4])), true)
    }

    /// Appends `text`; returns `repeatable`.
    fn push(&mut self, text: &str, repeatable: bool) -> bool {
        self.out.push_str(text);
        repeatable
    }
}

#[cfg(test)]
mod tests {
    use crate::Pattern;

    #[test]
    fn expressions_mean_what_ecma_262_says() {
        for (source, text, found) in [
            ("b", "abc", true),
            ("^b", "abc", false),
            ("^abc$", "abc\n", false),
            ("^\\d+$", "٣", false),
            ("^\\d+$", "3", true),
            ("^\\w$", "é", false),
            ("^\\W$", "é", true),
            ("^\\s$", "\u{FEFF}", true),
            ("^\\s$", "\u{85}", false),
            ("^\\S$", "\u{A0}", false),
            ("^.$", "\r", false),
            ("^.$", "\u{2028}", false),
            ("^.$", "😀", true),
            ("^[^]$", "\n", true),
            ("^[[]$", "[", true),
            ("^[a&&b]$", "&", true),
            ("^[a&&b]+$", "ab", true),
            ("^[+--]$", ",", true),
            ("^[a-]$", "-", true),
            ("^[a\\-z]$", "m", false),
            ("^[\\d-]+$", "1-2", true),
            ("^[\\D]$", "x", true),
            ("^[^\\d]$", "1", false),
            ("^[\\b]$", "\u{8}", true),
            ("^\\u00e9\\xe9$", "éé", true),
            ("^\\ud83d\\ude00$", "😀", true),
            ("^\\u{1F600}$", "😀", true),
            ("^\\cJ\\t\\0$", "\n\t\0", true),
            ("\\bcat\\b", "a cat!", true),
            ("\\bcat\\b", "écaté", true),
            ("^\\/\\-\\.$", "/-.", true),
            ("^(?<year>\\d{4})$", "2024", true),
            ("^a{2,}?$", "aaa", true),
            ("^~#$", "~#", true),
            ("^\\p{Lu}\\P{Lu}$", "Éé", true),
            ("^\\p{Script=Greek}$", "λ", true),
            ("(a|b)+", "xxb", true),
            ("^[~-~]$", "~", true),
            ("^\\[\\]$", "[]", true),
            ("", "", true),
        ] {
            let pattern = Pattern::new(source).unwrap_or_else(|e| panic!("{source}: {e}"));
            assert_eq!(pattern.is_match(text), found, "{source} in {text:?}");
        }
    }

    #[test]
    fn what_is_not_supported_is_refused_by_name() {
        for (source, reason) in [
            ("a(?=b)", "lookahead"),
            ("a(?!b)", "lookahead"),
            ("(?<=a)b", "lookbehind"),
            ("(?<!a)b", "lookbehind"),
            ("(a)\\1", "backreference"),
            ("(?<n>a)\\k<n>", "backreference"),
            ("(?i)a", "flags"),
            ("(?P<n>a)", "flags"),
            ("\\B", "\\B"),
            ("\\A", "\\A"),
            ("\\z", "\\z"),
            ("\\pL", "\\p"),
            ("\\p{^L}", "property"),
            ("\\01", "octal"),
            ("\\ud83d", "surrogate"),
        ] {
            let error = Pattern::new(source).unwrap_err();
            assert!(error.message().contains(reason), "{source}: {error}");
        }
    }

    #[test]
    fn what_is_not_an_expression_is_refused() {
        for source in [
            "(",
            ")",
            "[",
            "[]",
            "a**",
            "a{2}{3}",
            "*",
            "^*",
            "(+)",
            "a|*",
            "a{",
            "a{,3}",
            "a{x}",
            "a{3,2}",
            "]",
            "}",
            "\\",
            "[b-a]",
            "[a-\\d]",
            "\\x1",
            "\\u12",
            "\\u{110000}",
            "\\c1",
            "\\p{Nope}",
            "(?<n",
            "(?",
            "\\b+",
        ] {
            assert!(Pattern::new(source).is_err(), "{source}");
        }
    }
}
