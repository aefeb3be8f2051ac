//! The notations of the known formats: `spec/packed.md`, "Formats".

use crate::node::{Number, NumbersNode, Shape, Source};
use dunnage_schema::{Decimal, NumberText, Segment, TextFormat};

/// The maximum number of characters of a duration that is packed.
const DURATION: u32 = 32;

/// The usual notations of a format.
pub(crate) struct Notations {
    /// One shape for each notation.
    pub shapes: Vec<Shape>,
    /// Whether the format allows no other notation.
    pub are_all: bool,
}

/// Returns the notations of `format`.
pub(crate) fn notations(format: TextFormat) -> Notations {
    let patterns = |patterns: &[&[Segment]], are_all| Notations {
        shapes: patterns.iter().map(|segments| Shape::Pattern(segments.to_vec())).collect(),
        are_all,
    };
    match format {
        TextFormat::Date => patterns(&[&date()], true),
        TextFormat::Time => patterns(&[&[clock(), vec![one("Z")]].concat()], false),
        TextFormat::DateTime => {
            let seconds = [date(), vec![one("T")], clock()].concat();
            let milliseconds = [seconds.clone(), vec![one("."), of(DIGITS, 3), one("Z")]].concat();
            patterns(&[&[seconds, vec![one("Z")]].concat(), &milliseconds], false)
        }
        TextFormat::Duration => {
            patterns(&[&[Segment { chars: chars("0123456789DHMPSTWY"), min: 3, max: DURATION }]], false)
        }
        TextFormat::Uuid => patterns(&[&uuid()], false),
        TextFormat::Ipv4 => Notations { shapes: vec![Shape::Numbers(ipv4())], are_all: true },
        TextFormat::Ipv6 => {
            patterns(&[&[Segment { chars: chars("0123456789:abcdef"), min: 2, max: 39 }]], false)
        }
    }
}

const DIGITS: &str = "0123456789";

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn of(text: &str, count: u32) -> Segment {
    Segment { chars: chars(text), min: count, max: count }
}

fn one(text: &str) -> Segment {
    of(text, 1)
}

/// `YYYY-MM-DD`
fn date() -> Vec<Segment> {
    vec![of(DIGITS, 4), one("-"), one("01"), one(DIGITS), one("-"), one("0123"), one(DIGITS)]
}

/// `hh:mm:ss`
fn clock() -> Vec<Segment> {
    let colon = || one(":");
    vec![one("012"), one(DIGITS), colon(), one("012345"), one(DIGITS), colon(), one("0123456"), one(DIGITS)]
}

/// Groups of 8, 4, 4, 4 and 12 hexadecimal digits.
fn uuid() -> Vec<Segment> {
    let mut segments = Vec::new();
    for count in [8, 4, 4, 4, 12] {
        if !segments.is_empty() {
            segments.push(one("-"));
        }
        segments.push(of("0123456789abcdef", count));
    }
    segments
}

/// Four numbers from 0 to 255, separated by points.
fn ipv4() -> NumbersNode {
    let number = Decimal {
        places: 0,
        step: 1,
        min: 0,
        max: 255,
        usual: None,
        quantum: None,
        round: false,
        changes: None,
    };
    let part =
        || Number::new((0, 255, 1), None, Source::Text(NumberText { number: number.clone(), digits: 1 }));
    let parts = ["a", "b", "c", "d"].map(|name| (name.to_owned(), part())).to_vec();
    NumbersNode { separator: ".".to_owned(), parts }
}
