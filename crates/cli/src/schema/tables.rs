//! Statistics whose tables fit into the flash of a device.

use crate::failure::Failure;
use dunnage_codegen::c;
use dunnage_packed::{Layout, Learnt, Training};

/// The exponents of 2 between which a factor of the price of tables is sought, and the number of steps.
const EXPONENTS: (f64, f64) = (-8.0, 12.0);
const STEPS: usize = 10;

/// Returns the bytes of the tables in generated C; `None` where C has none, as for series.
pub fn flash(layout: &Layout, learnt: &Learnt) -> Option<usize> {
    let trained = Layout::new(&layout.model().clone().with_statistics(Some(&learnt.statistics))).ok()?;
    let options = c::Options { modes: true, ..c::Options::default() };
    let cost = c::c(&trained, &options).ok()?.modes?;
    Some(cost.prior_tables + cost.delta_tables)
}

/// Returns the statistics with the smallest messages whose tables take at most `most` bytes. Where C has no tables, the statistics count.
pub fn learn_within(layout: &Layout, training: &Training<'_>, most: usize) -> Result<Learnt, Failure> {
    let at = |factor: f64| {
        let learnt = training.clone().priced(factor).finish();
        let bytes = flash(layout, &learnt).unwrap_or(learnt.statistics.len());
        (learnt, bytes)
    };
    let (learnt, bytes) = at(0.0);
    if bytes <= most {
        return Ok(learnt);
    }
    let (mut too_large, mut fits) = EXPONENTS;
    let (mut best, smallest) = at(fits.exp2());
    if smallest > most {
        return Err(Failure::Failed(format!("the smallest tables take {smallest} bytes, not {most}")));
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(too_large, fits);
        let (learnt, bytes) = at(middle.exp2());
        if bytes <= most {
            (best, fits) = (learnt, middle);
        } else {
            too_large = middle;
        }
    }
    Ok(best)
}
