//! Finds all mistakes in a configuration, with their places.

mod names;

use crate::{
    config::Config,
    config_file::{ConfigError, overridden},
    log,
    placed::path_of,
    start::check_layouts,
};
use dunnage_access::tls;
use dunnage_base::{Document, Mistake, Wrong, kind::Kind};
use dunnage_ingest::profiles::Profiles;
use dunnage_schema::alike;
use std::path::Path;

/// Returns all mistakes in the configuration of `file`, if there is one, and the environment, in the order of their places. Reads
/// files that the configuration names, such as schemas, certificates and the buffer. Creates outputs without connecting, on the tokio runtime in
/// which it must be called.
pub fn check(file: Option<&Path>) -> Vec<Mistake> {
    let text = match file.map(std::fs::read_to_string).transpose() {
        Ok(text) => text.unwrap_or_default(),
        Err(e) => {
            let origin = file.map_or_else(String::new, |file| file.display().to_string());
            return vec![Mistake { origin, place: None, key: String::new(), message: e.to_string() }];
        }
    };
    let name = file.map_or_else(|| "the defaults".into(), |file| file.display().to_string());
    check_text(&name, &text, std::env::vars())
}

fn check_text(name: &str, text: &str, environment: impl Iterator<Item = (String, String)>) -> Vec<Mistake> {
    let (document, config, wrong) = Document::read::<Config>(text);
    let mut found = Found { name, document, mistakes: Vec::new() };
    wrong.into_iter().for_each(|wrong| found.wrong(wrong));
    let (config, errors) = overridden(config, environment);
    errors.into_iter().for_each(|error| found.environment(error));
    found.values(&config);
    let profiles = found.profiles(&config);
    found.layouts(&config, &profiles);
    found.links(&config);
    found.mistakes.extend(dunnage_access::read(&config.tokens()).1);
    found.mistakes.extend(dunnage_access::keys::read(&config.keys()).1);
    found.schemas_of_topics(&config, &profiles);
    found.inputs_of_downlinks(&config);
    found.inputs(&config);
    found.outputs(&config);
    let mut mistakes = found.mistakes;
    mistakes.sort_by_key(|mistake| (mistake.origin != name, mistake.place));
    mistakes
}

struct Found<'t> {
    name: &'t str,
    document: Document<'t>,
    mistakes: Vec<Mistake>,
}

impl Found<'_> {
    fn wrong(&mut self, Wrong { at, key, message }: Wrong) {
        let place = at.map(|at| self.document.place(at));
        self.mistakes.push(Mistake { origin: self.name.into(), place, key, message });
    }

    /// Records a mistake in the value at the end of `path`.
    fn value(&mut self, path: &[&str], message: String) {
        let (key, at) = self.document.find(path);
        // Where a key was wrong and left out, do not also report that its table lacks it.
        let within = format!("{key}.");
        if self.mistakes.iter().any(|mistake| mistake.key.starts_with(&within)) {
            return;
        }
        self.wrong(Wrong { at, key, message });
    }

    fn environment(&mut self, error: ConfigError) {
        if let ConfigError::Environment { variable, message } = error {
            self.mistakes.push(Mistake { origin: variable, place: None, key: String::new(), message });
        }
    }

    fn values(&mut self, config: &Config) {
        for (section, key, message) in config.mistakes() {
            self.value(&[section, key], message.into());
        }
        if let Err(message) = log::filter(&config.log) {
            self.value(&["log", "level"], message);
        }
        let both = !config.tls.certificate.as_os_str().is_empty() && !config.tls.key.as_os_str().is_empty();
        if let Some(Err(e)) = both.then(|| tls::check(&config.tls)) {
            self.value(&["tls", e.key], e.message);
        }
        #[cfg(unix)]
        if let Some(Err(e)) = config.admin_socket().map(|path| crate::admin::check_length(&path)) {
            self.value(&["admin", "socket"], e.message);
        }
    }

    fn profiles(&mut self, config: &Config) -> Profiles {
        let (profiles, mistakes) = Profiles::load_all(&config.schemas, &config.profiles);
        for mistaken in mistakes {
            let error = mistaken.error;
            match mistaken.profile {
                Some((index, key)) => {
                    self.value(&path_of(&index.to_string(), key), error.message);
                }
                None if Path::new(&error.origin) == config.schemas.path => {
                    self.value(&["schemas", "path"], error.message);
                }
                None => {
                    let (origin, message) = (error.origin, error.message);
                    self.mistakes.push(Mistake { origin, place: None, key: String::new(), message });
                }
            }
        }
        profiles
    }

    /// Finds a layout whose slot holds messages of another one. Ignores a buffer that cannot be read: the start reports it in detail.
    fn layouts(&mut self, config: &Config, profiles: &Profiles) {
        let stored = dunnage_buffer::stored_layouts(&config.buffer.path).unwrap_or_default();
        if let Err(error) = check_layouts(config, profiles, &stored) {
            let message = error.to_string();
            let (origin, message) = message.split_once(": ").unwrap_or(("", &message));
            let (origin, message) = (origin.to_owned(), message.to_owned());
            self.mistakes.push(Mistake { origin, place: None, key: String::new(), message });
        }
    }

    /// Finds misspelt links of the catalogue. Another name is a link of the operator's own.
    fn links(&mut self, config: &Config) {
        let ids = || dunnage_links::catalogue().iter().map(|link| link.id.as_str());
        for (index, profile) in config.profiles.iter().enumerate() {
            let Some(id) = profile.link.as_deref().filter(|id| dunnage_links::link(id).is_none()) else {
                continue;
            };
            if let Some(meant) = alike(id, ids()) {
                let message = format!("the catalogue has no link {id:?}; did you mean {meant:?}?");
                self.value(&["profile", &index.to_string(), "link"], message);
            }
        }
    }

    fn outputs(&mut self, config: &Config) {
        for (index, output) in config.outputs.iter().enumerate() {
            let index_text = index.to_string();
            if let Err((key, message)) = dunnage_outputs::check(&config.outputs[..index], output) {
                self.value(&["output", &index_text, key], message);
            }
            if let Err(error) = dunnage_outputs::open(output) {
                self.own(("output", index), output.kind.key(), &error.message);
            }
        }
    }

    fn inputs(&mut self, config: &Config) {
        for (index, input) in config.inputs.iter().enumerate() {
            if let Err(error) = dunnage_inputs::open(&config.inputs, index, config.beside_inputs()) {
                self.own(("input", index), input.kind.key(), &error.message);
            }
        }
    }

    /// Records the mistakes that an input or output of the kind `kind` reports about itself. The message begins with a key.
    fn own(&mut self, (section, index): (&str, usize), kind: &str, message: &str) {
        let (key, message) = match message.split_once(": ") {
            Some((key, message)) if is_key(key) => (key, message),
            _ => ("", message),
        };
        let index = index.to_string();
        let path = [section, &index, kind, key];
        let steps = path.iter().take_while(|step| !step.is_empty()).count();
        self.value(&path[..steps], message.into());
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}
