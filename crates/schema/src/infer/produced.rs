//! Infers numbers and texts of a decoder, which also decoded mutated frames: what it can return, not only what the samples have.

use super::{
    MANY,
    guesses::{Guesses, allows, counted},
    identifier, number, quantity, range, text, write,
};
use crate::{
    exact::Exact,
    number::read_number,
    number_text::{decimal_text, plain},
    parse::Node,
};
use std::collections::BTreeMap;

/// The number of values of mutated frames from which on their range and texts count as those of the decoder.
const ENOUGH: usize = 200;
/// The bits that a usual range must save at least, as for other numbers.
const SAVED: u32 = 3;
/// Numbers that reach all of the range of some bits but one part in this many have the range of these bits.
const UNREACHED: i128 = 16;
/// Fewer values than this do not show the number of bits.
const BITS_FROM: i128 = 15;
/// Numbers do not reach both ends of this many values by chance, even in few frames.
const SEVEN_BITS: i128 = 1 << 7;
/// The most decimal places that noise hides: `3 * 0.1` is 0.30000000000000004.
const NOISY_PLACES: u32 = 9;
/// The largest noise, relative to the number or to 1, and the largest in the last place.
const NOISE: f64 = 1e-12;
const NOISE_IN_LAST: f64 = 0.01;
const ROUNDED: &str = "; rounded, as the codec's arithmetic is binary";
/// The most texts of an enumeration, and the most if only a number differs between two of them.
const TEXTS: usize = 64;
const NUMBERED_TEXTS: usize = 16;
/// The longest text of an enumeration, in characters.
const LONGEST: usize = 60;
/// If more than one text in this many was seen once only, there are others.
const PER_SINGLE: usize = 3;
/// What JavaScript writes into a text for a value that a frame does not have.
const MISSING: [&str; 3] = ["NaN", "undefined", "Infinity"];

/// Numbers in units of 10^-`places`: those of the samples, and all.
struct Scaled {
    places: u32,
    seen: Vec<i128>,
    all: Vec<i128>,
    /// Whether the numbers are so after rounding.
    is_rounded: bool,
}

/// Infers the schema of numbers: `seen` in the samples, `mutated` in mutated frames.
pub(super) fn numbers(guesses: &mut Guesses, path: &str, seen: &[&str], mutated: &[&str]) -> Node {
    let all = [seen, mutated].concat();
    // A decoder that reads a binary32 returns any number for mutated bytes.
    let (schema, note) = match number::widened(path, seen) {
        Some((schema, note)) => {
            let unlike = if mutated.is_empty() { "" } else { "; those of mutated frames are left out" };
            (schema, note + unlike)
        }
        None => match decimals(path, seen, &all) {
            Some(guess) => guess,
            None => return number::float(guesses, path, &all),
        },
    };
    guesses.note(path, note);
    schema
}

/// Infers decimals or whole numbers; `None` if the numbers are none, even after rounding.
fn decimals(path: &str, seen: &[&str], all: &[&str]) -> Option<(Node, String)> {
    let mutated = all.len() - seen.len();
    let scaled = exact(seen.len(), all).or_else(|| without_noise(seen.len(), all))?;
    let (schema, note) = match is_shown(&scaled, mutated) {
        true => produced(path, &scaled),
        false => {
            let (schema, note) = with_headroom(path, all, &scaled)?;
            (schema, note + &too_few(mutated))
        }
    };
    allows(&schema, all.iter().map(|text| read_number(text))).then_some((schema, note))
}

/// Infers numbers whose range was not shown, as those of other messages.
fn with_headroom(path: &str, all: &[&str], scaled: &Scaled) -> Option<(Node, String)> {
    if !scaled.is_rounded {
        return number::decimal(path, all);
    }
    let rounded: Vec<String> = scaled.all.iter().map(|n| plain(*n, scaled.places)).collect();
    let rounded: Vec<&str> = rounded.iter().map(String::as_str).collect();
    let (schema, note) = number::decimal(path, &rounded)?;
    Some((number::rounding(schema)?, note + ROUNDED))
}

/// Whether mutated frames show the range: there are many, or they reach the ends of some bits.
fn is_shown(scaled: &Scaled, mutated: usize) -> bool {
    let (low, high) = range::extent(&scaled.all);
    let step = number::step(&scaled.all);
    let (min, max) = of_bits((low / step, high / step));
    let values = max - min + 1;
    let is_of_bits = values >= SEVEN_BITS && values & (values - 1) == 0 && (min == 0 || min == -1 - max);
    low < high && (mutated >= ENOUGH || mutated >= MANY && is_of_bits)
}

/// Returns the end of a note, if more mutated frames would show more.
fn too_few(mutated: usize) -> String {
    match mutated < ENOUGH {
        true => format!("; {} have it, and more would show more", counted(mutated, "mutated frame")),
        false => String::new(),
    }
}

fn exact(seen: usize, all: &[&str]) -> Option<Scaled> {
    let (places, all) = number::decimals(all)?;
    Some(Scaled { places, seen: all[..seen].to_vec(), all, is_rounded: false })
}

/// Rounds numbers that are decimals but for the noise of binary arithmetic, to the fewest places.
fn without_noise(seen: usize, all: &[&str]) -> Option<Scaled> {
    let numbers = all.iter().map(|text| text.parse::<f64>().ok()).collect::<Option<Vec<_>>>()?;
    (0..=NOISY_PLACES).find_map(|places| {
        let unit = 10f64.powi(places.cast_signed());
        let rounded = |number: &f64| {
            let noise = NOISE * number.abs().max(1.0);
            let text = format!("{number:.*}", places as usize);
            let is_near =
                (text.parse::<f64>().ok()? - number).abs() <= noise && noise * unit <= NOISE_IN_LAST;
            is_near.then(|| Exact::parse(&text)?.scaled(places)).flatten()
        };
        let all = numbers.iter().map(rounded).collect::<Option<Vec<_>>>()?;
        Some(Scaled { places, seen: all[..seen].to_vec(), all, is_rounded: true })
    })
}

/// Returns the schema of numbers whose range is that of the decoder.
fn produced(path: &str, scaled: &Scaled) -> (Node, String) {
    let Scaled { places, seen, all, is_rounded } = scaled;
    let step = number::step(all);
    let (low, high) = range::extent(all);
    let (min, max) = of_bits((low / step, high / step));
    let (min, max) = (min * step, max * step);
    let is_whole = *places == 0 && !is_rounded;
    let mut keywords = vec![("type".to_owned(), write::text(if is_whole { "integer" } else { "number" }))];
    if !is_whole || step > 1 {
        keywords.push(("multipleOf".to_owned(), Node::Number(plain(step, *places))));
    }
    keywords.extend(is_rounded.then(|| ("x-dunnage-round".to_owned(), Node::Bool(true))));
    let bounds = |(min, max): (i128, i128)| {
        let number = |n| Node::Number(plain(n, *places));
        vec![("minimum".to_owned(), number(min)), ("maximum".to_owned(), number(max))]
    };
    keywords.extend(bounds((min, max)));
    let usual = usual(number::last_name(path), seen, *places, (min, max));
    keywords.extend(usual.map(|usual| ("x-dunnage-usual".to_owned(), Node::Object(bounds(usual)))));
    let mut note = number::seen(seen, *places);
    if (low, high) != range::extent(seen) {
        let (low, high) = (decimal_text(low, *places), decimal_text(high, *places));
        note += &format!(", {low} to {high} in {}", counted(all.len() - seen.len(), "mutated frame"));
    }
    note += &format!("; range {} to {} of the codec", plain(min, *places), plain(max, *places));
    if let Some((first, last)) = usual {
        note += &format!(", usually {} to {}", plain(first, *places), plain(last, *places));
    }
    if step > 1 {
        note += &format!("; all are multiples of {}: the step", plain(step, *places));
    }
    if *is_rounded {
        note += ROUNDED;
    }
    (Node::Object(keywords), note)
}

/// Widens a range that is nearly that of some bits, of which the frames did not reach the ends: 0 to 65533 becomes 0 to 65535.
fn of_bits((low, high): (i128, i128)) -> (i128, i128) {
    let values = |largest: i128| largest.unsigned_abs().saturating_add(1).checked_next_power_of_two();
    let is_reached = |end: i128, of: i128| end >= BITS_FROM.min(of) && end >= of - of / UNREACHED;
    match values(high.max(-1 - low)).and_then(|values| i128::try_from(values).ok()) {
        Some(values) if low >= 0 && low <= values / UNREACHED && is_reached(high, values - 1) => {
            (0, values - 1)
        }
        Some(values) if low < 0 && is_reached(-low, values) && is_reached(high, values - 1) => {
            (-values, values - 1)
        }
        _ => (low, high),
    }
}

/// Returns the range in which the numbers usually are: the one that the name implies, or the one of the samples with headroom.
fn usual(name: &str, seen: &[i128], places: u32, (min, max): (i128, i128)) -> Option<(i128, i128)> {
    let unit = 10i128.pow(places);
    let (low, high) = range::extent(seen);
    let implied = quantity::range(name).map(|(first, last)| (first * unit, last * unit));
    let implied = implied.filter(|(first, last)| *first <= low && high <= *last);
    let (first, last) = match implied {
        Some(implied) => implied,
        None => range::guess(name, seen, places, (min.min(0), max.max(1))).usual?,
    };
    let (first, last) = (first.max(min), last.min(max));
    let saves = first <= last && (last - first + 1) << SAVED <= max - min + 1;
    saves.then_some((first, last))
}

/// Infers the schema of texts: `seen` in the samples, `mutated` in mutated frames.
pub(super) fn texts(guesses: &mut Guesses, path: &str, seen: &[&str], mutated: &[&str]) -> Node {
    let is_missing = |text: &str| MISSING.iter().any(|part| text.contains(part));
    let drops = !seen.iter().any(|text| is_missing(text));
    let mutated: Vec<&str> = mutated.iter().copied().filter(|text| !(drops && is_missing(text))).collect();
    let all = [seen, &mutated].concat();
    let guess = choices(seen, &mutated).or_else(|| text::guess(path, &all));
    let guess = guess.filter(|(schema, _)| guesses.has_room_for(schema));
    let (schema, note) = guess.unwrap_or_else(|| text::free(&all));
    let is_enum = schema.get("enum").is_some();
    guesses.note(path, if is_enum { note } else { note + &too_few(mutated.len()) });
    schema
}

/// Infers an enumeration of the texts that the decoder returned, if mutated frames show that there are no others.
fn choices(seen: &[&str], mutated: &[&str]) -> Option<text::Guess> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in seen.iter().chain(mutated) {
        *counts.entry(text).or_default() += 1;
    }
    let different: Vec<&str> = counts.keys().copied().collect();
    let singles = counts.values().filter(|count| **count == 1).count();
    let most = if identifier::are_counted(&different) { NUMBERED_TEXTS } else { TEXTS };
    let is_short = different.iter().all(|text| text.chars().count() <= LONGEST);
    if mutated.len() < ENOUGH || different.len() > most || !is_short || singles * PER_SINGLE > different.len()
    {
        return None;
    }
    let new: Vec<String> =
        different.iter().filter(|text| !seen.contains(text)).map(|text| write::quoted(text)).collect();
    let mut note =
        format!("{} in {}: enum", counted(different.len(), "text"), counted(mutated.len(), "mutated frame"));
    if !new.is_empty() {
        note += &format!("; in no example: {}", new.join(", "));
    }
    Some((write::text_with("enum", Node::Array(different.into_iter().map(write::text).collect())), note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bits_are_completed() {
        for (seen, range) in [
            ((0, 65_533), (0, 65_535)),
            ((2, 65_000), (0, 65_535)),
            ((-32_767, 32_767), (-32_768, 32_767)),
            ((-2_000, 2_040), (-2_048, 2_047)),
            ((0, 100), (0, 100)),
            ((0, 200), (0, 200)),
            ((-40, 215), (-40, 215)),
            ((0, 3), (0, 3)),
            ((0, 2), (0, 2)),
            ((0, 13), (0, 13)),
            ((900, 65_535), (0, 65_535)),
        ] {
            assert_eq!(of_bits(seen), range, "{seen:?}");
        }
    }
}
