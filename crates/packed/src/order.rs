//! The order of an object's properties: each, except the last one, is an index among those that were not named before.

/// The free places, counted in a Fenwick tree, because a message may have very many properties.
pub(crate) struct Unnamed {
    /// `sums[i]` is the number of free places among the `i & -i` places that end with place `i` - 1.
    sums: Vec<usize>,
}

impl Unnamed {
    pub(crate) fn new(count: usize) -> Unnamed {
        Unnamed { sums: (0..=count).map(|i| i & i.wrapping_neg()).collect() }
    }

    /// Takes `place`, which must be free. Returns the number of free places before it.
    pub(crate) fn name(&mut self, place: usize) -> usize {
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
    pub(crate) fn named(&mut self, before: usize) -> usize {
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
