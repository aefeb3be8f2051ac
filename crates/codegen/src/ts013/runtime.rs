//! The pieces of JavaScript that make up a codec.

use std::collections::BTreeSet;

/// A file of `runtime/`. The order of the variants is that of the pieces in a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    Message,
    Coder,
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
    Pieces,
    Float,
    Decimals,
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
    /// Returns the name of the function that the piece defines, if it is a codec, and the text of its file.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            Piece::Message => ("message", include_str!("runtime/message.js")),
            Piece::Coder => ("coder", include_str!("runtime/coder.js")),
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
            Piece::Pieces => ("readPieces", include_str!("runtime/pieces.js")),
            Piece::Float => ("float", include_str!("runtime/float.js")),
            Piece::Decimals => ("readFloat", include_str!("runtime/decimals.js")),
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

    /// Returns the pieces that this one calls.
    fn needs(self) -> &'static [Piece] {
        match self {
            Piece::Time | Piece::Format => &[Piece::Calendar],
            Piece::Text | Piece::Pattern | Piece::Lengths => &[Piece::Characters],
            _ => &[],
        }
    }
}

/// Returns the texts of the pieces that a codec needs.
///
/// If the schema has statistics, which the range coder reads, the other pieces keep the lines for messages in mode 1.
/// Without a slot byte, `ends.js` keeps the lines that compare the port, and has the slot byte in `message`, but not in the bytes.
/// If the layout has a check, the codec removes it from messages when reading and adds it when writing.
pub(super) fn pieces(used: &BTreeSet<Piece>, slot_byte: bool) -> Vec<String> {
    let mut all: BTreeSet<Piece> = [Piece::Message, Piece::Object, Piece::Ends].into();
    for piece in used {
        all.insert(*piece);
        all.extend(piece.needs());
    }
    let coded = used.contains(&Piece::Coder);
    if coded {
        let needed = [(Piece::Pattern, Piece::Pieces), (Piece::Float, Piece::Decimals)];
        all.extend(needed.into_iter().filter(|(piece, _)| used.contains(piece)).map(|(_, needed)| needed));
    }
    let (read, check) = match used.contains(&Piece::Check) {
        true => ("reading(takeCheck(), readLayout)", ".concat(checkOf(message))"),
        false => ("readLayout()", ""),
    };
    let write = format!("message{}{check}", if slot_byte { "" } else { ".slice(1)" });
    let marks = [(CODED, coded), (PORT, !slot_byte)];
    let text =
        |piece: Piece| lines(piece.source().1, marks).replace("READING", read).replace("WRITTEN", &write);
    all.into_iter().map(text).collect()
}

/// Marks a line that only codecs of schemas with statistics have.
const CODED: &str = "//+";

/// Marks a line that only codecs of layouts without a slot byte have.
const PORT: &str = "//@";

/// Returns the lines of a piece. Each mark says whether lines with it are kept, then without the mark.
fn lines(text: &str, marks: [(&str, bool); 2]) -> String {
    let plain = |line: &str| {
        let marked = marks.iter().find(|(mark, _)| line.trim_start().starts_with(mark));
        match marked {
            None => Some(line.to_owned()),
            // A space follows the mark, except on an empty line.
            Some((mark, true)) => Some(line.replacen(&format!("{mark} "), "", 1).replacen(mark, "", 1)),
            Some(_) => None,
        }
    };
    text.split_inclusive('\n').filter_map(plain).collect()
}
