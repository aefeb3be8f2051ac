//! Measures statistics on messages that are not in their training: those of other devices, at a later time.

use super::tables;
use crate::{failure::Failure, sequences::Sequence};
use dunnage_formats::Value;
use dunnage_packed::{Error, Layout, Learnt, Training};
use dunnage_schema::Model;
use dunnage_simulate::{Device, Network, Sizes, train};

/// The seed of the losses.
const SEED: u64 = 1;
/// One of this many devices is left out of each training, and so is the last of this many parts of the time.
const PARTS: usize = 4;
/// The number of messages before that part that are sent, too, so that the first deltas have references.
const BEFORE: usize = 32;

/// Sizes of messages plain, in the prior form, and with deltas.
#[derive(Clone, Default)]
pub struct Forms {
    pub plain: Sizes,
    pub prior: Sizes,
    pub delta: Sizes,
}

/// Trials with statistics that know only a part of the messages.
pub struct HeldOut {
    /// The sizes of the messages in the last part of the time, of each device. Unless there is only one, the statistics know other devices
    /// only.
    pub devices: Vec<Forms>,
}

impl HeldOut {
    /// Returns the sizes of the messages of all devices.
    pub fn all(&self) -> Forms {
        let mut all = Forms::default();
        for device in &self.devices {
            all.plain.merge(&device.plain);
            all.prior.merge(&device.prior);
            all.delta.merge(&device.delta);
        }
        all
    }
}

/// Learns the statistics of messages, each item those of a device. Their tables take at most `within` bytes, if that is given.
pub fn learn<'m>(
    layout: &Layout,
    devices: impl IntoIterator<Item = &'m [Value]>,
    network: Network,
    within: Option<usize>,
) -> Result<Learnt, Failure> {
    let failed = |error: Error| Failure::Failed(error.to_string());
    let mut training = Training::new(layout).map_err(failed)?;
    for (number, messages) in devices.into_iter().enumerate() {
        let seed = (SEED, number as u64);
        train(&mut training, messages.iter().cloned(), network, seed).map_err(failed)?;
    }
    match within {
        Some(most) => tables::learn_within(layout, &training, most),
        None => Ok(training.finish()),
    }
}

/// Sends the messages of each device in all forms of a layout with statistics. Counts all but the first `uncounted` ones, which only serve as
/// references.
pub fn forms(
    layout: &Layout,
    devices: &[&[Value]],
    uncounted: usize,
    network: Network,
) -> Result<Forms, Failure> {
    let untrained = Layout::untrained(layout.model());
    let send = |layout: &Layout, deltas: bool| {
        let mut sizes = Sizes::default();
        for (number, messages) in devices.iter().enumerate() {
            let mut device = Device::new(layout, deltas, network, (SEED, number as u64));
            for (number, message) in messages.iter().enumerate() {
                let sent = device.send(message).map_err(|error| Failure::Failed(error.to_string()))?;
                if number >= uncounted {
                    sizes.add(sent.bytes);
                }
            }
        }
        Ok::<_, Failure>(sizes)
    };
    Ok(Forms { plain: send(&untrained, false)?, prior: send(layout, false)?, delta: send(layout, true)? })
}

/// Trains with the first three quarters of the time, and sends the messages of the last. Each device's messages are sent with statistics of other
/// devices, if there are any. Returns `None` if no messages are left.
pub fn trial(
    model: &Model,
    devices: &[Sequence],
    network: Network,
    within: Option<usize>,
) -> Result<Option<HeldOut>, Failure> {
    let untrained = Layout::untrained(model);
    let times = |Sequence { messages }: &'_ Sequence| messages.len() - messages.len() / PARTS;
    let mut held = Vec::new();
    for part in 0..PARTS.min(devices.len()) {
        let is_other = |number: usize| number % PARTS == part;
        let known = devices.iter().enumerate().filter(|(number, _)| devices.len() == 1 || !is_other(*number));
        let messages = known.map(|(_, device)| &device.messages[..times(device)]);
        let learnt = learn(&untrained, messages, network, within)?;
        let layout = Layout::new(&model.clone().with_statistics(Some(&learnt.statistics)))
            .map_err(|error| Failure::Failed(error.to_string()))?;
        for device in devices.iter().enumerate().filter(|(number, _)| is_other(*number)).map(|(_, d)| d) {
            let uncounted = times(device).min(BEFORE);
            let later = &device.messages[times(device) - uncounted..];
            if later.len() > uncounted {
                held.push(forms(&layout, &[later], uncounted, network)?);
            }
        }
    }
    Ok((!held.is_empty()).then_some(HeldOut { devices: held }))
}
