//! Places in a text, for people.

/// Returns the line and the column of a byte of `text`, both counted from 1. Columns are in characters.
///
/// ```
/// use dunnage_formats::line_and_column;
/// assert_eq!(line_and_column("{\n  \"t\": x\n}", 9), (2, 8));
/// ```
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.bytes().filter(|byte| *byte == b'\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_in_characters_and_lines() {
        let text = "a\nשלום x\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 2), (2, 1));
        assert_eq!(line_and_column(text, 2 + "שלום ".len()), (2, 6));
        assert_eq!(line_and_column(text, 3), (2, 1), "within a character");
        assert_eq!(line_and_column(text, text.len()), (3, 1));
        assert_eq!(line_and_column(text, 999), (3, 1));
    }
}
