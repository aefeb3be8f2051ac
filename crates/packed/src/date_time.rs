//! The plain form of a date-time, `YYYY-MM-DDThh:mm:ssZ`, as seconds since 1970.

use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::Kind;
use dunnage_schema::{TimePart, TimeText};
use std::sync::LazyLock;

/// The time 0000-01-01T00:00:00Z, in seconds since 1970.
const YEAR_0: i64 = -62_167_219_200;

/// The notation. It counts seconds from the start of the year 0.
static NOTATION: LazyLock<TimeText> = LazyLock::new(|| {
    use TimePart::{Day, Hour, Literal, Minute, Month, Second, Year4};
    let text = |text: &str| Literal(text.to_owned());
    let date = [Year4, text("-"), Month, text("-"), Day];
    let time = [text("T"), Hour, text(":"), Minute, text(":"), Second, text("Z")];
    TimeText {
        notation: date.into_iter().chain(time).collect(),
        epoch: YEAR_0,
        places: 0,
        until: None,
        every: None,
    }
});

/// Returns the seconds since 1970 of `text`, if it is in the plain form.
pub(crate) fn parse(text: &str) -> Option<i64> {
    i64::try_from(NOTATION.parse(text)?).ok()?.checked_add(YEAR_0)
}

pub(crate) fn write<S: Sink>(node: u32, seconds: i64, sink: &mut S) -> Result<(), Error> {
    sink.index(At { node, part: Part::Sign }, u64::from(seconds < 0), 2)?;
    let magnitude = if seconds < 0 { -1 - seconds } else { seconds };
    sink.sized(At { node, part: Part::Value }, magnitude as u64)
}

pub(crate) fn read<S: Source>(node: u32, source: &mut S) -> Result<String, Error> {
    let offset = source.offset();
    let negative = source.index(At { node, part: Part::Sign }, 2)? == 1;
    let magnitude = i128::from(source.sized(At { node, part: Part::Value })?);
    let seconds = if negative { -1 - magnitude } else { magnitude };
    let scaled = seconds - i128::from(YEAR_0);
    if !NOTATION.contains(scaled) {
        return Err(Error::new(Kind::Range, offset, "a time beyond the years 0 to 9999"));
    }
    Ok(NOTATION.write(scaled))
}
