//! Mistakes in profiles, with their places in the configuration file.

use crate::config::Config;
use dunnage_base::{Document, Mistake};
use dunnage_ingest::profiles::{Profiles, settings::ProfileError};

/// Returns the steps to the key `key`, which may be within `match`, of the profile `index`, from 0. An empty key is the profile itself.
pub fn path_of<'k>(index: &'k str, key: &'k str) -> Vec<&'k str> {
    let steps = key.split('.').filter(|step| !step.is_empty());
    ["profile", index].into_iter().chain(steps).collect()
}

/// Compiles the profiles and schemas of `config`. The error is the first mistake, with its line if a profile in a file has it.
pub fn profiles(config: &Config) -> Result<Profiles, ProfileError> {
    let (profiles, mistakes) = Profiles::load_all(&config.schemas, &config.profiles);
    let Some(mistaken) = mistakes.into_iter().next() else { return Ok(profiles) };
    let Some((index, key)) = mistaken.profile else { return Err(mistaken.error) };
    let Some(file) = &config.file else { return Err(mistaken.error) };
    let Ok(text) = std::fs::read_to_string(file) else { return Err(mistaken.error) };
    let document = Document::read::<Config>(&text).0;
    let (key, at) = document.find(&path_of(&index.to_string(), key));
    let place = at.map(|at| document.place(at));
    let (origin, message) = (file.display().to_string(), mistaken.error.message);
    let text = Mistake { origin, place, key, message }.to_string();
    let (origin, message) = text.split_once(": ").unwrap_or(("", &text));
    Err(ProfileError { origin: origin.to_owned(), message: message.to_owned() })
}
