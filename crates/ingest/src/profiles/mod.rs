//! Chooses the codecs of a message by its format, its schema, and its device's profile.

mod chosen;
mod codec_files;
mod codecs;
mod conditions;
mod every;
mod known;
mod match_settings;
mod rule;
pub mod schemas;
pub mod settings;
pub mod slots;
mod subject;

pub use chosen::Chosen;
pub use codecs::Codecs;
pub use conditions::{Condition, Conditions};
pub use rule::Rule;
pub use subject::Subject;

use crate::{
    encoding::{Decoding, Encoding},
    media_types::is_unnamed,
    rejected::Rejected,
};
use codec_files::CodecFiles;
use dunnage_buffer::LayoutKey;
use dunnage_formats::{Id, Mapping};
use dunnage_packed::Layout;
use dunnage_register::{Record, Register};
use dunnage_schema::Model;
use schemas::Schema;
use settings::{Profile, ProfileError, SchemaSettings};
use slots::{Slot, Slots};
use std::{collections::HashMap, sync::Arc};

/// All schemas and profiles.
pub struct Profiles {
    without_schema: Codecs,
    schemas: HashMap<String, Codecs>,
    rules: Vec<Rule>,
    /// Whether any rule watches for silent devices.
    watch: bool,
    /// Whether any rule gives the place of positions.
    places: bool,
    /// Whether any rule has a condition that needs the origin of a message.
    need_origin: bool,
    /// Whether any rule has a condition on the port.
    need_port: bool,
    /// Whether the record of a device can decide: some rule has a name or a condition on a tag.
    need_record: bool,
    no_path: Arc<str>,
    register: Arc<Register>,
}

/// A mistake in a schema or a profile.
pub struct Mistaken {
    /// The cause.
    pub error: ProfileError,
    /// The profile, from 0, and its key; `None` for a schema.
    pub profile: Option<(usize, &'static str)>,
}

/// The mistakes in a profile: key and reason.
type Wrong = Vec<(&'static str, String)>;

impl Profiles {
    /// Compiles the bundled schemas, those of `[schemas] path`, which take precedence, and the profiles. Fails with the first mistake.
    pub fn load(settings: &SchemaSettings, profiles: &[Profile]) -> Result<Profiles, ProfileError> {
        let (profiles, mistakes) = Profiles::load_all(settings, profiles);
        mistakes.into_iter().next().map_or(Ok(profiles), |mistaken| Err(mistaken.error))
    }

    /// Compiles the same as far as possible, and returns all mistakes.
    pub fn load_all(settings: &SchemaSettings, profiles: &[Profile]) -> (Profiles, Vec<Mistaken>) {
        let (schemas, errors) = schemas::load(settings);
        let mut mistakes: Vec<_> =
            errors.into_iter().map(|error| Mistaken { error, profile: None }).collect();
        let (mut rules, mut files) = (Vec::new(), CodecFiles::default());
        for (index, profile) in profiles.iter().enumerate() {
            let mut wrong = Vec::new();
            rule::check(profile, (&profiles[..index], &rules), &mut wrong);
            let codec = files.codec(profile, &mut wrong);
            let rule = rule::read(profile, codec, &schemas, &mut wrong);
            let origin = format!("[[profile]] {}", rule.label);
            rules.push(rule);
            let mistaken = |(key, message)| {
                let error = ProfileError { origin: origin.clone(), message };
                Mistaken { error, profile: Some((index, key)) }
            };
            mistakes.extend(wrong.into_iter().map(mistaken));
        }
        let codecs =
            |(name, schema): (&String, &Schema)| (name.clone(), Codecs::of(name, schema, Mapping::Exact));
        let schemas =
            schemas.iter().filter_map(|(name, schema)| Some((name, schema.as_ref()?))).map(codecs).collect();
        let watch = rules.iter().any(|rule| rule.silent_after.is_some());
        let places = rules.iter().any(|rule| rule.position.is_some());
        let need_origin = rules.iter().any(|rule| rule.conditions.need_origin());
        let need_port = rules.iter().any(|rule| rule.conditions.need_port());
        let need_record = rules.iter().any(|rule| rule.name.is_some() || rule.conditions.need_record());
        let profiles = Profiles {
            without_schema: Codecs::none(),
            schemas,
            rules,
            watch,
            places,
            need_origin,
            need_port,
            need_record,
            no_path: "".into(),
            register: Arc::default(),
        };
        (profiles, mistakes)
    }

    /// Returns the profiles with the register that tells them about devices.
    pub fn with_register(self, register: Arc<Register>) -> Profiles {
        Profiles { register, ..self }
    }

    /// Returns the record of `device`, if it is registered.
    pub fn record(&self, device: &str) -> Option<Arc<Record>> {
        self.register.get(device)
    }

    /// Returns the record of the device that has `id` as its ID or as an external one.
    pub fn find(&self, id: &str) -> Option<Arc<Record>> {
        self.register.find(id)
    }

    /// Returns the layout that has replaced `key`: a different one in the same slot of the same schema.
    pub fn instead_of(&self, key: &LayoutKey) -> Option<&Slot> {
        let slots = self.schemas.get(&*key.schema)?.slots.as_ref()?;
        slots.all().iter().find(|slot| slot.key.slot == key.slot && *slot.key != *key)
    }

    /// Iterates over all packed layouts.
    pub fn layouts(&self) -> impl Iterator<Item = &LayoutKey> {
        let slots = self.schemas.values().filter_map(|codecs| codecs.slots.as_ref());
        slots.flat_map(|slots| slots.all()).map(|slot| &*slot.key)
    }

    /// Iterates over all schemas: their names and layouts.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Slot])> {
        self.schemas
            .iter()
            .map(|(name, codecs)| (&**name, codecs.slots.as_deref().map_or(&[][..], Slots::all)))
    }

    /// Iterates over the labels of the profiles that use `schema`.
    pub fn labels_of<'p>(&'p self, schema: &'p str) -> impl Iterator<Item = &'p str> {
        let uses = move |rule: &&Rule| rule.codecs.schema.as_deref() == Some(schema);
        self.rules.iter().filter(uses).map(|rule| &*rule.label)
    }

    /// Returns the number of schemas.
    pub fn schemas(&self) -> usize {
        self.schemas.len()
    }

    /// Returns the names of the profiles that have one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter_map(|rule| rule.name.as_deref())
    }

    /// Returns all profiles, in the order in which they are tried.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the first profile that matches `subject`.
    pub fn rule(&self, subject: &Subject<'_>) -> Option<&Rule> {
        self.rules.get(self.index(subject)?)
    }

    /// Returns the number, from 0, of the profile that the register gives to the device of `subject`, else of the first one that matches.
    pub fn index(&self, subject: &Subject<'_>) -> Option<usize> {
        let record = if self.need_record { subject.look_up(&self.register) } else { None };
        if let Some(name) = record.and_then(|record| record.profile.as_deref())
            && let Some(index) = self.rules.iter().position(|rule| rule.name.as_deref() == Some(name))
        {
            return Some(index);
        }
        self.rules.iter().position(|rule| rule.conditions.hold(subject))
    }

    /// Whether some profile needs the origin of a message. Otherwise the device alone decides.
    pub fn need_origin(&self) -> bool {
        self.need_origin
    }

    /// Whether the record of a device can decide: some profile has a name or a condition on a tag.
    pub fn need_record(&self) -> bool {
        self.need_record
    }

    /// Returns the encoding that `content_type` names; if it names none, the codec of the message's profile, or the encoding of the one format
    /// that the profile allows.
    pub fn decoding(&self, subject: &Subject<'_>, content_type: &str) -> Result<Decoding, Rejected> {
        decoding(self.rule(subject), content_type)
    }

    /// Whether the profile of a message lists `format`.
    pub fn lists(&self, subject: &Subject<'_>, format: Id) -> bool {
        self.rule(subject).is_some_and(|rule| rule.formats.contains(&format))
    }

    /// Returns the codecs for a message: those of the schema that it names, else those of its profile, else those that need no
    /// schema. Returns `None` for an unknown schema.
    pub fn pick<'p>(&'p self, rule: Option<&'p Rule>, schema: Option<&str>) -> Option<&'p Codecs> {
        let of_rule = rule.map(|rule| &rule.codecs);
        match schema {
            None => Some(of_rule.unwrap_or(&self.without_schema)),
            // If the profile has the same schema, use its codecs, which have its mapping, its slots and its .proto.
            Some(name) => {
                of_rule.filter(|c| c.schema.as_deref() == Some(name)).or_else(|| self.schemas.get(name))
            }
        }
    }

    /// Returns the schema of a message: the one that it names, else its profile's.
    pub fn schema_of<'a>(&'a self, subject: &Subject<'_>, asked: Option<&'a str>) -> Option<&'a str> {
        asked.or_else(|| self.rule(subject)?.codecs.schema.as_deref())
    }

    /// Whether a message without a key is a duplicate of an earlier one with the same bytes.
    pub fn dedup_by_payload(&self, subject: &Subject<'_>) -> bool {
        self.rule(subject).is_some_and(|rule| rule.dedup_by_payload)
    }

    /// Returns how long after a message its device counts as silent, in microseconds, if it is watched.
    pub fn silent_after(&self, subject: &Subject<'_>) -> Option<i64> {
        if self.watch { self.rule(subject)?.silent_after } else { None }
    }

    /// Whether `device` may be watched, whatever its last message says.
    pub fn may_watch(&self, device: &str) -> bool {
        self.rules.iter().any(|rule| rule.silent_after.is_some() && rule.conditions.may_hold(device))
    }

    /// Returns the JSON pointer to the position in a message, if its profile has one.
    pub fn position(&self, subject: &Subject<'_>) -> Option<&str> {
        if self.places { self.rule(subject)?.position.as_deref() } else { None }
    }

    /// Returns the label of a message's profile, by which people know the profile.
    pub fn label(&self, subject: &Subject<'_>) -> Option<&str> {
        self.rule(subject).map(|rule| &*rule.label)
    }

    /// Returns the time between two messages of a device that `schema` says, in microseconds.
    pub fn every(&self, schema: &str) -> Option<i64> {
        self.schemas.get(schema)?.every
    }

    /// Returns the units of the values in messages of `schema`, by pointer.
    pub fn units(&self, schema: &str) -> &[(String, String)] {
        self.schemas.get(schema).map_or(&[], |codecs| &codecs.units)
    }

    /// Returns the path under which outputs deliver a message; empty if its profile names none.
    pub fn output_path(&self, subject: &Subject<'_>) -> Arc<str> {
        Arc::clone(self.rule(subject).map_or(&self.no_path, |rule| &rule.path))
    }

    /// Iterates over the versions of `schema` that have a packed layout.
    pub fn versions<'a>(&'a self, schema: &str) -> impl Iterator<Item = &'a Model> + use<'a> {
        let slots = self.schemas.get(schema).and_then(|codecs| codecs.slots.as_ref());
        slots.into_iter().flat_map(|slots| slots.all()).map(|slot| slot.codec.layout().model())
    }

    /// Returns the packed layout in `slot` of `schema`.
    pub fn layout(&self, schema: &str, slot: u8) -> Option<&Layout> {
        let slots = self.schemas.get(schema)?.slots.as_ref()?;
        slots.all().iter().find(|found| found.key.slot == slot).map(|found| found.codec.layout())
    }

    /// Whether any device is watched for silence.
    pub fn watch(&self) -> bool {
        self.watch
    }
}

fn decoding(rule: Option<&Rule>, content_type: &str) -> Result<Decoding, Rejected> {
    if is_unnamed(content_type) && rule.is_some_and(|rule| rule.codec.is_some()) {
        return Decoding::by_codec(content_type);
    }
    Encoding::of(content_type, rule.and_then(Rule::only_format)).map(Decoding::Format)
}

#[cfg(test)]
mod tests;
