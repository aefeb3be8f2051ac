//! CSV (RFC 4180) with a header. Each row is a message.

mod columns;

use crate::{Error, Kind};
use ::csv::{ReaderBuilder, StringRecord};
use columns::Columns;
use serde::de::IgnoredAny;

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];
const QUOTE: u8 = b'"';
const MARK: char = '\u{feff}';

/// A CSV text.
///
/// - A column is the field of its name. A name that begins with a slash is the JSON pointer of a field, as in the CSV files that the gateway
///   writes. In a text with such names, the other columns are about the message and not part of it. A column without a name is left out.
/// - A number in JSON's syntax is a number with the digits that it has, unless it is an integer that no value holds exactly. `true`, `false`
///   and `null` are themselves. Anything else is text. An empty field is absent.
/// - The separator is a comma, a semicolon or a tab: the one that occurs most often in the header.
///
/// ```
/// use dunnage_formats::Csv;
///
/// let csv = Csv::new("time,celsius,door\n08:00,23.50,open\n08:10,,closed\n")?;
/// let messages: Vec<_> = csv.rows().map(|row| row.message).collect::<Result<_, _>>()?;
/// assert_eq!(messages, [
///     r#"{"time":"08:00","celsius":23.50,"door":"open"}"#,
///     r#"{"time":"08:10","door":"closed"}"#, // an empty field is absent
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Csv<'t> {
    text: &'t str,
    separator: u8,
    columns: Columns,
    /// Where the first row begins.
    body: usize,
}

/// A row of a CSV text.
#[non_exhaustive]
pub struct Row {
    /// Its first byte in the text.
    pub start: usize,
    /// Its line, from 1.
    pub line: usize,
    /// The JSON text of its message, or what is wrong with it. The offset of an error is that in the CSV text.
    pub message: Result<String, Error>,
}

impl<'t> Csv<'t> {
    /// Returns whether `text` begins with a header and has at least one more line. A line of JSON is not a header, and neither is one with a number
    /// or before a line of JSON.
    pub fn has_header(text: &str) -> bool {
        let text = text.trim_start_matches(MARK);
        let (line, rest) = text.split_once('\n').unwrap_or_default();
        let is_json = || serde_json::from_str::<IgnoredAny>(line).is_ok();
        let rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(['{', '[']) || line.contains("\":") || is_json() {
            return false;
        }
        let names = record(line, separator(line));
        // `temp [C]` is a name, and `a: [1` is a part of something else.
        let is_whole = |name: &str| name.matches('[').count() == name.matches(']').count();
        let is_name = |name: &str| {
            !name.contains(['=', '{', '}'])
                && !name.starts_with('[')
                && is_whole(name)
                && name.parse::<f64>().is_err()
        };
        names.len() > 1 && names.iter().all(|name| is_name(name.trim()))
    }

    /// Reads the header of `text`.
    ///
    /// # Errors
    /// `malformed`: the header is missing, or two of its columns are the same field.
    pub fn new(text: &'t str) -> Result<Csv<'t>, Error> {
        let header = text.trim_start_matches([MARK, '\n', '\r']);
        let start = text.len() - header.len();
        let separator = separator(header.lines().next().unwrap_or_default());
        let mut reader = reader(header, separator);
        let mut names = StringRecord::new();
        // The text is UTF-8, and records may have any number of fields, so this cannot fail.
        let _ = reader.read_record(&mut names);
        let body = start + usize::try_from(reader.position().byte()).unwrap_or_default();
        let place = |column| cell(&text[start..body], separator, column) + start;
        let columns =
            Columns::new(&names).map_err(|(column, kind, reason)| Error::new(kind, place(column), reason))?;
        Ok(Csv { text, separator, columns, body })
    }

    /// Reads the rows. Those without a value are left out.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let mut reader = reader(&self.text[self.body..], self.separator);
        let mut record = StringRecord::new();
        let (mut counted, mut line) = (0, 1);
        std::iter::from_fn(move || {
            loop {
                let before = self.at(reader.position().byte());
                if !reader.read_record(&mut record).unwrap_or_default() {
                    return None;
                }
                let row = &self.text[before..self.at(reader.position().byte())];
                let start = before + row.len() - row.trim_start_matches(['\n', '\r']).len();
                line += self.text[counted..start].bytes().filter(|byte| *byte == b'\n').count();
                counted = start;
                if let Some(message) =
                    self.message(&record, start, row.trim_end_matches(['\n', '\r'])).transpose()
                {
                    return Some(Row { start, line, message });
                }
            }
        })
    }

    /// Returns the JSON pointers of the columns that no row has a value in.
    pub fn empty_columns(&self) -> Vec<&str> {
        let mut empty: Vec<_> = self.columns.pointers().collect();
        let mut reader = reader(&self.text[self.body..], self.separator);
        let mut record = StringRecord::new();
        while !empty.is_empty() && reader.read_record(&mut record).unwrap_or_default() {
            empty.retain(|(_, column)| record.get(*column).is_none_or(|cell| cell.trim().is_empty()));
        }
        empty.into_iter().map(|(pointer, _)| pointer).collect()
    }

    fn at(&self, byte: u64) -> usize {
        self.body + usize::try_from(byte).unwrap_or_default()
    }

    /// Returns the message of the record in the text `row`, which begins at `start`; `None` if it has no value.
    fn message(&self, record: &StringRecord, start: usize, row: &str) -> Result<Option<String>, Error> {
        let row = row.trim_start_matches(['\n', '\r']);
        let malformed = |column, reason| {
            Err(Error::new(Kind::Malformed, start + cell(row, self.separator, column), reason))
        };
        let (fields, width) = (record.len(), self.columns.width());
        let is_open = row.bytes().filter(|byte| *byte == QUOTE).count() % 2 == 1;
        if is_open && start + row.len() >= self.text.trim_end_matches(['\n', '\r']).len() {
            return malformed(
                fields.saturating_sub(1),
                "a double quote without another one that closes the field".to_owned(),
            );
        }
        if fields != width {
            let reason = format!("this row has {}, but the header has {width}", counted(fields));
            return malformed(if fields > width { width } else { 0 }, reason);
        }
        self.columns.message(record).or_else(|(column, reason)| malformed(column, reason))
    }

    /// Returns the offset of the field at `pointer` in the row that begins at `start`, or `start` if no column has it.
    pub fn offset_of(&self, start: usize, pointer: &str) -> usize {
        let column = self.columns.find(pointer);
        start + column.map_or(0, |column| cell(&self.text[start..], self.separator, column))
    }
}

fn counted(fields: usize) -> String {
    if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") }
}

fn reader(text: &str, separator: u8) -> ::csv::Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes())
}

fn record(line: &str, separator: u8) -> StringRecord {
    let mut record = StringRecord::new();
    let _ = reader(line, separator).read_record(&mut record);
    record
}

fn separator(header: &str) -> u8 {
    let count = |separator: &u8| header.bytes().filter(|byte| byte == separator).count();
    // `max_by_key` returns the last of equals.
    SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

/// Returns the offset of a field in `row`.
fn cell(row: &str, separator: u8, column: usize) -> usize {
    let mut is_quoted = false;
    let separators = row.bytes().enumerate().filter(|(_, byte)| {
        is_quoted ^= *byte == QUOTE;
        *byte == separator && !is_quoted
    });
    column.checked_sub(1).and_then(|before| separators.map(|(at, _)| at + 1).nth(before)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_and_column;

    fn messages(text: &str) -> Vec<String> {
        Csv::new(text).unwrap().rows().map(|row| row.message.unwrap()).collect()
    }

    #[track_caller]
    fn error(text: &str) -> (usize, usize, String) {
        let read =
            Csv::new(text).and_then(|csv| csv.rows().map(|row| row.message).collect::<Result<Vec<_>, _>>());
        let error = read.unwrap_err();
        let (line, column) = line_and_column(text, error.offset().unwrap());
        (line, column, error.message().to_owned())
    }

    #[test]
    fn fields_are_numbers_booleans_null_text_or_absent() {
        let text = "\u{feff}time,temp,door,ok\r\n2026-01-31T08:00:00Z,21.50,open,true\r\n\r\nnull,-3,\"a \"\"b\"\",\nc\",false\r\n,,,\r\n";
        assert_eq!(
            messages(text),
            [
                r#"{"time":"2026-01-31T08:00:00Z","temp":21.50,"door":"open","ok":true}"#,
                r#"{"time":null,"temp":-3,"door":"a \"b\",\nc","ok":false}"#
            ]
        );
        let lines: Vec<_> = Csv::new(text).unwrap().rows().map(|row| row.line).collect();
        assert_eq!(lines, [2, 4]);
        assert_eq!(
            messages(";a;b,c; d \n0;06;+1;x\n1; 7 ;1e999;89445001021983048261\n"),
            [r#"{"a":"06","b,c":"+1","d":"x"}"#, r#"{"a":7,"b,c":"1e999","d":"89445001021983048261"}"#]
        );
    }

    #[test]
    fn columns_without_a_value_are_known() {
        let csv = Csv::new("a,b,c.d,\n1,,,\n2, ,,x\n").unwrap();
        assert_eq!(csv.empty_columns(), ["/b", "/c.d"]);
        assert!(Csv::new("a,b\n1,\n,null\n").unwrap().empty_columns().is_empty());
    }

    #[test]
    fn a_pointer_is_a_nested_field() {
        let text = "name,value,/t,/pos/lat,/tags/0,/tags/1,/x~1y,/none\nn,{},7,47.5,,b,{},[]\nn,{},7,,,,,\n";
        assert_eq!(
            messages(text),
            [r#"{"t":7,"pos":{"lat":47.5},"tags":[null,"b"],"x/y":{},"none":[]}"#, r#"{"t":7}"#]
        );
        // Places that have gaps are keys.
        assert_eq!(messages("/a/0,/a/2\n1,2"), [r#"{"a":{"0":1,"2":2}}"#]);
        assert_eq!(error("/a,/a/b\n1,2").2, "/a has a value, and so has a column below it");
    }

    #[test]
    fn errors_have_a_line_and_a_column() {
        assert_eq!(error("a,b\n1,2\n3\n"), (3, 1, "this row has 1 field, but the header has 2".into()));
        assert_eq!(
            error("a,b\r\n\"x,\",2,3\r\n"),
            (2, 8, "this row has 3 fields, but the header has 2".into())
        );
        assert_eq!(error("a,b\n1,\"2\n3,4\n").0, 2);
        assert_eq!(error("a,b,a\n1,2,3").0, 1);
        assert_eq!(error("a,b,a\n1,2,3").1, 5);
        assert!(error(&format!("{}\n1", "/a".repeat(40))).2.contains("32"));
        let csv = Csv::new("a,/b/c\n1,2").unwrap();
        assert_eq!((csv.offset_of(7, "/b/c"), csv.offset_of(7, "/b"), csv.offset_of(7, "/z")), (9, 9, 7));
    }

    #[test]
    fn json_and_prose_have_no_header() {
        for header in [
            "time,temp,door",
            "\u{feff}a;b\r",
            ",time,temp",
            "\"a\",\"b c\"",
            "/t,/pos/lat",
            "a\tb",
            "time,temp [C]",
        ] {
            assert!(Csv::has_header(&format!("{header}\n1,2\n")), "{header}");
            assert!(!Csv::has_header(&format!("{header}\n\n")), "{header}: no row");
        }
        for text in [
            "{\"a\":1,\"b\":2}",
            "{\"a\":1,\"b\":tru}",
            "[1,2]",
            "1,2,3",
            "temperature=21.5;door=open",
            "\"a\":1,\"b\":2",
            "word",
            "a,2",
            "{a:1,b:2}",
            "a: [1, 2]",
        ] {
            assert!(!Csv::has_header(&format!("{text}\n{text}\n")), "{text}");
        }
        assert!(!Csv::has_header("# log, 2026\n\n{\"a\":1}\n"));
    }
}
