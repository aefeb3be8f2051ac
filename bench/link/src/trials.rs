//! Deltas with wrong references: how often is one accepted as a message?

use crate::container::{Failed, messages, trained};
use crate::goal::{Goal, Wanted};
use dunnage_links::fleet::Detail;
use dunnage_packed::{Known, Reference};

/// The chance of a name that fits by accident.
const EXPECTED: f64 = 1.0 / 65_536.0;
/// Trials of a full run.
const TRIALS: u64 = 10_000_000;
/// Standard deviations of a 95 % interval.
const SIGMAS: f64 = 1.96;

/// Decodes deltas of one container with references of others that have the tag of the right one.
pub fn goals(quick: bool) -> Result<Vec<Goal>, Failed> {
    let layout = trained("container-voyage", Detail::Voyage, 900, 1.0)?;
    let wanted_trials = if quick { TRIALS / 20 } else { TRIALS };
    let own = messages(Detail::Voyage, 900, 0);
    let (mut tried, mut accepted, mut container) = (0u64, 0u64, 1);
    while tried < wanted_trials {
        let others = messages(Detail::Voyage, 900, container);
        container += 1;
        let wrong: Vec<Reference> =
            others.iter().map(|message| layout.reference(message)).collect::<Result<_, _>>()?;
        for pair in own.windows(2) {
            let known = layout.root().known_texts(&pair[1]);
            let known = Known { device: known.get("device").map(String::as_str), texts: Some(&known) };
            let reference = layout.reference(&pair[0])?;
            let mut delta = Vec::new();
            layout.encode_delta(&pair[1], &reference, &mut delta)?;
            for wrong in wrong.iter().filter(|wrong| wrong.is_tagged(delta[0])) {
                tried += 1;
                accepted += u64::from(layout.decode_delta(&delta, [wrong], [], known).is_ok());
            }
            if tried >= wanted_trials {
                break;
            }
        }
    }
    let rate = accepted as f64 / tried as f64;
    let error = SIGMAS * (EXPECTED * (1.0 - EXPECTED) / tried as f64).sqrt();
    let goal = |metric, value, wanted| Goal {
        payload: "container-voyage, 15 min".to_owned(),
        sent: "delta, wrong reference of the same tag".to_owned(),
        metric,
        value,
        unit: "",
        wanted,
        repetitions: tried,
    };
    Ok(vec![
        goal("accepted, times 65,536", rate / EXPECTED, Wanted::AtMost(1.0 + error / EXPECTED)),
        goal("accepted", accepted as f64, Wanted::Nothing),
    ])
}
