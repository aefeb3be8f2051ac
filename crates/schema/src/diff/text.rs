//! Compares text and enumerations.

use super::{Walk, fields::json};
use crate::{Pattern, Segment, Text, Type, distinct::Distinct};
use dunnage_pson::Value;

impl Walk<'_> {
    pub(super) fn text(&mut self, path: &str, old: &Text, new: &Text) {
        let (from, to) = (old.pattern.as_ref(), new.pattern.as_ref());
        if from != to {
            let show = |pattern: Option<&Pattern>| {
                pattern.map_or("none", |pattern| pattern.source.as_str()).to_owned()
            };
            let text = format!("pattern was {}, now {}", show(from), show(to));
            self.note(path, to.is_none_or(|new| from.is_some_and(|old| within(old, new))), text);
        }
        if (old.format, old.asserts_format) != (new.format, new.asserts_format) {
            let keeps = new.asserted_format().is_none_or(|format| old.asserted_format() == Some(format));
            self.note(path, keeps, format!("format was {}, now {}", named(old), named(new)));
        }
        // A length that follows from the pattern is not a change of its own.
        let follows = |text: &Text| {
            text.pattern.as_ref().is_some_and(|p| p.longest().is_some() && p.longest() == text.max_length)
        };
        let (old_max, new_max) = (old.max_length, new.max_length);
        if !(from != to && (follows(old) || follows(new)) && old.min_length == new.min_length) {
            self.counts(path, "characters", (old.min_length, old_max), (new.min_length, new_max));
        }
    }

    pub(super) fn choices(&mut self, path: &str, old: &[Value], new: &[Value]) {
        let (in_old, in_new) = (Distinct::of(old), Distinct::of(new));
        for value in old.iter().filter(|value| in_new.find(new, value).is_none()) {
            self.note(path, false, format!("{} removed", json(value)));
        }
        let places: Vec<Option<usize>> = new.iter().map(|value| in_old.find(old, value)).collect();
        let last_old = places.iter().rposition(Option::is_some);
        for (at, (value, place)) in new.iter().zip(&places).enumerate() {
            match place.map(|place| &old[place]) {
                None => {
                    let way = if last_old.is_some_and(|last| at < last) { "inserted" } else { "appended" };
                    self.note(path, true, format!("{} {way}", json(value)));
                }
                Some(before) if before != value => {
                    self.note(path, true, format!("{} was {}", json(value), json(before)));
                }
                Some(_) => {}
            }
        }
        if !places.iter().flatten().is_sorted() {
            self.note(path, true, "the values have another order");
        }
    }
}

/// Names the format for people.
fn named(text: &Text) -> String {
    match text.format {
        None => "none".to_owned(),
        Some(format) if text.asserts_format => format.name().to_owned(),
        Some(format) => format!("{} as an annotation", format.name()),
    }
}

/// Whether every text that matches `old` is known to match `new`.
fn within(old: &Pattern, new: &Pattern) -> bool {
    let (Some(old), Some(new)) = (&old.segments, &new.segments) else { return false };
    let fits = |(old, new): (&Segment, &Segment)| {
        new.min <= old.min && old.max <= new.max && old.chars.iter().all(|c| new.chars.contains(c))
    };
    old.len() == new.len() && old.iter().zip(new).all(fits)
}

/// Whether every text of `old`, a number or time in text, is known to be allowed by `new`.
pub(super) fn any_text_of(old: &Type, new: &Text) -> bool {
    let is_text = matches!(old, Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_));
    let any = new.pattern.is_none() && new.asserted_format().is_none();
    is_text && any && new.min_length == 0 && new.max_length.is_none()
}
