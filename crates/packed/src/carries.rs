//! Decides which values a node carries: the values for which it has bits, whether or not the schema allows them.
//!
//! Each kind of node has its own rule (`node/`). A union uses the first of its nodes that carries the value. Encoder and decoder must
//! choose the same one, so the choice depends only on the part of the tree that the fingerprint covers: `spec/packed.md`, "Unions".

use crate::{Error, Layout, Node};
use dunnage_pson::{Kind, Value};
use std::cell::Cell;

/// The maximum number of comparisons of a node with a value for one message. Without it, nested unions take exponential time.
const MAX_STEPS: u32 = 1 << 24;

/// The number of names or values whose comparison counts as one step.
const COMPARED: usize = 8;

/// Finds the nodes that carry the values of one message.
pub(crate) struct Carrier<'a> {
    definitions: &'a [Node],
    /// The number of steps that are left.
    steps: Cell<u32>,
}

impl Layout {
    /// Returns whether `node`, a node of this layout, has bits for `value`.
    pub fn carries(&self, node: &Node, value: &Value) -> bool {
        Carrier::new(self.definitions()).carries(node, value).unwrap_or(false)
    }
}

impl<'a> Carrier<'a> {
    pub fn new(definitions: &'a [Node]) -> Carrier<'a> {
        Carrier { definitions, steps: Cell::new(MAX_STEPS) }
    }

    /// Returns the tree to which a definition refers.
    pub fn definition(&self, at: usize) -> &'a Node {
        &self.definitions[at]
    }

    /// Returns whether `node` carries `value`. The only error is of kind `limit`.
    pub fn carries(&self, node: &Node, value: &Value) -> Result<bool, Error> {
        self.charge(1)?;
        node.carries(value, self)
    }

    /// Returns whether each of the values is carried by its node. A value without a node is not.
    pub fn carries_all<'v>(
        &self,
        values: impl Iterator<Item = (Option<&'v Node>, &'v Value)>,
    ) -> Result<bool, Error> {
        for (node, value) in values {
            match node {
                Some(node) if self.carries(node, value)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Counts the comparison of a value with `count` values or names.
    pub fn compare(&self, count: usize) -> Result<(), Error> {
        self.charge(count / COMPARED)
    }

    fn charge(&self, steps: usize) -> Result<(), Error> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.steps.get().checked_sub(steps));
        let message = || format!("finding the types of the values takes more than {MAX_STEPS} steps");
        self.steps.set(left.ok_or_else(|| Error::new(Kind::Limit, 0, message()))?);
        Ok(())
    }
}
