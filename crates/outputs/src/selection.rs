//! What the expressions of an output say about its messages: which of them it delivers, and as what.
//!
//! With `until`, a device that meets `when` has an alarm, and none of its messages is delivered while it has one. The message that ends it is
//! not delivered either. Alarms are in the buffer, so that a restart neither forgets nor repeats one.
//!
//! A message on which an expression fails becomes a dead letter. An output that writes all messages in one order could not take it later, so
//! it delivers the message.

use crate::{Message, envelope};
use dunnage_expression::{Expressions, Verdict, Worker};
use sha2::{Digest, Sha256};
use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The expressions of an output, and the devices with an alarm.
pub struct Selection {
    worker: Worker,
    /// What happens if an expression fails.
    takes_failures: bool,
    /// Identifies `when` and `until`; `None` without `until`.
    condition: Option<i64>,
    alarms: Mutex<HashSet<Arc<str>>>,
    /// Whether the last messages could not be evaluated.
    failing: AtomicBool,
}

/// What happens to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// It is delivered. Whether its device then has an alarm.
    Deliver {
        /// With `until`.
        alarm: bool,
    },
    /// It is not delivered. Whether its device then has no alarm any more.
    Skip {
        /// With `until`, if the device had one.
        end: bool,
    },
    /// It becomes a dead letter.
    Refuse(String),
}

impl Choice {
    /// Whether nothing needs to be done for the message.
    pub fn is_nothing(&self) -> bool {
        *self == Choice::Skip { end: false }
    }

    /// Returns whether the device of the message has an alarm afterwards, if that changes.
    pub fn change(&self) -> Option<bool> {
        match self {
            Choice::Deliver { alarm: true } => Some(true),
            Choice::Skip { end: true } => Some(false),
            _ => None,
        }
    }
}

impl Selection {
    /// Creates the selection of `expressions`, which have been checked, for an output; `None` if there are none. `takes_failures`
    /// says that it delivers messages on which an expression fails.
    pub fn new(expressions: &Expressions, takes_failures: bool) -> Option<Selection> {
        let condition = expressions.until.as_ref().map(|until| {
            let hash = Sha256::new().chain_update(expressions.when.as_deref().unwrap_or_default());
            let hash = hash.chain_update([0]).chain_update(until).finalize();
            i64::from_le_bytes(hash.first_chunk().copied().unwrap_or_default())
        });
        let worker = Worker::new(expressions.clone());
        (!expressions.is_empty()).then(|| Selection {
            worker,
            takes_failures,
            condition,
            alarms: Mutex::default(),
            failing: AtomicBool::new(false),
        })
    }

    /// Returns what identifies the condition of the alarms; `None` if the output has none.
    pub fn condition(&self) -> Option<i64> {
        self.condition
    }

    /// Takes over the devices with an alarm from before the restart.
    pub fn resume(&self, alarms: HashSet<Arc<str>>) {
        *self.alarms() = alarms;
    }

    /// Notes that `device` has an alarm, or none.
    pub fn note(&self, device: &Arc<str>, alarm: bool) {
        match alarm {
            true => self.alarms().insert(Arc::clone(device)),
            false => self.alarms().remove(device),
        };
    }

    fn alarms(&self) -> MutexGuard<'_, HashSet<Arc<str>>> {
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether messages could not be evaluated. Returns what was so before.
    pub fn fails(&self, failing: bool) -> bool {
        self.failing.swap(failing, Ordering::Relaxed)
    }

    /// Evaluates the expressions for `messages`, and sets the verdict of each.
    ///
    /// # Errors
    /// The process that evaluates cannot be started or does not answer.
    pub async fn judge<'m>(&self, messages: impl IntoIterator<Item = &'m mut Message>) -> io::Result<()> {
        let (mut bodies, mut judged) = (Vec::new(), Vec::new());
        for message in messages {
            let mut body = Vec::with_capacity(message.json.len() + 256);
            match envelope::write(message, &mut body) {
                Ok(()) => {
                    bodies.push(body);
                    judged.push(message);
                }
                Err(error) => message.verdict = Some(Verdict::Failed(error.to_string())),
            }
        }
        let verdicts = self.worker.evaluate(&bodies).await?;
        judged.into_iter().zip(verdicts).for_each(|(message, verdict)| message.verdict = Some(verdict));
        Ok(())
    }

    /// Decides about the messages of a call, in order. `dead_letters` says which of them are dead letters that are retried: those
    /// were chosen before, and no alarm concerns them.
    pub fn choose(&self, messages: &[Message], dead_letters: &[bool]) -> Vec<Choice> {
        let alarms = self.alarms();
        // What the messages before change.
        let mut changed: HashMap<&str, bool> = HashMap::new();
        let choices = messages.iter().zip(dead_letters).map(|(message, is_dead_letter)| {
            let follows = self.condition.is_some() && !is_dead_letter;
            let device = message.device.as_str();
            let alarm = || changed.get(device).copied().unwrap_or_else(|| alarms.contains(device));
            let choice = match &message.verdict {
                Some(Verdict::Failed(_)) if self.takes_failures => Choice::Deliver { alarm: false },
                Some(Verdict::Failed(reason)) => Choice::Refuse(reason.clone()),
                Some(Verdict::Skipped { ends }) => Choice::Skip { end: follows && *ends && alarm() },
                Some(Verdict::Holds(_)) | None if follows && alarm() => Choice::Skip { end: false },
                Some(Verdict::Holds(_)) | None => Choice::Deliver { alarm: follows },
            };
            if let Some(alarm) = choice.change() {
                changed.insert(device, alarm);
            }
            choice
        });
        choices.collect()
    }
}
