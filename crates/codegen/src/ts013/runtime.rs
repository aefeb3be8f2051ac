//! The pieces of JavaScript that a codec is made of.

use std::collections::BTreeSet;

/// A file of `runtime/`, in the order in which they stand in a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    Message,
    Bool,
    Number,
    Usual,
    Quantum,
    Integer,
    Decimal,
    Digits,
    Numbers,
    Calendar,
    Time,
    Characters,
    Text,
    Pattern,
    Float,
    Object,
    Choice,
    Known,
    Nullable,
    Array,
    Union,
    Checked,
    Matches,
    Lengths,
    Format,
    Keywords,
    Check,
    Ends,
}

impl Piece {
    /// The function that it defines, for those that are codecs, and its text.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            Piece::Message => ("message", include_str!("runtime/message.js")),
            Piece::Bool => ("bool", include_str!("runtime/bool.js")),
            Piece::Number => ("number", include_str!("runtime/number.js")),
            Piece::Usual => ("usual", include_str!("runtime/usual.js")),
            Piece::Quantum => ("quantum", include_str!("runtime/quantum.js")),
            Piece::Integer => ("integer", include_str!("runtime/integer.js")),
            Piece::Decimal => ("decimal", include_str!("runtime/decimal.js")),
            Piece::Digits => ("digits", include_str!("runtime/digits.js")),
            Piece::Numbers => ("numbers", include_str!("runtime/numbers.js")),
            Piece::Calendar => ("calendar", include_str!("runtime/calendar.js")),
            Piece::Time => ("time", include_str!("runtime/time.js")),
            Piece::Characters => ("characters", include_str!("runtime/characters.js")),
            Piece::Text => ("text", include_str!("runtime/text.js")),
            Piece::Pattern => ("pattern", include_str!("runtime/pattern.js")),
            Piece::Float => ("float", include_str!("runtime/float.js")),
            Piece::Object => ("object", include_str!("runtime/object.js")),
            Piece::Choice => ("choice", include_str!("runtime/choice.js")),
            Piece::Known => ("known", include_str!("runtime/known.js")),
            Piece::Nullable => ("nullable", include_str!("runtime/nullable.js")),
            Piece::Array => ("array", include_str!("runtime/array.js")),
            Piece::Union => ("union", include_str!("runtime/union.js")),
            Piece::Checked => ("checked", include_str!("runtime/checked.js")),
            Piece::Matches => ("matches", include_str!("runtime/matches.js")),
            Piece::Lengths => ("lengths", include_str!("runtime/lengths.js")),
            Piece::Format => ("format", include_str!("runtime/format.js")),
            Piece::Keywords => ("keywords", include_str!("runtime/keywords.js")),
            Piece::Check => ("checkOf", include_str!("runtime/check.js")),
            Piece::Ends => ("ends", include_str!("runtime/ends.js")),
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.source().0
    }

    /// What it calls.
    fn needs(self) -> &'static [Piece] {
        match self {
            Piece::Time | Piece::Format => &[Piece::Calendar],
            Piece::Text | Piece::Pattern | Piece::Lengths => &[Piece::Characters],
            _ => &[],
        }
    }
}

/// The pieces that a codec with those needs.
///
/// Those of a layout with a check take it from messages and add it.
pub(super) fn pieces(used: &BTreeSet<Piece>) -> Vec<String> {
    let mut all: BTreeSet<Piece> = [Piece::Message, Piece::Object, Piece::Ends].into();
    for piece in used {
        all.insert(*piece);
        all.extend(piece.needs());
    }
    let (read, write) = match used.contains(&Piece::Check) {
        true => ("reading(takeCheck(), readLayout)", "message.concat(checkOf(message))"),
        false => ("readLayout()", "message"),
    };
    let text = |piece: Piece| piece.source().1.replace("READING", read).replace("WRITTEN", write);
    all.into_iter().map(text).collect()
}
