//! The prior: the texts and numbers that every model has learned before a message.

use super::coder::Coder;
use super::model::Model;
use crate::Error;
use crate::wire::{At, Part};
use std::sync::LazyLock;

/// Groups of lines. The first line of a group is a key, the others are values that may belong to it.
const TEXT: &str = include_str!("../../packed-prior.txt");

/// The node number of the first group, which no node of a layout has.
const FIRST_NODE: u32 = 1 << 31;

/// Returns a model that has coded the lines of `spec/packed-prior.txt`.
pub(super) fn model() -> Model {
    static PRIMED: LazyLock<Model> = LazyLock::new(|| {
        let mut model = Model::new();
        for (group, lines) in (FIRST_NODE..).zip(TEXT.split("\n\n")) {
            for (i, line) in lines.lines().enumerate() {
                let at = |part| At { node: group, part };
                // `Nowhere` writes no bytes, so coding cannot fail.
                let _ = match (i, line.parse()) {
                    (0, _) => model.text(&mut Nowhere, at(Part::Key), Some(line), 0, None).map(drop),
                    (_, Ok(number)) => model.sized(&mut Nowhere, at(Part::Value), number).map(drop),
                    _ => model.text(&mut Nowhere, at(Part::Value), Some(line), 0, None).map(drop),
                };
            }
        }
        model.begin();
        model
    });
    PRIMED.clone()
}

/// Discards all decisions.
struct Nowhere;

impl Coder for Nowhere {
    fn code(&mut self, bit: bool, _: u32) -> Result<bool, Error> {
        Ok(bit)
    }

    fn offset(&self) -> usize {
        0
    }
}
