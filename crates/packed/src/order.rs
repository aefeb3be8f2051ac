//! The order of an object's properties in a modelled body: each, except the last one, is an index among those that were not named
//! before.

use crate::Error;
use crate::wire::{At, Part, Sink, Source};
use dunnage_pson::{Kind, Value};

/// Writes the order of the properties. `written` has the index in the message of each one.
pub(crate) fn write<S: Sink>(node: u32, written: &[usize], sink: &mut S) -> Result<(), Error> {
    let count = written.len();
    if count < 2 {
        return Ok(());
    }
    let at = At { node, part: Part::Order };
    let other = !written.is_sorted();
    sink.index(at, other.into(), 2)?;
    if !other {
        return Ok(());
    }
    let mut place_of = vec![0; count];
    for (place, at) in written.iter().enumerate() {
        place_of[*at] = place;
    }
    let mut unnamed = Unnamed::new(count);
    for (i, place) in place_of[..count - 1].iter().enumerate() {
        let before = unnamed.name(*place);
        sink.index(at, before as u64, (count - i) as u64)?;
    }
    Ok(())
}

/// Brings `entries` into the order of the message. The first `named` of them are properties of the schema.
pub(crate) fn read<S: Source>(
    node: u32,
    entries: Vec<(String, Value)>,
    named: usize,
    source: &mut S,
) -> Result<Vec<(String, Value)>, Error> {
    let (at, offset) = (At { node, part: Part::Order }, source.offset());
    let count = entries.len();
    if count < 2 || source.index(at, 2)? == 0 {
        return Ok(entries);
    }
    let mut unnamed = Unnamed::new(count);
    let mut places = Vec::new();
    for i in 0..count {
        let left = (count - i) as u64;
        let before = if left > 1 { source.index(at, left)? } else { 0 };
        places.push(unnamed.named(before as usize));
    }
    // Additional properties are written in the order of the message, so their places ascend.
    let mut additional = places.iter().filter(|place| **place >= named);
    if places.is_sorted() || !additional.by_ref().is_sorted() {
        return Err(Error::new(Kind::Malformed, offset, "an order that has another form"));
    }
    let mut entries: Vec<_> = entries.into_iter().map(Some).collect();
    Ok(places.iter().filter_map(|place| entries[*place].take()).collect())
}

/// The free places, counted in a Fenwick tree, because a message may have very many properties.
struct Unnamed {
    /// `sums[i]` is the number of free places among the `i & -i` places that end with place `i` - 1.
    sums: Vec<usize>,
}

impl Unnamed {
    fn new(count: usize) -> Unnamed {
        Unnamed { sums: (0..=count).map(|i| i & i.wrapping_neg()).collect() }
    }

    /// Takes `place`, which must be free. Returns the number of free places before it.
    fn name(&mut self, place: usize) -> usize {
        let (mut before, mut i) = (0, place);
        while i > 0 {
            before += self.sums[i];
            i &= i - 1;
        }
        let mut i = place + 1;
        while i < self.sums.len() {
            self.sums[i] -= 1;
            i += i & i.wrapping_neg();
        }
        before
    }

    /// Takes and returns the free place with `before` free places before it. `before` must be less than the number of free places.
    fn named(&mut self, before: usize) -> usize {
        let (mut place, mut left) = (0, before);
        let mut stride = self.sums.len().next_power_of_two();
        while stride > 0 {
            if place + stride < self.sums.len() && self.sums[place + stride] <= left {
                place += stride;
                left -= self.sums[place];
            }
            stride /= 2;
        }
        self.name(place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_as_a_list_does(order in (0usize..70).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle())) {
            let mut list: Vec<usize> = (0..order.len()).collect();
            let (mut there, mut back) = (Unnamed::new(order.len()), Unnamed::new(order.len()));
            for place in order {
                let before = list.iter().position(|free| *free == place).unwrap();
                list.remove(before);
                prop_assert_eq!(there.name(place), before);
                prop_assert_eq!(back.named(before), place);
            }
        }
    }
}
