//! Schemas with statistics of random messages.

use crate::language::Request;
use anyhow::Result;
use dunnage_conform::{Instance, Random, instance};
use dunnage_packed::{Layout, Training};
use dunnage_schema::Model;

/// The messages that each schema is trained on.
const TRAINING: usize = 400;
/// How many different ones are among them, so that some values are more likely than others.
const LIKELY: usize = 12;

/// Schemas with every part that statistics are about.
pub const SCHEMAS: [&str; 2] =
    [include_str!("../../../spec/schemas/container-voyage.json"), include_str!("trained.schema.json")];

/// A layout with statistics, and the messages that it was trained on.
pub struct Trained {
    pub layout: Layout,
    likely: Vec<Instance>,
}

impl Trained {
    /// Trains the schema `text` with random messages.
    pub fn new(text: &str, random: &mut Random) -> Result<Trained> {
        let model = Model::compile(text)?;
        let layout = Layout::untrained(&model);
        let mut training = Training::new(&layout)?;
        let likely: Vec<Instance> = (0..LIKELY).map(|_| instance(random, &model)).collect();
        let mut before = None;
        for _ in 0..TRAINING {
            // The first messages are the most likely ones.
            let most = 1 + random.below(LIKELY);
            let example = training.example(&likely[random.below(most)].message)?;
            training.add(&example);
            if let Some(before) = &before {
                training.add_change(&example, before);
            }
            before = Some(example);
        }
        let layout = Layout::new(&model.with_statistics(Some(&training.finish().statistics)))?;
        Ok(Trained { layout, likely })
    }

    /// Returns a message: as often one of the likely ones as any.
    pub fn instance(&self, random: &mut Random) -> Instance {
        match random.below(2) {
            0 => self.likely[random.below(LIKELY)].clone(),
            _ => instance(random, self.layout.model()),
        }
    }
}

/// Returns requests to decode each prefix of the valid message among `requests`.
pub fn prefixes(requests: &[Request]) -> Vec<Request> {
    let decode = requests.iter().find_map(|request| match request {
        Request::Decode { bytes, known } => Some((bytes, known)),
        Request::Encode { .. } => None,
    });
    let prefix = |(bytes, known): (&Vec<u8>, _), end: usize| Request::Decode {
        bytes: bytes[..end].to_vec(),
        known: Clone::clone(known),
    };
    decode.map_or_else(Vec::new, |one| (0..one.0.len()).map(|end| prefix(one, end)).collect())
}
