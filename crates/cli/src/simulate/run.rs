//! Sends the messages of each device in each form.

use super::Sequence;
use crate::failure::Failure;
use dunnage_packed::{Error, Layout, Value};
use dunnage_simulate::{Containers, Device, Network, Sizes};
use indicatif::{ProgressBar, ProgressStyle};

/// How messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Without statistics.
    Plain,
    /// With statistics, and without references.
    Prior,
    /// With references where the receiver has acknowledged a message.
    Deltas,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::Plain => "plain",
            Form::Prior => "prior",
            Form::Deltas => "deltas",
        }
    }
}

/// The fate of all messages in one form.
pub struct Outcome {
    pub form: Form,
    pub sizes: Sizes,
    /// Messages that arrived and were decoded, `wrong` included.
    pub delivered: u64,
    /// Messages that were decoded to a different value.
    pub wrong: u64,
    /// Messages that arrived but could not be decoded.
    pub quarantined: u64,
}

/// The parameters of a simulation.
pub struct Work<'a> {
    pub layout: &'a Layout,
    pub network: Network,
    pub seed: u64,
}

impl Work<'_> {
    /// Sends the messages of a file.
    pub fn sequences(&self, sequences: &[Sequence]) -> Result<Vec<Outcome>, Failure> {
        let bar = progress_bar(sequences.len() as u64);
        let untrained = Layout::untrained(self.layout.model());
        let mut outcomes = self.outcomes();
        for (number, sequence) in bar.wrap_iter(sequences.iter().enumerate()) {
            let messages = || sequence.messages.iter().cloned();
            self.send(&mut outcomes, &untrained, number as u64, messages)
                .map_err(|error| Failure::Failed(error.to_string()))?;
        }
        Ok(outcomes)
    }

    /// Sends `count` messages of each of the first containers.
    pub fn containers(
        &self,
        containers: Containers,
        devices: u64,
        count: u64,
    ) -> Result<Vec<Outcome>, Failure> {
        let bar = progress_bar(devices);
        let untrained = Layout::untrained(self.layout.model());
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut outcomes = self.outcomes();
        for number in bar.wrap_iter(0..devices) {
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            let messages = || containers.messages(index, count);
            self.send(&mut outcomes, &untrained, number, messages)
                .map_err(|error| Failure::Failed(error.to_string()))?;
        }
        Ok(outcomes)
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let forms: &[Form] = match self.layout.model().statistics() {
            Some(_) => &[Form::Plain, Form::Prior, Form::Deltas],
            None => &[Form::Plain],
        };
        let empty = |form: &Form| Outcome {
            form: *form,
            sizes: Sizes::default(),
            delivered: 0,
            wrong: 0,
            quarantined: 0,
        };
        forms.iter().map(empty).collect()
    }

    /// Sends the messages of one device in each form.
    fn send<I: Iterator<Item = Value>>(
        &self,
        outcomes: &mut [Outcome],
        untrained: &Layout,
        number: u64,
        messages: impl Fn() -> I,
    ) -> Result<(), Error> {
        for outcome in outcomes {
            let layout = if outcome.form == Form::Plain { untrained } else { self.layout };
            let deltas = outcome.form == Form::Deltas;
            let mut device = Device::new(layout, deltas, self.network, (self.seed, number));
            for message in messages() {
                let sent = device.send(&message)?;
                outcome.sizes.add(sent.bytes);
                outcome.delivered += u64::from(sent.delivered);
                outcome.wrong += u64::from(sent.wrong);
                outcome.quarantined += u64::from(sent.refused);
            }
        }
        Ok(())
    }
}

/// A progress bar with the time left, on standard error if that is a terminal.
fn progress_bar(devices: u64) -> ProgressBar {
    let bar = ProgressBar::new(devices);
    if let Ok(style) = ProgressStyle::with_template("simulating {bar:30} {pos} of {len} devices, {eta} left")
    {
        bar.set_style(style);
    }
    bar
}
