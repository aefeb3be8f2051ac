//! The report of a training for people: the bits of each part before and after.

use super::samples::{LeafShape, Samples};
use super::{LearntPart, NodeBits};
use crate::Layout;
use crate::coded::leaf::Leaves;
use crate::coded::statistics::{LeafStatistics, Statistics};
use crate::path::shown;
use std::collections::HashMap;

/// Returns the mean bits of each part, in the order of the layout. Parts of a fixed value are left out.
pub(super) fn parts(
    layout: &Layout,
    leaves: &Leaves,
    statistics: &Statistics,
    bits: &NodeBits,
    prior: &Samples,
    change: &Samples,
) -> Vec<LearntPart> {
    let mut parts: Vec<(u32, LearntPart)> = Vec::new();
    let mean = |bits: f64, samples: &Samples| bits / f64::from(samples.messages().max(1));
    let of = |bits: &HashMap<u32, u64>, node: u32, samples: &Samples| {
        mean(bits.get(&node).copied().unwrap_or(0) as f64, samples)
    };
    for (at, leaf) in leaves.list().iter().enumerate() {
        let node = leaf.key.node;
        if parts.last().is_none_or(|(last, _)| *last != node) {
            let path =
                layout.root().path_of(node, "").map_or_else(String::new, |path| shown(&path).to_owned());
            let delta = (change.messages() > 0).then(|| of(&bits.opaque_changes, node, change));
            let (plain, prior) = (of(&bits.plain, node, prior), of(&bits.opaque, node, prior));
            parts.push((node, LearntPart { path, plain, prior, delta }));
        }
        let Some((_, part)) = parts.last_mut() else { continue };
        let known = &statistics.leaves[at];
        let LeafStatistics { centre, predictor, .. } = *known;
        let shape = LeafShape { at, count: leaf.count, centre, predictor };
        let cost = |samples: &Samples| {
            mean(samples.all_cost(&shape, known.prior.as_ref(), known.change.as_ref()), samples)
        };
        part.prior += cost(prior);
        if let Some(delta) = &mut part.delta {
            *delta += cost(change);
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}
