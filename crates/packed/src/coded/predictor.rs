//! How an index of a series is predicted from those of the elements before it: `spec/packed.md`, "Series".

/// The prediction of an index from the last ones of its leaf.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Predictor {
    /// The last one.
    #[default]
    Previous,
    /// As far from the last one as that is from the one before it.
    Linear,
}

/// The last index of a leaf, and the one before it, both below 2^62.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recent {
    pub last: u64,
    /// The last one again, if it is the only one.
    pub before: u64,
}

impl Recent {
    /// Returns an index without one before it.
    pub fn only(last: u64) -> Recent {
        Recent { last, before: last }
    }
}

impl Predictor {
    /// Returns the predicted index out of `count`: where the prediction is no index, the nearest one.
    pub(crate) fn predict(self, Recent { last, before }: Recent, count: u64) -> u64 {
        match self {
            Predictor::Previous => last,
            Predictor::Linear => (2 * last).saturating_sub(before).min(count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_stay_within_the_values() {
        let most = 1 << 62;
        for (predictor, last, before, count, expected) in [
            (Predictor::Previous, 9, 0, 10, 9),
            (Predictor::Linear, 4, 3, 10, 5),
            (Predictor::Linear, 4, 4, 10, 4),
            (Predictor::Linear, 2, 7, 10, 0),
            (Predictor::Linear, 8, 3, 10, 9),
            (Predictor::Linear, most - 1, 0, most, most - 1),
        ] {
            assert_eq!(predictor.predict(Recent { last, before }, count), expected, "{last} after {before}");
        }
    }
}
