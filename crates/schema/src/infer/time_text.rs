//! Infers text that is a time in one notation.

use super::{guesses::counted, write};
use crate::{Model, TextFormat, Type, parse::Node};
use dunnage_pson::Value;
use regex::Regex;
use std::sync::LazyLock;

/// The notations that are tried, without decimals. `.f` marks the place of optional decimals of the seconds.
///
/// If notations differ only in the order of day and month, the first one that fits all texts is used.
const NOTATIONS: [&str; 11] = [
    "YYYY-MM-DDThh:mm:ss.fZ",
    "YYYY-MM-DDThh:mm:ss.f",
    "YYYY-MM-DD hh:mm:ss.f",
    "YYYY/MM/DD hh:mm:ss.f",
    "YYYYMMDDThhmmss.fZ",
    "YYYYMMDDThhmmss.f",
    "YYYYMMDDhhmmss.f",
    "DDMMYY hhmmss.f",
    "DD.MM.YYYY hh:mm:ss.f",
    "DD/MM/YYYY hh:mm:ss.f",
    "MM/DD/YYYY hh:mm:ss.f",
];
/// The ranges that are tried, from first to last second, the narrowest first. The seconds of the first range fit 32 bits. It begins in 1970
/// because a device that does not know the time yet sends 1970, 1980 or 2000.
const SPANS: [(&str, Option<&str>); 2] =
    [("1970-01-01T00:00:00Z", Some("2099-12-31T23:59:59Z")), ("0000-01-01T00:00:00Z", None)];
/// The range of years with two digits, which are those of this century.
const SHORT_YEARS: (&str, Option<&str>) = ("2000-01-01T00:00:00Z", None);
/// A notation that identifiers may have by chance. Its times must be in the first range.
const DIGITS_ONLY: &str = "YYYYMMDDhhmmss";

/// Infers the schema of times, if all texts are times in one notation.
pub(super) fn infer(texts: &[&str]) -> Option<(Node, String)> {
    let first = texts.first()?;
    let decimals = decimals(first);
    let fraction = if decimals == 0 { String::new() } else { format!(".{}", "f".repeat(decimals)) };
    for notation in NOTATIONS {
        let notation = notation.replace(".f", &fraction);
        if notation.len() != first.len() {
            continue;
        }
        let spans = match () {
            () if !notation.contains("YYYY") => &[SHORT_YEARS][..],
            () if notation == DIGITS_ONLY => &SPANS[..1],
            () => &SPANS[..],
        };
        if let Some(schema) = spans.iter().find_map(|(epoch, until)| time(&notation, epoch, *until, texts)) {
            let note =
                format!("times in {}: notation {notation}, taken as UTC", counted(texts.len(), "value"));
            return Some((schema, note));
        }
    }
    zoned(texts)
}

/// Returns the schema of times that all have the offset of the first, `+02:00`, at their end.
pub(super) fn with_one_offset(texts: &[&str]) -> Option<Node> {
    let first = texts.first()?;
    let at = first.rfind(['+', '-']).filter(|at| *at > "YYYY-MM-DDThh".len())?;
    let (local, offset) = first.split_at(at);
    let fraction = match decimals(local) {
        0 => String::new(),
        count => format!(".{}", "f".repeat(count)),
    };
    let notations = NOTATIONS.iter().map(|notation| notation.replace(".f", &fraction));
    notations.filter(|notation| notation.len() == local.len() && !notation.ends_with('Z')).find_map(
        |notation| {
            SPANS.iter().find_map(|(epoch, until)| time(&format!("{notation}{offset}"), epoch, *until, texts))
        },
    )
}

/// Splits the texts into times in the notation of `model`, and others; `None` if `model` is not a time.
pub(super) fn split<'a>(texts: &[&'a str], model: &str) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let (schema, _) = infer(&[model])?;
    let schema = Model::compile(&write::schema(&schema)).ok()?;
    Some(texts.iter().partition(|text| schema.validate(&Value::from(**text)).is_ok()))
}

/// Infers a pattern for times of ISO 8601 with an offset, with several offsets, or with a varying number of decimals.
fn zoned(texts: &[&str]) -> Option<(Node, String)> {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let date = "^([0-9]{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])([Tt ])";
        let time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]{1,9})?";
        Regex::new(&format!("{date}{time}(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?$")).ok()
    });
    let regex = TIME.as_ref()?;
    let found = texts.iter().map(|text| regex.captures(text)).collect::<Option<Vec<_>>>()?;
    let is = |group: usize, text: &str| {
        found.iter().all(|found| found.get(group).is_some_and(|part| part.as_str() == text))
    };
    let year = match found.iter().all(|found| ("1970".."2100").contains(&&found[1])) {
        true => "[12][0-9]{3}",
        false => "[0-9]{4}",
    };
    let separator = ["T", "t", " "].into_iter().find(|text| is(2, text)).unwrap_or("[Tt ]");
    // After the seconds there may be decimals, which libraries omit when they are zero, and an offset, which changes with daylight saving
    // time and travel.
    let zones = found.iter().filter(|found| found.get(3).is_some()).count();
    let end = match zones {
        0 => "\\.{0,1}[0-9]{0,9}",
        n if n == texts.len() => "\\.{0,1}[0-9]{0,9}[Z+-][0-9:]{0,5}",
        _ => "[0-9.:Z+-]{0,16}",
    };
    let pattern = format!("^{year}-[01][0-9]-[0-3][0-9]{separator}[0-2][0-9]:[0-5][0-9]:[0-6][0-9]{end}$");
    let mut keywords = vec![("type".to_owned(), write::text("string"))];
    let is_rfc_3339 = texts.iter().all(|text| TextFormat::DateTime.is(text));
    keywords.extend(is_rfc_3339.then(|| ("format".to_owned(), write::text("date-time"))));
    keywords.push(("pattern".to_owned(), write::text(&pattern)));
    let kinds = if zones > 0 { "with any offset and decimals" } else { "with any decimals" };
    Some((Node::Object(keywords), format!("times {kinds} in {}", counted(texts.len(), "value"))))
}

/// Returns the number of decimals of the seconds: the digits after the last point, up to nine. A date like `20.04.2023` has none.
fn decimals(text: &str) -> usize {
    let Some((before, behind)) = text.rsplit_once('.') else { return 0 };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let ends = matches!(&behind[digits..], "" | "Z");
    if (1..=9).contains(&digits) && ends && before.len() >= DIGITS_ONLY.len() - 1 { digits } else { 0 }
}

/// Returns the schema of times in `notation` from `epoch` to `until`, if all texts are such times.
fn time(notation: &str, epoch: &str, until: Option<&str>, texts: &[&str]) -> Option<Node> {
    let mut members =
        vec![("notation".to_owned(), write::text(notation)), ("epoch".to_owned(), write::text(epoch))];
    members.extend(until.map(|until| ("until".to_owned(), write::text(until))));
    let schema = write::text_with("x-dunnage-time", Node::Object(members));
    let Ok(Model { root: Type::TimeText(time), .. }) = Model::compile(&write::schema(&schema)) else {
        return None;
    };
    texts.iter().all(|text| time.parse(text).is_some()).then_some(schema)
}
