//! Names in the configuration of what it does not have.

use super::Found;
use crate::config::Config;
use dunnage_ingest::profiles::Profiles;
use dunnage_inputs::{InputKind, TopicSettings};
use dunnage_outputs::OutputKind;
use dunnage_schema::alike;

impl Found<'_> {
    /// Finds schemas of topics that no file defines.
    pub(super) fn schemas_of_topics(&mut self, config: &Config, profiles: &Profiles) {
        for (index, input) in config.inputs.iter().enumerate() {
            let (kind, topics): (_, &[TopicSettings]) = match &input.kind {
                InputKind::Mqtt(settings) => ("mqtt", &settings.topics),
                InputKind::Broker(settings) => ("broker", &settings.topics),
                _ => continue,
            };
            for (at, topic) in topics.iter().enumerate() {
                let known = || profiles.all().map(|(name, _)| name);
                let Some(name) = topic.schema.as_deref().filter(|name| !known().any(|known| known == *name))
                else {
                    continue;
                };
                let path = ["input", &index.to_string(), kind, "topics", &at.to_string(), "schema"];
                self.value(&path, unknown("schema", name, known()));
            }
        }
    }

    /// Finds outputs whose messages come from an input that there is not.
    pub(super) fn inputs_of_downlinks(&mut self, config: &Config) {
        for (index, output) in config.outputs.iter().enumerate() {
            let OutputKind::Downlink(settings) = &output.kind else { continue };
            let known = || config.inputs.iter().map(|input| input.name.as_str());
            if let Some(name) = settings.input.as_deref().filter(|name| !known().any(|known| known == *name))
            {
                let path = ["output", &index.to_string(), "downlink", "input"];
                self.value(&path, unknown("input", name, known()));
            }
        }
    }
}

fn unknown<'k>(what: &str, name: &str, known: impl Iterator<Item = &'k str>) -> String {
    match alike(name, known) {
        Some(meant) => format!("there is no {what} {name:?}; did you mean {meant:?}?"),
        None => format!("there is no {what} {name:?}"),
    }
}
