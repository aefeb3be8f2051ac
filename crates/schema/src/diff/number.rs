//! Compares numbers, and text that holds numbers or times.

use super::Walk;
use crate::{
    Decimal, Float, Integer, NumberText, NumbersText, Quantum, TimeText, Type,
    number_text::{decimal_text, plain},
};

/// The largest magnitude up to which binary64 holds all whole numbers.
const FLOAT_WHOLE: i128 = 1 << 53;

impl<'a> Walk<'a> {
    pub(super) fn integer(&mut self, path: &str, old: &Integer, new: &Integer) {
        let (from, to) = (as_decimal(old), as_decimal(new));
        self.numbers(path, &from, &to, false);
    }

    pub(super) fn decimal(&mut self, path: &str, old: &Decimal, new: &Decimal) {
        self.numbers(path, old, new, false);
    }

    pub(super) fn number_text(&mut self, path: &str, old: &NumberText, new: &NumberText) {
        if old.digits != new.digits {
            self.note(path, false, format!("padded to {} digits, now to {}", old.digits, new.digits));
        }
        self.numbers(path, &old.number, &new.number, true);
    }

    pub(super) fn numbers_text(&mut self, path: &str, old: &NumbersText, new: &NumbersText) {
        if old.separator != new.separator {
            self.note(path, false, format!("separator was {:?}, now {:?}", old.separator, new.separator));
        }
        if old.parts.len() != new.parts.len() {
            let text = format!("{} numbers, now {}", old.parts.len(), new.parts.len());
            self.note(path, false, text);
        }
        for ((old_name, old), (name, new)) in old.parts.iter().zip(&new.parts) {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if old_name != name {
                self.note(&path, true, format!("was called {old_name}"));
            }
            self.number_text(&path, old, new);
        }
    }

    pub(super) fn time_text(&mut self, path: &str, old: &TimeText, new: &TimeText) {
        let same_notation = (&old.notation, old.places) == (&new.notation, new.places);
        if !same_notation {
            self.note(
                path,
                false,
                format!("notation was {}, now {}", old.write_notation(), new.write_notation()),
            );
        }
        let ends = |time: &TimeText| {
            let (first, last) = time.range();
            let second = 10i128.pow(time.places);
            (
                first.div_euclid(second) + i128::from(time.epoch),
                last.div_euclid(second) + i128::from(time.epoch),
            )
        };
        if old.epoch != new.epoch {
            self.note(
                path,
                true,
                format!("counts from {}, no longer from {}", instant(new.epoch), instant(old.epoch)),
            );
        }
        let ((old_first, old_last), (first, last)) = (ends(old), ends(new));
        if same_notation && (first > old_first || last != old_last) {
            let show = |first: i128, last: i128| {
                let at = |seconds: i128| i64::try_from(seconds).map_or_else(|_| seconds.to_string(), instant);
                format!("{} to {}", at(first), at(last))
            };
            let text = format!("times were {}, now {}", show(old_first, old_last), show(first, last));
            self.note(path, first <= old_first && last >= old_last, text);
        }
    }

    /// Compares decimals. With `in_text`, they are written with as many decimals as the step has, so that other decimals make other texts.
    fn numbers(&mut self, path: &str, old: &Decimal, new: &Decimal, in_text: bool) {
        if old == new {
            return;
        }
        let places = old.places.max(new.places);
        let scale = |n: i128, from: u32| n.saturating_mul(10i128.saturating_pow(places - from));
        let (from, to) = (scaled(old, scale), scaled(new, scale));
        if from.step != to.step || old.places != new.places {
            let (coarse, fine) = (from.step.max(to.step), from.step.min(to.step));
            let way = match from.step < to.step {
                _ if coarse % fine != 0 => "changed",
                true => "coarser",
                false => "finer",
            };
            let show = |number: &Decimal| decimal_text(number.step.into(), number.places);
            let text = format!("precision {way}: steps of {}, now of {}", show(old), show(new));
            let same_text = !in_text || old.places == new.places;
            self.note(path, same_text && from.step % to.step == 0, text);
        }
        if (from.min, from.max) != (to.min, to.max) {
            let keeps = to.min <= from.min && from.max <= to.max;
            self.note(
                path,
                keeps,
                format!("range {}", range((from.min, from.max), (to.min, to.max), places)),
            );
        }
        if old.usual.map(|(a, b)| (scale(a, old.places), scale(b, old.places)))
            != new.usual.map(|(a, b)| (scale(a, new.places), scale(b, new.places)))
        {
            self.note(path, true, format!("usual range was {}, now {}", usual(old), usual(new)));
        }
        if old.quantum != new.quantum {
            let text = format!("counts of {}, now of {}", quantum(old.quantum), quantum(new.quantum));
            self.note(path, new.quantum.is_none(), text);
        }
        if old.round != new.round {
            self.note(
                path,
                new.round,
                if new.round { "numbers are rounded now" } else { "numbers are no longer rounded" },
            );
        }
    }
}

/// Bounds and step in a unit that two decimals share.
struct Scaled {
    min: i128,
    max: i128,
    step: i128,
}

fn scaled(number: &Decimal, scale: impl Fn(i128, u32) -> i128) -> Scaled {
    let scale = |n| scale(n, number.places);
    Scaled { min: scale(number.min), max: scale(number.max), step: scale(number.step.into()) }
}

/// Whether every number of `old` is known to be one of `new`, a type of another kind.
pub(super) fn any_number_of(old: &Type, new: &Type) -> bool {
    let integer;
    let old = match old {
        Type::Integer(old) => {
            integer = as_decimal(old);
            &integer
        }
        Type::Decimal(old) => old,
        _ => return false,
    };
    match new {
        Type::Float(Float { min: None, max: None }) => {
            old.places > 0 || old.min.abs().max(old.max.abs()) <= FLOAT_WHOLE
        }
        Type::Decimal(new) if new.places >= old.places && new.quantum.is_none() => {
            let scale = |n: i128, from: u32| n.saturating_mul(10i128.saturating_pow(new.places - from));
            let (from, to) = (scaled(old, scale), scaled(new, scale));
            to.min <= from.min && from.max <= to.max && from.step % to.step == 0
        }
        _ => false,
    }
}

fn as_decimal(integer: &Integer) -> Decimal {
    let Integer { min, max, step, usual, every: _, changes } = *integer;
    Decimal { places: 0, step, min, max, usual, quantum: None, round: false, changes }
}

/// Describes the change of a range: `widened from 0 to 50, to -10 to 60`.
pub(super) fn range(old: (i128, i128), new: (i128, i128), places: u32) -> String {
    let wider = new.0 < old.0 || new.1 > old.1;
    let narrower = new.0 > old.0 || new.1 < old.1;
    let way = match (wider, narrower) {
        (true, false) => "widened",
        (false, true) => "narrowed",
        _ => "moved",
    };
    let unit = 10i128.saturating_pow(places);
    let (lowest, highest) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let show = |(min, max): (i128, i128)| match (min / unit <= lowest, max / unit >= highest) {
        (true, true) => "any number".to_owned(),
        (true, false) => format!("up to {}", plain(max, places)),
        (false, true) => format!("{} and more", plain(min, places)),
        (false, false) => format!("{} to {}", plain(min, places), plain(max, places)),
    };
    format!("{way} from {}, to {}", show(old), show(new))
}

fn usual(number: &Decimal) -> String {
    number.usual.map_or("the whole".to_owned(), |(first, last)| {
        format!("{} to {}", plain(first, number.places), plain(last, number.places))
    })
}

fn quantum(quantum: Option<Quantum>) -> String {
    quantum.map_or("the step".to_owned(), |q| q.to_string())
}

/// Writes seconds since 1970 in the notation of RFC 3339.
fn instant(seconds: i64) -> String {
    let Ok(time) = time::OffsetDateTime::from_unix_timestamp(seconds) else { return seconds.to_string() };
    let (date, (hour, minute, second)) = (time.date(), time.to_hms());
    let (year, month, day) = date.to_calendar_date();
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z", u8::from(month))
}
