//! Estimates the costs of a fleet's messages over each link in each format, and recommends formats: the computation of `dunnage plan` and
//! of the playground. `docs/plan.md` has the formulas.

mod advice;
mod choice;
mod estimate;
pub mod json;
pub mod numbers;
mod sentences;
mod sizes;
mod upkeep;

pub use advice::Advice;
pub use estimate::{Estimate, Fit, Fleet, LinkPlan};
pub use sizes::{FormatSizes, Message, Sizes, left_out};

use dunnage_links::{Link, LoadError};

/// The computed plan.
pub struct Report {
    /// The schema's name.
    pub schema: String,
    /// The fleet.
    pub fleet: Fleet,
    /// The name of each message and its size as compact JSON in bytes.
    pub messages: Vec<(String, usize)>,
    /// The sizes of the messages in every format.
    pub sizes: Sizes,
    /// The links, in the order in which they were asked for.
    pub links: Vec<LinkPlan>,
    /// The recommended formats, and why.
    pub advice: Advice,
}

impl Report {
    /// Plans for `links`, each once.
    ///
    /// # Errors
    /// The fleet's figures are out of range.
    pub fn new(
        schema: &str,
        messages: &[Message],
        sizes: Sizes,
        links: &[&'static Link],
        fleet: Fleet,
    ) -> Result<Report, LoadError> {
        let mut once: Vec<&'static Link> = Vec::new();
        for link in links {
            if !once.contains(link) {
                once.push(link);
            }
        }
        let plans = once.into_iter().map(|link| LinkPlan::new(link, &sizes, &fleet));
        let links = plans.collect::<Result<Vec<_>, _>>()?;
        let advice = Advice::new(&links, &sizes, &fleet);
        let messages = messages.iter().map(|message| (message.name.clone(), message.text.len())).collect();
        Ok(Report { schema: schema.to_owned(), fleet, messages, sizes, links, advice })
    }
}
