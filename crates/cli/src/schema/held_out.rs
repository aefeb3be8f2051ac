//! What statistics give messages that they were not trained on: those of other devices, and of a later time.

use crate::{failure::Failure, sequences::Sequence};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_formats::Value;
use dunnage_packed::{Error, Layout, Learnt, Training};
use dunnage_schema::Model;
use dunnage_simulate::{Device, Network, Sizes, train};

/// The seed of the losses.
const SEED: u64 = 1;
/// One of so many devices is left out of the training, and the last of so many parts of the time.
const PARTS: usize = 4;

/// Sizes of messages plain, in the prior form, and with deltas.
pub struct Forms {
    pub plain: Sizes,
    pub prior: Sizes,
    pub delta: Sizes,
}

/// A trial with statistics that know only a part of the messages.
pub struct HeldOut {
    /// How many devices are not in the training. If there are none, the messages are of the same device at a later time.
    pub devices: usize,
    /// The sizes of their messages in the last part of the time.
    pub forms: Forms,
}

/// Learns the statistics of messages, each item those of a device.
pub fn learn<'m>(
    layout: &Layout,
    devices: impl IntoIterator<Item = &'m [Value]>,
    network: Network,
) -> Result<Learnt, Failure> {
    let failed = |error: Error| Failure::Failed(error.to_string());
    let mut training = Training::new(layout).map_err(failed)?;
    for (number, messages) in devices.into_iter().enumerate() {
        let seed = (SEED, number as u64);
        train(&mut training, messages.iter().cloned(), network, seed).map_err(failed)?;
    }
    Ok(training.finish())
}

/// Sends messages in all forms of a layout with statistics.
pub fn forms(layout: &Layout, devices: &[&[Value]], network: Network) -> Result<Forms, Failure> {
    let untrained = Layout::untrained(layout.model());
    let send = |layout: &Layout, deltas: bool| {
        let mut sizes = Sizes::default();
        for (number, messages) in devices.iter().enumerate() {
            let mut device = Device::new(layout, deltas, network, (SEED, number as u64));
            for message in *messages {
                sizes.add(device.send(message).map_err(|error| Failure::Failed(error.to_string()))?.bytes);
            }
        }
        Ok::<_, Failure>(sizes)
    };
    Ok(Forms { plain: send(&untrained, false)?, prior: send(layout, false)?, delta: send(layout, true)? })
}

/// Trains with three quarters of the devices and of their time, and sends what is left. Returns `None` if that is nothing.
pub fn trial(model: &Model, devices: &[Sequence], network: Network) -> Result<Option<HeldOut>, Failure> {
    let is_other = |number: usize| devices.len() > 1 && number % PARTS == (PARTS - 1).min(devices.len() - 1);
    let (mut known, mut held) = (Vec::new(), Vec::new());
    for (number, Sequence { messages }) in devices.iter().enumerate() {
        let (before, after) = messages.split_at(messages.len() - messages.len() / PARTS);
        if !is_other(number) {
            known.push(before);
        }
        // One device is both: its own later messages are held out.
        if is_other(number) || devices.len() == 1 {
            held.push(after);
        }
    }
    if held.iter().all(|messages| messages.is_empty()) {
        return Ok(None);
    }
    let learnt = learn(&Layout::untrained(model), known, network)?;
    let statistics = Some(BASE64_STANDARD.encode(&learnt.statistics));
    let layout = Layout::new(&Model { statistics, ..model.clone() })
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let devices = (0..devices.len()).filter(|number| is_other(*number)).count();
    Ok(Some(HeldOut { devices, forms: forms(&layout, &held, network)? }))
}
