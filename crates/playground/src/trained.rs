//! The size of packed messages after training on them, as `dunnage schema train` does it.

use dunnage_formats::{Id, Mapping};
use dunnage_packed::{Layout, Training};
use dunnage_plan::Message;
use dunnage_schema::Model;
use dunnage_simulate::ENOUGH;
use serde::Serialize;
use utoipa::ToSchema;

/// The prior form of the messages, trained on these messages.
#[derive(Debug, Serialize, ToSchema)]
pub struct Trained {
    /// The mean of the messages, in bytes.
    pub mean_bytes: f64,
    /// The largest of the messages, in bytes.
    pub largest_bytes: usize,
    /// The bytes of the statistics, which become a part of the schema.
    pub statistics_bytes: usize,
}

/// Trains on `messages`, which the schema of `model` allows. Returns `None` if they are too few, or the schema cannot have statistics or has
/// them already.
pub fn train(model: &Model, messages: &[Message]) -> Option<Trained> {
    if messages.len() < ENOUGH || model.statistics().is_some() {
        return None;
    }
    let layout = Layout::untrained(model);
    let mut training = Training::new(&layout).ok()?;
    for message in messages {
        let example = training.example(&message.value).ok()?;
        training.add(&example);
    }
    let statistics = training.finish().statistics;
    let trained = model.clone().with_statistics(Some(&statistics));
    let packed = Id::Packed.open(Some(&trained), Mapping::Exact).ok()?;
    let (mut all, mut largest, mut bytes) = (0, 0, Vec::new());
    for message in messages {
        bytes.clear();
        packed.encode(&message.value, &mut bytes).ok()?;
        all += bytes.len();
        largest = largest.max(bytes.len());
    }
    Some(Trained {
        mean_bytes: all as f64 / messages.len() as f64,
        largest_bytes: largest,
        statistics_bytes: statistics.len(),
    })
}
