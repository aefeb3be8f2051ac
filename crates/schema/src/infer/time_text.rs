//! Text that is a time in one notation.

use super::{text::with, value::counted, write};
use crate::{Model, Type, parse::Node};

/// The notations that are tried, without decimals; `.f` stands where decimals of the seconds may be.
///
/// Of those that differ in the order of day and month, the first that fits all texts is taken.
const NOTATIONS: [&str; 12] = [
    "YYYY-MM-DDThh:mm:ss.fZ",
    "YYYY-MM-DDThh:mm:ss.f",
    "YYYY-MM-DD hh:mm:ss.f",
    "YYYY-MM-DDThh:mm:ss.f+00:00",
    "YYYY/MM/DD hh:mm:ss.f",
    "YYYYMMDDThhmmss.fZ",
    "YYYYMMDDThhmmss.f",
    "YYYYMMDDhhmmss.f",
    "DDMMYY hhmmss.f",
    "DD.MM.YYYY hh:mm:ss.f",
    "DD/MM/YYYY hh:mm:ss.f",
    "MM/DD/YYYY hh:mm:ss.f",
];
/// First and last second, the narrowest first. Sensors' times are of this century, and take 32 bits then.
const SPANS: [(&str, Option<&str>); 3] = [
    ("2000-01-01T00:00:00Z", Some("2099-12-31T23:59:59Z")),
    ("1970-01-01T00:00:00Z", Some("2099-12-31T23:59:59Z")),
    ("0000-01-01T00:00:00Z", None),
];
/// The notation that identifiers may have by chance: its times must be in one of the first two spans.
const DIGITS_ONLY: &str = "YYYYMMDDhhmmss";

/// The schema of times, if all texts are times in one notation.
pub(super) fn infer(texts: &[&str]) -> Option<(Node, String)> {
    let first = texts.first()?;
    let decimals = decimals(first);
    let fraction = if decimals == 0 { String::new() } else { format!(".{}", "f".repeat(decimals)) };
    for notation in NOTATIONS {
        let notation = notation.replace(".f", &fraction);
        if notation.len() != first.len() {
            continue;
        }
        let spans = if notation == DIGITS_ONLY { &SPANS[..2] } else { &SPANS[..] };
        if let Some(schema) = spans.iter().find_map(|(epoch, until)| time(&notation, epoch, *until, texts)) {
            let note =
                format!("times in {}: notation {notation}, taken as UTC", counted(texts.len(), "value"));
            return Some((schema, note));
        }
    }
    None
}

/// Decimals of the seconds: the digits behind the last point, up to nine; in a date like `20.04.2023` there are none.
fn decimals(text: &str) -> usize {
    let Some((before, behind)) = text.rsplit_once('.') else { return 0 };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let ends = matches!(&behind[digits..], "" | "Z" | "+00:00");
    if (1..=9).contains(&digits) && ends && before.len() >= DIGITS_ONLY.len() - 1 { digits } else { 0 }
}

/// The schema of times in `notation` from `epoch` to `until`, if all texts are such times.
fn time(notation: &str, epoch: &str, until: Option<&str>, texts: &[&str]) -> Option<Node> {
    let mut members =
        vec![("notation".to_owned(), write::text(notation)), ("epoch".to_owned(), write::text(epoch))];
    // Two digits of the year end with the century anyway.
    let until = until.filter(|_| notation.contains("YYYY"));
    members.extend(until.map(|until| ("until".to_owned(), write::text(until))));
    let schema = with("x-dunnage-time", Node::Object(members));
    let Ok(Model { root: Type::TimeText(time), .. }) = Model::compile(&write::schema(&schema)) else {
        return None;
    };
    texts.iter().all(|text| time.parse(text).is_some()).then_some(schema)
}
