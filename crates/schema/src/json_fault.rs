//! What is wrong with a text that is not JSON, for people.

/// Parsers' reasons, and what replaces them. `serde_json` and `jiter` have the same reasons. A place follows: " at /a, byte 5".
const REASONS: [(&str, &str); 19] = [
    (
        "expected ident",
        "not a JSON value (text needs double quotes; numbers, true, false and null have none)",
    ),
    ("expected value", "a JSON value is missing (text needs double quotes)"),
    (KEY, "a key without double quotes"),
    (COMMA, "a comma without a value after it"),
    ("expected `:`", "no colon after the key"),
    ("expected `,` or `]`", "neither a comma nor ] after an element"),
    ("expected `,` or `}`", "neither a comma nor } after a value"),
    (
        "invalid number",
        "not a JSON number (it has digits on both sides of its point, no leading zeros and no plus sign)",
    ),
    ("number out of range", "a number that no value holds"),
    ("invalid escape", r"an escape that JSON does not have (a backslash in text is \\)"),
    (
        "control character (\\u0000-\\u001F) found while parsing a string",
        r"a control character in text (write an escape such as \n or \t)",
    ),
    ("invalid unicode code point", "not a character of Unicode"),
    ("lone leading surrogate in hex escape", SURROGATE),
    ("unexpected end of hex escape", SURROGATE),
    ("trailing characters", "more text after the end of the JSON value"),
    ("EOF while parsing a list", "the text ends inside an array (] is missing)"),
    ("EOF while parsing an object", "the text ends inside an object (} is missing)"),
    ("EOF while parsing a string", "the text ends inside a string (a double quote is missing)"),
    ("EOF while parsing a value", "the text ends before a value"),
];
const KEY: &str = "key must be a string";
const COMMA: &str = "trailing comma";
const SURROGATE: &str = r"half of a surrogate pair (a character beyond U+FFFF needs both \u escapes)";

/// Returns a parser's `reason` in plain words, or unchanged if it is not known.
#[doc(hidden)]
pub fn json_fault(reason: &str) -> &str {
    REASONS.iter().find(|(known, _)| *known == reason).map_or(reason, |(_, words)| words)
}

/// Describes an error of `serde_json` in `text`, with its line and column.
pub(crate) fn describe(error: &serde_json::Error, text: &str) -> String {
    let described = error.to_string();
    let Some((reason, place)) = described.split_once(" at line ") else { return described };
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    // It reports the brace after a comma as a key.
    let is_comma = reason == KEY && text.as_bytes().get(at) == Some(&b'}');
    format!("{} at line {place}", json_fault(if is_comma { COMMA } else { reason }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    #[test]
    fn no_error_has_a_parsers_words() {
        for text in [
            "x=1",
            "true1",
            "nul",
            "{\"a\":}",
            "{a:1}",
            "{'a':1}",
            "{\"a\":1,}",
            "[1,]",
            "{\"a\" 1}",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "[01]",
            "[1.]",
            "[\"\\x\"]",
            "[\"\t\"]",
            "1 2",
            "[",
            "{",
            "{\"a\":",
            "[\"",
            "",
        ] {
            let error = serde_json::from_str::<&RawValue>(text).unwrap_err();
            let described = describe(&error, text);
            let reason = error.to_string();
            assert_ne!(described, reason, "{text}: {reason}");
            assert_eq!(described.split(" at line ").nth(1), reason.split(" at line ").nth(1), "{text}");
        }
        for text in [r#""\ud800""#, r#""\ud800\n""#] {
            let error = serde_json::from_str::<String>(text).unwrap_err();
            assert!(describe(&error, text).contains("half of a surrogate pair"), "{text}: {error}");
        }
        let error = serde_json::from_str::<&RawValue>("{\n\"a\":1,}").unwrap_err();
        assert_eq!(describe(&error, "{\n\"a\":1,}"), "a comma without a value after it at line 2 column 7");
    }
}
