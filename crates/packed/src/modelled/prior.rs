//! What every model knows before its first message.

use super::coder::Coder;
use super::model::Model;
use crate::Error;
use crate::wire::{At, Part};
use std::sync::LazyLock;

/// Groups of lines: a key, and values that may stand under it.
const TEXT: &str = include_str!("../../../../spec/packed-prior.txt");

/// The node of the first group.
const FIRST_NODE: u32 = 1 << 31;

/// A model that has coded the lines of `spec/packed-prior.txt`.
pub(super) fn model() -> Model {
    static PRIMED: LazyLock<Model> = LazyLock::new(|| {
        let mut model = Model::new();
        for (group, lines) in (FIRST_NODE..).zip(TEXT.split("\n\n")) {
            for (i, line) in lines.lines().enumerate() {
                let at = |part| At { node: group, part };
                // Nothing is written, so that nothing goes wrong.
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

/// Takes decisions and forgets them.
struct Nowhere;

impl Coder for Nowhere {
    fn code(&mut self, bit: bool, _: u32) -> Result<bool, Error> {
        Ok(bit)
    }

    fn offset(&self) -> usize {
        0
    }
}
