//! How a value is seen by its table: as it is, or as its distance from what the reference predicts.

/// The values of an index as a table has them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum View {
    /// The value itself.
    Value,
    /// The distance from `predicted`, plus `half`.
    Change { predicted: u64, half: u64 },
}

impl View {
    /// Returns the number for a value below `count`. Distances go around: from the last value to the first one it is 1.
    pub fn of(self, value: u64, count: u64) -> i64 {
        let View::Change { predicted, half } = self else { return value as i64 };
        let (least, count) = (-((count / 2) as i64), count as i64);
        let distance = value as i64 - predicted as i64;
        let distance = if distance < least {
            distance + count
        } else if distance >= least + count {
            distance - count
        } else {
            distance
        };
        distance + half as i64
    }

    /// Returns the value below `count` for a number, if there is one.
    pub fn value(self, number: i64, count: u64) -> Option<u64> {
        let value = match self {
            View::Value => number,
            View::Change { predicted, half } => {
                let distance = number.checked_sub(half as i64)?;
                let least = -((count / 2) as i64);
                if !(least..least + count as i64).contains(&distance) {
                    return None;
                }
                // Both are below `count`, so that a division is not needed.
                match predicted as i64 + distance {
                    below if below < 0 => below + count as i64,
                    above if above >= count as i64 => above - count as i64,
                    value => value,
                }
            }
        };
        u64::try_from(value).ok().filter(|value| *value < count)
    }
}

/// A number with `x-dunnage-every`: how many amounts it has grown since the reference, and the rest. Without a reference, since 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grown {
    /// The amounts, plus half of the values of the leaf if there is a reference.
    pub steps: u64,
    /// The rest, plus half of the amount if there is a reference.
    pub rest: u64,
}

impl Grown {
    /// `every` is the amount, `leaf` the number of values of the leaf of the steps.
    pub fn of(value: u64, was: Option<u64>, every: u64, leaf: u64) -> Grown {
        let Some(was) = was else { return Grown { steps: value / every, rest: value % every } };
        let above = value as i64 - was as i64 + (every / 2) as i64;
        let steps = above.div_euclid(every as i64) + (leaf / 2) as i64;
        Grown { steps: steps as u64, rest: above.rem_euclid(every as i64) as u64 }
    }

    /// Returns the number, if it is not negative.
    pub fn value(self, was: Option<u64>, every: u64, leaf: u64) -> Option<u64> {
        let Some(was) = was else { return self.steps.checked_mul(every)?.checked_add(self.rest) };
        let steps = self.steps as i64 - (leaf / 2) as i64;
        let grown = steps.checked_mul(every as i64)?.checked_add(self.rest as i64 - (every / 2) as i64)?;
        u64::try_from((was as i64).checked_add(grown)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_has_one_number(count in 2u64..1 << 62, more in 0u64..1000, a: u64, b: u64, number: i64) {
            let (value, predicted) = (a % count, b % count);
            let half = (count + more.min((1 << 62) - count)) / 2;
            for view in [View::Value, View::Change { predicted, half }] {
                prop_assert_eq!(view.value(view.of(value, count), count), Some(value));
                if let Some(value) = view.value(number, count) {
                    prop_assert_eq!(view.of(value, count), number);
                }
            }
            let number = View::Change { predicted, half }.of(value, count);
            prop_assert!((0..2 * half as i64 + 1).contains(&number));
        }

        #[test]
        fn a_number_has_grown_by_steps_and_a_rest(every in 1u64..1 << 40, count in 2u64..1 << 60, a: u64, b: u64) {
            let leaf = 2 * (count / every + 1) + 1;
            for was in [None, Some(b % count)] {
                let grown = Grown::of(a % count, was, every, leaf);
                prop_assert!(grown.steps < leaf && grown.rest < every);
                prop_assert_eq!(grown.value(was, every, leaf), Some(a % count));
            }
        }
    }

    #[test]
    fn distances_go_around() {
        let view = View::Change { predicted: 359, half: 180 };
        assert_eq!(view.of(1, 360), 182);
        assert_eq!(view.value(182, 360), Some(1));
    }
}
